"""What is read of a chat server's replies: the text, whether it has ended, how many tokens it took.

In: JSON as it came, of a whole answer or of a piece of a stream. Out: text and `Tokens`. Whatever shape it has, nothing
here fails but by ModelNonsense. Read from the JSON itself: the SDK's records take .3 ms for each piece.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rag.errors import ModelNonsense

Json = Mapping[str, object]


@dataclass(frozen=True, kw_only=True)
class Tokens:
    """What a call took, as far as the server tells; `cost` in dollars."""

    prompt: int
    answer: int
    cost: float


def as_reply(body: object) -> Json:
    """A whole answer. The SDK hands through whatever came: JSON under another content type is a `str`, as is a page of
    HTML, which raises ValueError."""
    parsed = json.loads(body) if isinstance(body, str) else body
    return parsed if isinstance(parsed, dict) else {}


def text_of(reply: Json) -> str:
    """The answer's text. Raises ModelNonsense where there is none."""
    for choice in _choices(reply):
        text = _mapping(choice.get("message")).get("content")
        if isinstance(text, str) and text.strip():
            return text
        break
    raise ModelNonsense("an empty answer")


def piece_of(chunk: Json) -> str:
    """What a chunk adds to the answer; the one that carries the usage has no choices."""
    pieces = (_mapping(choice.get("delta")).get("content") for choice in _choices(chunk))
    return "".join(piece for piece in pieces if isinstance(piece, str))


def has_ended(chunk: Json) -> bool:
    """Whether the model says that it is done."""
    return any(choice.get("finish_reason") is not None for choice in _choices(chunk))


def tokens_of(reply: Json) -> Tokens | None:
    """None where the server does not tell."""
    usage = reply.get("usage")
    if not isinstance(usage, dict):
        return None
    cost = usage.get("cost")
    return Tokens(
        prompt=_count(usage.get("prompt_tokens")),
        answer=_count(usage.get("completion_tokens")),
        cost=float(cost) if isinstance(cost, int | float) else 0.0,
    )


def _choices(reply: Json) -> Iterator[Json]:
    choices = reply.get("choices")
    return (choice for choice in choices if isinstance(choice, dict)) if isinstance(choices, list) else iter(())


def _mapping(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def _count(value: object) -> int:
    return int(value) if isinstance(value, int | float) else 0
