"""Guesses the language of a text from its script and its most frequent small words.

In: text, or the blocks of a document. Out: an ISO 639-1 code or None. It knows the languages that our users are likely
to send. It is meant for whole documents rather than single words, and loads no model.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence

from ingestion.records import Block, BlockKind

SAMPLE_CHARS = 6_000  # from each of the beginning, the middle and the end
SAMPLED_BLOCKS, SAMPLED_CHARS = 500, 1_000  # of a document, and of each of its blocks, at most
FEWEST_LETTERS = 3
FEWEST_FREQUENT_SHARE = 0.08  # of the words; 0.2 and more in running text, near 0 in Latin or a list of names

WORD = re.compile(r"[^\W\d_]+")

SCRIPTS: Mapping[str, str] = {
    "LATIN": "latin", "CYRILLIC": "cyrillic", "GREEK": "el", "ARMENIAN": "hy", "HEBREW": "he", "ARABIC": "ar",
    "DEVANAGARI": "hi", "THAI": "th", "GEORGIAN": "ka", "HANGUL": "ko", "HIRAGANA": "ja", "KATAKANA": "ja", "CJK": "zh",
}  # fmt: skip
"""How Unicode's names of letters begin; a script of only one language here has that language's code."""


FREQUENT_WORDS: Mapping[str, Mapping[str, str]] = {
    "cyrillic": {
        "ru": "и в не на что с по это как к из у за от для так но его если или только при чтобы до без под над",
        "uk": "і в не на що з та до це як у за від для але його якщо або тільки при щоб є також",
        "be": "і ў не на што з да гэта як у за ад для але яго калі або толькі пры каб ёсць таксама",
        "bg": "и в не на че с по това как към от за да се са но ако или само при който е ще",
        "sr": "и у не на да се је за од са то као али ако или само при који су што",
        "kk": "және мен бұл үшін бір да де осы болып бар емес қазақ деп ол қалай",
    },
    "latin": {
        "en": "the of and to in is that it for as with was on are be this by from not or you",
        "de": "der die und das in zu den ist nicht von mit sich auf für im ein eine dem des als",
        "fr": "le la les de des et est en un une que qui dans pour pas sur au par ce il",
        "es": "el la los las de y que en un una es por con no para del se su al lo",
        "it": "il la le di e che in un una è per con non del della si da al dei gli",
        "pt": "o a os as de e que em um uma é por com não para do da se no na",
        "pl": "i w nie na to się z do jest że jak o za od dla ale jego czy lub tylko",
        "tr": "ve bir bu da de için ile olarak çok daha gibi ne o ama en var kadar",
    },
}

OWN_LETTERS: Mapping[str, str] = {"ru": "ыэъё", "uk": "їєґі", "be": "ўі", "kk": "қңғүұһө", "sr": "јљњћђџ"}
"""Letters that hardly occur in the neighbouring languages: they decide where a text is short."""

MOST_PROBABLE = "ru"  # of our users: for Cyrillic without any frequent word, such as a list of names


def detect_language(text: str) -> str | None:
    """ISO 639-1 code of most of `text`; None when there are too few letters or nothing is recognised."""
    if len(text) > 3 * SAMPLE_CHARS:
        middle = len(text) // 2
        text = " ".join((text[:SAMPLE_CHARS], text[middle : middle + SAMPLE_CHARS], text[-SAMPLE_CHARS:]))
    words = list(map(str.lower, WORD.findall(text)))
    letters = Counter("".join(words))
    scripts = Counter(dict.fromkeys(SCRIPTS.values(), 0))  # of equal ones the first in this order counts
    for letter, count in letters.items():
        if script := SCRIPTS.get(unicodedata.name(letter, "").partition(" ")[0]):
            scripts[script] += count
    if scripts.total() < FEWEST_LETTERS:
        return None
    script = scripts.most_common(1)[0][0]
    if script == "zh" and scripts["ja"] > 0:
        return "ja"
    return _by_words(words, letters, script) if script in FREQUENT_WORDS else script


def language_of(blocks: Sequence[Block]) -> str | None:
    """The same for a document, by blocks from all over it, without its code."""
    sampled = (blocks[place] for place in range(0, len(blocks), 1 + len(blocks) // SAMPLED_BLOCKS))
    texts = (block.text[:SAMPLED_CHARS] for block in sampled if block.kind is not BlockKind.CODE)
    return detect_language("\n".join(texts))


def _by_words(words: list[str], letters: Counter[str], script: str) -> str | None:
    counts = Counter(words)
    scores = {
        language: sum(counts[word] for word in frequent.split())
        + sum(letters[letter] for letter in OWN_LETTERS.get(language, ""))
        for language, frequent in FREQUENT_WORDS[script].items()
    }
    best = max(scores, key=lambda language: (scores[language], language == MOST_PROBABLE))
    if scores[best] >= max(1, len(words) * FEWEST_FREQUENT_SHARE):
        return best
    return MOST_PROBABLE if script == "cyrillic" else None
