"""Finds the names of people, organisations and places in Russian texts, in a process of its own.

In: texts. Out: names in the nominative, as a list shows them, with their types and places; the type that the process
gives is checked by the dictionary, the word before the name and its ending. The process (`serve`) runs slovnet's
recogniser over navec's vectors, as the wheel of natasha carries them (MIT); it imports nothing of natasha itself, which
wants a pymorphy2 that Python 3.11 does not run. It is started at the first text and ends after a while without one.
"""

import asyncio
import re
import socket
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from importlib.util import find_spec
from io import BufferedReader
from pathlib import Path
from typing import Any, cast

import structlog

from adapters.morphology import Parse, dictionary
from ingestion.entities.records import EntityName, EntityType, Mention
from ingestion.errors import FailureCode, ServiceError
from sandbox.confinement import Confinement, Layer
from sandbox.pool import Closing, Line, Pool, PoolDied
from sandbox.records import LINE_BYTES, from_line, to_line

ENTRY = "adapters.name_finder:serve"
NICENESS = 15  # questions and uploads go first
MEMORY_BYTES = 2**30  # it takes 265 MB
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "LC_ALL": "C.UTF-8"}
CERTAINTY = 0.7  # slovnet's own F1 on news is .95; on other texts, and for our types, it is less
DOUBT = 0.5  # the type is a guess, or open
_WORD = re.compile(r"[А-Яа-яЁё]+")
_LATIN = re.compile("[A-Za-z]")
_WORD_BEFORE = re.compile(r"([А-Яа-яЁё]+)[ \u00a0]+[«\"]?\Z")
_WHERE = re.compile(r"\b(?:в|во|из|на|под|близ|около|до)[ \u00a0]\Z", re.IGNORECASE)
_SIGNS = {EntityType.PERSON: frozenset({"Name", "Surn", "Patr"}), EntityType.PLACE: frozenset({"Geox"})}
_SURNAME = re.compile(
    r"(?:[оеё]в|[иы]н)(?:а|у|ой|ым|е|ы|ых|ыми)?\Z|[сц]к(?:ий|ого|ому|им|ом|ая|ой|ую|ие|их)\Z"
    r"|(?:енко|чук|дзе|швили|штейн|берг|ман|ян|ич|вич)(?:а|у|ом|ем|е)?\Z",
    re.IGNORECASE,
)
_TOWN = re.compile(
    r"(?:ск|град|бург|поль|абад|таун)(?:а|у|ом|ем|е)?\Z|(?:ово|ево|ино|овка|евка|инка)\Z|(?:овк|евк|инк)[иеуой]+\Z"
    r"|(?:стан|ланди|бург|сити)\w{0,2}\Z",
    re.IGNORECASE,
)
_PETS = "кот кошка котенок котик пес собака щенок хомяк попугай лошадь конь корова кролик черепаха питомец кличка"
_HEADS: tuple[tuple[EntityType, str], ...] = (
    (
        EntityType.THING,
        "порода корм наполнитель шампунь крем мазь лекарство препарат таблетка витамин вакцина средство напиток "
        "чай кофе сыр шоколад товар марка бренд модель машина автомобиль телефон смартфон ноутбук планшет телевизор "
        "холодильник пылесос принтер "
        "фильм сериал мультфильм книга роман повесть журнал газета песня альбом игра сервер программа "
        "приложение сервис система плагин библиотека фреймворк " + _PETS,
    ),
    (
        EntityType.ORGANIZATION,
        "клиника компания фирма магазин банк завод фабрика студия агентство издательство ресторан кафе гостиница отель "
        "аптека школа университет институт фонд холдинг корпорация приют",
    ),
    (
        EntityType.PLACE,
        "город село деревня поселок станица хутор улица проспект площадь переулок бульвар шоссе район область край "
        "республика штат страна остров река озеро море гора станция метро аэропорт порт вокзал",
    ),
    (
        EntityType.PERSON,
        "господин госпожа гражданин гражданка директор врач доктор ветеринар менеджер инженер разработчик бухгалтер "
        "юрист учитель преподаватель профессор тренер коллега друг подруга брат сестра мама папа сын дочь муж жена "
        "дядя тетя бабушка дедушка автор писатель поэт актер режиссер президент министр",
    ),
)
_PET = frozenset(_PETS.split())
_KIND_OF_HEAD = {word: kind for kind, words in _HEADS for word in words.split()}
_OF_PEOPLE = frozenset({"Name", "Surn", "Patr"})
_NOMINAL = frozenset({"NOUN", "ADJF", "PRTF", "NUMR"})  # «Роял» is read as a verb, too
_OPENING = '«„“"'
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


@dataclass(frozen=True, kw_only=True)
class Text:
    """A text to find names in."""

    text: str


@dataclass(frozen=True, kw_only=True)
class Spans:
    """The names, as (start, end, kind): PER, ORG, LOC."""

    spans: tuple[tuple[int, int, str], ...]


def data_folder() -> Path | None:
    """Where natasha keeps its models; None when it is not installed."""
    spec = find_spec("natasha")
    folders = list(spec.submodule_search_locations or ()) if spec else []
    return Path(folders[0]) / "data" if folders else None


def confinement() -> Confinement:
    """It reads its models and nothing else."""
    folder = data_folder()
    return Confinement(reads=(str(folder),) if folder else (), data_bytes=MEMORY_BYTES, niceness=NICENESS)


@cache
def recogniser() -> Callable[[str], Any]:
    """Loaded at the first call, which takes a second. Ends the process when natasha is not installed."""
    folder = data_folder()
    if folder is None:
        raise SystemExit("natasha is not installed")
    from navec import Navec
    from slovnet import NER

    loaded = NER.load(folder / "model" / "slovnet_ner_news_v1.tar")
    loaded.navec(Navec.load(folder / "emb" / "navec_news_v1_1B_250K_300d_100q.tar"))
    return cast("Callable[[str], Any]", loaded)


def serve(connection: socket.socket, stream: BufferedReader, _layers: frozenset[Layer]) -> None:
    """Answer until the other end is closed (`sandbox.forkserver.Serve`)."""
    find = recogniser()
    while line := stream.readline(LINE_BYTES):
        found = find(from_line(line, Text).text)
        spans = tuple((int(span.start), int(span.stop), str(span.type)) for span in found.spans)
        connection.sendall(to_line(Spans(spans=spans)))


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A name, what it is the name of, and how surely."""

    name: str
    type: EntityType
    confidence: float

    @property
    def is_open(self) -> bool:
        """Whether there is no evidence of what it is."""
        return self.type is EntityType.THING and self.confidence <= DOUBT


class Evidence:
    """Safe to share between threads; the dictionary is loaded at the first name."""

    def judge(self, name: str, kind: EntityType, *, before: str) -> Judged:
        """`before` is the text in front of the name; only its last word counts."""
        if kind is EntityType.ORGANIZATION or not _WORD.search(name) or _LATIN.search(name):
            return Judged(name=name, type=kind, confidence=CERTAINTY)  # there is no evidence on these here
        inside, rest = self._head_inside(name)
        word = inside or _last_word(before)
        head = self._kind(word) if word else None
        if head is not None and self._overrules(word, head, rest, kind):
            return Judged(name=rest, type=head, confidence=CERTAINTY)
        if head is kind or self._speaks_for(kind, name):
            return Judged(name=name, type=kind, confidence=CERTAINTY)
        return Judged(name=name, type=_in_doubt(name, kind, before=before), confidence=DOUBT)

    def _head_inside(self, name: str) -> tuple[str, str]:
        """«Кот Барсик»: what it is, and its name."""
        first, _, rest = name.partition(" ")
        return (first, rest) if rest[:1].isupper() and self._kind(first) is EntityType.THING else ("", name)

    def _overrules(self, word: str, head: EntityType, name: str, kind: EntityType) -> bool:
        """Whether the word says what bears the name. The name may be its owner's or its place's («книга Толстого»,
        «банк Москвы»): so a name that the dictionary has must agree in case, and one of a person be single and follow a
        pet."""
        if head is kind or head is EntityType.PERSON:  # «президент США»
            return False
        if not self._is_known(name, _SIGNS[kind]):
            return self._agree(word, name)
        if kind is EntityType.PERSON:
            return bool(self._forms(word) & _PET) and len(_WORD.findall(name)) == 1 and self._agree(word, name)
        return self._agree(word, name) and "gent" not in self._cases(word)

    def _agree(self, word: str, name: str) -> bool:
        """Whether both agree in case, as far as the dictionary knows them."""
        return not dictionary().word_is_known(name) or bool(self._cases(word) & self._cases(name))

    def _speaks_for(self, kind: EntityType, name: str) -> bool:
        ending = _SURNAME if kind is EntityType.PERSON else _TOWN
        return self._is_known(name, _SIGNS[kind]) or self._ends_like(ending, name)

    def _ends_like(self, ending: re.Pattern[str], name: str) -> bool:
        """Only words that the dictionary does not have: «Титаник» and «Магазин» are ordinary."""
        known = dictionary().word_is_known
        return any(ending.search(word) and not known(word) for word in _WORD.findall(name))

    def _is_known(self, name: str, signs: frozenset[str]) -> bool:
        return any(
            dictionary().word_is_known(word) and any(parse.tag.grammemes & signs for parse in dictionary().parse(word))
            for word in _WORD.findall(name)
        )

    def _kind(self, word: str) -> EntityType | None:
        return next((_KIND_OF_HEAD[form] for form in self._forms(word) if form in _KIND_OF_HEAD), None)

    def _forms(self, word: str) -> frozenset[str]:
        return frozenset(parse.normal_form.replace("ё", "е") for parse in dictionary().parse(word.lower()))

    def _cases(self, word: str) -> frozenset[str]:
        return frozenset(parse.tag.case for parse in dictionary().parse(word.lower()) if parse.tag.case)


def _last_word(before: str) -> str:
    found = _WORD_BEFORE.search(before)
    return found[1] if found else ""


def _in_doubt(name: str, kind: EntityType, *, before: str) -> EntityType:
    """A single word is left open; several are seldom the name of a thing, and «в …» is mostly a place."""
    is_single = len(_WORD.findall(name)) == 1
    is_place = kind is EntityType.PLACE and (name.isupper() or _WHERE.search(before))
    return EntityType.THING if is_single and not is_place else kind


class FirstCase:
    """Safe to share between threads; the dictionary is loaded at the first name."""

    def person(self, name: str) -> str:
        """Every word of the name, a surname in the gender of the first name."""
        gender = self._gender(name)
        return _WORD.sub(lambda match: self._inflected(match.group(), _OF_PEOPLE, gender), name)

    def thing(self, name: str) -> str:
        """The words up to the first noun: what follows depends on it, and a quoted name is in the nominative
        already."""
        before_quotes = re.split(f"[{_OPENING}]", name)[0]
        head, gender = self._head(before_quotes)
        return _WORD.sub(lambda match: self._inflected(match.group(), set(), gender), head) + name[len(head) :]

    def unsure(self, name: str) -> str:
        """For a name of unknown type, only first names and words that the dictionary does not have: «Тесла» is no form
        of «тесло»."""
        return _WORD.sub(lambda match: self._unsure(match.group()), name)

    def _unsure(self, word: str) -> str:
        is_name = any(parse.tag.grammemes & _OF_PEOPLE for parse in self._parses(word))
        if dictionary().word_is_known(word):
            return self._inflected(word, _OF_PEOPLE, None) if is_name else word
        first = self._inflected(word, set(), None)
        return word if first.replace("ё", "е") == word.replace("ё", "е") else first

    def _head(self, name: str) -> tuple[str, str | None]:
        """Up to the first noun, and its gender."""
        for match in _WORD.finditer(name):
            parse = self._parses(match.group())[0]
            if "NOUN" in parse.tag.grammemes:
                return name[: match.end()], parse.tag.gender
        return name, None

    def _gender(self, name: str) -> str | None:
        parses = [parse for word in _WORD.findall(name) for parse in self._parses(word)[:2]]
        return next((parse.tag.gender for parse in parses if "Name" in parse.tag.grammemes), None)

    def _inflected(self, word: str, wanted: frozenset[str] | set[str], gender: str | None) -> str:
        parses = self._parses(word)
        fitting = [parse for parse in parses if parse.tag.grammemes & (wanted or _NOMINAL)]
        same = [parse for parse in fitting if gender is None or parse.tag.gender == gender]
        for parse in (same or fitting)[:1]:
            inflected = parse.inflect({"nomn"})
            return _as_written(inflected.word, word) if inflected else word
        return word

    def _parses(self, word: str) -> list[Parse]:
        return dictionary().parse(word)


def _as_written(word: str, original: str) -> str:
    if original.isupper():
        return word.upper()
    return word.capitalize() if original[0].isupper() else word


def is_installed() -> bool:
    """Whether the models are on this machine (the wheel of natasha)."""
    return data_folder() is not None


class NatashaFinder(Closing):
    """Meets `ingestion.entities.records.NameFinder`. One text at a time; an async context, which ends the process."""

    def __init__(self, *, idle_s: float = IDLE_S) -> None:
        self._idle_s = idle_s
        self._first_case = FirstCase()
        self._evidence = Evidence()
        self._pool = Pool(entry=ENTRY, variables=ONE_THREAD)
        self._line: Line | None = None
        self._busy = asyncio.Lock()
        self._idle: asyncio.Task[None] | None = None

    async def close(self) -> None:
        """End the process."""
        if self._idle:
            self._idle.cancel()
        await self._end()
        await self._pool.close()

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
        await self._pool.end_process()

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
