"""The window of a dialogue as messages for a model.

In: the last exchanges, oldest first, and a budget in tokens. Out: user and assistant messages, oldest first.
It reads no store, and does not handle what has left the window.
"""

from collections.abc import Sequence
from dataclasses import replace

from rag.records import ChatMessage, Exchange
from rag.tokens import estimate_tokens

LEAST_CHARS = 100  # of an answer that is still worth reading
GAP = " … "


def window_messages(exchanges: Sequence[Exchange], *, pairs: int, tokens: int) -> tuple[ChatMessage, ...]:
    """The newest exchanges that fit, at most `pairs`. An exchange goes in whole or not at all. The very last one is an
    exception, since the next question depends on it («подробнее про второй пункт»): its answer may lose its middle.

    The first exchange that does not fit ends the window: a dialogue with a gap misleads more than a shorter one.
    """
    kept: list[Exchange] = []
    left = tokens
    for exchange in reversed(exchanges[-pairs:] if pairs else ()):
        needed = estimate_tokens(exchange.question) + estimate_tokens(exchange.answer)
        if needed > left:
            kept = kept or _shortened(exchange, left)
            break
        left -= needed
        kept.append(exchange)
    return tuple(message for exchange in reversed(kept) for message in _messages(exchange))


def _shortened(exchange: Exchange, tokens: int) -> list[Exchange]:
    """The exchange with the middle of its answer cut out; empty where hardly anything of the answer would fit."""
    allowed, length = tokens - estimate_tokens(exchange.question), len(exchange.answer)
    while length > LEAST_CHARS:
        length = length * 3 // 4
        answer = f"{exchange.answer[: length * 3 // 4]}{GAP}{exchange.answer[-(length // 4) :]}"
        if estimate_tokens(answer) <= allowed:
            return [replace(exchange, answer=answer)]
    return []


def _messages(exchange: Exchange) -> tuple[ChatMessage, ChatMessage]:
    return (
        ChatMessage(role="user", content=exchange.question),
        ChatMessage(role="assistant", content=exchange.answer),
    )
