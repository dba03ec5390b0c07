"""What each part of search brings: the tables of docs/retrieval.md, in Markdown.

In: the folder of data, one to keep vectors in, and perhaps a local model's (`python -m benchmarks.ablation
../shared/data /tmp/vectors --model /tmp/minilm`). Out: nDCG@10 / recall@10 / recall@100 for each variant and corpus.
Words are scored by `benchmarks.replica`, because SQL has no switches; everything after them is the product's own code.
The first lines add one setting at a time, the others move one setting of the product as it is. Takes half an hour.
"""

import argparse
import random
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache
from itertools import pairwise
from pathlib import Path

import numpy as np

from adapters.lexical import RussianEnglishAnalyzer, clean
from benchmarks.hashed import MODEL as HASHED
from benchmarks.material import Corpus, Questions, read_corpus, read_questions
from benchmarks.mistyping import mistype
from benchmarks.replica import Analyze, Counted, Index, Scores, Words, count_terms, feed_back
from benchmarks.vectors import Vectors
from rag.evaluation import Measures, documents, evaluate
from rag.records import Candidate, RankedPassage
from rag.retrieval.closeness import SENTENCE_WEIGHT, raise_close
from rag.retrieval.duplicates import collapse
from rag.retrieval.fusion import best_first, fuse
from rag.retrieval.relevance import is_noise
from rag.retrieval.spelling import other_spellings

CANDIDATES = 200  # of each leg, as in `baza eval retrieval`
RRF_CONSTANT = 60
MINILM = "minilm"
ENGLISH = ("vkcloud/en", "xquad/en", "xquad ru→en")

# What is asked of what: name -> corpus, questions.
SETS = {
    "vkcloud/ru": ("vkcloud/ru", "vkcloud/ru"),
    "vkcloud/en": ("vkcloud/en", "vkcloud/en"),
    "xquad/ru": ("xquad/ru", "xquad/ru"),
    "xquad/en": ("xquad/en", "xquad/en"),
    "xquad ru→en": ("xquad/en", "xquad/ru"),
    "xquad en→ru": ("xquad/ru", "xquad/en"),
}


@dataclass(frozen=True, kw_only=True)
class Beside:
    """A second lexical leg under another analysis."""

    analysis: str
    weight: float


@dataclass(frozen=True, kw_only=True)
class Leg:
    """Vectors beside words."""

    model: str
    weight: float
    by_rank: bool = False  # reciprocal rank fusion
    words: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Variant:
    """A search. The defaults are the product's without a model."""

    label: str
    analysis: str = "terms"
    words: Words = field(default_factory=Words)
    sentences: float = SENTENCE_WEIGHT
    spelled: bool = True
    beside: Beside | None = None
    leg: Leg | None = None
    collapsed: bool = True
    candidates: int = CANDIDATES


PLAIN = Words(titled=None, b=0.75, shortest=0, wide_share=0)
FIELDS = replace(PLAIN, titled=0.5)
LENGTHS = Words(wide_share=0)

STEPS = (
    Variant(label="words as typed", analysis="typed", words=PLAIN, sentences=0, spelled=False),
    Variant(label="lemmas and stems", analysis="all terms", words=PLAIN, sentences=0, spelled=False),
    Variant(label="+ without stop terms", words=PLAIN, sentences=0, spelled=False),
    Variant(label="+ title a field of its own, .5", words=FIELDS, sentences=0, spelled=False),
    Variant(label="+ length to the full, from 16 terms on", words=LENGTHS, sentences=0, spelled=False),
    Variant(label="+ half for the same beginning", sentences=0, spelled=False),
    Variant(label="+ other spellings", sentences=0),
    Variant(label="+ sentences, .4: **the product**"),
)
MOVED = (
    *(Variant(label=f"sentences {weight}", sentences=weight) for weight in (0.1, 0.2, 0.3, 0.5, 0.7)),
    *(Variant(label=f"k1 {k1}", words=Words(k1=k1)) for k1 in (0.9, 1.5, 2.0)),
    *(Variant(label=f"b {b}", words=Words(b=b)) for b in (0.75, 0.9)),
    *(Variant(label=f"from {terms} terms on", words=Words(shortest=terms)) for terms in (1, 8, 32)),
    *(Variant(label=f"title {weight}", words=Words(titled=weight)) for weight in (0.0, 0.25, 1.0)),
    *(Variant(label=f"beginnings {share}", words=Words(wide_share=share)) for share in (0.0, 0.3, 0.7)),
    Variant(label="duplicates stay", collapsed=False),
    Variant(label="30 candidates", candidates=30),
)
TRIED = (
    Variant(label="+ words as typed beside, .3", beside=Beside(analysis="typed", weight=0.3)),
    Variant(label="+ pieces of four letters beside, .2", beside=Beside(analysis="pieces", weight=0.2)),
    Variant(label="+ pairs of words beside, .2", beside=Beside(analysis="pairs", weight=0.2)),
    *(Variant(label=f"+ feedback, {weight}", words=Words(feedback=weight)) for weight in (0.1, 0.3)),
)
HASHED_LEGS = (
    Variant(label="hashed vectors alone", leg=Leg(model=HASHED, weight=1, words=0), sentences=0),
    *(Variant(label=f"words + hashed {weight}", leg=Leg(model=HASHED, weight=weight)) for weight in (0.1, 0.3, 0.5)),
    Variant(label="words + hashed, RRF", leg=Leg(model=HASHED, weight=1, by_rank=True)),
)
MINILM_LEGS = (
    Variant(label="MiniLM alone", leg=Leg(model=MINILM, weight=1, words=0), sentences=0),
    *(
        Variant(label=f"words + MiniLM {weight}", leg=Leg(model=MINILM, weight=weight))
        for weight in (0.3, 0.5, 1.0, 1.5, 2.0, 3.0)
    ),
    Variant(label="words + MiniLM 1.5, no sentences", leg=Leg(model=MINILM, weight=1.5), sentences=0),
    Variant(label="words + MiniLM 1.5, 30 candidates", leg=Leg(model=MINILM, weight=1.5), candidates=30),
    Variant(label="words + MiniLM, RRF", leg=Leg(model=MINILM, weight=1, by_rank=True)),
)
MISTYPED = (STEPS[0], STEPS[2], STEPS[5], STEPS[7], TRIED[1], HASHED_LEGS[2])


class Lab:
    """A corpus with its indexes and vectors, made when they are first needed."""

    def __init__(self, corpus: Corpus, analyses: Mapping[str, Analyze], vectors: Vectors) -> None:
        self._corpus = corpus
        self._analyses = analyses
        self._vectors = vectors
        self._analyzer = RussianEnglishAnalyzer()
        self._index = lru_cache(maxsize=2)(self._make_index)
        self._counted = lru_cache(maxsize=2)(self._count)

    def search(self, text: str, variant: Variant) -> list[str]:
        """Document ids, best first, as the product would have them."""
        return documents(self.ranked(text, variant), lambda each: each.passage.document_id)

    def ranked(self, text: str, variant: Variant) -> list[RankedPassage]:
        """The passages with their scores, best first."""
        terms = tuple(dict.fromkeys(self._analyses[variant.analysis](text)))
        spellings = other_spellings(terms, self._analyzer.unsure(text)) if variant.spelled else ()
        index = self._index(variant.analysis, variant.words)
        scored = index.score(terms, spellings)
        words = scored.scores
        if variant.words.feedback:
            words = words + variant.words.feedback * feed_back(index, terms, scored, passages=5, words=10)
        if variant.beside:
            other = self._index(variant.beside.analysis, replace(variant.words, wide_share=0))
            words = words + variant.beside.weight * other.score(self._analyses[variant.beside.analysis](text)).scores
        ranked = self._ranked(text, words, variant)
        if variant.sentences:
            ranked = raise_close(ranked, dict(zip(terms, scored.rarities, strict=True)), weight=variant.sentences)
        return collapse(ranked) if variant.collapsed else ranked

    def _ranked(self, text: str, words: Scores, variant: Variant) -> list[RankedPassage]:
        leg = variant.leg
        if leg is None:
            return fuse(self._candidates(words, None, variant), lexical_weight=1, vector_weight=0)
        near = self._vectors.similarities(leg.model, text)
        found = self._candidates(words if leg.words else np.zeros_like(words), near, variant)
        kept = [each for each in found if not is_noise(each, model=leg.model)]
        return by_rank(kept) if leg.by_rank else fuse(kept, lexical_weight=leg.words, vector_weight=leg.weight)

    def _candidates(self, words: Scores, near: Scores | None, variant: Variant) -> list[Candidate]:
        worded = [at for at in best(words, variant.candidates) if words[at] > 0]
        similar = best(near, variant.candidates) if near is not None else []
        return [
            Candidate(
                passage=self._corpus.passages[at],
                similarity=None if near is None else float(near[at]),
                bm25=float(words[at]) if at in worded else None,
            )
            for at in dict.fromkeys([*worded, *similar])
        ]

    def _make_index(self, analysis: str, words: Words) -> Index:
        return Index(self._counted(analysis, words.titled is not None), replace(words, feedback=0))

    def _count(self, analysis: str, apart: bool) -> Counted:
        return count_terms(self._corpus.written, self._analyses[analysis], apart=apart)


def best(scores: Scores, count: int) -> list[int]:
    """Places of the highest scores, highest first."""
    return [int(at) for at in np.argsort(-scores, kind="stable")[:count]]


def by_rank(candidates: Sequence[Candidate]) -> list[RankedPassage]:
    """Reciprocal rank fusion (Cormack et al. 2009), scaled so that the best has 1."""
    legs: tuple[Callable[[Candidate], float | None], ...] = (lambda each: each.bm25, lambda each: each.similarity)
    sums = dict.fromkeys(range(len(candidates)), 0.0)
    for leg in legs:
        scores = {at: score for at, each in enumerate(candidates) if (score := leg(each)) is not None}
        for rank, at in enumerate(sorted(scores, key=lambda at: -scores[at]), start=1):
            sums[at] += 1 / (RRF_CONSTANT + rank)
    top = max(sums.values(), default=1.0)
    ranked = [RankedPassage(passage=each.passage, score=sums[at] / top) for at, each in enumerate(candidates)]
    return sorted(ranked, key=best_first)


def analyses() -> Mapping[str, Analyze]:
    """Ways to make terms of a text."""
    analyzer = RussianEnglishAnalyzer()
    word = re.compile(r"\w+")

    def typed(text: str) -> Sequence[str]:
        return word.findall(clean(text))

    def all_terms(text: str) -> Sequence[str]:
        return [term for token in typed(text) for term in analyzer.terms(token) or (token,)]

    def pieces(text: str) -> Sequence[str]:
        words = (f"<{each}>" for each in typed(text) if analyzer.terms(each))
        return [each[at : at + 4] for each in words for at in range(max(len(each) - 3, 1))]

    def pairs(text: str) -> Sequence[str]:
        terms = analyzer.terms(text)
        return [f"{first} {second}" for first, second in pairwise(terms)]

    return {"terms": analyzer.terms, "typed": typed, "all terms": all_terms, "pieces": pieces, "pairs": pairs}


class Report:
    """Prints tables; corpora are read once."""

    def __init__(self, data: Path, vectors: Path, model: Path | None) -> None:
        self._data = data
        self._kept = vectors
        self._model = model
        self._lab = cache(self._open_lab)

    @cached_property
    def _analyses(self) -> Mapping[str, Analyze]:
        return analyses()

    def table(self, title: str, variants: Sequence[Variant], sets: Sequence[str], *, typos: bool = False) -> None:
        """A line for each variant, a column for each set, and the time of a question in this process."""
        print(f"\n{title}\n\n| | {' | '.join(sets)} | ms |\n|---|{'---|' * (len(sets) + 1)}")
        for variant in variants:
            trials = [self._measure(name, self._questions(name, typos=typos), variant) for name in sets]
            cells = " | ".join(cell(measures) for measures, _ in trials)
            milliseconds = 1000 * sum(seconds for _, seconds in trials) / sum(m.queries for m, _ in trials)
            print(f"| {variant.label} | {cells} | {milliseconds:.0f} |", flush=True)

    def _measure(self, name: str, questions: Questions, variant: Variant) -> tuple[Measures, float]:
        """With the seconds of processor time for all questions."""
        lab = self._lab(SETS[name][0])
        lab.search("", variant)  # what is made once is not counted
        began = time.process_time()
        run = {key: lab.search(text, variant) for key, text in questions.texts.items()}
        return evaluate(run, questions.judged), time.process_time() - began

    def _questions(self, name: str, *, typos: bool) -> Questions:
        questions = read_questions(self._data / SETS[name][1])
        if not typos:
            return questions
        chance = random.Random(1)
        return replace(questions, texts={key: mistype(text, chance) for key, text in questions.texts.items()})

    def _open_lab(self, name: str) -> Lab:
        corpus = read_corpus(self._data / name)
        kept = self._kept / name.replace("/", "-")
        return Lab(corpus, self._analyses, Vectors(corpus, kept=kept, models={MINILM: self._model}))


def cell(measures: Measures) -> str:
    """nDCG@10 / recall@10 / recall@100 without the zero before the point."""
    figures = (measures.ndcg_10, measures.recall_10, measures.recall_100)
    return " / ".join(f"{figure:.3f}".removeprefix("0") for figure in figures)


def tables(report: Report, *, model: bool) -> Iterator[Callable[[], None]]:
    """In the order of docs/retrieval.md."""
    yield lambda: report.table("Words, one setting after the other", STEPS, tuple(SETS))
    yield lambda: report.table("One setting moved", MOVED, tuple(SETS)[:4])
    yield lambda: report.table("Tried and left out", TRIED, tuple(SETS))
    yield lambda: report.table("A typo in each longer word", MISTYPED, tuple(SETS)[:4], typos=True)
    yield lambda: report.table("Hashed vectors", HASHED_LEGS, tuple(SETS))
    if model:
        yield lambda: report.table("A real encoder", (STEPS[7], *MINILM_LEGS), ENGLISH)


def main() -> None:
    """Print all tables, or one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="the folder that holds vkcloud and xquad")
    parser.add_argument("vectors", type=Path, help="where vectors are kept from run to run")
    parser.add_argument("--model", type=Path, help="the folder that benchmarks.minilm exported")
    parser.add_argument("--only", type=int, help="the number of one table, from 0")
    arguments = parser.parse_args()
    report = Report(arguments.data, arguments.vectors, arguments.model)
    for number, table in enumerate(tables(report, model=arguments.model is not None)):
        if arguments.only in (None, number):
            table()


if __name__ == "__main__":
    main()
