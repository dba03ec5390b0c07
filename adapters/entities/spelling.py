"""One spelling for a name in two alphabets.

In: a word in Cyrillic or Latin letters. Out: a key in which «Дмитрий», "Dmitry" and "Dmitrij" are the same, and the
readable Latin form that canonical ids are made of. Pure; it knows no endings.
"""

import re

_LETTERS = str.maketrans("абвгдезийклмнопрстуфхцыэё", "abvgdezijklmnoprstufhcyee")
_PAIRS = str.maketrans({"ж": "zh", "ч": "ch", "ш": "sh", "щ": "sch", "ъ": "", "ь": "", "ю": "yu", "я": "ya"})
_TO_LATIN: dict[int, int | str | None] = {**_LETTERS, **_PAIRS}
_NOT_SLUG = re.compile(r"[^a-z0-9+#]+")

# What other transliterations (ISO 9, passports, English habit) write for the same letter, folded one after the other.
# Å, É and their kin lose their marks in `clean`. Capitals stand for sounds that must not be folded again.
_FOLDS = tuple(
    (re.compile(pattern), fold)
    for pattern, fold in (
        ("дж", "j"),
        ("shch|sch|щ", "S"),
        ("tch|ch|ч", "C"),
        ("sh|ш", "S"),
        ("zh|ж", "Z"),
        ("kh|х", "h"),
        ("ph", "f"),
        ("th", "t"),
        ("ck", "k"),
        ("ts|tz|ц", "k"),
        ("[cq]", "k"),
        ("x", "ks"),
        ("w", "v"),
        ("[yjйы]", "i"),
        ("[ьъ'’`]", ""),
        ("ю", "iu"),
        ("я", "ia"),
        ("[ёэ]", "e"),
    )
)
_SILENT_H = re.compile(r"(?<=.)h")
_DOUBLED = re.compile(r"([a-zSCZ])\1+")


def fold(word: str) -> str:
    """A key; `word` is in lower case. Signs that names are told apart by («c++», "c#") stay."""
    for pattern, replacement in _FOLDS:
        word = pattern.sub(replacement, word)
    word = _SILENT_H.sub("", word.translate(_TO_LATIN))
    return _DOUBLED.sub(r"\1", word).lower()


def slug(name: str) -> str:
    """«АЛОР Брокер» -> "alor-broker"; empty when the name has neither letters nor digits."""
    return _NOT_SLUG.sub("-", name.lower().translate(_TO_LATIN)).strip("-")
