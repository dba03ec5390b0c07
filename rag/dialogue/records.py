"""What a turn may know of the turns before it.

In: nothing. Out: a frozen record; `memory` fills it, and the prompts' builders word it.
"""

from dataclasses import dataclass

from rag.records import Exchange


@dataclass(frozen=True, kw_only=True)
class Dialogue:
    """The window, a summary of what has left it, and old exchanges that seem to have the same subject."""

    window: tuple[Exchange, ...] = ()  # oldest first
    summary: str = ""
    recalled: tuple[Exchange, ...] = ()  # oldest first

    def __bool__(self) -> bool:
        """False at the beginning of a dialogue."""
        return bool(self.summary or self.window or self.recalled)

    @property
    def texts(self) -> tuple[str, ...]:
        """Everything said, for comparing an answer with it."""
        exchanges = (*self.recalled, *self.window)
        return (self.summary, *(text for each in exchanges for text in (each.question, each.answer)))
