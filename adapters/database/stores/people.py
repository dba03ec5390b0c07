"""Modes, dialogues and bases of people and groups.

In: Telegram ids. Out: bases and states. It does not know what a mode means.
"""

from adapters.database import rows
from adapters.database.payloads import storable
from adapters.database.stores.library import REMOVAL_S
from adapters.database.transport import Row, Transport
from domain.documents import Removed
from domain.ids import BaseId, ChatId, DocumentId, ThreadId, UserId
from domain.people import Caller, Mode, PendingQuestion, Token, UserState


class PeopleStore:
    """Meets `bot.ports.PeopleStore`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def open_base(
        self,
        chat: ChatId,
        *,
        thread: ThreadId | None,
        member: UserId | None,
        name: str | None = None,
        topic: str | None = None,
    ) -> BaseId:
        """The first base of a private chat, a group or a topic; made when it is not there yet."""
        found = await self._transport.call(
            "open_base",
            p_chat=chat,
            p_thread=thread,
            p_member=member,
            p_name=storable(name) if name else None,
            p_topic=storable(topic) if topic else None,
        )
        return BaseId(rows.text(found[0], "id"))

    async def open_named_base(self, name: str) -> BaseId:
        """The base of the command line with this name; made when it is not there yet."""
        found = await self._transport.call("open_named_base", p_name=storable(name))
        return BaseId(rows.text(found[0], "id"))

    async def named_bases(self, name: str) -> list[str]:
        """Some bases of the command line that something was added to, `name` first where it is one."""
        found = await self._transport.call("named_bases", p_name=storable(name))
        return [rows.text(row, "name") for row in found]

    async def state(self, user: UserId, *, base: BaseId, language: str, thread: ThreadId | None = None) -> UserState:
        """The state in this topic; a new one is made with these values."""
        found = await self._transport.call(
            "read_or_create_state", p_user=user, p_home=base, p_language=language, p_thread=thread or 0
        )
        return rows.user_state(found[0])

    async def set_mode(self, user: UserId, mode: Mode | None, *, thread: ThreadId | None = None) -> UserState:
        """Upserts on `user_id` and topic."""
        found = await self._transport.call(
            "set_mode", p_user=user, p_mode=mode.value if mode else None, p_thread=thread or 0
        )
        return rows.user_state(found[0])

    async def set_language(self, user: UserId, language: str) -> UserState:
        """In all topics of the chat."""
        found = await self._transport.call("set_language", p_user=user, p_language=language)
        return rows.user_state(found[0])

    async def set_only(
        self, user: UserId, *, base: BaseId, document: DocumentId | None, thread: ThreadId | None = None
    ) -> UserState:
        """Questions are asked of this document of the base alone; None: of all."""
        found = await self._transport.call(
            "set_only_document", p_user=user, p_base=base, p_document=document, p_thread=thread or 0
        )
        return rows.user_state(found[0])

    async def new_session(self, user: UserId, *, thread: ThreadId | None = None) -> UserState:
        """Begin a new dialogue; the old one is kept."""
        found = await self._transport.call("new_session", p_user=user, p_thread=thread or 0)
        return rows.user_state(found[0])

    async def go_home(self, user: UserId, *, thread: ThreadId | None = None) -> UserState:
        """Open the chat's own base, where the open one was closed to them."""
        found = await self._transport.call("go_home", p_user=user, p_thread=thread or 0)
        return rows.user_state(found[0])

    async def clean_chat(self, user: UserId, *, base: BaseId | None = None) -> Removed:
        """Erase window, archive and summaries of dialogues about this base (None: all), and begin a new dialogue."""
        found = await self._transport.call("clean_chat", p_user=user, p_base=base)
        return Removed(messages=rows.integer(found[0], "messages"))

    async def forget(self, person: UserId) -> tuple[int, int]:
        """Remove all that is theirs; how many bases and documents it was."""
        (row,) = await self._transport.call("forget_person", timeout_s=REMOVAL_S, p_user=person)
        return rows.integer(row, "bases"), rows.integer(row, "documents")

    async def put_question(
        self, chat: ChatId, *, thread: ThreadId | None, person: UserId, question: PendingQuestion, seconds: int
    ) -> None:
        """Remember what the person was asked in this chat; an earlier question there is forgotten."""
        await self._transport.call(
            "put_pending_question",
            p_chat=chat,
            p_thread=thread,
            p_user=person,
            p_about=question.about,
            p_subject=storable(question.subject),
            p_seconds=seconds,
        )

    async def take_question(
        self, chat: ChatId, *, thread: ThreadId | None, person: UserId, update: int
    ) -> PendingQuestion | None:
        """What the person was asked there, once; again only for the same `update`."""
        found = await self._transport.call(
            "take_pending_question", p_chat=chat, p_thread=thread, p_user=person, p_update=update
        )
        return next(iter(rows.records(PendingQuestion, found)), None)


class TokenStore:
    """Meets `api.ports.Tokens`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def add(self, base: BaseId | None, token_hash: str, *, is_read_only: bool, days: int | None) -> UserId:
        """The id of the new token, for one base or (None) all of who acts; it ends after `days` (None: never)."""
        found = await self._transport.call(
            "add_token", p_base=base, p_hash=token_hash, p_read_only=is_read_only, p_days=days
        )
        return UserId(rows.integer(found[0], "id"))

    async def use(self, token_hash: str, *, per_minute: int) -> Caller | None:
        """Whose token it is; counts the request. None for one that is unknown, revoked or over."""
        found = await self._transport.call("use_token", p_hash=token_hash, p_per_minute=per_minute)
        return _caller(found[0]) if found else None

    async def all(self, base: BaseId | None) -> list[Token]:
        """Those for a base (None: for any) that who acts has made, the oldest first."""
        return [_token(row) for row in await self._transport.call("list_tokens", p_base=base)]

    async def revoke(self, base: BaseId | None, token: UserId) -> bool:
        """End it and erase its dialogues; False when the base has no such token."""
        return bool(await self._transport.call("revoke_token", p_base=base, p_token=token))


def _caller(row: Row) -> Caller:
    return rows.record(
        Caller,
        row,
        token=row["id"],
        person=row["user_id"],
        base=row["base_id"],
        base_name=row["name"],
        is_read_only=row["read_only"],
    )


def _token(row: Row) -> Token:
    return rows.record(Token, row, base=row["base_id"], base_name=row["name"], is_read_only=row["read_only"])
