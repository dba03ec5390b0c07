"""Estimates the tokens of a text from its characters, without a tokenizer.

In: text. Out: an estimate on the high side. It only has to keep passages and windows below a model's limit; when a
service still refuses a window, `windows.split_window` splits it.
"""

import codecs
import unicodedata
from encodings import cp1251

HUNDREDTHS = 100  # weights are integers, so that sums are exact wherever a text is cut

# Derivation: an XLM-RoBERTa vocabulary yields about 1.5-1.7 tokens for a Russian word (5-6 letters) and 1.2-1.3 for an
# English one (4-5 letters); with the space before it a word costs 1.9 and 1.6 here. Random letters (keys, hashes) are
# the worst real case, a token for about 1.8 letters: at 0.29 a letter the estimate is never below half.
SPACE_WEIGHT = 25
SMALL_LETTER_WEIGHT = 29  # Latin and Cyrillic
CAPITAL_WEIGHT = 50  # words in capitals are split into pieces of about two letters
DIGIT_WEIGHT = 50
OTHER_LETTER_WEIGHT = 60  # alphabets that the vocabulary covers less
IDEOGRAPH_WEIGHT = 100
MARK_WEIGHT = 100  # punctuation, symbols, combining marks
RARE_WEIGHT = 300  # beyond the basic plane: byte-level vocabularies need up to three or four tokens for an emoji

COMMON_CHARACTERS = "cp1251"  # Russian and English with punctuation: weighing bytes takes half the time

_IDEOGRAPHS = ((0x2E80, 0x9FFF), (0xAC00, 0xD7AF), (0xF900, 0xFAFF))
_WELL_COVERED_END = 0x0530  # Latin, Greek and Cyrillic are below


def estimate_tokens(text: str) -> int:
    """Tokens of `text`, rounded up. The estimate of joined texts never exceeds the sum of their estimates."""
    return -(-weigh_text(text) // HUNDREDTHS)


def weigh_text(text: str) -> int:
    """The same in hundredths of a token; exactly additive over characters."""
    try:
        # Like `text.encode`, but without the lookup of the encoding, which takes as long as a sentence.
        return sum(codecs.charmap_encode(text, "strict", cp1251.encoding_table)[0].translate(_COMMON_WEIGHTS))
    except UnicodeEncodeError:
        return sum(map(_WEIGHTS.__getitem__, text))


class _WeightTable(dict[str, int]):
    """The weight of each character, filled on demand (at most one entry per Unicode character)."""

    def __missing__(self, character: str) -> int:
        weight = self[character] = _weigh_character(character)
        return weight


def _weigh_character(character: str) -> int:
    code = ord(character)
    if character.isspace():
        return SPACE_WEIGHT
    if code > 0xFFFF:
        return RARE_WEIGHT
    if character.isdigit():
        return DIGIT_WEIGHT
    if not unicodedata.category(character).startswith("L"):
        return MARK_WEIGHT
    if any(start <= code <= end for start, end in _IDEOGRAPHS):
        return IDEOGRAPH_WEIGHT
    if code >= _WELL_COVERED_END:
        return OTHER_LETTER_WEIGHT
    return SMALL_LETTER_WEIGHT if character.islower() else CAPITAL_WEIGHT


_WEIGHTS = _WeightTable()

_COMMON_WEIGHTS = bytes(
    _weigh_character(bytes([code]).decode(COMMON_CHARACTERS, errors="replace")) for code in range(256)
)
