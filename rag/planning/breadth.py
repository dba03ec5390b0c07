"""How far a reading goes: to the end of the base, or until the question can be answered.

In: a question, the words of `prompts/breadth.toml`. Out: its `Reach`, and whether it leans on the dialogue. It decides
no intent: only how far a reading goes that is planned anyway, and which plan stands in where no model plans.
Pure.
"""

import re
from collections.abc import Sequence
from enum import IntEnum

from prompts.breadth import BreadthWords

SHORT_QUESTION_WORDS = 5  # «перечисли их все»: in a longer one a pronoun may mean what the question itself names

_QUOTED = re.compile(r"«[^»]*»|“[^”]*”|\"[^\"]*\"")  # a name: what it says is not asked
_WORD = re.compile(r"\w+(?:[-'’]\w+)*")


class Reach(IntEnum):
    """What a question asks of a reading, in order of how far it goes."""

    ENOUGH = 0  # it stops when the question can be answered
    THOROUGH = 1  # all documents, where documents are read anyway
    ALL = 2  # all documents, also where no model has planned it


class Breadth:
    """The rule, with its words made ready once."""

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
        """The farthest of them: the question as it was asked, and as the planner words it."""
        return max(map(self._reach, questions), default=Reach.ENOUGH)

    def subject(self, question: str) -> str:
        """What is asked of, for a search: the question's words without those that say how much of it, and those that
        mean the documents themselves; all of them where nothing else is left."""
        said = _words(question)
        return " ".join(self._unsought.sub(" ", said).replace("-", " ").split()) or question

    def leans(self, question: str) -> bool:
        """Whether it seems to need the dialogue to be understood."""
        said = _words(question)
        return bool(self._openings.match(said)) or (
            len(said.split()) <= SHORT_QUESTION_WORDS and not self._pronouns.isdisjoint(said.split())
        )

    def takes_up(self, question: str) -> bool:
        """Whether it asks for the rest of a list, and for nothing else."""
        said = _words(question)
        return bool(self._rest.search(said)) and not self._rest_beside.sub(" ", self._rest.sub(" ", said)).strip()

    def _reach(self, question: str) -> Reach:
        meant = self._idioms.sub("-", _words(_QUOTED.sub(" - ", question)))
        if not self._all.search(meant):
            return Reach.ENOUGH
        return Reach.ALL if self._all.search(self._single.sub("-", meant)) else Reach.THOROUGH


def _words(text: str) -> str:
    """Words and the places of quotations, with single blanks between them."""
    return " ".join(re.findall(rf"{_WORD.pattern}|-", text.casefold().replace("ё", "е").replace("’", "'")))


def _pattern(entries: Sequence[str]) -> re.Pattern[str]:
    """Whole words alone, the longest entry first."""
    written = (re.escape(entry).replace(r"\*", r"\S*") for entry in sorted(entries, key=len, reverse=True))
    return re.compile(rf"(?<!\S)(?:{'|'.join(written)})(?!\S)")
