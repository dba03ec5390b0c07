"""The language that each chat has chosen, as far as its state was read since the start.

In: languages of states, as they are read and changed. Out: the one of a chat, for what is said before its state is
read (who may talk, and how much) or when it cannot be. It reads nothing itself, and a restart forgets it.
"""

from domain.ids import ChatId

CHATS = 10_000  # some hundred bytes each; the one that was quiet longest is forgotten


class ChosenLanguages:
    """Of private chats and groups; what is not known is left to the caller."""

    def __init__(self, *, limit: int = CHATS) -> None:
        self._limit = limit
        self._known: dict[ChatId, str] = {}

    def note(self, chat: ChatId, language: str) -> None:
        """This is the chat's language now."""
        self._known.pop(chat, None)
        self._known[chat] = language
        if len(self._known) > self._limit:
            del self._known[next(iter(self._known))]

    def of(self, chat: ChatId) -> str | None:
        """None when its state was not read yet."""
        return self._known.get(chat)
