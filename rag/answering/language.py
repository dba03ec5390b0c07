"""Checks the language of an answer (ANSWER_LANGUAGE) by rules alone.

In: an answer without its code, the wanted language, the materials. Out: a remark that the model can act on, or None.
The scripts of its words and the small words among them tell Russian from English, and both from other scripts.
"""

import re

from rag.words import plain

NAMES = {"ru": "Russian", "en": "English"}
LANGUAGE_REMARKS = {
    code: f"It is not in {name}. Write it in {name}; exact words of a document in another language go in quotation "
    "marks, a text that the person wants in another language into a code block."
    for code, name in NAMES.items()
}
_LEAST_WORDS = 4  # of running text in the other language; «14 days», «Yes.», «PostgreSQL 16» are too short to tell
_LEAST_BESIDE = 8  # the same beside words of the right language: «Ошибка: permission denied for the user»
_LEAST_SMALL_WORDS = 2
# Of the words in another language, more are small in running text; of titles («War and Peace») not so many.
_SMALL_SHARE = {"ru": 0.2, "en": 0.0}
_NAMED = 0.1  # of the words of a Russian sentence, at most, are names in Latin letters
_NAME_WORDS = 10  # what has no more, and stands so in a material, is a title, a post, an address or a value
_QUOTED = re.compile(r"«[^«»]+»|“[^“”]+”|„[^„“”]+[“”]|\"[^\"\n]+\"|^>[ \t]?.*$", re.MULTILINE)
# A line of code without backticks: with such a sign, and without the end of a sentence.
_CODE_LINE = re.compile(r"^(?!.*[.!?](?:\s+[A-ZА-ЯЁ]|[ \t]*$)).*(?:[={}<>\\]|&&|[|]{2}|;$|\w\(\w*\)).*$", re.MULTILINE)
_ADDRESSES = re.compile(r"(?<!\S)\S*[/@\\_={}<>#]\S*|\b\w+(?:\.\w+)+|(?<!\S)--?\w\S*")
_PIECE_END = re.compile(r"(?<=[.!?…:;])\s+|\s[–—]\s|\||\n+")
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_CYRILLIC = re.compile(r"[Ѐ-ӿ]")
_LATIN = re.compile(r"[A-Za-zÀ-ɏ]")
# Without phonetic letters (xᵢ, 10ᵗʰ), East Asian punctuation and unit signs (㎡): these are not words.
_OTHER_SCRIPT = re.compile(
    r"[\u0530-\u1cff\u2e80-\u2fff\u3040-\u32ff\u3400-\ua63f\uac00-\ud7ff\uf900-\ufdff\ufe70-\ufefc\U00020000-\U0003ffff]+"
)
_PART_END = re.compile(r"[,;()]")
_ENDS = (".", "!", "?")

_SMALL = {
    "ru": (
        "а без был была было были в вам вас вы все где да для до если есть же за и из или к как когда которая которые "
        "который ли между мне можно мы на над надо не нет но нужно о об он она они от по под после при с со так также "
        "там то только у уже что чтобы эта эти это этого этот этой я"
    ),
    "en": (
        "a about after all also an and are as at be been before but by can could did do does for from had has have he "
        "her here his how i if in into is it its may me must my no not of on only or our per shall she should so such "
        "than that the their them then there these they this those to was we were what when which who will with would "
        "you your"
    ),
    # Words of other languages in Latin letters that English does not have.
    "latin": (
        "aber auch auf aus bei das dem den der des die ein eine für ist mit nicht sich sie sind und von werden wird zu "
        "au aux avec ce cette dans du elle est et il le les ne nous ou par pas pour que qui sont sur une vous con del "
        "el en es esta este la las los para pero por se son su un una y che di è il lo nel non per più sono"
    ),
}
_SMALL_WORDS = {language: frozenset(words.split()) for language, words in _SMALL.items()}
_STRANGE = {"en": _SMALL_WORDS["ru"], "ru": _SMALL_WORDS["en"] | _SMALL_WORDS["latin"]}

_SPEAKS_OF_LANGUAGES = re.compile(
    r"перев(?:ед|ест|од)|оригинал|по-\w+ски\b|латын|иврит|\b(?:английск|русск|немецк|французск|испанск|итальянск|"
    r"португальск|китайск|японск|корейск|украинск|белорусск|казахск|татарск|узбекск|польск|турецк|арабск|армянск|"
    r"грузинск)\w*"
    r"|translat|original|\b(?:english|russian|german|french|spanish|italian|portuguese|chinese|japanese|korean|"
    r"ukrainian|kazakh|polish|turkish|arabic|hebrew|latin)\b",
    re.IGNORECASE,
)
"""Decides only whether the language is checked at all."""


def wanted_language(setting: str, question: str, *said: str) -> str | None:
    """The code of the language that an answer must be in; None if any will do. `setting` is ANSWER_LANGUAGE; `said` is
    other text that shows what the person wants. With auto it is the question's language, if that is clear."""
    if any(map(_SPEAKS_OF_LANGUAGES.search, (question, *said))):
        return None
    if setting in NAMES:
        return setting
    words = _WORD.findall(_prose(question))
    if sum(bool(_CYRILLIC.search(word)) for word in words) * 2 > len(words):  # fewer may be a name: «Explain пункт 3.2»
        return "ru"
    return "en" if sum(word.casefold() in _SMALL_WORDS["en"] for word in words) >= _LEAST_SMALL_WORDS else None


def in_another_language(prose: str, wanted: str, *, materials: str = "") -> str | None:
    """A remark when most of `prose` is running text in another language, and no name from the `materials`."""
    text = _prose(prose)
    other = sum(map(len, _OTHER_SCRIPT.findall(text)))
    if other >= _LEAST_WORDS and other * 2 > len("".join(_WORD.findall(text))):
        return LANGUAGE_REMARKS[wanted]
    if not _is_mostly_other(text, wanted):
        return None
    said = f" {plain(materials)} "  # slow, so only for suspicious answers
    pieces = (piece for piece in _PIECE_END.split(text) if not _is_name(piece, said, wanted))
    return LANGUAGE_REMARKS[wanted] if _is_mostly_other("\n".join(pieces), wanted) else None


def other_script(prose: str, said: str) -> str | None:
    """A remark on words in a script other than Latin, Greek and Cyrillic that are not in `said`."""
    strange = [run for run in _OTHER_SCRIPT.findall(prose) if run not in said]
    return f"These words stand in no material: {', '.join(strange[:3])}. Leave them out." if strange else None


def _prose(text: str) -> str:
    return _ADDRESSES.sub(" ", _QUOTED.sub(" ", _CODE_LINE.sub(" ", text)))


def _is_name(piece: str, said: str, wanted: str) -> bool:
    """Whether each part of a short piece is in the materials («менеджер по продажам, г. Тверь»), and it is no sentence.
    A sentence may have no small word, so may a name that ends with a full stop: neither is judged then."""
    words = _WORD.findall(piece)
    if len(words) > _NAME_WORDS or (piece.rstrip().endswith(_ENDS) and not _STRANGE[wanted].isdisjoint(words)):
        return False
    return all(f" {part} " in said for part in filter(None, map(plain, _PART_END.split(piece))))


def _is_mostly_other(text: str, wanted: str) -> bool:
    """Whether most words are running text in the other language. A Russian sentence may have no small words, but hardly
    ever no words in lower case; rows of names in Latin letters look like sentences without small words."""
    words = _WORD.findall(text)
    own, other = (_CYRILLIC, _LATIN) if wanted == "ru" else (_LATIN, _CYRILLIC)
    ours, others = sum(bool(own.search(word)) for word in words), [word for word in words if other.search(word)]
    if len(others) < (_LEAST_BESIDE if ours else _LEAST_WORDS) or len(others) <= ours:
        return False
    is_lower = sum(word[0].islower() for word in others) * 2 >= len(others)
    is_sentence = wanted == "en" and is_lower and ours <= _NAMED * len(others)
    small = sum(word in _STRANGE[wanted] for word in others)
    return is_sentence or (small >= _LEAST_SMALL_WORDS and small > _SMALL_SHARE[wanted] * len(others))
