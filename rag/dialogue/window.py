"""The window of a dialogue as a model is given it.

In: the last exchanges, oldest first, and a budget in tokens. Out: user and assistant messages, oldest first.
It reads no store; what has left the window is not its business.
"""

from collections.abc import Sequence

from rag.records import ChatMessage, Exchange
from rag.tokens import estimate_tokens


def window_messages(exchanges: Sequence[Exchange], *, pairs: int, tokens: int) -> tuple[ChatMessage, ...]:
    """The newest exchanges that fit, never more than `pairs`; an exchange goes in whole or not at all.

    The first that does not fit ends the window: a dialogue with a hole in it misleads more than a shorter one.
    """
    kept: list[Exchange] = []
    left = tokens
    for exchange in reversed(exchanges[-pairs:] if pairs else ()):
        left -= estimate_tokens(exchange.question) + estimate_tokens(exchange.answer)
        if left < 0:
            break
        kept.append(exchange)
    return tuple(message for exchange in reversed(kept) for message in _messages(exchange))


def _messages(exchange: Exchange) -> tuple[ChatMessage, ChatMessage]:
    return (
        ChatMessage(role="user", content=exchange.question),
        ChatMessage(role="assistant", content=exchange.answer),
    )
