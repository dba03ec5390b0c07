"""Thresholds: which passages count as found.

In: how a passage matches a question. Out: whether it may be shown to a model at all, and whether it may be quoted where
no model judges it. Pure; the thresholds are constants at the top.
"""

import re
from collections.abc import Mapping, Sequence, Set

from rag.records import Candidate, Fit, Spelling
from rag.retrieval.spelling import SHORTEST_TRANSCRIBED, exactly

# With a model: a passage is dropped only if it has no query word and hardly any similarity; the model judges the rest.
# offline-1 (offline-2 differs in codes and numbers alone), measured on VK Cloud ru: 99 % of the pairs of a rubq
# question and a section lie under 0.11, while the best section for a question about VK Cloud itself lies over 0.24 in
# 95 % of the cases. Jina's is not measured (there was no key): it is low enough to lose nothing, and preliminary.
NOISE_SIMILARITY = {"offline": 0.12, "jina": 0.15}
DEFAULT_NOISE_SIMILARITY = 0.1

# Without a model: so much of the question's weight must stand in the passage or its title, where a word weighs as much
# as it is rare in the base, and one that the base does not hold the most. Measured on the best passage by stems: of
# 603 questions of XQuAD-ru .17 hold less than the first share and .01 less than the second, of 283 questions about the
# world (rubq) asked of VK Cloud .93 and .52.
CERTAIN_SHARE = 0.45
RELATED_SHARE = 0.25
# Or the vectors must be this near, for models that encode meaning; the offline model compares letters and has no entry.
CERTAIN_SIMILARITY = {"jina": 0.5}  # not measured, see above


def is_noise(candidate: Candidate, *, model: str | None) -> bool:
    """True when the passage has no word of the question and its vector is no nearer than chance."""
    if candidate.bm25 is not None:
        return False
    floor = _of_model(NOISE_SIMILARITY, model)
    return (candidate.similarity or 0.0) < (DEFAULT_NOISE_SIMILARITY if floor is None else floor)


def fit_of(
    asked: Mapping[str, float],
    held: Set[str],
    *,
    similarity: float | None,
    model: str | None,
    spellings: Sequence[Spelling] = (),
) -> Fit:
    """How well a passage with the terms `held` fits a question. `asked`: its terms and their weights; `spellings` of
    them count as well."""
    met, whole = _met(asked.keys(), held, spellings), sum(asked.values())
    share = sum(asked[term] for term in met) / whole if whole else 0.0
    floor = _of_model(CERTAIN_SIMILARITY, model)
    is_near = floor is not None and similarity is not None and similarity >= floor
    if is_near or share >= CERTAIN_SHARE:
        return Fit.CERTAIN
    return Fit.RELATED if share >= RELATED_SHARE else Fit.CHANCE


def _met(asked: Set[str], held: Set[str], spellings: Sequence[Spelling]) -> Set[str]:
    """The terms of `asked` that the passage holds. A part of such a term counts, too: «тайм» where «тайм-аут» was asked
    and the passage has «таймаут»."""
    met = asked & held | {each.term for each in spellings if each.term not in held and _is_respelled(each, held)}
    return met | {part for part in asked for whole in met if whole.startswith(part) or whole.endswith(part)}


def _is_respelled(spelling: Spelling, held: Set[str]) -> bool:
    """Whether `held` has the other spelling: a word of SHORTEST_TRANSCRIBED letters or more («дочь» sounds like "doc"),
    or exactly the abbreviation that was spelled out."""
    return any(
        (len(term) >= SHORTEST_TRANSCRIBED or spelling == exactly(spelling.term, term))
        and term.startswith(spelling.beginnings)
        and re.search(spelling.pattern, term)
        for term in held
    )


def _of_model(table: dict[str, float], model: str | None) -> float | None:
    """The entry whose key the model's name begins with."""
    return next((value for family, value in table.items() if model and model.startswith(family)), None)
