"""A person at the local chat, for tests: says, sends, presses and waits, through the page's own HTTP interface.

    async with Person(chat.page_url) as you:                 # Вы (1001) in the private chat with the bot
        await you.say("/start")
        menu = await you.wait_for("Выберите режим")          # a regular expression, or a predicate of the message
        await you.press("База", menu)                        # the newest message with such a button when none is named
        await you.send_file(path, caption="мой договор")
        receipt = await you.wait_for(lambda m: m.is_bot and "в базе" in m.text, timeout=30)
        await you.click("📚 База")                           # a button of the reply keyboard: says its text

`Person(page_url, 1002, GROUP)` is Анна in the group. `wait_for` looks at what is there and then at every version of
every message as it comes, so a state that an edit soon replaces is not missed; `after=` leaves out older messages.
`seen` holds all versions, `answers` what answered presses, `drafts` the texts of drafts, `actions` «печатает…».
"""

import asyncio
import json
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import aiohttp
from yarl import URL

YOU = 1001
ANNA = 1002
PRIVATE = 1001
GROUP = -1_002_000_000_001

Predicate = Callable[["Seen"], bool]


@dataclass(frozen=True, kw_only=True)
class Seen:
    """One version of a message, as the page shows it. `text` is the caption of a file."""

    message_id: int
    text: str
    is_bot: bool
    user_id: int
    buttons: tuple[tuple[str, ...], ...]  # texts of the inline buttons, row by row
    file_name: str | None
    reply_to: int | None
    edited: bool
    raw: dict[str, Any]  # the Bot API's Message


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What the bot answered to a press."""

    query_id: str
    text: str
    alert: bool


class Person:
    """One person in one chat; use it as an async context manager."""

    def __init__(self, page_url: str, user_id: int = YOU, chat_id: int | None = None) -> None:
        self.user_id = user_id
        self.chat_id = user_id if chat_id is None else chat_id
        self.seen: list[Seen] = []
        self.answers: list[Answer] = []
        self.drafts: list[str] = []
        self.stoppable: int | None = None  # the last draft, when it has a button
        self.actions: list[str] = []
        self._page_url = page_url
        self._origin = str(URL(page_url).origin())
        self._base = f"{self._origin}/people/{user_id}"
        self._chat = f"{self._base}/chats/{self.chat_id}/messages"
        self._changed = asyncio.Condition()
        self._session: aiohttp.ClientSession | None = None
        self._ear: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        jar = aiohttp.CookieJar(unsafe=True)  # the host is an address, not a name
        waiting = aiohttp.ClientTimeout(total=None, sock_connect=60)
        self._session = aiohttp.ClientSession(timeout=waiting, cookie_jar=jar)
        heard = asyncio.get_running_loop().create_future()
        self._ear = asyncio.create_task(self._listen(heard))
        try:
            await asyncio.wait({self._ear, heard}, timeout=60, return_when=asyncio.FIRST_COMPLETED)
            if not heard.done():
                raise ConnectionError(f"the page {self._origin} does not answer")
        except BaseException:  # also a cancellation: nobody else would close the session
            await self._leave()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._leave()

    async def _leave(self) -> None:
        if self._ear and self._session:
            self._ear.cancel()
            with suppress(asyncio.CancelledError, aiohttp.ClientError):
                await self._ear
            await self._session.close()

    async def say(self, text: str, *, reply_to: int | None = None) -> Seen:
        """Write a message; the version that the bot was given comes back."""
        return (await self._say({"text": text, "reply_to": reply_to}))[0]

    async def send_file(self, path: Path, caption: str | None = None, *, as_file: bool = False) -> Seen:
        """Upload one file and send it."""
        return (await self.send_files([path], caption, as_file=as_file))[0]

    async def send_files(
        self, paths: Sequence[Path], caption: str | None = None, *, as_file: bool = False, captioned: int = 0
    ) -> list[Seen]:
        """Upload several and send them as an album, whose words are under the file number `captioned`."""
        ids = [await self._upload(path) for path in paths]
        return await self._say({"text": caption or "", "files": ids, "as_file": as_file, "captioned": captioned})

    async def forward(self, said: Seen, kind: str = "user", name: str = "") -> None:
        """Forward a message of this chat into it, as by somebody of that name unless `kind` is «user»."""
        body = {"chat_id": self.chat_id, "message_id": said.message_id, "kind": kind, "name": name}
        await self._post(f"{self._base}/chats/{self.chat_id}/forwarded", body)

    async def edit(self, said: Seen, text: str) -> None:
        """Change an own message."""
        await self._post(f"{self._chat}/{said.message_id}", {"text": text})

    async def press(self, button: str, message: Seen | None = None) -> str:
        """Press the first inline button whose text contains `button`. Returns the id of the query.

        Raises LookupError when there is none. Does not wait for the bot; `wait_for_answer` does.
        """
        found = [message] if message else list(reversed(await self.messages()))
        places = (
            (candidate.message_id, {"row": row, "column": column})
            for candidate in found
            for row, texts in enumerate(candidate.buttons)
            for column, text in enumerate(texts)
            if button in text
        )
        if (pressed := next(places, None)) is None:
            raise LookupError(f"no button «{button}» in {[one.buttons for one in found if one.buttons]}")
        message_id, place = pressed
        return str((await self._post(f"{self._chat}/{message_id}/press", place))["query_id"])

    async def stop_draft(self) -> None:
        """Press the button on the draft that grows. Raises AssertionError when it has none."""
        await self._post(f"{self._base}/chats/{self.chat_id}/drafts/{self.stoppable or 0}/stop", {})

    async def wait_for_draft(self, pattern: str, timeout: float = 30) -> str:  # noqa: ASYNC109 - as below
        """The first text of a draft, from now on or before, in which the pattern is found."""
        async with asyncio.timeout(timeout), self._changed:
            while not (found := [text for text in self.drafts if re.search(pattern, text)]):
                await self._changed.wait()
        return found[0]

    async def click(self, button: str) -> Seen:
        """Press the reply-keyboard button whose text contains `button`: its text is said."""
        texts = [text for row in await self.keyboard() for text in row]
        text = next((text for text in texts if button in text), None)
        if text is None:
            raise LookupError(f"no button «{button}» in {texts}")
        return await self.say(text)

    async def keyboard(self) -> list[list[str]]:
        """The texts of the reply keyboard, row by row; empty when there is none."""
        view = await self._get(self._base)
        chat = next(chat for chat in view["chats"] if chat["id"] == self.chat_id)
        return [[button["text"] for button in row] for row in (chat["keyboard"] or {}).get("keyboard", [])]

    async def commands(self) -> dict[str, str]:
        """The bot's menu in this chat."""
        view = await self._get(self._base)
        chat = next(chat for chat in view["chats"] if chat["id"] == self.chat_id)
        return {item["command"]: item["description"] for item in chat["commands"]}

    async def download(self, message: Seen) -> bytes:
        """The file of a message."""
        file = f"{self._origin}/files/{message.raw['document']['file_id']}"
        async with self._open().get(file) as answer:
            answer.raise_for_status()
            return await answer.read()

    async def messages(self, limit: int = 200) -> list[Seen]:
        """What is in the chat now, oldest first."""
        return [_seen(raw) for raw in (await self._get(f"{self._chat}?limit={limit}"))["messages"]]

    async def wait_for(self, wanted: str | Predicate, timeout: float = 30, *, after: Seen | None = None) -> Seen:  # noqa: ASYNC109 - the interface that tests want
        """The first version of a message that matches; a string is a pattern for the bot's texts.

        Raises AssertionError that shows the end of the chat when the time (seconds) is over.
        """
        matches = _matcher(wanted)
        first = after.message_id if after else -1
        known = [seen for seen in await self.messages() if seen.message_id > first and matches(seen)]
        if known:
            return known[-1]
        place = 0
        try:
            async with asyncio.timeout(timeout), self._changed:
                while not (found := [one for one in self.seen[place:] if one.message_id > first and matches(one)]):
                    place = len(self.seen)
                    await self._changed.wait()
            return found[0]
        except TimeoutError:
            last = [("bot: " if seen.is_bot else "person: ") + seen.text for seen in (await self.messages())[-6:]]
            raise AssertionError(
                f"not seen in {timeout} s: {wanted}\nthe chat ends with:\n" + "\n".join(last)
            ) from None

    async def wait_for_answer(self, query_id: str, timeout: float = 30) -> Answer:  # noqa: ASYNC109 - as above
        """What the bot answered to this press."""
        async with asyncio.timeout(timeout), self._changed:
            while not (found := [answer for answer in self.answers if answer.query_id == query_id]):
                await self._changed.wait()
        return found[0]

    async def set_language(self, language: str) -> None:
        """`ru` or `en`: what the bot is told about this person."""
        await self._post(f"{self._base}/language", {"language": language})

    async def break_method(self, method: str, **fault: object) -> None:
        """The next calls of a Bot API method go wrong: error_code, retry_after, times, drop, delay, description."""
        await self._post(f"{self._origin}/control/faults", {"method": method, **fault})

    async def _say(self, body: dict[str, Any]) -> list[Seen]:
        return [_seen(raw) for raw in (await self._post(self._chat, body))["messages"]]

    async def _upload(self, path: Path) -> str:
        with path.open("rb") as file:
            form = aiohttp.FormData(quote_fields=False)  # names go as they are, as browsers send them
            form.add_field("file", file, filename=path.name)
            answer = await self._open().post(f"{self._base}/uploads", data=form)
        return str((await _json(answer))["file_id"])

    async def _post(self, url: str, body: dict[str, Any]) -> dict[str, Any]:
        return await _json(await self._open().post(url, json=body))

    async def _get(self, url: str) -> dict[str, Any]:
        return await _json(await self._open().get(url))

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            raise RuntimeError("use it as: async with Person(...) as person")
        return self._session

    async def _listen(self, heard: "asyncio.Future[None]") -> None:
        async with self._open().get(self._page_url) as page:  # whose token becomes a cookie
            page.raise_for_status()
        async with self._open().get(f"{self._base}/events") as stream:
            async for line in stream.content:
                if not line.startswith(b"data: "):
                    continue
                if not heard.done():
                    heard.set_result(None)
                await self._hear(json.loads(line[6:]))

    async def _hear(self, event: dict[str, Any]) -> None:
        if event.get("chat_id") != self.chat_id:
            return
        async with self._changed:
            match event["type"]:
                case "message" | "edit":
                    self.seen.append(_seen(event["message"]))
                case "answer" if event["user_id"] == self.user_id:
                    text, alert = event["text"], event["alert"]
                    self.answers.append(Answer(query_id=event["query_id"], text=text, alert=alert))
                case "draft":
                    self.drafts.append(event["text"])
                    self.stoppable = event["draft_id"] if event["can_stop"] else None
                case "action":
                    self.actions.append(event["action"])
            self._changed.notify_all()


def _matcher(wanted: str | Predicate) -> Predicate:
    if callable(wanted):
        return wanted
    pattern = re.compile(wanted)
    return lambda seen: seen.is_bot and pattern.search(seen.text) is not None


def _seen(raw: dict[str, Any]) -> Seen:
    rows = raw.get("reply_markup", {}).get("inline_keyboard", [])
    file = raw.get("document") or raw.get("audio") or raw.get("video") or {}
    return Seen(
        message_id=raw["message_id"],
        text=raw.get("text") or raw.get("caption") or "",
        is_bot=raw["from"]["is_bot"],
        user_id=raw["from"]["id"],
        buttons=tuple(tuple(button["text"] for button in row) for row in rows),
        file_name=file.get("file_name"),
        reply_to=raw.get("reply_to_message", {}).get("message_id"),
        edited="edit_date" in raw,
        raw=raw,
    )


async def _json(answer: aiohttp.ClientResponse) -> dict[str, Any]:
    """The decoded body. Raises AssertionError with the server's sentence for a refusal."""
    async with answer:
        body: dict[str, Any] = await answer.json()
        assert answer.ok, f"{answer.status}: {body.get('description', body)}"
        return body
