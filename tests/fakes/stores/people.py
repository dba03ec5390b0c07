"""People and what they said, in memory.

In and out: what `bot.ports.PeopleStore` and `rag.ports.DialogueStore` say.
"""

from collections.abc import Sequence
from dataclasses import replace

from domain.documents import Removed
from domain.ids import BaseId, ChatId, SessionId, ThreadId, UserId
from domain.people import Mode, UserState
from rag.dialogue.records import Dialogue
from rag.records import Exchange, PastSession, Unsummarised
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

    async def named_bases(self, name: str) -> list[str]:
        filled = {document.batch.base_id for document in self._tables.documents.values()}
        named = [key for key, base in self._tables.bases.items() if isinstance(key, str) and base in filled]
        return sorted(named, key=lambda key: (key != name, key))

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
        self._tables.summaries = {key: kept for key, kept in self._tables.summaries.items() if key[0] != user}
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

    async def recollect(
        self, user: UserId, session: SessionId, *, pairs: int, terms: Sequence[str], recalled: int
    ) -> Dialogue:
        said = self._tables.dialogues.get((user, session), [])
        asked = set(terms)
        alike = [each for each in self._archived(user, session) if asked & _words(each)]
        best = sorted(alike, key=lambda each: -len(asked & _words(each)))[:recalled]
        return Dialogue(
            window=tuple(said[max(len(said) - pairs, 0) :]),
            summary=self._tables.summaries.get((user, session), ("", 0))[0],
            recalled=tuple(each for each in alike if each in best),
        )

    async def append(
        self,
        user: UserId,
        session: SessionId,
        *,
        base: BaseId,
        exchange: Exchange,
        question_terms: Sequence[str],
        answer_terms: Sequence[str],
        keep: int,
    ) -> int:
        said = self._tables.dialogues.setdefault((user, session), [])
        said.append(exchange)
        leaving = max(len(said) - keep // MESSAGES_IN_PAIR, 0)
        self._tables.archived.setdefault((user, session), []).extend(said[:leaving])
        del said[:leaving]
        return leaving * MESSAGES_IN_PAIR

    async def unsummarised(self, user: UserId, session: SessionId, *, limit: int) -> Unsummarised:
        summary, covered = self._tables.summaries.get((user, session), ("", 0))
        pending = self._archived(user, session)[covered : covered + limit]
        return Unsummarised(summary=summary, exchanges=tuple(pending), up_to=covered + len(pending) if pending else 0)

    async def save_summary(self, user: UserId, session: SessionId, *, summary: str, up_to: int) -> bool:
        later = up_to > self._tables.summaries.get((user, session), ("", 0))[1]
        if later and up_to <= len(self._archived(user, session)):
            self._tables.summaries[user, session] = (summary, up_to)
            return True
        return False

    async def sessions(self, user: UserId, *, limit: int) -> list[PastSession]:
        """The later a dialogue began, the later it was: enough for a double."""
        mine = [session for owner, session in self._tables.dialogues if owner == user]
        return [self._past(user, session) for session in reversed(mine)][:limit]

    async def resume(self, user: UserId, session: SessionId) -> bool:
        if (user, session) not in self._tables.dialogues:
            return False
        self._tables.states[user] = replace(self._tables.states[user], session_id=session)
        return True

    def _archived(self, user: UserId, session: SessionId) -> list[Exchange]:
        return self._tables.archived.get((user, session), [])

    def _past(self, user: UserId, session: SessionId) -> PastSession:
        said = [*self._archived(user, session), *self._tables.dialogues[user, session]]
        return PastSession(id=session, title=said[0].question, exchanges=len(said))


def _words(exchange: Exchange) -> set[str]:
    return set(f"{exchange.question} {exchange.answer}".casefold().split())
