"""A person who talks to the bot: real dispatcher, handlers, texts and serialisation; stores in memory.

In: what the person says, sends and presses, as raw updates. Out: what the bot did (`person.session`).
"""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from adapters.database.stores import Stores
from adapters.kept_files import FolderFiles
from bot.dispatcher import build_dispatcher
from bot.inbox import DONE
from bot.services import Services
from bot.settings import Settings
from bot.texts import Texts, load_texts
from domain.people import Mode
from prompts.wordings import load_small_talk
from rag.conversation import Conversation
from rag.metering import Pace, TurnMetrics, Usage
from rag.records import Answer, Answered, AnswerKind, Question, TextGrew, TurnEvent
from rag.small_talk import SmallTalkRule
from tests.fakes.statistics import ScriptedStatistics
from tests.fakes.stores import FakeStores
from tests.fakes.telegram import BOT_NAME, Call, RecordedBot, RecordingSession, chat_json

PERSON = 7
GROUP = -100500
TODAY = date(2026, 5, 30)


@cache
def texts() -> Texts:
    """Read once for all tests."""
    return load_texts(today=lambda: TODAY)


def plain_answer(text: str, **changes: Any) -> Answer:
    """A greeting-like answer, to be varied; its turn's figures are of its kind."""
    kind = changes.pop("kind", AnswerKind.CONVERSATION)
    return replace(Answer(kind=kind, text=text, model="test", turn=turn_of(kind)), **changes)


def turn_of(kind: AnswerKind, **changes: Any) -> TurnMetrics:
    """The figures of a turn that found nothing."""
    turn = TurnMetrics(
        kind=kind.value, model="test", plan=None, seconds=0.1, pace=Pace(), facts=0, passages=0, usage=Usage()
    )
    return replace(turn, **changes)


class ScriptedConversation(Conversation):
    """Gives `events`, or raises `error`; remembers what was asked."""

    def __init__(self) -> None:
        self.events: list[TurnEvent] = [
            TextGrew(kind=AnswerKind.CONVERSATION, text="Здрав"),
            Answered(answer=plain_answer("Здравствуйте!")),
        ]
        self.error: Exception | None = None
        self.questions: list[Question] = []
        self.stop: asyncio.Event | None = None  # of the last turn
        self.pause: asyncio.Event | None = None  # the turn waits for it

    async def answer(
        self, question: Question, *, stop: asyncio.Event | None = None, usage: Usage | None = None
    ) -> AsyncGenerator[TurnEvent, None]:
        self.questions.append(question)
        self.stop = stop
        if self.pause:
            await self.pause.wait()
        if self.error:
            raise self.error
        for event in self.events:
            yield event


@dataclass
class Person:
    """One person (`user`) in one chat, with the bot behind it."""

    user: int = PERSON
    chat: int = PERSON
    changes: dict[str, Any] = field(default_factory=dict)  # fields of Services
    variables: dict[str, str] = field(default_factory=dict)  # of the environment
    recorded: RecordedBot = field(default_factory=RecordedBot)
    stores: FakeStores = field(default_factory=FakeStores)
    conversation: ScriptedConversation = field(default_factory=ScriptedConversation)
    frugal: ScriptedConversation = field(default_factory=ScriptedConversation)  # for whoever has spent their day
    statistics: ScriptedStatistics = field(default_factory=ScriptedStatistics)
    woken: int = 0

    def __post_init__(self) -> None:
        self.services = Services(
            stores=cast("Stores", self._all_stores()),
            conversation=self.conversation,
            frugal_conversation=self.frugal,
            kept_files=FolderFiles(Path("/nonexistent")),
            settings=Settings.read({"BOT_TOKEN": "1:test", "LLM_API_KEY": "test", **self.variables}),
            texts=texts(),
            count_terms=lambda text: Counter(text.casefold().split()),
            small_talk=SmallTalkRule(load_small_talk()),
            wake=self._wake,
            **self.changes,
        )
        self.dispatcher = build_dispatcher(self.services)
        self._update_id = 0
        self.done = asyncio.Event()  # of the last update: the next one may begin

    def _all_stores(self) -> SimpleNamespace:
        """Without bases and tokens: tests/acceptance/test_bases.py has the database's."""
        held = dict.fromkeys(("library", "intake", "search", "text"), self.stores.library)
        people = self.stores.people
        return SimpleNamespace(people=people, dialogue=people, statistics=self.statistics, **held)

    @property
    def session(self) -> RecordingSession:
        """What the bot sent."""
        return self.recorded.session

    @property
    def last(self) -> Call:
        """The last message sent or edited."""
        return self.session.said[-1]

    @property
    def popup(self) -> Call:
        """The last answer to a button."""
        return self.session.named("answerCallbackQuery")[-1]

    async def say(self, text: str, **extra: Any) -> int:
        """Send a text; its message id is returned."""
        return await self.send(text=text, entities=_entities(text), **extra)

    async def send(self, **content: Any) -> int:
        """Send any message."""
        self._update_id += 1
        message = self._message(self._update_id, **content)
        await self._feed({"update_id": self._update_id, "message": message})
        return self._update_id

    async def send_file(self, name: str, *, size: int = 1000, **extra: Any) -> int:
        """Send a document."""
        document = {"file_id": f"file-{name}", "file_unique_id": name, "file_name": name, "file_size": size}
        return await self.send(document=document, **extra)

    async def press(self, data: str, *, under: int | None = None, original: dict[str, Any] | None = None) -> None:
        """Press a button under message `under` (the bot's last one by default)."""
        self._update_id += 1
        shown = self.session.message(under or max(self.session.messages))
        query = {
            "id": str(self._update_id),
            "from": self._user(),
            "chat_instance": "1",
            "data": data,
            "message": shown | ({"reply_to_message": original} if original else {}),
        }
        await self._feed({"update_id": self._update_id, "callback_query": query})

    async def stop_draft(self) -> None:
        """Press Telegram's own button on a draft."""
        self._update_id += 1
        stopped = {"chat": chat_json(self.chat), "draft_id": 1}
        await self._feed({"update_id": self._update_id, "stopped_message_generation": stopped})

    async def choose(self, mode: Mode) -> None:
        """Switch the mode and forget what was said about it."""
        await self.say("/chat" if mode is Mode.CHAT else "/base")
        self.session.calls.clear()

    def original(self, message_id: int, **content: Any) -> dict[str, Any]:
        """A message of this person, as a reply carries it."""
        return self._message(message_id, **content)

    async def _feed(self, update: dict[str, Any]) -> None:
        self.done = asyncio.Event()
        await self.dispatcher.feed_raw_update(self.recorded.bot, update, **{DONE: self.done})

    def _message(self, message_id: int, **content: Any) -> dict[str, Any]:
        message = {"message_id": message_id, "date": 1_700_000_000, "chat": chat_json(self.chat), "from": self._user()}
        return message | content

    def _user(self) -> dict[str, Any]:
        return {"id": self.user, "is_bot": False, "first_name": "Анна", "language_code": "ru"}

    def _wake(self) -> None:
        self.woken += 1


def _entities(text: str) -> list[dict[str, Any]]:
    """Links, commands and mentions of the bot, as Telegram's clients mark them (texts of tests stay within the BMP)."""
    found: list[dict[str, Any]] = []
    position = 0
    for word in text.split(" "):
        kind = _kind(word)
        if kind:
            found.append({"type": kind, "offset": position, "length": len(word)})
        position += len(word) + 1
    return found


def _kind(word: str) -> str | None:
    if word.startswith(("http://", "https://")):
        return "url"
    if word.startswith("/"):
        return "bot_command"
    return "mention" if word == f"@{BOT_NAME}" else None
