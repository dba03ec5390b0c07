"""The core of the local chat: every change that the bot or a person makes to a chat goes through here.

In: checked messages of the bot and of people. Out: rows in the store, events for the open pages, updates for the bot.
It knows nothing of HTTP.
"""

import asyncio
import secrets
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from localchat.records import ACCOUNTS, BOT_ID, ROOM_BY_ID, Json, Message, Query, account_json, message_json, room_json
from localchat.store import Files, Messages, Updates, Values

QUEUE_EVENTS = 10_000  # a page that is this far behind is disconnected; when it reconnects it reads the history


class Hub:
    """Fan-out within one event loop."""

    def __init__(self) -> None:
        self._pages: set[asyncio.Queue[Json | None]] = set()
        self.poll: asyncio.Event | None = None  # of the one getUpdates call that may wait; a newer call replaces it
        self.closed = False

    @contextmanager
    def page(self) -> Iterator["asyncio.Queue[Json | None]"]:
        """The queue of events for one page; None means that the page must disconnect."""
        queue: asyncio.Queue[Json | None] = asyncio.Queue()
        self._pages.add(queue)
        try:
            yield queue
        finally:
            self._pages.discard(queue)

    def tell_pages(self, event: Json) -> None:
        for queue in list(self._pages):
            queue.put_nowait(None if queue.qsize() >= QUEUE_EVENTS else event)

    def wake_bot(self) -> None:
        """At every new update, and when the server stops."""
        if self.poll:
            self.poll.set()

    def close(self) -> None:
        """Wake every waiter, so that the server can stop at once."""
        self.closed = True
        self.wake_bot()
        for queue in self._pages:
            queue.put_nowait(None)


# Kinds of updates that a bot gets only if it names them in allowed_updates (core.telegram.org/bots/api#getupdates)
_UNASKED = frozenset({"chat_member", "message_reaction", "message_reaction_count"})


class Exchange:
    """The state that the Bot API and the page share."""

    def __init__(self, connection: sqlite3.Connection, folder: Path, clock: Callable[[], float]) -> None:
        self.messages = Messages(connection)
        self.updates = Updates(connection)
        self.values = Values(connection)
        self.files = Files(connection, folder / "files")
        self.hub = Hub()
        self.clock = clock
        self._stoppable: dict[int, int] = {}  # chat -> the draft that its person may stop

    def now(self) -> int:
        return int(self.clock())

    def view(self, message: Message) -> Json:
        """The message as both sides see it."""
        replied = self.messages.find(message.chat_id, message.reply_to) if message.reply_to else None
        return message_json(message, replied=replied, language=self.language(message.sender_id))

    def language(self, user_id: int) -> str:
        return str(self.values.get(f"language of {user_id}") or "ru")

    def post(self, message: Message) -> Json:
        """Store a new message (its id is assigned here), show it, and send the bot an update if a person wrote it."""
        # Ids start from the clock, not from 1: the bot's database may outlive this folder and remembers the old ids.
        # They start from milliseconds, faster than anybody writes, so a new folder's ids follow those of the old one.
        first = int(self.clock() * 1000)
        message = replace(message, message_id=self.messages.next_id(message.chat_id, first=first))
        self.messages.save(message)
        return self._spread(message, event="message", update="message")

    def revise(self, message: Message) -> Json:
        """Store a changed message under its id, show it, and send the bot an update if it is a person's."""
        self.messages.save(message)
        return self._spread(message, event="edit", update="edited_message")

    def remove(self, chat_id: int, message_id: int) -> bool:
        """Delete a message; False when there is no such message."""
        removed = self.messages.delete(chat_id, message_id)
        if removed:
            self.hub.tell_pages({"type": "delete", "chat_id": chat_id, "message_id": message_id})
        return removed

    def press(self, message: Message, user_id: int, data: str) -> str:
        """A person pressed an inline button. Returns the query id under which the bot answers."""
        query = Query(
            query_id=str(secrets.randbits(62)),
            chat_id=message.chat_id,
            message_id=message.message_id,
            user_id=user_id,
            pressed_at=self.clock(),
        )
        self.messages.save_query(query)
        payload: Json = {
            "id": query.query_id,
            "from": account_json(ACCOUNTS[user_id], language=self.language(user_id)),
            "message": self.view(message),
            "chat_instance": str(abs(message.chat_id)),
            "data": data,
        }
        self.tell_bot("callback_query", payload)
        return query.query_id

    def draft(self, chat_id: int, draft_id: int, shown: Json, *, can_stop: bool) -> None:
        """Show a draft; it is not stored."""
        self._stoppable.pop(chat_id, None)
        if can_stop:
            self._stoppable[chat_id] = draft_id
        ids: Json = {"type": "draft", "chat_id": chat_id, "draft_id": draft_id, "can_stop": can_stop}
        self.hub.tell_pages({**ids, **shown})

    def stop_draft(self, chat_id: int, draft_id: int) -> bool:
        """A person stops a draft; the bot gets one update about it. False when there is no draft to stop."""
        if self._stoppable.get(chat_id) != draft_id:
            return False
        del self._stoppable[chat_id]
        self.tell_bot("stopped_message_generation", {"chat": room_json(ROOM_BY_ID[chat_id]), "draft_id": draft_id})
        return True

    def tell_bot(self, kind: str, payload: Json) -> None:
        """Queue an update, unless the bot's `allowed_updates` exclude its kind."""
        allowed = self.values.get("allowed_updates")
        wanted = kind in allowed if isinstance(allowed, list) and allowed else kind not in _UNASKED
        if wanted:
            self.updates.add(kind, payload, now=self.clock())
            self.hub.wake_bot()

    def set_keyboard(self, chat_id: int, keyboard: Json | None) -> None:
        """Store and show the reply keyboard of a chat."""
        self.values.put(f"keyboard of {chat_id}", keyboard)
        self.hub.tell_pages({"type": "keyboard", "chat_id": chat_id, "keyboard": keyboard})

    def keyboard(self, chat_id: int) -> object:
        return self.values.get(f"keyboard of {chat_id}")

    def _spread(self, message: Message, *, event: str, update: str) -> Json:
        view = self.view(message)
        self.hub.tell_pages({"type": event, "chat_id": message.chat_id, "message": view})
        if message.sender_id != BOT_ID and message.chat_id in ROOM_BY_ID:
            self.tell_bot(update, view)
        return view
