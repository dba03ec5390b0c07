"""How much of a model's context a text takes, without the model's own tokenizer.

In: text. Out: an estimate that is rather too high than too low. It counts for budgets, never for bills.
"""

import re

# Upper ends of what GPT-4o's, Qwen's and Llama's tokenizers need for prose; code and numbers fall under "other".
_CHARS_PER_CYRILLIC_TOKEN = 2.5
_CHARS_PER_OTHER_TOKEN = 3.0
_CYRILLIC = re.compile(r"[Ѐ-ӿ]")


def estimate_tokens(text: str) -> int:
    """Tokens that `text` takes at most, as a rule; 0 for an empty text."""
    cyrillic = len(_CYRILLIC.findall(text))
    return round(cyrillic / _CHARS_PER_CYRILLIC_TOKEN + (len(text) - cyrillic) / _CHARS_PER_OTHER_TOKEN)
