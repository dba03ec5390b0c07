"""Finds the names of people, organisations and places in Russian texts, in a process of its own.

In: texts. Out: names in the nominative, as a list shows them, with their types and places. The process (`serve`) runs
slovnet's recogniser over navec's vectors, as the wheel of natasha carries them (MIT); it imports nothing of natasha
itself, which wants a pymorphy2 that Python 3.11 does not run. It is started at the first text and ends after a while
without one. A single word that the dictionary does not have as a name of that type stays open: «Барсик» is no person.
"""

import asyncio
import re
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from io import BufferedReader
from pathlib import Path
from typing import Any, cast

import structlog

from adapters.morphology import dictionary
from ingestion.entities.records import EntityName, EntityType, Mention
from ingestion.errors import FailureCode, ServiceError
from sandbox.confinement import Confinement, Layer
from sandbox.pool import Pool, PoolDied, Resting
from sandbox.records import LINE_BYTES, from_line, to_line

ENTRY = "adapters.name_finder:serve"
NICENESS = 15  # questions and uploads go first
MEMORY_BYTES = 2**30  # it takes 265 MB
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "LC_ALL": "C.UTF-8"}
CERTAINTY = 0.7  # slovnet's own F1 on news is .95; on other texts, and for our types, it is less
DOUBT = 0.5  # the type is a guess, or open
IDLE_S = 60.0
SILENCE_S = 60.0  # loading takes 2 s, a piece a tenth of one
PIECE_CHARS = 4_000  # of one request
MOST_CHARS = 1_000_000  # of one document; half a minute of work
SHORTEST_STEM, ENDING_CHARS = 4, 2  # of a surname
_WORD = re.compile(r"[А-Яа-яЁё]+")
_QUOTE = re.compile('[«„“"]')
_LATIN = re.compile("[A-Za-z]")
_KINDS = {"PER": EntityType.PERSON, "ORG": EntityType.ORGANIZATION, "LOC": EntityType.PLACE}
_SIGNS = {EntityType.PERSON: frozenset({"Name", "Surn", "Patr"}), EntityType.PLACE: frozenset({"Geox"})}
_NOMINAL = frozenset({"NOUN", "ADJF", "PRTF", "NUMR"})  # «Роял» is read as a verb, too
log = structlog.get_logger()


@dataclass(frozen=True, kw_only=True)
class Text:
    text: str


@dataclass(frozen=True, kw_only=True)
class Spans:
    """The names, as (start, end, kind): PER, ORG, LOC."""

    spans: tuple[tuple[int, int, str], ...]


@cache
def _data_folder() -> Path:
    spec = find_spec("natasha")
    return Path(next(iter((spec and spec.submodule_search_locations) or ()))) / "data"


@cache
def recogniser() -> Callable[[str], Any]:
    """Loaded at the first call, which takes a second."""
    from navec import Navec
    from slovnet import NER

    loaded = NER.load(_data_folder() / "model" / "slovnet_ner_news_v1.tar")
    loaded.navec(Navec.load(_data_folder() / "emb" / "navec_news_v1_1B_250K_300d_100q.tar"))
    return cast("Callable[[str], Any]", loaded)


def serve(connection: socket.socket, stream: BufferedReader, _layers: frozenset[Layer]) -> None:
    """Answer until the other end is closed (`sandbox.forkserver.Serve`)."""
    find = recogniser()
    while line := stream.readline(LINE_BYTES):
        found = find(from_line(line, Text).text)
        spans = tuple((int(span.start), int(span.stop), str(span.type)) for span in found.spans)
        connection.sendall(to_line(Spans(spans=spans)))


class NatashaFinder(Resting):
    """Meets `ingestion.entities.records.NameFinder`. One text at a time; an async context, which ends the process."""

    def __init__(self, *, idle_s: float = IDLE_S) -> None:
        super().__init__(Pool(entry=ENTRY, variables=ONE_THREAD), idle_s=idle_s)
        self._busy = asyncio.Lock()

    async def find(self, text: str) -> list[Mention]:
        """Raises ServiceError."""
        async with self._busy:
            self._wake()
            try:
                spans = [span for piece, at in _pieces(text[:MOST_CHARS]) for span in await self._ask(piece, at)]
            except BaseException:  # also when cancelled: an unread answer would be taken for the next one
                await self._end()
                raise
            self._rest_later()
        return await asyncio.to_thread(mentions_of, text, spans)

    async def _ask(self, piece: str, at: int) -> list[tuple[int, int, str]]:
        try:
            if self._line is None:  # it reads its models and nothing else
                reads = (str(_data_folder()),)
                confinement = Confinement(reads=reads, data_bytes=MEMORY_BYTES, niceness=NICENESS)
                self._line = await self._pool.start(confinement)
                log.info("names.process_started")
            async with asyncio.timeout(SILENCE_S):
                self._line.write(Text(text=piece))
                found = from_line(await self._line.read(), Spans)
        except (PoolDied, TimeoutError, ConnectionError, ValueError) as exc:
            raise ServiceError(FailureCode.SERVICE_AWAY, service="names", detail=type(exc).__name__) from exc
        return [(at + start, at + stop, kind) for start, stop, kind in found.spans]


def _pieces(text: str) -> Iterator[tuple[str, int]]:
    """Whole lines, up to PIECE_CHARS together, each piece with its offset in the text; a longer line is cut."""
    start = 0
    while start < len(text):
        end = start + PIECE_CHARS
        if end < len(text):
            end = text.rfind("\n", start, end) + 1 or end
        if text[start:end].strip():
            yield text[start:end], start
        start = end


def mentions_of(text: str, spans: list[tuple[int, int, str]]) -> list[Mention]:
    """Each name of `spans` (start, end, kind) once, in the nominative. A single word that is open is a person's where
    the text has it in a full name: «Шмыгаль» of «Денис Шмыгаль»."""
    named = [(start, name_at(text, start, stop), _KINDS[kind]) for start, stop, kind in spans]
    full = {word for _, name, kind in named if kind is EntityType.PERSON and " " in name for word in name.split()}
    found: dict[EntityName, list[tuple[int, float]]] = {}
    for start, name, kind in named:
        is_sure = _speaks_for(name, kind)
        is_word = " " not in name and not name.isupper()  # «ЕС» is mostly what it is taken for
        is_open = is_word and not is_sure and not any(_alike(name, word) for word in full)
        told = EntityType.THING if is_open else kind
        places = found.setdefault(EntityName(type=told, name=nominative(name, told)), [])
        places.append((start, CERTAINTY if is_sure else DOUBT))
    return [
        Mention(of=named, at=places[0][0], count=len(places), confidence=max(sure for _, sure in places))
        for named, places in found.items()
    ]


def name_at(text: str, start: int, stop: int) -> str:
    """The name on one line, with its closing quotation mark: a span may end before that («ООО «Ромашка»)."""
    name = text[start:stop].split("\n")[0].strip()
    follows = text[stop : stop + 1]
    is_open = name.count("«") > name.count("»") if follows == "»" else follows == '"' and name.count('"') % 2
    return name + follows if is_open and text[:stop].endswith(name) else name


def _speaks_for(name: str, kind: EntityType) -> bool:
    """Whether the dictionary has a word of it as a name of this kind; it has none of organisations or other letters."""
    words = _WORD.findall(name)
    if kind is EntityType.ORGANIZATION or not words or _LATIN.search(name):
        return True
    known = filter(dictionary().word_is_known, words)
    return any(parse.tag.grammemes & _SIGNS[kind] for word in known for parse in dictionary().parse(word))


def _alike(name: str, other: str) -> bool:
    """Whether they differ in their endings only, which the dictionary cannot tell for names that it does not have."""
    stem = max(SHORTEST_STEM, min(len(name), len(other)) - ENDING_CHARS)
    return len(name) >= stem and name[:stem] == other[:stem]


def nominative(name: str, kind: EntityType) -> str:
    """Of a person every word, a surname in the gender of the first name; of others the words up to the first noun: what
    follows depends on it, and a quoted name is in the nominative already. Of an open name only words that are names or
    in no dictionary: «Тесла» is no form of «тесло»."""
    parse = dictionary().parse
    end, gender = len(name), None
    if kind is EntityType.PERSON:
        readings = [reading for word in _WORD.findall(name) for reading in parse(word)[:2]]
        gender = next((reading.tag.gender for reading in readings if "Name" in reading.tag.grammemes), None)
    else:
        heads = ((match.end(), parse(match.group())[0].tag) for match in _WORD.finditer(_QUOTE.split(name)[0]))
        nouns = ((end, tag.gender) for end, tag in heads if "NOUN" in tag.grammemes)
        end, gender = next(nouns, (len(_QUOTE.split(name)[0]), None))

    def first_case(match: re.Match[str]) -> str:
        word = match.group()
        is_persons = kind is EntityType.PERSON or (kind is EntityType.THING and dictionary().word_is_known(word))
        return _inflected(word, _SIGNS[EntityType.PERSON] if is_persons else _NOMINAL, gender)

    return _WORD.sub(first_case, name[:end]) + name[end:]


def _inflected(word: str, wanted: frozenset[str], gender: str | None) -> str:
    """The nominative of the likeliest reading that fits; a person is one: «Галимов» is nobody's Галим."""
    readings = [reading for reading in dictionary().parse(word) if reading.tag.grammemes & wanted]
    if wanted is not _NOMINAL:
        readings = [reading for reading in readings if "plur" not in reading.tag.grammemes]
    fitting = [reading for reading in readings if reading.tag.gender == gender] or readings
    first = fitting[0].inflect({"nomn"}) if fitting else None
    if first is None or first.word.replace("ё", "е") == word.lower().replace("ё", "е"):
        return word
    return first.word.upper() if word.isupper() else first.word.capitalize() if word[0].isupper() else first.word
