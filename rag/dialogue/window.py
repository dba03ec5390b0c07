"""What of a dialogue goes into a prompt: the newest exchanges as messages, of older ones those like the question.

In: exchanges, oldest first, a question, and a budget in tokens. Out: user and assistant messages; the exchanges that
did not fit, the likest first, each shortened to what the question is about. It reads no store. Pure.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rag.records import ChatMessage, Exchange
from rag.tokens import estimate_tokens
from rag.words import held, sentences, stems

LEAST_CHARS = 100  # of an answer that is still worth reading
GAP = " … "
EXCERPT_CHARS = 600  # of either side of an exchange of long ago


@dataclass(frozen=True, kw_only=True)
class Fitted:
    """The window as messages, and what it leaves out."""

    messages: tuple[ChatMessage, ...]
    left_out: tuple[Exchange, ...]  # oldest first; with the last exchange, where its answer lost its middle


def fit_window(exchanges: Sequence[Exchange], *, pairs: int, tokens: int) -> Fitted:
    """The newest exchanges that fit, at most `pairs`. An exchange goes in whole or not at all. The very last one is an
    exception, since the next question depends on it («подробнее про второй пункт»): its answer may lose its middle.

    The first exchange that does not fit ends the window: a dialogue with a gap misleads more than a shorter one.
    """
    kept: list[Exchange] = []
    left, cut = tokens, 0
    for exchange in reversed(exchanges[-pairs:] if pairs else ()):
        needed = size_of(exchange)
        if needed > left:
            cut = len(kept) == 0
            kept = kept or _shortened(exchange, left)
            break
        left -= needed
        kept.append(exchange)
    messages = tuple(message for exchange in reversed(kept) for message in _messages(exchange))
    whole = 0 if cut else len(kept)
    return Fitted(messages=messages, left_out=tuple(exchanges[: len(exchanges) - whole]))


def size_of(exchange: Exchange) -> int:
    """In tokens."""
    return estimate_tokens(exchange.question) + estimate_tokens(exchange.answer)


def likest(exchanges: Sequence[Exchange], question: str) -> tuple[Exchange, ...]:
    """Those that have words of the question, the likest first: by the rarity of the words among these exchanges, short
    exchanges before long ones."""
    wanted = stems(question)
    holds = [held(wanted, f"{each.question}\n{each.answer}") for each in exchanges]
    holders = Counter(stem for words in holds for stem in words)
    mean = sum(len(each.question) + len(each.answer) for each in exchanges) / max(len(exchanges), 1) or 1.0
    worth = {stem: math.log(1 + (len(exchanges) - count + 0.5) / (count + 0.5)) for stem, count in holders.items()}

    def score(place: int) -> float:
        length = (len(exchanges[place].question) + len(exchanges[place].answer)) / mean
        return sum(worth[stem] for stem in holds[place]) / (0.7 + 0.3 * length)

    places = sorted((place for place, words in enumerate(holds) if words), key=lambda place: (-score(place), -place))
    return tuple(exchanges[place] for place in places)


def excerpt(exchange: Exchange, question: str) -> Exchange:
    """The exchange with long texts cut to the sentences that have words of the question; to their beginnings where none
    has."""
    wanted = stems(question)
    return Exchange(question=_about(exchange.question, wanted), answer=_about(exchange.answer, wanted))


def _about(text: str, wanted: frozenset[str]) -> str:
    if len(text) <= EXCERPT_CHARS:
        return text
    kept: list[str] = []
    left = EXCERPT_CHARS
    for span in sentences(text):
        sentence = text[span.start : span.end]
        if held(wanted, sentence) and left > 0:
            kept.append(sentence[:left])
            left -= len(sentence)
    return GAP.join(kept) or f"{text[:EXCERPT_CHARS]}{GAP}"


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
