"""Recognises small talk: greetings, thanks, and words that only lead up to a question.

In: a message, the words of `prompts/small_talk.toml`. Out: the kind of small talk when the message is nothing else
(«привет, где договор?» asks for the contract), and the part of a question that is worth searching. Pure.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

from prompts.wordings import SmallTalkWords
from rag.records import SmallTalk
from rag.words import folded

LONGEST_MESSAGE = 200  # characters of small talk; longer ones are questions or pasted texts
LONGEST_PHRASE = 8  # words of an entry
MOST_LEADING = 40  # words that are examined before a question: a bound for pasted texts
FEWEST_LEFT = 2  # words that must be left of a question once a greeting or thanks is removed

_WORD = re.compile(r"\w+(?:[-'’]\w+)*")
_REPEATED = re.compile(r"([^\W\d_])\1+")
_AGREES = re.compile(r"[:;=]?-?\)+|\+")
_Phrase = tuple[str, ...]


class SmallTalkRule:
    """The rule, with its words prepared once."""

    def __init__(self, words: SmallTalkWords) -> None:
        self._kinds: Mapping[_Phrase, SmallTalk] = {
            phrase: kind for kind in reversed(SmallTalk) for phrase in _phrases(getattr(words, kind.value))
        }
        self._whole = frozenset((*self._kinds, *_phrases(words.beside)))
        self._documents = _phrases(words.documents)
        self._remember = _phrases(words.remember)
        self._courtesies = _phrases(words.courtesies)
        self._frames = _phrases(words.frames)
        self._interrogatives = _phrases(words.interrogatives)
        self._afterwards = frozenset(phrase[::-1] for phrase in _phrases(words.afterwards))

    def kind(self, message: str) -> SmallTalk | None:
        """The kind of a message that is small talk and nothing else; of several the first in `SmallTalk`. «👍», «:)»
        and «+» are assent, «?» and «...» depend on the dialogue; other signs may be a search: «&&»."""
        if len(message) > LONGEST_MESSAGE:
            return None
        if not (said := _words(message)):
            signs = message.strip()
            if _AGREES.fullmatch(signs) or any(unicodedata.category(sign) in ("So", "Sk") for sign in signs):
                return SmallTalk.ASSENT
            return SmallTalk.LEANING if signs and not signs.strip("?!.… \n") else None
        kinds: set[SmallTalk] = set()
        while said:
            if not (phrase := _first(said, self._whole)):
                return None
            kinds.update({self._kinds[phrase]} if phrase in self._kinds else ())
            said = said[len(phrase) :]
        return min(kinds, key=list(SmallTalk).index, default=None)

    def asks_for_documents(self, message: str) -> bool:
        """Whether it asks which documents there are, and for nothing else."""
        return len(message) <= LONGEST_MESSAGE and _words(self._behind(message, frozenset())) in self._documents

    def to_remember(self, message: str) -> str:
        """What is to be kept of «Запомни: …»; empty for other messages. A question is never kept."""
        places = list(_WORD.finditer(message))
        begun = len(_first(_words(message), self._remember))
        is_question = message.rstrip().endswith("?")
        return message[places[begun].start() :].strip() if 0 < begun < len(places) and not is_question else ""

    def sought(self, question: str) -> str:
        """What to search for: without greeting, politeness and the words that lead up to the subject."""
        return self._behind(question, self._frames)

    def subject(self, question: str) -> str:
        """The same, also without interrogatives. The sentences of a passage are chosen by what is left."""
        return self._behind(question, self._frames | self._interrogatives)

    def _behind(self, question: str, asking: frozenset[_Phrase]) -> str:
        """Without thanks at its end and phrases at its beginning: a courtesy needs two words beside it («Hello world»
        is no greeting), one of `asking` («что такое») a single one."""
        places = list(_WORD.finditer(question))
        end = question[places[-LONGEST_PHRASE].start() :] if len(places) > LONGEST_PHRASE else question
        left = len(places) - len(_first(_words(end)[::-1], self._afterwards))
        if FEWEST_LEFT <= left < len(places):
            question, places = question[: places[left - 1].end()], places[:left]
        words, begun = _words(question[: places[MOST_LEADING].end()] if len(places) > MOST_LEADING else question), 0
        while phrase := _first(words[begun:], self._courtesies | asking):
            if len(places) - begun - len(phrase) < (1 if phrase in asking else FEWEST_LEFT):
                break
            begun += len(phrase)
        return question[places[begun].start() :] if begun else question


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
