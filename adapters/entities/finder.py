"""Finds the names of people, organisations and places in Russian texts, in a process of its own.

In: a text. Out: mentions, each name once, in the nominative. The process (265 MB) starts with the first text, runs at
low priority, and ends after a while without requests. ServiceError when it does not run.
"""

import asyncio
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from types import TracebackType
from typing import Self

import structlog

from adapters.entities.evidence import Evidence, Judged
from adapters.entities.finding import ENTRY, ONE_THREAD, Spans, Text, confinement, data_folder
from adapters.entities.nominative import FirstCase
from ingestion.entities.records import EntityName, EntityType, Mention
from ingestion.errors import FailureCode, ServiceError
from sandbox.pool import Line, Pool, PoolDied
from sandbox.records import from_line

IDLE_S = 60.0
SILENCE_S = 60.0  # loading takes 2 s, a piece a tenth of one
PIECE_CHARS = 4_000  # of one request
MOST_CHARS = 1_000_000  # of one document; half a minute of work
BEFORE_CHARS = 40  # of the text in front of a name: the word that says what it is
SERVICE = "names"
SHORTEST_STEM, ENDING_CHARS = 4, 2  # of a surname

_KINDS = {"PER": EntityType.PERSON, "ORG": EntityType.ORGANIZATION, "LOC": EntityType.PLACE}
_BREAK = re.compile(r"\n\s*\n|\n")

log = structlog.get_logger()


def is_installed() -> bool:
    """Whether the models are on this machine (the wheel of natasha)."""
    return data_folder() is not None


class NatashaFinder:
    """Meets `ingestion.entities.ports.NameFinder`. One text at a time; an async context, which ends the process."""

    def __init__(self, *, idle_s: float = IDLE_S) -> None:
        self._idle_s = idle_s
        self._first_case = FirstCase()
        self._evidence = Evidence()
        self._pool = Pool(entry=ENTRY, variables=ONE_THREAD)
        self._line: Line | None = None
        self._busy = asyncio.Lock()
        self._idle: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._idle:
            self._idle.cancel()
        await self._end()

    async def find(self, text: str) -> list[Mention]:
        """Raises ServiceError."""
        async with self._busy:
            if self._idle:
                self._idle.cancel()
            try:
                spans = [span for piece, at in _pieces(text[:MOST_CHARS]) for span in await self._ask(piece, at)]
            except BaseException:  # also when cancelled: an unread answer would be taken for the next one
                await self._end()
                raise
            self._idle = asyncio.create_task(self._end_when_idle())
        return await asyncio.to_thread(self._mentions, text, spans)

    async def _ask(self, piece: str, at: int) -> list[tuple[int, int, str]]:
        try:
            line = self._line or await self._start()
            async with asyncio.timeout(SILENCE_S):
                line.write(Text(text=piece))
                found = from_line(await line.read(), Spans)
        except (PoolDied, TimeoutError, ConnectionError, ValueError) as exc:
            raise ServiceError(FailureCode.SERVICE_AWAY, service=SERVICE, detail=type(exc).__name__) from exc
        return [(at + start, at + stop, kind) for start, stop, kind in found.spans]

    async def _start(self) -> Line:
        self._line = await self._pool.start(confinement())
        log.info("names.process_started")
        return self._line

    async def _end_when_idle(self) -> None:
        await asyncio.sleep(self._idle_s)
        await self._end()

    async def _end(self) -> None:
        line, self._line = self._line, None
        if line is not None:
            line.close()
        await self._pool.close()

    def _mentions(self, text: str, spans: list[tuple[int, int, str]]) -> list[Mention]:
        found: dict[EntityName, list[tuple[int, float]]] = {}
        judged = [(start, self._judged(text, start, stop, _KINDS[kind])) for start, stop, kind in spans]
        people = _parts_of_full_names(each for _, each in judged)
        for start, each in judged:
            kind = EntityType.PERSON if each.is_open and any(_alike(each.name, word) for word in people) else each.type
            named = EntityName(type=kind, name=each.name)
            found.setdefault(named, []).append((start, each.confidence))
        return [
            Mention(of=named, at=places[0][0], count=len(places), confidence=max(sure for _, sure in places))
            for named, places in found.items()
        ]

    def _judged(self, text: str, start: int, stop: int, kind: EntityType) -> Judged:
        """With the name in the nominative."""
        before = text[max(0, start - BEFORE_CHARS) : start]
        judged = self._evidence.judge(name_at(text, start, stop), kind, before=before)
        forms = {EntityType.PERSON: self._first_case.person, EntityType.THING: self._first_case.unsure}
        form = forms.get(judged.type, self._first_case.thing)
        return replace(judged, name=form(judged.name))


def _parts_of_full_names(judged: Iterable[Judged]) -> frozenset[str]:
    """Words of full names: «Шмыгаль» of «Денис Шмыгаль», in whichever sentence it stands."""
    people = (each.name.split() for each in judged if each.type is EntityType.PERSON)
    return frozenset(word for words in people if len(words) > 1 for word in words)


def _alike(name: str, other: str) -> bool:
    """Whether they differ in their endings only, which the dictionary cannot tell for names that it does not have."""
    stem = max(SHORTEST_STEM, min(len(name), len(other)) - ENDING_CHARS)
    return len(name) >= stem and name[:stem] == other[:stem]


def name_at(text: str, start: int, stop: int) -> str:
    """The name on one line, with its closing quotation mark: a span may end before that («ООО «Ромашка»)."""
    name = text[start:stop].split("\n")[0].strip()
    follows = text[stop : stop + 1]
    is_open = name.count("«") > name.count("»") if follows == "»" else follows == '"' and name.count('"') % 2
    return name + follows if is_open and text[:stop].endswith(name) else name


def _pieces(text: str) -> Iterator[tuple[str, int]]:
    """Whole lines, up to PIECE_CHARS together, each piece with its offset in the text."""
    start = last = 0
    for match in _BREAK.finditer(text):
        if match.end() - start > PIECE_CHARS and last > start:
            yield text[start:last], start
            start = last
        last = match.end()
    while len(text) - start > PIECE_CHARS:  # a line without an end
        yield text[start : start + PIECE_CHARS], start
        start += PIECE_CHARS
    if text[start:].strip():
        yield text[start:], start
