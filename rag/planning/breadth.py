"""What the words of a question tell without a model: whether it is about all documents, about a list's rest.

In: a question, the words of `prompts/breadth.toml`, the exchanges before it. Out: its `Reach`, whether it depends on
the dialogue, and the `Rest` of a list that an earlier answer has cut. It serves plans without a model, and says from
where a list goes on. Pure.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from prompts.breadth import BreadthWords
from rag.answering.counts import left_and_total
from rag.records import Exchange
from rag.words import folded

SHORT_QUESTION_WORDS = 5  # «перечисли их все»: in a longer one a pronoun may mean what the question itself names

_QUOTED = re.compile(r"«[^»]*»|“[^”]*”|\"[^\"]*\"")  # a name: its words are not part of the request
_WORD = re.compile(r"\w+(?:[-'’]\w+)*")


class Reach(IntEnum):
    """How far a question wants a reading to go, in ascending order."""

    ENOUGH = 0  # until the question can be answered
    THOROUGH = 1  # all documents, if the plan reads documents anyway
    ALL = 2  # all documents, even where no model has planned a reading


class Breadth:
    """The rule, with its words compiled once."""

    def __init__(self, words: BreadthWords) -> None:
        self._all = _pattern(words.all)
        self._single = _pattern(words.single)
        self._idioms = _pattern(words.idioms)
        self._unsought = _pattern((*words.all, *words.holders))
        self._openings = _pattern(words.openings)
        self._rest = _pattern(words.rest)
        self._rest_beside = _pattern(words.rest_beside)
        self._pronouns = frozenset(words.pronouns)

    def reach(self, *questions: str) -> Reach:
        """The farthest reach of the given wordings: the question as asked, and as the planner words it."""
        return max(map(self._reach, questions), default=Reach.ENOUGH)

    def subject(self, question: str) -> str:
        """The subject, for a search: the question without words of quantity and words for the documents themselves; the
        whole question where nothing else is left."""
        said = _words(question)
        return " ".join(self._unsought.sub(" ", said).replace("-", " ").split()) or question

    def leans(self, question: str) -> bool:
        """Whether the question seems to need the dialogue to be understood."""
        said = _words(question)
        return bool(self._openings.match(said)) or (
            len(said.split()) <= SHORT_QUESTION_WORDS and not self._pronouns.isdisjoint(said.split())
        )

    def takes_up(self, question: str) -> bool:
        """Whether the question asks for the rest of a list, and for nothing else."""
        said = _words(question)
        return bool(self._rest.search(said)) and not self._rest_beside.sub(" ", self._rest.sub(" ", said)).strip()

    def _reach(self, question: str) -> Reach:
        meant = self._idioms.sub("-", _words(_QUOTED.sub(" - ", question)))
        if not self._all.search(meant):
            return Reach.ENOUGH
        return Reach.ALL if self._all.search(self._single.sub("-", meant)) else Reach.THOROUGH


@dataclass(frozen=True, kw_only=True)
class Rest:
    """A list that is to be continued."""

    question: str  # the question that it answers
    shown: int  # items so far


def rest_of(question: str, window: Sequence[Exchange], breadth: Breadth) -> Rest | None:
    """None where the last answer left out nothing, or the message asks for something else."""
    left, total = (left_and_total(window[-1].answer) if window else None) or (0, 0)
    if left >= total or not breadth.takes_up(re.sub(rf"\b{left}\b", "", question)):  # «выведи ещё 18», as was offered
        return None
    asked = (each.question for each in reversed(window) if not breadth.takes_up(each.question))
    first = next(asked, None)
    return Rest(question=first, shown=total - left) if first else None


def _words(text: str) -> str:
    """The words in lower case, separated by single blanks; «-» stays as a placeholder."""
    return " ".join(re.findall(rf"{_WORD.pattern}|-", folded(text).replace("’", "'")))


def _pattern(entries: Sequence[str]) -> re.Pattern[str]:
    """Matches whole words only, the longest entry first."""
    written = (re.escape(entry).replace(r"\*", r"\S*") for entry in sorted(entries, key=len, reverse=True))
    return re.compile(rf"(?<!\S)(?:{'|'.join(written)})(?!\S)")
