"""How many passages an answer is written from: evidence in the prompt by tokens.

In: the folder of data (`python -m benchmarks.shortlist ../shared/data`). Out: for rules that fix their number and for
the product's, which follows the fall of the scores: the share of questions whose evidence is kept, the mean number of
passages, their mean tokens, for two halves of the questions, the first to choose the rule by. Words alone, without a
model; each corpus is stored once.
"""

import argparse
import asyncio
import logging
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import structlog

from bot.app import Parts, open_parts
from bot.cli.measuring import fill_base, read_qrels, read_rows
from bot.settings import Settings
from domain.ids import DocumentId
from rag.execution.facts import MOST, FactsPayload, shortlist
from rag.execution.search_tool import passages_payload
from rag.records import RankedPassage
from rag.words import estimate_tokens

SETS = ("vkcloud/ru", "xquad/ru", "vkcloud/en", "xquad/en")
SHARES = (0.4, 0.5, 0.6, 0.7, 0.8)

Rule = Callable[[FactsPayload], FactsPayload]


@dataclass(frozen=True, kw_only=True)
class Kept:
    """What one question's prompt has."""

    has_evidence: bool
    passages: int
    tokens: int


def first(count: int) -> Rule:
    """A fixed number."""
    return lambda payload: FactsPayload(facts=payload.facts[:count])


def rules() -> Mapping[str, Rule]:
    """By name."""
    near = {f"a short answer, from {share}": (lambda p, share=share: shortlist(p, within=share)) for share in SHARES}
    long = {"a list": lambda payload: shortlist(payload, is_short=False)}
    return {**{f"first {count}": first(count) for count in (2, 4, 10, MOST)}, **near, **long}


def measure(
    rule: Rule,
    found: Mapping[str, Sequence[RankedPassage]],
    judged: Mapping[str, Mapping[str, float]],
    names: Mapping[DocumentId, str],
) -> list[Kept]:
    """For each question, in the order of their ids; `names` are the rows of the corpus by document."""
    kept: list[Kept] = []
    for key, ranked in found.items():
        facts = rule(passages_payload(ranked, asked="")).facts
        wanted = {document for document, gain in judged[key].items() if gain > 0}
        documents = {names[fact.document] for fact in facts if fact.document}
        tokens = sum(estimate_tokens(fact.text[: fact.shown]) for fact in facts)
        kept.append(Kept(has_evidence=not wanted.isdisjoint(documents), passages=len(facts), tokens=tokens))
    return kept


def told(kept: Sequence[Kept]) -> str:
    """Evidence, passages, tokens."""
    evidence = fmean(each.has_evidence for each in kept)
    return f"{evidence:.3f} {fmean(each.passages for each in kept):5.1f} {fmean(each.tokens for each in kept):6.0f}"


async def report(parts: Parts, data: Path, name: str) -> None:
    """A line for each rule: the first half of the questions, the second."""
    folder, judged = data / name, read_qrels(data / name / "qrels.tsv")
    base = await parts.stores.people.open_named_base(name)
    names = await fill_base(parts, base, folder / "corpus.jsonl")
    asked = {row["id"]: row["text"] for row in read_rows(folder / "queries.jsonl") if row["id"] in judged}
    retrieval = parts.retrieval(passages=MOST)
    found = {key: await retrieval.rank(base, text) for key, text in sorted(asked.items())}
    print(f"\n{name}, {len(found)} questions: evidence, passages, tokens of either half")
    for label, rule in rules().items():
        measured = measure(rule, found, judged, names)
        print(f"  {label:32} {told(measured[::2])}   {told(measured[1::2])}", flush=True)


async def run(data: Path, only: str | None) -> None:
    """A table for each corpus."""
    with tempfile.TemporaryDirectory() as home:
        async with open_parts(Settings.read({"BAZA_HOME": home})) as parts:
            for name in [only] if only else SETS:
                await report(parts, data, name)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--only", choices=SETS)
    given = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    asyncio.run(run(given.data, given.only))
