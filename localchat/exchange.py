"""The core of the local chat: every change that the bot or a person makes to a chat goes through here.

In: checked messages of the bot and of people. Out: rows in the store, events for the open pages, updates for the bot.
It knows nothing of HTTP.
"""

import asyncio
import secrets
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from localchat.records import ACCOUNTS, BOT_ID, Json, Room, given
from localchat.store import Files, Store

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
# Telegram documents no number; in practice bots see the refusal after some ten seconds to minutes.
PRESS_LIVES_S = 60


class Exchange:
    """The state that the Bot API and the page share."""

    def __init__(self, connection: sqlite3.Connection, folder: Path, clock: Callable[[], float]) -> None:
        self.store = Store(connection)
        self.files = Files(connection, folder / "files")
        self.hub = Hub()
        self.clock = clock
        self._last_id = self.store.last_id()
        self._stoppable: dict[int, int] = {}  # chat -> the draft that its person may stop
        self._pressed: dict[str, tuple[float, Json]] = {}  # query id -> when and what; not answered yet

    def view(self, message: Json) -> Json:
        """The message as both sides see it: with the one that it answers, but not what that one answers."""
        reply = message.get("reply_to_message")
        if reply is None:
            return message
        found = self.store.find(message["chat"]["id"], reply["message_id"])
        replied = {name: value for name, value in found.items() if name != "reply_to_message"} if found else None
        return given(**{**message, "reply_to_message": replied})

    def user(self, user_id: int) -> Json:
        """A User, with the language of a person."""
        user = ACCOUNTS[user_id]
        return user if user["is_bot"] else {**user, "language_code": self.language(user_id)}

    def language(self, user_id: int) -> str:
        return str(self.store.get(f"language of {user_id}") or "ru")

    def post(self, room: Room, sender_id: int, **fields: object) -> Json:
        """Store a new message, show it, and send the bot an update if a person wrote it."""
        # Ids follow the clock: the bot's database may outlive this folder and remembers the old ids. In milliseconds
        # they grow faster than anybody writes, so none is used twice, not even after a deletion.
        self._last_id = max(self._last_id + 1, int(self.clock() * 1000))
        base = given(message_id=self._last_id, date=int(self.clock()), chat=room.to_json(), **fields)
        return self._spread({**base, "from": self.user(sender_id)}, event="message", update="message")

    def revise(self, message: Json, *, marked: bool = True) -> Json:
        """Store a changed message under its id, `marked` as edited, show it, and send the bot an update if it is a
        person's."""
        changed = {**message, "edit_date": int(self.clock())} if marked else message
        return self._spread(changed, event="edit", update="edited_message")

    def remove(self, chat_id: int, message_id: int) -> bool:
        """Delete a message; False when there is no such message."""
        removed = self.store.delete(chat_id, message_id)
        if removed:
            self.hub.tell_pages({"type": "delete", "chat_id": chat_id, "message_id": message_id})
        return removed

    def press(self, message: Json, user_id: int, data: str) -> str:
        """A person pressed an inline button. Returns the query id under which the bot answers."""
        query_id, chat_id = str(secrets.randbits(62)), message["chat"]["id"]
        press = {"chat_id": chat_id, "message_id": message["message_id"], "user_id": user_id, "query_id": query_id}
        self._pressed[query_id] = (self.clock(), press)
        payload = {"id": query_id, "from": self.user(user_id), "message": self.view(message), "data": data}
        self.tell_bot("callback_query", {**payload, "chat_instance": str(abs(chat_id))})
        return query_id

    def answer(self, query_id: str, *, text: str, alert: bool) -> bool:
        """Answer a press, once; False when that is too late."""
        pressed_at, press = self._pressed.pop(query_id, (float("-inf"), {}))
        if self.clock() - pressed_at > PRESS_LIVES_S:
            return False
        self.hub.tell_pages({"type": "answer", **press, "text": text, "alert": alert})
        return True

    def draft(self, chat_id: int, draft_id: int, shown: Json, *, can_stop: bool) -> None:
        """Show a draft; it is not stored."""
        self._stoppable.pop(chat_id, None)
        if can_stop:
            self._stoppable[chat_id] = draft_id
        self.hub.tell_pages({"type": "draft", "chat_id": chat_id, "draft_id": draft_id, "can_stop": can_stop, **shown})

    def stop_draft(self, room: Room, draft_id: int) -> bool:
        """A person stops a draft; the bot gets one update about it. False when there is no draft to stop."""
        if self._stoppable.get(room.chat_id) != draft_id:
            return False
        del self._stoppable[room.chat_id]
        self.tell_bot("stopped_message_generation", {"chat": room.to_json(), "draft_id": draft_id})
        return True

    def tell_bot(self, kind: str, payload: Json) -> None:
        """Queue an update, unless the bot's `allowed_updates` exclude its kind."""
        allowed = self.store.get("allowed_updates")
        wanted = kind in allowed if isinstance(allowed, list) and allowed else kind not in _UNASKED
        if wanted:
            self.store.enqueue(kind, payload, now=self.clock())
            self.hub.wake_bot()

    def set_keyboard(self, chat_id: int, keyboard: Json | None) -> None:
        """Store and show the reply keyboard of a chat."""
        self.store.put(f"keyboard of {chat_id}", keyboard)
        self.hub.tell_pages({"type": "keyboard", "chat_id": chat_id, "keyboard": keyboard})

    def keyboard(self, chat_id: int) -> object:
        return self.store.get(f"keyboard of {chat_id}")

    def _spread(self, message: Json, *, event: str, update: str) -> Json:
        self.store.save(message)
        view, chat_id = self.view(message), message["chat"]["id"]
        self.hub.tell_pages({"type": event, "chat_id": chat_id, "message": view})
        if message["from"]["id"] != BOT_ID:
            self.tell_bot(update, view)
        return view
