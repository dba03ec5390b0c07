"""Bases of people and groups, who else is in them, and links to join.

In: a person or a base. Out: records of `domain.bases`. Rights are checked by the functions themselves.
"""

from adapters.database import rows
from adapters.database.payloads import storable
from adapters.database.stores.library import REMOVAL_S
from adapters.database.transport import NO_ROOM, DatabaseError, Row, Transport
from domain.bases import Invitation, Joined, ListedBase, Member, Role, SentOver
from domain.errors import NoRoom
from domain.ids import BaseId, ChatId, DocumentId, FileId, ThreadId, UserId

MOST_OWN = 50


class BaseStore:
    """Meets `bot.ports.Bases` and `api.services.Bases`."""

    def __init__(
        self, transport: Transport, *, base_passages: int | None = None, kept_bytes: int | None = None
    ) -> None:
        self._transport, self._base_passages, self._kept_bytes = transport, base_passages, kept_bytes

    async def all(self, user: UserId, *, thread: ThreadId | None = None) -> list[ListedBase]:
        """What the person or group has, their own first; `is_open` tells of this topic."""
        found = await self._transport.call("list_bases", p_user=user, p_thread=thread or 0)
        return [_listed(row) for row in found]

    async def show(self, base: BaseId) -> ListedBase | None:
        """One base, as who acts sees it; for nobody in particular None where there is none. Raises BaseClosed."""
        found = await self._transport.call("show_base", p_base=base)
        return _listed(found[0]) if found else None

    async def make(self, user: UserId, name: str) -> BaseId | None:
        """A further base of theirs; None when they own as many as anybody may."""
        found = await self._transport.call("make_base", p_user=user, p_name=storable(name), p_most=MOST_OWN)
        return BaseId(rows.text(found[0], "base_id")) if found else None

    async def rename(self, base: BaseId, name: str) -> bool:
        """False when there is none. Raises BaseReadOnly for whoever is not the owner."""
        return bool(await self._transport.call("rename_base", p_base=base, p_name=storable(name)))

    async def delete(self, base: BaseId) -> int | None:
        """Remove it with everything, and say how many documents it had; None for the first base of a chat."""
        found = await self._transport.call("delete_base", timeout_s=REMOVAL_S, p_base=base)
        return rows.integer(found[0], "documents") if found else None

    async def open(self, user: UserId, base: BaseId, *, thread: ThreadId | None) -> None:
        """Open it in their chat or in a topic of it. Raises BaseClosed."""
        await self._transport.call("open_in_chat", p_user=user, p_base=base, p_thread=thread or 0)

    async def bind(self, base: BaseId, chat: ChatId, *, thread: ThreadId | None, name: str) -> None:
        """Open a base of who acts in a group, for all who write there."""
        await self._transport.call("bind_base", p_base=base, p_chat=chat, p_thread=thread or 0, p_name=storable(name))

    async def keep_copy(self, base: BaseId, document: DocumentId, to: BaseId) -> FileId | None:
        """The name under which a document's kept file is to be stored for another base, before the document is sent
        there; None where Baza keeps none, or the other base has no room for it."""
        found = await self._transport.call(
            "keep_copy", p_base=base, p_document=document, p_to=to, p_most_bytes=self._kept_bytes
        )
        return FileId(rows.text(found[0], "id")) if found else None

    async def send(self, base: BaseId, document: DocumentId, to: BaseId, *, move: bool) -> SentOver | None:
        """Copy or move a ready document to another base, as it was read; None where there is none. Raises
        NoRoom when the other base may not hold its passages as well."""
        try:
            found = await self._transport.call(
                "send_document",
                timeout_s=REMOVAL_S,
                p_base=base,
                p_document=document,
                p_to=to,
                p_move=move,
                p_base_passages=self._base_passages,
            )
        except DatabaseError as error:
            if error.code != NO_ROOM:
                raise
            raise NoRoom from error
        return next(iter(rows.records(SentOver, found)), None)

    async def members(self, base: BaseId) -> list[Member]:
        """Everybody but the owner, who alone may ask."""
        return [
            rows.record(Member, row, id=row["user_id"])
            for row in await self._transport.call("list_members", p_base=base)
        ]

    async def remove_member(self, base: BaseId, member: UserId) -> bool:
        """Take somebody off, or leave; False when they are no member, or the owner."""
        return bool(await self._transport.call("remove_member", p_base=base, p_member=member))

    async def confirm_member(self, user: UserId, base: BaseId) -> bool:
        """Telegram says that the person is in the group whose base it is; False when they have not written there."""
        return bool(await self._transport.call("confirm_member", p_user=user, p_group_base=base))

    async def leave_group(self, chat: ChatId, member: UserId | None) -> None:
        """The person, or (None) the bot itself, is not in the group any more."""
        await self._transport.call("leave_group", p_chat=chat, p_member=member)

    async def invite(self, base: BaseId, secret_hash: str, *, role: Role, once: bool, days: int | None) -> Invitation:
        """A link, by the hash of its secret; without `days` it does not end."""
        (row,) = await self._transport.call(
            "make_invitation", p_base=base, p_hash=secret_hash, p_role=role.value, p_once=once, p_days=days
        )
        until = rows.moment_or_none(row, "until")
        return Invitation(id=rows.integer(row, "id"), role=role, once=once, until=until)

    async def invitations(self, base: BaseId) -> list[Invitation]:
        """Links that still work, newest first."""
        return rows.records(Invitation, await self._transport.call("list_invitations", p_base=base))

    async def revoke(self, base: BaseId, invitation: int) -> bool:
        """End a link; False when it has ended."""
        return bool(await self._transport.call("revoke_invitation", p_base=base, p_invitation=invitation))

    async def accept(self, user: UserId, secret_hash: str, *, name: str) -> Joined | None:
        """Make the person a member by a link; None for one that does not work (any more)."""
        found = await self._transport.call("accept_invitation", p_user=user, p_hash=secret_hash, p_name=storable(name))
        return rows.record(Joined, found[0], base=found[0]["base_id"]) if found else None


def _listed(row: Row) -> ListedBase:
    group = row["chat_id"] if row["kind"] == "group" else None
    return rows.record(ListedBase, row, id=row["base_id"], group=group)
