"""Replies to messages that ask nothing (small talk), when no model has answered.

In: the `Answer` of a turn, and what the base lacks. Out: the same answer with a short text and the possible next step.
`rag.small_talk` has decided which kind of small talk it is.
"""

from dataclasses import replace

from bot.texts import Words
from rag.records import Answer, SmallTalk

_GO_ON = frozenset({SmallTalk.GREETING, SmallTalk.ASSENT})  # their replies end with the possible next step


def in_words(answer: Answer, words: Words, *, lack: str | None = None) -> Answer:
    """Gives a small-talk answer its text; any other answer is returned as it is. `lack`: "empty" or "reading" when the
    base has nothing to answer from yet."""
    kind = answer.small_talk
    if kind is None or answer.text:
        return answer
    if kind is SmallTalk.LEANING and lack:
        return replace(answer, text=words.plain(f"answer-nothing-{lack}"))
    said = words.plain(f"small-talk-{kind}")
    return replace(answer, text=f"{said} {words.plain(_next_step(lack))}" if kind in _GO_ON else said)


def _next_step(lack: str | None) -> str:
    return f"small-talk-ask-{lack}" if lack else "small-talk-ask"
