"""Words as the lexical index knows them: Russian lemmas, English stems, codes and identifiers as they were typed.

In: any text. Out: its terms in order of appearance. The same analyzer serves documents and questions, so whatever it
does to a word, it does on both sides. It knows no database and no weights; the database computes BM25.
"""

import re
import threading
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import chain
from typing import Any

from adapters.morphology import beginning, dictionary

_YEAR = r"(?:19|20)\d\d"
_RUSSIAN_MONTHS = (
    "январ", "феврал", "март", "апрел", "ма", "июн", "июл", "август", "сентябр", "октябр", "ноябр", "декабр",
)  # fmt: skip
_ENGLISH_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTHS_BUT_MAY = tuple(name for name in _RUSSIAN_MONTHS if name != "ма")  # whose three letters begin other words, too
_RUSSIAN = rf"(?:(?:{'|'.join(_MONTHS_BUT_MAY)})[а-я]*|ма(?:й|я|е|йск[а-я]+)(?![а-я]))"
_ENGLISH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_MONTH = f"(?P<name>{_RUSSIAN}|{_ENGLISH})"
_OF_YEAR = rf"(?:,?\s+(?P<year>{_YEAR})(?!\d))?"
_DAYS_IN_WORDS = (
    re.compile(rf"(?P<day>\d(?<![\d.,]\d)\d?)(?:-?(?:го|st|nd|rd|th))?\s+(?:of\s+)?{_MONTH}{_OF_YEAR}"),
    re.compile(rf"\b(?P<name>{_ENGLISH})\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?![\d.]){_OF_YEAR}"),
    re.compile(rf"(?<![^\W_]){_MONTH}(?:\s+[а-я]+(?<!года))?[\s._-]+(?P<year>{_YEAR})(?!\d)"),
)
_DAYS_IN_NUMBERS = (
    re.compile(rf"(?P<day>\d(?<![\d./]\d)\d?)[./](?:(?P<month>\d{{1,2}})[./])?(?P<year>{_YEAR})(?![\d/])"),
    re.compile(r"(?P<year>(?:19|20)(?<!\d\d\d)\d\d)[-._](?P<month>\d\d)(?:[-._](?P<day>\d\d))?(?![\w-])"),
)
_QUARTER = re.compile(rf"(?<!\w)q([1-4])[\s_-]*(?:of\s+)?(?:fy\s*)?({_YEAR})(?!\d)|({_YEAR})[\s_-]*q([1-4])(?![a-z\d])")
_QUARTER_IN_RUSSIAN = re.compile(rf"(?<!\d)([1-4])(?:-?й)?\s+квартал[а-я]*\s+({_YEAR})(?!\d)")
_YEAR_IN_CODE = re.compile(rf"(?:fy|q[1-4]|_)({_YEAR})(?!\d)|(?<!\d)({_YEAR})(?=q[1-4]|_)")
_A_YEAR = re.compile(_YEAR)
_A_QUARTER = re.compile("q[1-4]")
_HINTS = (*_MONTHS_BUT_MAY, "мая", "май", "мае", *_ENGLISH_MONTHS)
_AFTER_COMMA = re.compile(r",\d{3}")
_BEFORE_NUMBERS = ("#", "no.", "номер", "number")
_COMMAS = re.compile(r"[1-9](?<![\d.,]\d)\d{0,2}(?:,\d{3})+(?![\d,])")
_SLASHED = re.compile(r"\d(?<![\d/]\d)\d*/\d+(?![\d/])")
_NUMBERED = re.compile(r"(?:№|#|n(?<!\wn)o\.|н(?<!\wн)омер[а-я]*|n(?<!\wn)umber)\s*(\d[\w/-]*)")
CACHED_TOKENS = 2**17  # about 30 MB; a base of 4,604 sections (VK Cloud) has 33,000 different ones
SHORTEST_MISTYPED, LONGEST_MISTYPED = 4, 20  # letters of words whose neighbours are looked up, 65 for each letter
SHORTEST_STEM = 4  # letters; words with a shorter one in common are mostly no relatives
MOST_FORMS = 30  # a noun has fewer; forms of verbs and adjectives, which have a hundred, are hardly another word's
LONGEST_TERM = 64  # characters; longer ones are base64, hashes and joined-up addresses, which nobody types again
# Signs that NFKC would turn into letters and glue to the word ("Windows™" -> "WindowsTM", "№5" -> "No5").
_SIGNS = re.compile("[™®©℠№]")
# Signs inside a word that nobody sees: soft hyphen, zero-width ones, the stress mark of "за́мок" (U+0301).
_INVISIBLE = re.compile("[\u00ad\u200b\u200c\u200d\u2060\ufeff\u0301]")
_SPELLINGS = (("ё", "е"), ("’", "'"), ("‐", "-"), ("‑", "-"))
# Small letters that look alike, or whose capitals do: «Симанcом» with a Latin c, «1С» typed on either keyboard.
_CYRILLIC_TWINS, _LATIN_TWINS = "авекмнорстух", "abekmhopctyx"
_TO_CYRILLIC = str.maketrans(_LATIN_TWINS, _CYRILLIC_TWINS)
_TO_LATIN = str.maketrans(_CYRILLIC_TWINS, _LATIN_TWINS)
# A token is words and numbers joined without spaces (`user_id`, `10.5.3`, `file.pdf`, `a@b.ru`), or `c++` and `f#`.
_TOKEN = re.compile(r"[^\W_]++(?:(?:'|[-._@]++)[^\W_]++)*+(?:\+\+|#)?")
_DIGIT = re.compile(r"\d")
_PART = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_HUMPED = re.compile("[A-Z](?<=[a-z].)")  # looked for first: most texts have no such name
_CAMEL = re.compile(r"\b[A-Za-z]*[a-z][A-Z][A-Za-z]*")  # userId, PostgreSQL: found by its humps too
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
# What is typed with separators as often as without: `PG-15`, a telephone number of +7. `282 000` is `282000` alone:
# with its parts beside it, every amount of thousands would be what «счёт 282» asks for. The patterns begin
# with what is rare, and look behind after that: a pattern that looks behind first is tried at every letter.
_GROUP_BEHIND = re.compile(r" (?<=\d )\d{3}")
_NUMBER_BEHIND = re.compile(r"-\d")
_CODE_IN_TWO = re.compile(r"(?<![\w-])[^\W\d_]{1,8}-\d{1,6}(?![\w-])")
_THOUSANDS = re.compile(r"\d(?<![\d.,]\d)\d{0,2}(?: \d{3})+(?! ?\d)")
_TELEPHONE = re.compile(r"[78](?<!\d[78])[ (-]{0,2}(?:\d[ )-]{0,2}){9}\d(?!\d)")
_SUBSCRIBER_DIGITS = 10  # before them 8 stands for +7
_MIXED = re.compile(r"(?=.*[а-я])(?=.*[a-z])[а-яa-z]+")
_CODE = re.compile(r"(?=.*\d)(?=.*[а-яa-z])[\dа-яa-z]+")
_LETTER_AND_SIGN = re.compile(r"^[а-я](?=\+\+|#)")  # «С++», «С#» typed on the Russian keyboard
_NUMBER_OF_CLAUSE = re.compile(r"^[^\W\d_]{1,4}\.(\d+(?:\.\d+)+)$")  # «п.5.3.1» is asked for as «пункт 5.3.1»
_PLAIN = re.compile(rf"[a-z]{{2,{LONGEST_TERM}}}|[а-я]{{2,{LONGEST_TERM}}}")  # most tokens: they need no further checks
_RUSSIAN_WORD = re.compile(r"[а-я]+(?:-[а-я]+)*")
_ENGLISH_WORD = re.compile(r"[a-z]+(?:['-][a-z]+)*")
_LETTERS = "абвгдежзийклмнопрстуфхцчшщъыьэюя"
_STOP_TERMS = """
    в на не и или но а с со к ко по из от до за о об у для при что чтобы как это этот тот который бы ли же быть
    кто какой каков чей когда сколько насколько где куда откуда почему зачем
    a an the of to in on at by for from with and or is are be was were it this that as
    what how which where when whi who whom whose much mani do doe did can i you your my we our
"""
STOP_TERMS = frozenset(_STOP_TERMS.split())
"""Lemmas and stems that say nothing of the subject: prepositions, conjunctions, pronouns, what questions begin with.

Measured against no list (benchmarks/lexical.py): nDCG@10 .423 -> .446 on vkcloud/ru, recall@10 .575 -> .603 on
vkcloud/en, xquad within .007; the index is a tenth (ru) to a quarter (en) smaller.
"""


def uniform_terms(text: str, cleaned: str) -> Iterator[str]:
    """Terms in no particular order; some may repeat. What most texts lack is looked for first: that takes a fifth."""
    if any(sign in cleaned for sign in _BEFORE_NUMBERS) or "№" in text:
        yield from (f"№{number}" for number in _NUMBERED.findall(text.lower()))
    if "/" in cleaned:
        yield from _SLASHED.findall(cleaned)
    if _AFTER_COMMA.search(cleaned):
        yield from (number.replace(",", "") for number in _COMMAS.findall(cleaned))
    has_year = _A_YEAR.search(cleaned) is not None
    if any(month in cleaned for month in _HINTS):
        yield from _days(cleaned, _DAYS_IN_WORDS if has_year else _DAYS_IN_WORDS[:2])  # the last needs one
    if has_year:
        yield from _days(cleaned, _DAYS_IN_NUMBERS)
        has_quarter = _A_QUARTER.search(cleaned) is not None
        codes = _YEAR_IN_CODE.findall(cleaned) if has_quarter or "_" in cleaned or "fy" in cleaned else ()
        yield from (first or second for first, second in codes)
        for quarter, year, other_year, other_quarter in _QUARTER.findall(cleaned) if has_quarter else ():
            yield f"{year or other_year}-q{quarter or other_quarter}"
        for quarter, year in _QUARTER_IN_RUSSIAN.findall(cleaned) if "квартал" in cleaned else ():
            yield f"{year}-q{quarter}"


def _days(cleaned: str, patterns: Iterable[re.Pattern[str]]) -> Iterator[str]:
    """Months and days, with and without their year."""
    for parts in (found.groupdict() for pattern in patterns for found in pattern.finditer(cleaned)):
        year, day = parts["year"] or "", parts.get("day")
        if name := parts.get("name"):
            known = _RUSSIAN_MONTHS if name[0] >= "а" else _ENGLISH_MONTHS
            best = max((month for month in known if name.startswith(month)), key=len)  # «март» begins with «ма», too
            month = 1 + known.index(best)
        else:  # of «05.2024» the first number is the month
            month, day = (int(parts["month"]), day) if parts["month"] else (int(day or 0), None)
        if 1 <= month <= 12 and (day is None or 1 <= int(day) <= 31):
            yield from [f"{year}-{month:02}"] if year else []
            yield from [f"{year}-{month:02}-{int(day):02}"] if year and day else []
            yield from [f"--{month:02}-{int(day):02}"] if day else []


class RussianEnglishAnalyzer:
    """Meets `ingestion.ports.TermAnalyzer` and `rag.ports.TermAnalyzer`. Safe to share between threads. The dictionary
    (0.3 s, 20 MB) is loaded at the first word, so that a command which analyses nothing does not wait."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stemmers: Mapping[bool, Any] = {}  # by whether the word is English; PyStemmer has no types
        self._token_terms = lru_cache(maxsize=CACHED_TOKENS)(self._analyse_token)

    def terms(self, text: str) -> tuple[str, ...]:
        """A compound is followed by its parts."""
        cleaned = clean(text)
        words = chain.from_iterable(map(self._token_terms, _tokens(text, cleaned)))
        return (*words, *uniform_terms(text, cleaned)) if _DIGIT.search(cleaned) else tuple(words)

    def unsure(self, text: str) -> frozenset[str]:
        """Terms of words that no dictionary knows; English has none here, so all of its words."""
        tokens = set(_tokens(text, clean(text)))
        parts = {part for token in tokens for part in _PART.findall(token) if not self._is_known(part)}
        compounds = {token for token in tokens if "-" in token and not self._is_known(token)}
        return frozenset(chain(*map(self._token_terms, parts), map(self._normalise, compounds)))

    def other_lemmas(self, term: str) -> tuple[str, ...]:
        """Terms under which other forms of the word are indexed («корме» as «корма», where «корм» misses it), and its
        relatives: whoever asks when to pay («платить») means the payment («плата»). A question asks for these only
        where the base does not hold the term itself: indexing all of them costs nDCG@10 .008 on vkcloud/ru."""
        if not _RUSSIAN_WORD.fullmatch(term):
            return ()
        forms = dictionary().parse(term)[0].lexeme if dictionary().word_is_known(term) else []
        lemmas = (self._lemma(form.word) for form in forms if len(forms) <= MOST_FORMS)
        stem = self._stem(term)
        relatives = beginning(stem) if len(stem) >= SHORTEST_STEM else ()  # whatever their part of speech
        related = (self._lemma(word) for word in relatives if self._stem(word.replace("ё", "е")) == stem)
        others = dict.fromkeys((*lemmas, *related))
        return tuple(lemma for lemma in others if lemma not in (term, *STOP_TERMS))

    def corrections(self, text: str) -> dict[str, tuple[str, ...]]:
        """Of Russian words that no dictionary knows the terms of known ones that are a letter away: «плта» is «плата»
        or «плита». The lemma of a mistyped form is often no letter away from that of the right one."""
        found = {}
        for word in filter(_RUSSIAN_WORD.fullmatch, dict.fromkeys(_tokens(text, clean(text)))):
            if SHORTEST_MISTYPED <= len(word) <= LONGEST_MISTYPED and not self._is_known(word):
                known = filter(dictionary().word_is_known, _one_letter_off(word))
                found[self._normalise(word)] = tuple(dict.fromkeys(map(self._lemma, known)))
        return found

    def _is_known(self, word: str) -> bool:
        if _ENGLISH_WORD.fullmatch(word):
            return False
        return not word.replace("-", "").isalpha() or dictionary().word_is_known(word)

    def _analyse_token(self, token: str) -> tuple[str, ...]:
        if _PLAIN.fullmatch(token):
            term = self._stem(token) if token.isascii() else self._lemma(token)
            return () if term in STOP_TERMS else (term,)
        parts = [_one_alphabet(part) for part in _PART.findall(token)]
        whole = _LETTER_AND_SIGN.sub(lambda found: found[0].translate(_TO_LATIN), token)
        forms = [] if len(parts) == 1 and len(parts[0]) == len(token) else [whole]
        forms += _NUMBER_OF_CLAUSE.findall(token)
        forms += [part for part in parts if len(part) > 1 or part.isdigit()]
        terms = [self._normalise(form) for form in forms if len(form) <= LONGEST_TERM]
        return tuple(term for term in terms if term not in STOP_TERMS)

    def _normalise(self, word: str) -> str:
        """The word's term; «вай-фай» and «вайфай» are one, whichever part is inflected."""
        if word.isascii():
            return self._stem(word.replace("-", "")) if _ENGLISH_WORD.fullmatch(word) else word
        return self._lemma(word).replace("-", "") if _RUSSIAN_WORD.fullmatch(word) else word

    def _lemma(self, word: str) -> str:
        return dictionary().parse(word)[0].normal_form.replace("ё", "е")

    def _stem(self, word: str) -> str:
        with self._lock:  # a snowball stemmer keeps the word it works on as its state
            if not self._stemmers:
                import Stemmer

                # 0: no cache of their own, since ours holds the terms
                self._stemmers = {True: Stemmer.Stemmer("english", 0), False: Stemmer.Stemmer("russian", 0)}
            return str(self._stemmers[word.isascii()].stemWord(word))


def _one_letter_off(word: str) -> Iterator[str]:
    """With a letter too many, too few or wrong, or two exchanged; the first one hardly ever is."""
    for at in range(1, len(word) + 1):
        before, after = word[:at], word[at:]
        yield before + after[1:]
        yield before + after[1:2] + after[:1] + after[2:]
        for letter in _LETTERS:
            yield before + letter + after
            yield before + letter + after[1:]


def clean(text: str) -> str:
    """One spelling for what reads the same: NFKC, lower case, `е` for `ё`, nothing invisible inside words."""
    if text.isascii():
        return text.lower()
    text = _INVISIBLE.sub("", unicodedata.normalize("NFKC", _SIGNS.sub(" ", text))).lower()
    for spelling, ours in _SPELLINGS:
        text = text.replace(spelling, ours)
    return text


def _tokens(text: str, cleaned: str) -> Iterator[str]:
    """Tokens in order; at the end of the text the humps of names in camel case, and what may be typed in one piece."""
    names = _CAMEL.findall(text) if _HUMPED.search(text) else ()
    humps = " ".join(" ".join(_HUMP.findall(name)) for name in names)
    has_groups = _GROUP_BEHIND.search(cleaned) is not None
    amounts_joined = _THOUSANDS.sub(lambda number: number[0].replace(" ", ""), cleaned) if has_groups else cleaned
    # `pg15` for `pg-15`, the ten digits of a telephone number however it is written
    codes = _CODE_IN_TWO.findall(cleaned) if _NUMBER_BEHIND.search(cleaned) else ()
    digits = ("".join(filter(str.isdigit, each))[-_SUBSCRIBER_DIGITS:] for each in _TELEPHONE.findall(cleaned))
    joined = (code.replace("-", "") for code in codes)
    return chain(_TOKEN.findall(amounts_joined), _TOKEN.findall(humps.lower()), joined, digits)


def _one_alphabet(part: str) -> str:
    """A word of mixed alphabets in the alphabet of its letters that have no twin; a code in Latin where possible."""
    if part.isascii():
        return part
    is_code = _CODE.fullmatch(part)
    if not is_code and not _MIXED.fullmatch(part):
        return part
    cyrillic, latin = part.translate(_TO_CYRILLIC), part.translate(_TO_LATIN)
    if not is_code and not re.search("[a-z]", cyrillic):
        return cyrillic
    return latin if latin.isascii() else part
