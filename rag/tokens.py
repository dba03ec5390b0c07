"""How much of a model's context a text takes, without the model's own tokenizer.

In: text. Out: an estimate that is too high rather than too low. It serves budgets, never billing. The chunker uses
another estimate (`ingestion.chunking.windows`): that one is for encoders, whose vocabularies need fewer tokens for
Russian, and it must be additive wherever a text is cut.
"""

import re

# Upper ends of what GPT-4o's, Qwen's and Llama's tokenizers need for prose; code and numbers fall under "other".
_CHARS_PER_CYRILLIC_TOKEN = 2.5
_CHARS_PER_OTHER_TOKEN = 3.0
_CYRILLIC = 0x04  # the upper byte of U+0400 to U+04FF
_CHEAP = bytes((*range(5), *range(0x20, 0x2E)))  # upper bytes of alphabets and signs that take well under a token each
# Alphabets and ideographs that these vocabularies cover less well, and emoji: about a token each.
_DEAR = re.compile(r"[\u0530-\u1fff\u2e80-\U0010ffff]+")


def estimate_tokens(text: str) -> int:
    """Tokens that `text` takes at most, as a rule; 0 for an empty text."""
    upper = text.encode("utf-16-be", "surrogatepass")[::2]  # counted in a tenth of the time that a pattern takes
    cyrillic = upper.count(_CYRILLIC)
    dear = sum(map(len, _DEAR.findall(text))) if upper.translate(None, _CHEAP) else 0
    others = len(text) - cyrillic - dear
    return round(cyrillic / _CHARS_PER_CYRILLIC_TOKEN + dear + others / _CHARS_PER_OTHER_TOKEN)
