"""How well a model checks answers: wrong statements that it catches, true ones that it refuses, tokens and time.

In: the material of `tests/material/grounding` (151 statements of 40 answers, half of them never used to tune the
prompt), and the settings of the environment: CHECKER_MODEL at LLM_BASE_URL. Out: a table for each half and kind, each
statement that was missed or refused with the model's reason, and what a check took. One request for each answer, as in
production; the model sees nothing of the truth. `--keep FILE` stores the judgements, and a second run asks only for
those that are missing.
"""

import argparse
import asyncio
import json
import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from statistics import median

import structlog

from bot.measures import Measures
from bot.models import open_model
from bot.settings import Settings
from prompts.loader import load_prompts
from rag.answering.grounding import SAID, Checked, Outcome, SupportCheck, Verdict
from rag.answering.marks import Statement, split
from tests.material.statements import HALVES, Case, Told, load_cases

TODAY = date(2026, 6, 1)
_OTHERS_THAN_CHECKED = tuple(each.value for each in Outcome if each is not Outcome.CHECKED)


@dataclass(frozen=True, kw_only=True)
class Row:
    """One statement, judged."""

    half: str
    case: str
    told: Told
    verdict: str  # of Verdict; empty if the checker gave none
    why: str

    @property
    def is_refused(self) -> bool:
        return self.verdict in (Verdict.CONTRADICTED, Verdict.ABSENT)


@dataclass(frozen=True, kw_only=True)
class Run:
    """One answer, checked."""

    outcome: str
    tokens: int
    seconds: float
    rows: tuple[Row, ...]


async def judge(check: SupportCheck, half: str, case: Case) -> Run:
    statements = split(case.answer, facts=len(case.facts))
    said = {SAID: "\n".join(case.dialogue)} if case.dialogue else {}
    sources = {**dict(enumerate(case.facts, start=1)), **said}
    checked = await check.judge(statements, sources, question=case.question, today=TODAY)
    rows = tuple(_rows(half, case, checked, statements))
    return Run(outcome=checked.outcome.value, tokens=checked.tokens, seconds=checked.seconds, rows=rows)


def _rows(half: str, case: Case, checked: Checked, statements: Sequence[Statement]) -> Iterator[Row]:
    by_statement = {each.statement: each for each in checked.judgements}
    for statement, told in zip(statements, case.told, strict=True):
        judged = by_statement.get(statement)
        verdict, why = (judged.verdict.value, judged.why) if judged else ("", "")
        yield Row(half=half, case=case.id, told=told, verdict=verdict, why=why)


async def run(halves: Sequence[str], *, at_once: int, kept: Path | None) -> list[Run]:
    """All answers, `at_once` at the same time; those in `kept` are not asked for again."""
    known = _read(kept)
    cases = [(half, case) for half in halves for case in load_cases(half)]
    places = asyncio.Semaphore(at_once)
    async with AsyncExitStack() as stack:
        model = await open_model("checker", Settings.read(os.environ), stack, Measures())
        if model is None:
            raise SystemExit("No checker: set LLM_BASE_URL or LLM_API_KEY, and leave ANSWER_CHECK at model.")
        check = SupportCheck(model, load_prompts())

        async def one(half: str, case: Case) -> Run:
            if case.id in known:
                return known[case.id]
            async with places:
                result = await judge(check, half, case)
            if kept and result.outcome == Outcome.CHECKED:
                _append(kept, case.id, result)
            return result

        return await asyncio.gather(*(one(half, case) for half, case in cases))


def _read(kept: Path | None) -> dict[str, Run]:
    if kept is None or not kept.exists():
        return {}
    told = {
        (case.id, place): each for half in HALVES for case in load_cases(half) for place, each in enumerate(case.told)
    }
    found = {}
    for line in kept.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        rows = tuple(
            Row(half=entry["half"], case=entry["case"], told=told[entry["case"], place], verdict=verdict, why=why)
            for place, (verdict, why) in enumerate(entry["judged"])
        )
        found[entry["case"]] = Run(
            outcome=Outcome.CHECKED.value, tokens=entry["tokens"], seconds=entry["seconds"], rows=rows
        )
    return found


def _append(kept: Path, case: str, result: Run) -> None:
    judged = [(row.verdict, row.why) for row in result.rows]
    entry = {"case": case, "half": result.rows[0].half, "tokens": result.tokens, "seconds": result.seconds}
    with kept.open("a", encoding="utf-8") as file:
        file.write(json.dumps({**entry, "judged": judged}, ensure_ascii=False) + "\n")


def show(runs: Sequence[Run]) -> None:
    rows = [row for each in runs for row in each.rows]
    for half in dict.fromkeys(row.half for row in rows):
        wrong = [row for row in rows if row.half == half and row.told.wrong]
        true = [row for row in rows if row.half == half and not row.told.wrong]
        caught, refused = sum(row.is_refused for row in wrong), sum(row.is_refused for row in true)
        print(f"{half}: caught {caught} of {len(wrong)} wrong, refused {refused} of {len(true)} true")
    for kind in sorted({row.told.wrong for row in rows if row.told.wrong}):
        of_kind = [row for row in rows if row.told.wrong == kind]
        print(f"  {kind}: {sum(row.is_refused for row in of_kind)} of {len(of_kind)}")
    for row in rows:
        if row.is_refused is not bool(row.told.wrong):
            what = f"MISSED ({row.told.wrong})" if row.told.wrong else f"REFUSED ({row.told.kind})"
            print(f"{what} [{row.case}] {row.verdict or 'not judged'}: {row.told.text!r} {row.why}")
    checked = [each for each in runs if each.outcome == Outcome.CHECKED]
    if checked:
        tokens, seconds = [each.tokens for each in checked], [each.seconds for each in checked]
        print(f"{len(checked)} checks: median {median(tokens):.0f} tokens, {median(seconds):.1f} s; most {max(tokens)}")
    for outcome in _OTHERS_THAN_CHECKED:
        if count := sum(each.outcome == outcome for each in runs):
            print(f"{count} checks: {outcome}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--half", choices=(*HALVES, "both"), default="both")
    parser.add_argument("--at-once", type=int, default=4, help="requests under way at the same time")
    parser.add_argument("--keep", type=Path, help="a file for judgements; what it holds is not asked for again")
    given = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    halves = HALVES if given.half == "both" else (given.half,)
    show(asyncio.run(run(halves, at_once=given.at_once, kept=given.keep)))


if __name__ == "__main__":
    main()
