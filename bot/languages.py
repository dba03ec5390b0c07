"""A cache of the language that each chat has chosen.

In: the language of each state that is read or changed. Out: the language of a chat, for messages sent before its state
is read (access, throttling) or when it cannot be read. It reads nothing itself; a restart empties it.
"""

from domain.ids import ChatId

CHATS = 10_000  # about 100 bytes each; the one noted least recently is evicted


class ChosenLanguages:
    """Languages of private chats and groups; for unknown chats the caller decides."""

    def __init__(self, *, limit: int = CHATS) -> None:
        self._limit = limit
        self._known: dict[ChatId, str] = {}

    def note(self, chat: ChatId, language: str) -> None:
        """Set the chat's language."""
        self._known.pop(chat, None)
        self._known[chat] = language
        if len(self._known) > self._limit:
            del self._known[next(iter(self._known))]

    def of(self, chat: ChatId) -> str | None:
        """None when the chat's state has not been read yet."""
        return self._known.get(chat)
