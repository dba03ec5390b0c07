"""Modes, dialogues and bases of people and groups, who else is in a base, links to join, and tokens.

In: Telegram ids; a person or a base. Out: states, and records of `domain.bases` and `domain.people`. Rights are checked
by the functions themselves. It does not know what a mode means.
"""

from adapters.database import rows
from adapters.database.rows import Given
from adapters.database.transport import Transport
from domain.bases import Invitation, Joined, ListedBase, Member, Role, SentOver
from domain.documents import Removed
from domain.ids import BaseId, ChatId, DocumentId, FileId, ThreadId, UserId
from domain.people import Caller, Mode, PendingQuestion, Token, UserState

MOST_OWN = 50


class PeopleStore(rows.Store):
    """Modes, dialogues and bases of people and groups."""

    async def open_base(
        self,
        chat: ChatId,
        *,
        thread: ThreadId | None,
        member: UserId | None,
        name: str | None = None,
        topic: str | None = None,
    ) -> BaseId:
        """The first base of a private chat (`chat` is the person), a group or a topic; made when it is not there yet.
        `name` is the chat's, `topic` the topic's."""
        return await self._one(
            BaseId, "open_base", "id", chat=chat, thread=thread, member=member, name=name or None, topic=topic or None
        )

    async def open_named_base(self, name: str) -> BaseId:
        """The base of the command line with this name; made when it is not there yet."""
        return await self._one(BaseId, "open_named_base", "id", name=name)

    async def named_bases(self, name: str) -> list[str]:
        """Names of command-line bases that hold documents (20 at most); `name` comes first if it is one of them."""
        return await self._all(str, "named_bases", "name", name=name)

    async def state(self, user: UserId, *, base: BaseId, language: str, thread: ThreadId | None = None) -> UserState:
        """The state in this topic. Where there is none it is created: these values, no mode, a fresh dialogue."""
        return await self._state("read_or_create_state", user=user, home=base, language=language, thread=thread or 0)

    async def set_mode(self, user: UserId, mode: Mode | None, *, thread: ThreadId | None = None) -> UserState:
        """Upserts on `user_id` and topic (seed 1, section 4.1.1)."""
        return await self._state("set_mode", user=user, mode=mode, thread=thread or 0)

    async def set_language(self, user: UserId, language: str) -> UserState:
        """In all topics of the chat."""
        return await self._state("set_language", user=user, language=language)

    async def set_only(
        self, user: UserId, *, base: BaseId, document: DocumentId | None, thread: ThreadId | None = None
    ) -> UserState:
        """Questions are asked of this document of the base alone; None: of all."""
        return await self._state("set_only_document", user=user, base=base, document=document, thread=thread or 0)

    async def new_session(self, user: UserId, *, thread: ThreadId | None = None) -> UserState:
        """Begin a new dialogue; the old one is kept."""
        return await self._state("new_session", user=user, thread=thread or 0)

    async def go_home(self, user: UserId, *, thread: ThreadId | None = None) -> UserState:
        """Open the chat's own base, where the open one was closed to them."""
        return await self._state("go_home", user=user, thread=thread or 0)

    async def _state(self, function: str, **given: Given) -> UserState:
        row = (await self._call(function, **given))[0]
        return rows.record(
            UserState,
            row,
            mode=row["current_mode"],
            only=row["only_document"],
            thread=row["thread_id"] or None,
            base_group=row["base_chat"] if row["base_kind"] == "group" else None,
            base_owner=row["owner_name"],
        )

    async def clean_chat(self, user: UserId, *, base: BaseId | None = None) -> Removed:
        """Erase window, archive and summaries of dialogues about this base (None: all), and begin a new dialogue."""
        return await self._one(Removed, "clean_chat", user=user, base=base)

    async def forget(self, person: UserId) -> tuple[int, int]:
        """Remove all that is theirs; how many bases and documents it was."""
        (row,) = await self._call("forget_person", user=person)
        return rows.value(int, row["bases"]), rows.value(int, row["documents"])

    async def put_question(
        self, chat: ChatId, *, thread: ThreadId | None, person: UserId, question: PendingQuestion, seconds: int
    ) -> None:
        """Remember what the person was asked in this chat, for so long; an earlier question there is forgotten."""
        await self._call(
            "put_pending_question", chat=chat, thread=thread, user=person, **vars(question), seconds=seconds
        )

    async def take_question(
        self, chat: ChatId, *, thread: ThreadId | None, person: UserId, update: int
    ) -> PendingQuestion | None:
        """What the person was asked there. It is given to the first `update` that comes, and again only to the same
        one, which is replayed after a crash."""
        return await self._first(
            PendingQuestion, "take_pending_question", chat=chat, thread=thread, user=person, update=update
        )


class TokenStore(rows.Store):
    """Tokens of the HTTP API."""

    async def add(self, base: BaseId | None, token_hash: str, *, is_read_only: bool, days: int | None) -> UserId:
        """The id of the new token, for one base or (None) all of who acts; it ends after `days` (None: never)."""
        return await self._one(UserId, "add_token", "id", base=base, hash=token_hash, read_only=is_read_only, days=days)

    async def use(self, token_hash: str, *, per_minute: int) -> Caller | None:
        """Whose token it is; counts the request. None for one that is unknown, revoked or over."""
        return await self._first(Caller, "use_token", hash=token_hash, per_minute=per_minute)

    async def all(self, base: BaseId | None) -> list[Token]:
        """Those for a base (None: for any) that who acts has made, the oldest first."""
        return await self._all(Token, "list_tokens", base=base)

    async def revoke(self, base: BaseId | None, token: UserId) -> bool:
        """End it and erase its dialogues; False when the base has no such token."""
        return await self._does("revoke_token", base=base, token=token)


class BaseStore(rows.Store):
    """Bases of people and groups, who else is in them, and links to join. All but
    `all`, `accept` and what Telegram says of groups raise BaseClosed or BaseReadOnly where who acts may not."""

    def __init__(
        self, transport: Transport, *, base_passages: int | None = None, kept_bytes: int | None = None
    ) -> None:
        super().__init__(transport)
        self._base_passages, self._kept_bytes = base_passages, kept_bytes

    async def all(self, user: UserId, *, thread: ThreadId | None = None) -> list[ListedBase]:
        """What the person or group has, their own first; `is_open` tells of this topic."""
        return await self._all(ListedBase, "list_bases", user=user, thread=thread or 0)

    async def show(self, base: BaseId) -> ListedBase | None:
        """One base, as who acts sees it; for nobody in particular None where there is none. Raises BaseClosed."""
        return await self._first(ListedBase, "show_base", base=base)

    async def make(self, user: UserId, name: str) -> BaseId | None:
        """A further base of theirs; None when they own as many as anybody may."""
        return await self._first(BaseId, "make_base", "base_id", user=user, name=name, most=MOST_OWN)

    async def rename(self, base: BaseId, name: str) -> bool:
        """False when there is none. Raises BaseReadOnly for whoever is not the owner."""
        return await self._does("rename_base", base=base, name=name)

    async def delete(self, base: BaseId) -> int | None:
        """Remove it with everything, and say how many documents it had; None for the first base of a chat."""
        return await self._first(int, "delete_base", "documents", base=base)

    async def open(self, user: UserId, base: BaseId, *, thread: ThreadId | None) -> None:
        """Open it in their chat or in a topic of it. Raises BaseClosed."""
        await self._call("open_in_chat", user=user, base=base, thread=thread or 0)

    async def bind(self, base: BaseId, chat: ChatId, *, thread: ThreadId | None, name: str) -> None:
        """Open a base of who acts in a group, for all who write there."""
        await self._call("bind_base", base=base, chat=chat, thread=thread or 0, name=name)

    async def keep_copy(self, base: BaseId, document: DocumentId, to: BaseId) -> FileId | None:
        """The name under which a document's kept file is to be stored for another base, before the document is sent
        there; None where Baza keeps none, or the other base has no room for it."""
        return await self._first(
            FileId, "keep_copy", "id", base=base, document=document, to=to, most_bytes=self._kept_bytes
        )

    async def send(self, base: BaseId, document: DocumentId, to: BaseId, *, move: bool) -> SentOver | None:
        """Copy or move a ready document to another base, as it was read; None where there is none. Raises
        NoRoom when the other base may not hold its passages as well."""
        return await self._first(
            SentOver, "send_document", base=base, document=document, to=to, move=move, base_passages=self._base_passages
        )

    async def members(self, base: BaseId) -> list[Member]:
        """Everybody but the owner, who alone may ask."""
        return await self._all(Member, "list_members", base=base)

    async def remove_member(self, base: BaseId, member: UserId) -> bool:
        """Take somebody off, or leave; False when they are no member, or the owner."""
        return await self._does("remove_member", base=base, member=member)

    async def confirm_member(self, user: UserId, base: BaseId) -> bool:
        """Telegram says that the person is in the group whose base it is; False when they have not written there."""
        return await self._does("confirm_member", user=user, group_base=base)

    async def leave_group(self, chat: ChatId, member: UserId | None) -> None:
        """The person, or (None) the bot itself, is not in the group any more."""
        await self._call("leave_group", chat=chat, member=member)

    async def invite(self, base: BaseId, secret_hash: str, *, role: Role, once: bool, days: int | None) -> Invitation:
        """A link, by the hash of its secret; without `days` it does not end."""
        return await self._one(
            Invitation, "make_invitation", base=base, hash=secret_hash, role=role, once=once, days=days
        )

    async def invitations(self, base: BaseId) -> list[Invitation]:
        """Links that still work, newest first."""
        return await self._all(Invitation, "list_invitations", base=base)

    async def revoke(self, base: BaseId, invitation: int) -> bool:
        """End a link; False when it has ended."""
        return await self._does("revoke_invitation", base=base, invitation=invitation)

    async def accept(self, user: UserId, secret_hash: str, *, name: str) -> Joined | None:
        """Make the person a member by a link; None for one that does not work (any more)."""
        return await self._first(Joined, "accept_invitation", user=user, hash=secret_hash, name=name)
