"""Folds names into keys: without Russian endings, quotation marks and legal forms, the same for both alphabets.

In: a name as a document writes it, or a question. Out: `NameWord`s. The same reader serves both sides, so that
«в Алоре», "alor-broker" and «Алор Брокер» match. Which entity is meant is decided elsewhere.
"""

import re
import unicodedata
from functools import lru_cache
from itertools import islice

from adapters.morphology import dictionary
from domain.names import LEGAL_FORMS, NameWord

_LETTERS = str.maketrans("абвгдезийклмнопрстуфхцыэё", "abvgdezijklmnoprstufhcyee")
_PAIRS = str.maketrans({"ж": "zh", "ч": "ch", "ш": "sh", "щ": "sch", "ъ": "", "ь": "", "ю": "yu", "я": "ya"})
_TO_LATIN: dict[int, int | str | None] = {**_LETTERS, **_PAIRS}
_NOT_SLUG = re.compile(r"[^a-z0-9+#]+")
CACHED_WORDS = 2**15
MOST_KEYS = 4  # of one word
MOST_PERSON_WORDS = 4
SHORTEST_STEM = 3
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*(?:\+\+|#)?")
_OPENING = frozenset("«„“\"'")
_ENDS_SENTENCE = frozenset(".!?…:")
_CYRILLIC = re.compile("[а-яё]", re.IGNORECASE)
_LATIN = re.compile("[a-z]", re.IGNORECASE)
_NAME_SIGNS = frozenset({"Name", "Surn", "Patr", "Geox", "Orgn", "Trad", "Abbr", "Init"})
_FUNCTION_WORDS = frozenset({"PREP", "CONJ", "PRCL", "NPRO"})
# Case endings of Russian nouns, for words that no dictionary has: «в Алоре», «Астоном».
_ENDINGS = ("ами", "ями", "ого", "ему", "ом", "ем", "ой", "ей", "ах", "ях", "ам", "ям", "ов", *"аяуюеыиоь")
_POSSESSIVE = re.compile("['’]s$")
_ORDINARY = """
    a an and any api app are as at be best big blue book box bridge bulk by can case chat check chef class clean
    click close cloud code core dart data day desk do does door down edge else en end event every exit express
    fast field file find first flask flow for forge form from front get go good green group grow had has have he
    help her here his home hot how i if in is it its jump just key last light like line link list live lock look
    main make man map may me mesh mind more most my native need new next no node not note now of off old on one
    only open or other our out own page part path people pilot pipe plan play point power project pulse push react
    ready red right ring ruby rust safe scale see she side simple single site so some spark spring stack star
    start state step stone store stream string swift tell test than that the their them then there they thing this
    time to tool top tree try two up us use used view wave way we web well what when where which white who why
    will wind with wire work works world would you your
"""
ORDINARY_ENGLISH = frozenset(_ORDINARY.split())
"""Words that name products and that questions consist of: they count as names with a capital letter only. Written by
hand, because there is no morphology for a whole English dictionary here, and a needless entity costs the planner one
line."""

# What other transliterations (ISO 9, passports, English habit) write for the same letter, folded one after the other.
# Å, É and their kin lose their marks in `clean`. Capitals stand for sounds that must not be folded again.
_FOLDS = tuple(
    (re.compile(pattern), fold)
    for pattern, fold in (
        ("дж", "j"), ("shch|sch|щ", "S"), ("tch|ch|ч", "C"), ("sh|ш", "S"), ("zh|ж", "Z"), ("kh|х", "h"), ("ph", "f"),
        ("th", "t"), ("ck", "k"), ("ts|tz|ц", "k"), ("[cq]", "k"), ("x", "ks"), ("w", "v"), ("[yjйы]", "i"),
        ("[ьъ'’`]", ""), ("ю", "iu"), ("я", "ia"), ("[ёэ]", "e"),
    )
)  # fmt: skip
_SILENT_H = re.compile(r"(?<=.)h")
_DOUBLED = re.compile(r"([a-zSCZ])\1+")


def fold(word: str) -> str:
    """A key; `word` is in lower case. Signs that names are told apart by («c++», "c#") stay."""
    for pattern, replacement in _FOLDS:
        word = pattern.sub(replacement, word)
    word = _SILENT_H.sub("", word.translate(_TO_LATIN))
    return _DOUBLED.sub(r"\1", word).lower()


class NameForms:
    """Meets `ingestion.entities.records.NameReader` and `rag.entities.NameReader`. Safe to share between threads.
    The dictionary (0.3 s) is loaded at the first word."""

    def __init__(self) -> None:
        self._read_word = lru_cache(maxsize=CACHED_WORDS)(self._analyse)

    def words(self, text: str) -> tuple[NameWord, ...]:
        text = unicodedata.normalize("NFKC", text.replace("№", " "))  # NFKC makes it a word, «No»
        is_russian, found = _CYRILLIC.search(text) is not None, []
        for match in _WORD.finditer(text):
            form = match.group()
            lower = _POSSESSIVE.sub("", form.lower())
            if lower not in LEGAL_FORMS:
                keys, is_ordinary = self._read_word(lower)
                as_name = (is_russian and _LATIN.search(form)) or _is_written_as_name(form, text, match.start())
                found.append(NameWord(form=form, keys=keys, is_ordinary=is_ordinary, is_written_as_name=bool(as_name)))
        return tuple(found)

    def slug(self, name: str) -> str:
        """«АЛОР Брокер» -> "alor-broker"; empty when the name has neither letters nor digits."""
        written = " ".join(word.form for word in self.words(name))
        return _NOT_SLUG.sub("-", written.lower().translate(_TO_LATIN)).strip("-")

    def names_person(self, name: str) -> bool:
        words = _WORD.findall(name)
        if not 2 <= len(words) <= MOST_PERSON_WORDS or not all(word[0].isupper() and word.isalpha() for word in words):
            return False
        readings = (parse for word in words for parse in dictionary().parse(word.lower())[:2])
        return any("Name" in parse.tag.grammemes for parse in readings)

    def _analyse(self, word: str) -> tuple[tuple[str, ...], bool]:
        """Keys of a word in lower case, and whether it is an ordinary one."""
        if not _CYRILLIC.search(word):
            return (fold(word),), word in ORDINARY_ENGLISH or len(word) == 1
        known = dictionary().word_is_known(word)
        parses = dictionary().parse(word)
        forms = dict.fromkeys(parse.normal_form for parse in parses)
        # Of a name that no dictionary has also what it shares with its other cases: the word without its ending.
        endings = (ending for ending in _ENDINGS if word.endswith(ending) and len(word) - len(ending) >= SHORTEST_STEM)
        stem = [word.removesuffix(ending) for ending in islice(endings, 0 if known else 1)]
        keys = dict.fromkeys(fold(form) for form in (*list(forms)[: MOST_KEYS - 1], *stem, word))
        is_name = any(parse.tag.grammemes & _NAME_SIGNS for parse in parses) and len(word) > 1
        serves = any(parse.tag.grammemes & _FUNCTION_WORDS for parse in parses)  # «про» may be an abbreviation, too
        return tuple(keys)[: MOST_KEYS + 1], known and (serves or not is_name)


def _is_written_as_name(form: str, text: str, position: int) -> bool:
    while position > 0 and text[position - 1].isspace():
        position -= 1
    before = text[max(position - 1, 0) : position]
    is_marked = before in _OPENING or sum(map(str.isupper, form)) > 1 or any(map(str.isdigit, form))
    return is_marked or (form[0].isupper() and bool(before) and before not in _ENDS_SENTENCE)
