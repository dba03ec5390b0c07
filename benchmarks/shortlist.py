"""How many passages an answer is written from: evidence in the prompt by tokens.

In: the folder of data (`python -m benchmarks.shortlist ../shared/data`). Out: for rules that fix their number and for
the product's, which follows the fall of the scores: the share of questions whose evidence is kept, the mean number of
passages, their mean tokens, for two halves of the questions, the first to choose the rule by. Words alone, scored by
`benchmarks.replica`; no database and no model.
"""

import argparse
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from benchmarks.ablation import STEPS, Lab, analyses
from benchmarks.material import Questions, read_corpus, read_questions
from benchmarks.vectors import Vectors
from rag.execution.facts import MOST, FactsPayload, shortlist
from rag.execution.search_tool import passages_payload
from rag.records import RankedPassage
from rag.tokens import estimate_tokens

SETS = ("vkcloud/ru", "xquad/ru", "vkcloud/en", "xquad/en")
PRODUCT = STEPS[-1]
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
    near = {
        f"4 to 20, from {share} of the best": (lambda p, share=share: shortlist(p, within=share)) for share in SHARES
    }
    return {**{f"first {count}": first(count) for count in (4, 10, MOST)}, **near}


SHARES = (0.4, 0.5, 0.6, 0.7, 0.8)


def measure(rule: Rule, found: Mapping[str, Sequence[RankedPassage]], questions: Questions) -> list[Kept]:
    """For each question, in the order of their ids."""
    kept: list[Kept] = []
    for key, ranked in found.items():
        facts = rule(passages_payload(ranked, asked="")).facts
        wanted = {document for document, gain in questions.judged[key].items() if gain > 0}
        documents = {str(fact.document) for fact in facts}
        tokens = sum(estimate_tokens(fact.text) for fact in facts)
        kept.append(Kept(has_evidence=not wanted.isdisjoint(documents), passages=len(facts), tokens=tokens))
    return kept


def told(kept: Sequence[Kept]) -> str:
    """Evidence, passages, tokens."""
    evidence = fmean(each.has_evidence for each in kept)
    return f"{evidence:.3f} {fmean(each.passages for each in kept):5.1f} {fmean(each.tokens for each in kept):6.0f}"


def report(data: Path, name: str) -> None:
    """A line for each rule: the first half of the questions, the second."""
    corpus, questions = read_corpus(data / name), read_questions(data / name)
    with tempfile.TemporaryDirectory() as kept:
        lab = Lab(corpus, analyses(), Vectors(corpus, kept=Path(kept), models={}))
        found = {key: lab.ranked(text, PRODUCT)[:MOST] for key, text in sorted(questions.texts.items())}
    print(f"\n{name}, {len(found)} questions: evidence, passages, tokens of either half")
    for label, rule in rules().items():
        measured = measure(rule, found, questions)
        print(f"  {label:32} {told(measured[::2])}   {told(measured[1::2])}", flush=True)


def main() -> None:
    """Print a table for each corpus."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--only", choices=SETS)
    arguments = parser.parse_args()
    for name in SETS:
        if arguments.only in (None, name):
            report(arguments.data, name)


if __name__ == "__main__":
    main()
