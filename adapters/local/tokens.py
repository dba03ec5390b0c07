"""The model's own tokenizer.

In: text. Out: token ids with the characters that each stands for. Truncation and padding of the file are switched off:
the caller decides about lengths. It is loaded at the first use, since large vocabularies take a second.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from adapters.local.errors import LocalModelError
from adapters.local.stretches import Offsets

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer


@dataclass(frozen=True, kw_only=True)
class TokenRow:
    """One input of the model."""

    ids: list[int]
    types: list[int]  # 0, and 1 for the second text of a pair


@dataclass(frozen=True, kw_only=True)
class Tokens:
    """A text without special tokens."""

    ids: list[int]
    offsets: Offsets


class Vocabulary:
    """Splits texts as they were split when the model was trained."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def split(self, text: str) -> Tokens:
        """The tokens of `text` and where they stand in it."""
        encoding = self._encode(text)
        return Tokens(ids=encoding.ids, offsets=np.array(encoding.offsets, dtype=np.int64).reshape(-1, 2))

    def frame(self, prefix: str) -> tuple[list[int], list[int]]:
        """What goes before and after a text's tokens: special ones, and those of `prefix`."""
        # With a space at its end the prefix would keep a token of its own that it does not have inside a text.
        probe = self._tokenizer.post_process(self._encode(prefix.rstrip() or "a"))
        special = probe.special_tokens_mask
        content = [at for at, is_special in enumerate(special) if not is_special]
        before, after = probe.ids[: content[0]], probe.ids[content[-1] + 1 :]
        return [*before, *(self._encode(prefix.rstrip()).ids if prefix else [])], after

    def pair(self, first: str, second: str, *, limit: int) -> TokenRow:
        """Two texts as one input of at most `limit` tokens: the first may take half of it, the second what is left."""
        room = limit - self._tokenizer.num_special_tokens_to_add(True)
        one, other = self._encode(first), self._encode(second)
        one.truncate(room // 2)
        other.truncate(room - len(one.ids))
        joined = self._tokenizer.post_process(one, other)
        return TokenRow(ids=joined.ids, types=joined.type_ids)

    def _encode(self, text: str) -> "Encoding":
        return self._tokenizer.encode(text, add_special_tokens=False)

    @cached_property
    def _tokenizer(self) -> "Tokenizer":
        from tokenizers import Tokenizer

        try:
            tokenizer = Tokenizer.from_file(str(self._path))
        except Exception as error:  # the library raises nothing narrower
            raise LocalModelError(f"{self._path} is no tokenizer that can be read: {error}.") from error
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer
