"""People and what they said, in memory.

In and out: what `bot.ports.PeopleStore` and `rag.ports.DialogueStore` say.
"""

from dataclasses import replace

from domain.documents import Removed
from domain.ids import BaseId, ChatId, SessionId, ThreadId, UserId
from domain.people import Mode, UserState
from rag.records import Exchange
from tests.fakes.stores.tables import Tables, fresh_id

MESSAGES_IN_PAIR = 2


class MemoryPeople:
    """Meets `bot.ports.PeopleStore`."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def open_base(self, chat: ChatId, *, thread: ThreadId | None, member: UserId | None) -> BaseId:
        is_private = chat > 0
        base = self._tables.bases.setdefault((chat, 0 if is_private else thread or 0), BaseId(fresh_id()))
        who = member if member is not None or not is_private else UserId(chat)
        if who is not None:
            self._tables.members.add((base, who))
        return base

    async def open_named_base(self, name: str) -> BaseId:
        return self._tables.bases.setdefault(name, BaseId(fresh_id()))

    async def state(self, user: UserId, *, base: BaseId, language: str) -> UserState:
        fresh = UserState(user_id=user, mode=None, session_id=SessionId(fresh_id()), base_id=base, language=language)
        return self._tables.states.setdefault(user, fresh)

    async def set_mode(self, user: UserId, mode: Mode | None) -> UserState:
        return self._keep(replace(await self._own_state(user), mode=mode))

    async def set_language(self, user: UserId, language: str) -> UserState:
        return self._keep(replace(await self._own_state(user), language=language))

    async def new_session(self, user: UserId) -> UserState:
        return self._keep(replace(await self._own_state(user), session_id=SessionId(fresh_id())))

    async def clean_chat(self, user: UserId) -> Removed:
        await self.new_session(user)
        gone = 0
        for said in (self._tables.dialogues, self._tables.archived):
            for key in [key for key in said if key[0] == user]:
                gone += MESSAGES_IN_PAIR * len(said.pop(key))
        return Removed(messages=gone)

    async def _own_state(self, user: UserId) -> UserState:
        own = await self.open_base(ChatId(user), thread=None, member=None)
        return await self.state(user, base=own, language="ru")

    def _keep(self, state: UserState) -> UserState:
        self._tables.states[state.user_id] = state
        return state


class MemoryDialogue:
    """Meets `rag.ports.DialogueStore`."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def window(self, user: UserId, session: SessionId, *, pairs: int) -> list[Exchange]:
        said = self._tables.dialogues.get((user, session), [])
        return said[max(len(said) - pairs, 0) :]

    async def append(self, user: UserId, session: SessionId, *, base: BaseId, exchange: Exchange, keep: int) -> None:
        said = self._tables.dialogues.setdefault((user, session), [])
        said.append(exchange)
        leaving = max(len(said) - keep // MESSAGES_IN_PAIR, 0)
        self._tables.archived.setdefault((user, session), []).extend(said[:leaving])
        del said[:leaving]
