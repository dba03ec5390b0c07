"""Other spellings of a question's words: one letter wrong, or the other alphabet.

In: terms of a question. Out: patterns for terms that the base may hold instead; the database uses them only for a term
that it does not hold. Pure; it knows no dictionary and no base.
"""

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import lru_cache
from itertools import groupby

from rag.ports import QuestionAnalyzer
from rag.records import Spelling

MAX_TERMS = 100  # distinct ones; a question has five to ten, more is a pasted text
MAX_SPELLED = 30  # terms; in a longer question one mistyped word decides nothing

# Four fifths of all typos are one letter missing, added or wrong, or two letters exchanged (Damerau 1964); hardly any
# is in the first letter. In words shorter than this, a wrong letter too often makes another word.
SHORTEST_MISTYPED = 5
SHORTEST_TRANSCRIBED = 4
LONGEST = 20  # letters; a pattern grows with the square
# Prefix length for a word in the other alphabet. The database steps through all terms with the prefix, 5 us each: in a
# large base some hundreds share two letters, some dozens share three.
BEGUN = 3  # letters
REMEMBERED_WORDS = 1024  # about 1 kB each; questions repeat the same words

_LETTERS = re.compile(r"[a-z]+|[а-я]+")
_ALPHABETS = ("abcdefghijklmnopqrstuvwxyz", "абвгдежзийклмнопрстуфхцчшщъыьэюя")
_CYRILLIC = re.compile(r"[а-я]+")

# Usual transliterations of names: what a letter or a group of letters may be; «-» is nothing. Nothing here knows the
# pronunciation, so an inner vowel may become another one, and double letters count as one.
_TO_LATIN = {
    "а": "a u", "б": "b", "в": "v w wh", "г": "g h", "д": "d", "е": "e ye a", "ж": "zh j g", "з": "z s th",
    "и": "i ee y ea e", "й": "y i j -", "к": "k c ck q ch", "л": "l", "м": "m", "н": "n", "о": "o a au oa", "п": "p",
    "р": "r", "с": "s c z th", "т": "t th", "у": "u oo w ou wh", "ф": "f ph", "х": "h kh ch", "ц": "ts c z tz",
    "ч": "ch tch c", "ш": "sh sch", "щ": "shch sch", "ъ": "", "ы": "y i", "ь": "", "э": "e a",
    "ю": "u yu iu ju you ue ew", "я": "ya ia ja a", "кс": "x ks cs cks k c ck xc", "дж": "j dj dzh g",
    "ай": "ai ay aj a i y ei ey", "ау": "au ou ow aw", "оу": "ou o ow oa",
}  # fmt: skip
_TO_CYRILLIC = {
    "a": "а э е я о эй ей", "b": "б", "c": "к ц с", "d": "д", "e": "е э и -", "f": "ф", "g": "г дж ж", "h": "х г -",
    "i": "и ай й", "j": "дж й ж", "k": "к", "l": "л ль лл", "m": "м", "n": "н", "o": "о а у", "p": "п", "q": "к",
    "r": "р", "s": "с з ш", "t": "т", "u": "у ю а ью", "v": "в", "w": "в у", "x": "кс х", "y": "й и ы ай -", "z": "з ц",
    "ch": "ч х к", "sh": "ш сх", "ph": "ф", "th": "т з с ф тх", "ck": "к", "oo": "у", "ee": "и", "ya": "я",
    "ea": "и е еа иа", "ou": "у ау оу о", "oa": "о оу оа", "ow": "оу ау о", "you": "ю йу", "wh": "в у х", "ts": "ц тс",
    "xc": "кс", "qu": "кв ку к", "kh": "х кх", "zh": "ж зх", "yu": "ю йу", "yo": "е йо", "shch": "щ", "sch": "щ ш сх",
}  # fmt: skip
_CYRILLIC_LETTERS, _LATIN_LETTERS = (
    re.compile("|".join([*sorted((letters for letters in table if len(letters) > 1), key=len, reverse=True), "."]))
    for table in (_TO_LATIN, _TO_CYRILLIC)
)
# «тайм-аут» is "timeout", «фильтр» is "filter": a silent e after a consonant, except after the first two letters.
_SILENT, _BEFORE_SILENT = "e?", frozenset("бвгджзклмнпрстфхцчш")
# «офис» is "office" and "traffic" is «трафик». Doubled Cyrillic letters stay doubled: they are as often a typo.
_DOUBLED, _OFTEN_DOUBLE = re.compile(r"([^aeiouy])\1"), frozenset("csгксфт")
# Endings that a stem may have lost or a loanword added; True: the other spelling is Latin. The English stem of
# "kubernetes" is "kubernet"; the lemmatiser does not know these words and makes «джир» of «джира», «ворда» of «ворд»,
# «хендать» of «хендай».
_ENDING = {True: "(?:s|es|[aeiouy])?", False: "(?:[еэи]?с|[аеиойыь])?"}
_LOST = {True: re.compile("(?:[аеиоуыэя]?(?<!к)с+|а|ть)$"), False: re.compile("[aeiouy]$")}


def worded(text: str, analyzer: QuestionAnalyzer) -> tuple[tuple[str, ...], tuple[Spelling, ...]]:
    """The terms of a text to search for, each once, and their other spellings."""
    terms = tuple(dict.fromkeys(analyzer.terms(text)))[:MAX_TERMS]
    if len(terms) > MAX_SPELLED:
        return terms, ()
    lemmas = [(term, lemma) for term in terms for lemma in analyzer.other_lemmas(term)]
    meant = [(term, other) for term, others in analyzer.corrections(text).items() for other in others]
    return terms, (*other_spellings(terms, analyzer.unsure(text)), *(exactly(*pair) for pair in (*meant, *lemmas)))


def other_spellings(terms: Iterable[str], unsure: Set[str]) -> tuple[Spelling, ...]:
    """For words of letters: the other alphabet. For the `unsure` among them also: one typo."""
    words = [term for term in dict.fromkeys(terms) if _LETTERS.fullmatch(term) and len(term) <= LONGEST]
    mistyped = [_mistyped(word) for word in words if word in unsure and len(word) >= SHORTEST_MISTYPED]
    transcribed = [spelling for word in words if len(word) >= SHORTEST_TRANSCRIBED for spelling in _transcribed(word)]
    return (*mistyped, *transcribed)


def exactly(term: str, other: str) -> Spelling:
    """Exactly one other term instead of `term`."""
    return Spelling(term=term, beginnings=(other,), pattern=f"^{re.escape(other)}$")


def _mistyped(word: str) -> Spelling:
    """Begins with the first two letters as they are, or three with the second one wrong, added, missing or exchanged;
    to step through all terms with the first letter alone would take the database 20 ms in a large base."""
    places = range(1, len(word))
    changed = [f"{word[:at]}.?{word[at + 1 :]}" for at in places]
    added = [f"{word[:at]}.{word[at:]}" for at in (*places, len(word))]
    swapped = [f"{word[:at]}{word[at + 1]}{word[at]}{word[at + 2 :]}" for at in places if at + 1 < len(word)]
    pattern = f"^(?:{'|'.join([*changed, *added, *swapped])})$"
    first, alphabet = word[0], _ALPHABETS["а" <= word[0] <= "я"]
    begun = {first + letter + after for letter in alphabet for after in word[1:3]} | {first + word[2:4]}
    beginnings = {word[:2], *(start for start in begun if not start.startswith(word[:2]))}
    return Spelling(term=word, beginnings=tuple(sorted(beginnings)), pattern=pattern)


@lru_cache(maxsize=REMEMBERED_WORDS)
def _transcribed(word: str) -> tuple[Spelling, ...]:
    """One `Spelling` for each first letter that the word may have in the other alphabet."""
    to_latin = _CYRILLIC.fullmatch(word) is not None
    table = _TO_LATIN if to_latin else _TO_CYRILLIC
    stem = _LOST[to_latin].sub("", word)
    lost = ""
    for letter in reversed(word[len(stem) :]):  # of "redis" the stem is "redi", of "postgres" it is "postgr"
        lost = f"(?:{_sounds(letter, table)}{lost})?"
    pattern = f"^{_sounds(stem, table)}{lost}{_ENDING[to_latin]}$"
    groups = groupby(_beginnings(stem, table), key=lambda beginning: beginning[0])
    return tuple(Spelling(term=word, beginnings=tuple(group), pattern=pattern) for _, group in groups)


def _sounds(letters: str, table: Mapping[str, str]) -> str:
    pattern = ""
    for at, each in enumerate(_letters(letters, table)):
        heard = sorted(_options(table[each]) - {""})
        one = f"(?:{'|'.join(heard)})" if heard else ""
        pattern += one + ("?" if heard and "-" in table[each] else "+" if _is_repeated(each, table) else "")
        pattern += _SILENT * (at > 1 and each in _BEFORE_SILENT)
    return pattern


def _is_repeated(letters: str, table: Mapping[str, str]) -> bool:
    return len(table[letters]) == 1 or letters in _OFTEN_DOUBLE


def _letters(word: str, table: Iterable[str]) -> Sequence[str]:
    """The word split into the letters and letter groups of the table."""
    return _CYRILLIC_LETTERS.findall(word) if table is _TO_LATIN else _LATIN_LETTERS.findall(_DOUBLED.sub(r"\1", word))


def _beginnings(stem: str, table: Mapping[str, str]) -> list[str]:
    """Sorted prefixes in the other alphabet, three letters or all of a shorter stem; none is a prefix of another."""
    letters = _letters(stem, table)
    sounds = (table[letter] for letter in letters)  # no «сс» for an "s"
    once_or_double = ({*_options(sound), *([sound * 2] if len(sound) == 1 else [])} for sound in sounds)
    likely = tuple(_begun(once_or_double, 2) - {""})
    whole = _begun((_all_ways(at, letter, table) for at, letter in enumerate(letters)), BEGUN)
    begun = {start for start in whole if start.startswith(likely)}
    return sorted(start for start in begun if not any(start[:length] in begun for length in range(1, len(start))))


def _begun(sounds: Iterable[Set[str]], length: int) -> set[str]:
    """The first `length` letters of every concatenation of one option per sound."""
    begun = {""}
    for options in sounds:
        begun = {(start + more)[:length] if len(start) < length else start for start in begun for more in options}
        if all(len(start) == length for start in begun):
            break
    return begun


def _all_ways(at: int, letter: str, table: Mapping[str, str]) -> Set[str]:
    """The options of `_sounds`: the letter also repeated, and also with a silent e."""
    once = options = _options(table[letter])
    if _is_repeated(letter, table):
        for _ in range(BEGUN - 1):
            options = options | {(start + more)[:BEGUN] for start in options for more in once}
    return options | {option + _SILENT[0] for option in options} if at > 1 and letter in _BEFORE_SILENT else options


def _options(sound: str) -> set[str]:
    return {"" if each == "-" else each for each in sound.split()} or {""}
