"""FinanceBench over all its reports in one base, planned and answered by the configured model.

In: the data (`../shared/data/financebench`) and a folder to write to (`LLM_BASE_URL=… ANSWER_MODEL=… python -m
benchmarks.finance_questions DATA OUT`; any variable of Baza's settings counts). Out: `answers.jsonl` (question, plan,
calls, checks, facts with their pages, answer, sources, tokens), `truth.jsonl` (report, pages and answer; no model is
shown it), and a line for each question: whether a page of the evidence is among the facts, which share of the facts is
of other reports. Whether an answer is right is for a reader: «5.3 %» and "improved by half a point" are both.
"""

import argparse
import asyncio
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.alike_questions import Asked, add, answer, recorded
from bot.app import open_parts
from bot.settings import Settings

COUNTED = ("page", "others")


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """Where a right answer stands, and what it says."""

    number: int  # from 1, in the order of the file
    question: str
    document: str  # file name
    pages: tuple[int, ...]  # of the PDF, from 1
    answer: str


def read_questions(data: Path) -> list[Evidence]:
    """All of the folder."""
    rows = map(json.loads, (data / "questions.jsonl").read_text(encoding="utf-8").splitlines())
    return [
        Evidence(
            number=number,
            question=row["question"],
            document=row["document"],
            pages=tuple(row["pages"]),
            answer=row["answer"],
        )
        for number, row in enumerate(rows, start=1)
    ]


def places(facts: object) -> list[tuple[str, range]]:
    """Document and pages of each fact, in the order of the prompt."""
    found = []
    for item in _mappings(facts.get("items") if isinstance(facts, Mapping) else None):
        place, source = item.get("place"), item.get("source")
        if isinstance(place, Mapping) and isinstance(source, Mapping) and place.get("page"):
            first = int(place["page"])
            found.append((str(source["title"]), range(first, int(place.get("page_end") or first) + 1)))
    return found


def _mappings(value: object) -> list[Mapping[str, object]]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def judged(wanted: Evidence, found: Sequence[tuple[str, range]]) -> tuple[bool, float]:
    """Whether a page of the evidence is there; the share of passages of other reports."""
    own = [pages for name, pages in found if name == wanted.document]
    others = 1 - len(own) / len(found) if found else 0.0
    return any(page in pages for pages in own for page in wanted.pages), others


async def run(settings: Settings, data: Path, out: Path, only: Sequence[int]) -> None:
    """Ask, write, judge."""
    questions = read_questions(data)
    chosen = [questions[number - 1] for number in only] if only else questions
    truth = [json.dumps(asdict(each), ensure_ascii=False) for each in chosen]
    (out / "truth.jsonl").write_text("\n".join(truth) + "\n", encoding="utf-8")
    sums = [0.0, 0.0]
    async with open_parts(settings) as parts:
        if parts.model is None:
            raise SystemExit("no model is configured: set LLM_BASE_URL (or a provider's key) and ANSWER_MODEL")
        base = await parts.stores.people.open_named_base("financebench")
        await add(parts, base, [str(path) for path in sorted((data / "pdf").glob("*.pdf"))])
        with (out / "answers.jsonl").open("w", encoding="utf-8") as written:
            for wanted in chosen:
                asked = Asked(text=wanted.question, documents=(wanted.document,), words=())
                given = await answer(parts, base, asked)
                record: dict[str, object] = {"number": wanted.number, **recorded(asked, given)}
                written.write(json.dumps(record, ensure_ascii=False, default=str) + "\n")
                written.flush()
                verdicts = judged(wanted, places(record["facts"]))
                sums = [total + one for total, one in zip(sums, verdicts, strict=True)]
                page, others = verdicts
                print(
                    f"{wanted.number:2}. page {'yes' if page else 'NO '}  others {others:.2f}  "
                    f"{record['prompt_tokens']} tokens  {wanted.question[:90]}",
                    flush=True,
                )
    told = ", ".join(f"{name} {total / len(chosen):.2f}" for name, total in zip(COUNTED, sums, strict=True))
    print(f"{len(chosen)} questions: {told}")


def main() -> None:
    """Run in a database of its own below OUT."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--questions", type=int, nargs="*", default=(), help="numbers, from 1, in the order given")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    settings = Settings.read({**os.environ, "BAZA_HOME": str(arguments.out / "home"), "LOG_LEVEL": "ERROR"})
    asyncio.run(run(settings, arguments.data, arguments.out, arguments.questions))


if __name__ == "__main__":
    main()
