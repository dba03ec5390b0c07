"""Recognises small talk: greetings, thanks, and words that only lead up to a question.

In: a message, the words of `prompts/small_talk.toml`. Out: the kind of small talk when the message is nothing else, and
the part of a question that is worth searching. A planning model judges better; this is for turns without one. Only
whole messages are small talk: «привет, где договор?» asks for the contract. Pure.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from prompts.wordings import SmallTalkWords
from rag.records import Passage, SmallTalk
from rag.words import folded

LONGEST_MESSAGE = 200  # characters of small talk; longer ones are questions or pasted texts
LONGEST_PHRASE = 8  # words of an entry
MOST_LEADING = 40  # words that are examined before a question: a bound for pasted texts
FEWEST_LEFT = 2  # words that must be left of a question once a greeting or thanks is removed

_WORD = re.compile(r"\w+(?:[-'’]\w+)*")
_REPEATED = re.compile(r"([^\W\d_])\1+")
_AGREES = re.compile(r"[:;=]?-?\)+|\+")
_Phrase = tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class _Leading:
    """Phrases that a question may begin with. A greeting needs two words after it («Hello world» is no greeting);
    «что такое» needs only one."""

    all: frozenset[_Phrase]
    before_one: frozenset[_Phrase]  # those that need only one word after them


class SmallTalkRule:
    """The rule, with its words prepared once."""

    def __init__(self, words: SmallTalkWords) -> None:
        self._kinds: Mapping[_Phrase, SmallTalk] = {
            phrase: kind for kind in reversed(SmallTalk) for phrase in _phrases(getattr(words, kind.value))
        }
        self._beside = _phrases(words.beside)
        self._whole = frozenset((*self._kinds, *self._beside))
        self._documents = _phrases(words.documents)
        self._remember = _phrases(words.remember)
        courtesies = _phrases(words.courtesies)
        self._afterwards = frozenset(phrase[::-1] for phrase in _phrases(words.afterwards))
        frames = _phrases(words.frames)
        asking = frames | _phrases(words.interrogatives)
        self._polite = _Leading(all=courtesies, before_one=frozenset())
        self._framing = _Leading(all=courtesies | frames, before_one=frames)
        self._asking = _Leading(all=courtesies | asking, before_one=asking)

    def kind(self, message: str) -> SmallTalk | None:
        """The kind of a message that is small talk and nothing else, otherwise None. Of several kinds in one message
        the one that needs the fullest reply: the first in `SmallTalk`."""
        if len(message) > LONGEST_MESSAGE:
            return None
        said = _words(message)
        if not said:
            return _of_signs(message)
        kinds: set[SmallTalk] = set()
        while said:
            phrase = _first(said, self._whole)
            if not phrase:
                return None
            kinds.update({self._kinds[phrase]} if phrase in self._kinds else ())
            said = said[len(phrase) :]
        return min(kinds, key=list(SmallTalk).index, default=None)

    def asks_for_documents(self, message: str) -> bool:
        """Whether it asks which documents there are, and for nothing else."""
        if len(message) > LONGEST_MESSAGE:
            return False
        return _words(_behind(self._polite, self._without_thanks(message))) in self._documents

    def to_remember(self, message: str) -> str:
        """What is to be kept of «Запомни: …»; empty for other messages. A question is never kept."""
        places = list(_WORD.finditer(message))
        begun = len(_first(_words(message), self._remember))
        is_question = message.rstrip().endswith("?")
        return message[places[begun].start() :].strip() if 0 < begun < len(places) and not is_question else ""

    def sought(self, question: str) -> str:
        """What to search for: the question without greeting, politeness and the words that lead up to its subject; the
        whole question where too little would be left."""
        return _behind(self._framing, self._without_thanks(question))

    def subject(self, question: str) -> str:
        """The same, also without interrogatives. The sentences of a passage are chosen by what is left."""
        return _behind(self._asking, self._without_thanks(question))

    def _without_thanks(self, question: str) -> str:
        """The question without the phrases of thanks at its end."""
        places = list(_WORD.finditer(question))
        end = question[places[-LONGEST_PHRASE].start() :] if len(places) > LONGEST_PHRASE else question
        left = len(places) - len(_first(_words(end)[::-1], self._afterwards))
        return question[: places[left - 1].end()] if FEWEST_LEFT <= left < len(places) else question


def _behind(leading: _Leading, text: str) -> str:
    """The text after the leading phrases that it begins with."""
    places = list(_WORD.finditer(text))
    words, begun = _words(text[: places[MOST_LEADING].end()] if len(places) > MOST_LEADING else text), 0
    while phrase := _first(words[begun:], leading.all):
        left = len(places) - begun - len(phrase)
        if left < (1 if phrase in leading.before_one else FEWEST_LEFT):
            break
        begun += len(phrase)
    return text[places[begun].start() :] if begun else text


def is_said_by(passage: Passage, message: str) -> bool:
    """Whether the passage is nothing but the message, or its document has that name: somebody has stored just that."""
    said = _words(message)
    names = (passage.text, passage.title, PurePath(passage.title).stem, PurePath(passage.source_identifier).stem)
    return bool(said) and any(_words(name) == said for name in names)


def _of_signs(message: str) -> SmallTalk | None:
    """«👍», «:)» and «+» are assent; «?» and «...» depend on the dialogue. Other signs may be a search: «&&»."""
    if _AGREES.fullmatch(message.strip()) or any(unicodedata.category(sign) in ("So", "Sk") for sign in message):
        return SmallTalk.ASSENT
    return SmallTalk.LEANING if message.strip() and not message.strip("?!.… \n") else None


def _first(words: Sequence[str], phrases: frozenset[_Phrase]) -> _Phrase:
    """The longest of the phrases that the words begin with; empty when there is none."""
    tried = (tuple(words[:length]) for length in range(min(LONGEST_PHRASE, len(words)), 0, -1))
    return next((phrase for phrase in tried if phrase in phrases), ())


def _phrases(entries: Iterable[str]) -> frozenset[_Phrase]:
    return frozenset(map(_words, entries))


def _words(text: str) -> _Phrase:
    """One spelling for «Спасибооо!!» and «спасибо»."""
    plain = folded(text).replace("’", "'")
    return tuple(_REPEATED.sub(r"\1", word) for word in _WORD.findall(plain))
