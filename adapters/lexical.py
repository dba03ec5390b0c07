"""Words as the lexical index knows them: Russian lemmas, English stems, codes and identifiers as they were typed.

In: any text. Out: its terms in order of appearance. The same analyzer serves documents and questions, so whatever it
does to a word, it does on both sides. It knows no database and no weights; BM25 is the database's.
"""

import re
import threading
import unicodedata
from functools import lru_cache
from itertools import chain
from typing import Protocol

CACHED_TOKENS = 2**17  # about 30 MB; a base of 4,604 sections (VK Cloud) has 33,000 different ones
LONGEST_TERM = 64  # characters; longer ones are base64, hashes and joined-up addresses, which nobody types again

# Signs that NFKC would turn into letters and glue to the word ("Windows™" -> "WindowsTM", "№5" -> "No5").
_SIGNS = re.compile("[™®©℠№]")
# Signs inside a word that nobody sees: soft hyphen, zero-width ones, the stress mark of "за́мок" (U+0301).
_INVISIBLE = re.compile("[\u00ad\u200b\u200c\u200d\u2060\ufeff\u0301]")
_SPELLINGS = (("ё", "е"), ("’", "'"), ("‐", "-"), ("‑", "-"))

# A token is words and numbers joined without spaces (`user_id`, `10.5.3`, `file.pdf`, `a@b.ru`), or `c++` and `f#`.
_TOKEN = re.compile(r"[^\W_]+(?:'[^\W_]+)*(?:[-._@]+[^\W_]+(?:'[^\W_]+)*)*(?:\+\+|#)?")
_PART = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_RUSSIAN = re.compile(r"[а-я]+(?:-[а-я]+)*")
_ENGLISH = re.compile(r"[a-z]+(?:'[a-z]+)*")

_RUSSIAN_STOP_TERMS = """
    в на не и или но а с со к ко по из от до за о об у для при что чтобы как это этот тот который бы ли же быть
"""
_ENGLISH_STOP_TERMS = """
    a an the of to in on at by for from with and or is are be was were it this that as
    what how which where when whi do doe did can i you your my we our
"""
STOP_TERMS = frozenset(_RUSSIAN_STOP_TERMS.split() + _ENGLISH_STOP_TERMS.split())
"""Lemmas and stems that say nothing of the subject: prepositions, conjunctions, pronouns, what questions begin with.

Measured against no list (benchmarks/lexical.py): nDCG@10 .423 -> .446 on vkcloud/ru, recall@10 .575 -> .603 on
vkcloud/en, xquad within .007; the index is a tenth (ru) to a quarter (en) smaller. Longer lists gained nothing.
"""


class _Parse(Protocol):
    """What is used of a parse of pymorphy3, which comes without types."""

    normal_form: str


class _Morphology(Protocol):
    """What is used of pymorphy3's analyzer."""

    def parse(self, word: str) -> list[_Parse]: ...


class _Stemmer(Protocol):
    """What is used of a stemmer of snowballstemmer."""

    def stemWord(self, word: str) -> str: ...  # noqa: N802 - the library's name


class RussianEnglishAnalyzer:
    """Meets `ingestion.ports.TermAnalyzer` and `rag.ports.TermAnalyzer`. Safe to share between threads.

    The dictionary (0.3 s, 20 MB) is loaded at the first word, so that a command which analyses nothing does not wait.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._morphology: _Morphology | None = None
        self._stemmer: _Stemmer | None = None
        self._token_terms = lru_cache(maxsize=CACHED_TOKENS)(self._analyse_token)

    def terms(self, text: str) -> tuple[str, ...]:
        """Terms in order of appearance, repeated as often as they occur; a compound is followed by its parts."""
        return tuple(chain.from_iterable(map(self._token_terms, _TOKEN.findall(clean(text)))))

    def _analyse_token(self, token: str) -> tuple[str, ...]:
        parts = _PART.findall(token)
        forms = [] if parts == [token] else [token]
        forms += [part for part in parts if len(part) > 1 or part.isdigit()]
        terms = [self._normalise(form) for form in forms if len(form) <= LONGEST_TERM]
        return tuple(term for term in terms if term not in STOP_TERMS)

    def _normalise(self, word: str) -> str:
        if _RUSSIAN.fullmatch(word):
            return self._lemma(word)
        if _ENGLISH.fullmatch(word):
            return self._stem(word)
        return word

    def _lemma(self, word: str) -> str:
        with self._lock:  # pymorphy3 does not promise to be safe in threads; only words not yet cached come here
            if self._morphology is None:
                import pymorphy3

                self._morphology = pymorphy3.MorphAnalyzer()
            return self._morphology.parse(word)[0].normal_form.replace("ё", "е")

    def _stem(self, word: str) -> str:
        with self._lock:  # a snowball stemmer keeps the word it works on in itself
            if self._stemmer is None:
                from snowballstemmer.english_stemmer import EnglishStemmer  # alone: the package loads all languages

                self._stemmer = EnglishStemmer()
            return self._stemmer.stemWord(word)


def clean(text: str) -> str:
    """One spelling for what reads the same: NFKC, lower case, `е` for `ё`, nothing invisible inside words."""
    text = _INVISIBLE.sub("", unicodedata.normalize("NFKC", _SIGNS.sub(" ", text))).lower()
    for spelling, ours in _SPELLINGS:
        text = text.replace(spelling, ours)
    return text
