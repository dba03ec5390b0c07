"""What is said to a message that asks nothing, where no model has a word for it.

In: the `Answer` of a turn, and what the base lacks. Out: the same answer with words: short, and with what can be done
next. Which small talk it is was decided by `rag.small_talk`.
"""

from dataclasses import replace

from bot.texts import Words
from rag.records import Answer, SmallTalk

_GO_ON = frozenset({SmallTalk.GREETING, SmallTalk.ASSENT})  # the next step is said behind them


def in_words(answer: Answer, words: Words, *, lack: str | None = None) -> Answer:
    """Any other answer as it is. `lack`: "empty" or "reading", where there is nothing to answer from yet."""
    kind = answer.small_talk
    if kind is None or answer.text:
        return answer
    if kind is SmallTalk.LEANING and lack:
        return replace(answer, text=words.plain(f"answer-nothing-{lack}"))
    said = words.plain(f"small-talk-{kind}")
    return replace(answer, text=f"{said} {words.plain(_next_step(lack))}" if kind in _GO_ON else said)


def _next_step(lack: str | None) -> str:
    return f"small-talk-ask-{lack}" if lack else "small-talk-ask"
