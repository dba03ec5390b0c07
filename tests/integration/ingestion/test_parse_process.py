"""The parsing process under attack: limits hold, only the file at fault is lost, nothing is left.

In: files made here. Out: assertions about documents, reasons and processes. Linux: children are looked for in /proc.
"""

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator, Awaitable
from pathlib import Path

import pytest

from domain.documents import DocumentStatus
from domain.ids import BaseId
from ingestion import progress
from ingestion.errors import FailureCode, LeaseLost, SourceError
from ingestion.parsers import children, kept
from ingestion.parsers.child import MOST_REQUESTS
from ingestion.parsers.process import ParseProcess
from ingestion.records import BlockKind, ClaimedDocument, Document, FetchedFile
from tests.fakes.ingestion import FakeQueue, progress_of
from tests.unit.ingestion.parsers.files import p, write_docx, write_pdf
from tests.unit.ingestion.parsers.packages import write_odf
from tests.waiting import until

PAGES = 800  # a second or two
LARGE_MARKDOWN_CHARS = 12_000_000  # takes far longer than any of these tests waits


@pytest.fixture
async def parser() -> AsyncIterator[ParseProcess]:
    async with ParseProcess(timeout_s=300, memory_mb=1024) as process:
        yield process


@pytest.fixture
def slow_file(tmp_path: Path) -> FetchedFile:
    path = tmp_path / "slow.md"
    path.write_text("- *слово* [ссылка](x)\n" * (LARGE_MARKDOWN_CHARS // 22))
    return _fetched(path)


class LostQueue(FakeQueue):
    """Has given the document to another worker."""

    async def report(self, document: ClaimedDocument, *, status: DocumentStatus, done: int, total: int) -> None:
        """As the database says it."""
        raise LeaseLost


@pytest.fixture
def slow_pdf(tmp_path: Path) -> FetchedFile:
    return _fetched(write_pdf(tmp_path / "slow.pdf", [["A line of text on every page of a long book."] * 40] * PAGES))


def _fetched(path: Path, name: str | None = None) -> FetchedFile:
    return FetchedFile(path=path, name=name or path.name, media_type=None, size_bytes=path.stat().st_size, sha256="")


def _small(folder: Path) -> FetchedFile:
    path = folder / "small.md"
    path.write_text("# Заголовок\n\nТекст абзаца.")
    return _fetched(path)


async def _code(parsing: Awaitable[Document]) -> FailureCode:
    with pytest.raises(SourceError) as caught:
        await parsing
    return caught.value.code


def _children(pid: int) -> list[int]:
    """Of the main thread of a process; none of a process that is gone."""
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except FileNotFoundError:
        return []


def _is_there(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def _environment(pid: int) -> str:
    return Path(f"/proc/{pid}/environ").read_text()


def _nurseries() -> list[int]:
    """Ours alone: in a whole run this process has other children, the tests' servers."""
    return [child for child in _children(os.getpid()) if b"ingestion.parsers.nursery" in _command(child)]


def _command(process: int) -> bytes:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process}/cmdline").read_bytes()
    return b""


def _parsing_children() -> list[int]:
    return [child for nursery in _nurseries() for child in _children(nursery)]


async def _parse_and_signal(parser: ParseProcess, file: FetchedFile, number: signal.Signals) -> FailureCode:
    parsing = asyncio.create_task(parser.parse(file, progress_of(FakeQueue())))
    await until(lambda: bool(_parsing_children()))
    os.kill(_parsing_children()[0], number)
    return await _code(parsing)


async def test_a_document_comes_back(parser: ParseProcess, tmp_path: Path) -> None:
    document = await parser.parse(_small(tmp_path), progress_of(FakeQueue()))
    assert (document.title, document.language) == ("Заголовок", "ru")
    assert [block.kind for block in document.blocks] == [BlockKind.HEADING, BlockKind.PARAGRAPH]


async def test_a_parsers_reason_comes_back_with_its_values(parser: ParseProcess, tmp_path: Path) -> None:
    path = tmp_path / "пусто.txt"
    path.touch()
    with pytest.raises(SourceError) as caught:
        await parser.parse(_fetched(path), progress_of(FakeQueue()))
    assert (caught.value.code, caught.value.params) == (FailureCode.FILE_EMPTY, {"name": "пусто.txt"})


async def test_many_files_are_parsed_at_once(parser: ParseProcess, tmp_path: Path) -> None:
    documents = await asyncio.gather(*(parser.parse(_small(tmp_path), progress_of(FakeQueue())) for _ in range(12)))
    assert {document.title for document in documents} == {"Заголовок"}
    await until(lambda: not _parsing_children())


@pytest.fixture
def keeping(parser: ParseProcess, monkeypatch: pytest.MonkeyPatch) -> ParseProcess:
    """Its processes wait for the next file, and are waited for, however slow the machine is."""
    monkeypatch.setattr(kept, "IDLE_S", 600.0)
    monkeypatch.setattr(kept, "WILLING_S", 60.0)
    return parser


async def _parse_for(parser: ParseProcess, base: str, file: FetchedFile) -> list[int]:
    """The processes that are there afterwards."""
    await parser.parse(file, progress_of(FakeQueue(), base=BaseId(base)))
    return _parsing_children()


async def test_the_next_file_of_a_base_is_read_by_the_same_process(keeping: ParseProcess, tmp_path: Path) -> None:
    first = await _parse_for(keeping, "mine", _small(tmp_path))
    (empty := tmp_path / "пусто.txt").touch()  # a reason for not reading a file ends no process
    await _code(keeping.parse(_fetched(empty), progress_of(FakeQueue(), base=BaseId("mine"))))
    assert await _parse_for(keeping, "mine", _small(tmp_path)) == first
    assert len(first) == 1


async def test_no_process_reads_files_of_two_bases(keeping: ParseProcess, tmp_path: Path) -> None:
    (first,) = await _parse_for(keeping, "mine", _small(tmp_path))
    assert set(await _parse_for(keeping, "yours", _small(tmp_path))) > {first}


async def test_a_process_that_has_grown_reads_no_other_file(keeping: ParseProcess, tmp_path: Path) -> None:
    path = tmp_path / "large.txt"
    path.write_text("слово за словом\n" * 200_000)
    await _parse_for(keeping, "mine", _fetched(path))
    await until(lambda: not _parsing_children())


async def test_a_process_serves_so_many_files_and_no_more(keeping: ParseProcess, tmp_path: Path) -> None:
    served = [await _parse_for(keeping, "mine", _small(tmp_path)) for _ in range(MOST_REQUESTS + 1)]
    assert len(set(map(tuple, served[:MOST_REQUESTS]))) == 1
    assert served[MOST_REQUESTS] != served[0]


async def test_a_process_that_died_while_it_waited_is_missed_by_nobody(keeping: ParseProcess, tmp_path: Path) -> None:
    (waiting,) = await _parse_for(keeping, "mine", _small(tmp_path))
    os.kill(waiting, signal.SIGKILL)
    assert (await keeping.parse(_small(tmp_path), progress_of(FakeQueue(), base=BaseId("mine")))).title == "Заголовок"


async def test_time_runs_out_and_the_process_is_gone(slow_file: FetchedFile) -> None:
    async with ParseProcess(timeout_s=1, memory_mb=4096) as parser:
        assert await _code(parser.parse(slow_file, progress_of(FakeQueue()))) is FailureCode.FILE_TOO_SLOW
        await until(lambda: not _parsing_children())


async def test_memory_runs_out_for_this_file_alone(tmp_path: Path) -> None:
    heavy = write_odf(tmp_path / "heavy.odt", "text", "<text:p>x</text:p>" * 1_000_000)  # it is held as a tree
    async with ParseProcess(timeout_s=300, memory_mb=200) as parser:
        assert await _code(parser.parse(_fetched(heavy), progress_of(FakeQueue()))) is FailureCode.FILE_TOO_HEAVY
        assert (await parser.parse(_small(tmp_path), progress_of(FakeQueue()))).title == "Заголовок"


async def test_a_part_of_an_archive_that_explodes_is_refused_before_it_does(
    parser: ParseProcess, tmp_path: Path
) -> None:
    bomb = write_docx(tmp_path / "bomb.docx", p("x" * 70_000_000))
    assert bomb.stat().st_size < 1_000_000
    assert await _code(parser.parse(_fetched(bomb), progress_of(FakeQueue()))) is FailureCode.FILE_TOO_HEAVY


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (signal.SIGSEGV, FailureCode.FILE_DAMAGED),
        (signal.SIGKILL, FailureCode.FILE_TOO_HEAVY),
        (signal.SIGABRT, FailureCode.FILE_TOO_HEAVY),
    ],
)
async def test_a_crash_is_a_reason(
    parser: ParseProcess, slow_file: FetchedFile, number: signal.Signals, code: FailureCode
) -> None:
    assert await _parse_and_signal(parser, slow_file, number) is code


async def test_cancelling_kills_the_process(parser: ParseProcess, slow_file: FetchedFile) -> None:
    parsing = asyncio.create_task(parser.parse(slow_file, progress_of(FakeQueue())))
    await until(lambda: bool(_parsing_children()))
    parsing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await parsing
    await until(lambda: not _parsing_children())


async def test_closing_leaves_no_process(slow_file: FetchedFile) -> None:
    async with ParseProcess(timeout_s=300, memory_mb=4096) as parser:
        parsing = asyncio.create_task(parser.parse(slow_file, progress_of(FakeQueue())))
        await until(lambda: bool(_parsing_children()))
        family = _nurseries() + _parsing_children()
    assert not any(map(_is_there, family))
    assert await _code(parsing) in {FailureCode.FILE_TOO_HEAVY, FailureCode.FILE_DAMAGED}


async def test_a_nursery_that_died_is_started_anew(parser: ParseProcess, tmp_path: Path) -> None:
    await parser.parse(_small(tmp_path), progress_of(FakeQueue()))
    (nursery,) = _nurseries()
    os.kill(nursery, signal.SIGKILL)
    assert (await parser.parse(_small(tmp_path), progress_of(FakeQueue()))).title == "Заголовок"


async def test_no_secret_of_the_environment_reaches_the_parsers(
    parser: ParseProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOT_TOKEN", "1:secret")
    await parser.parse(_small(tmp_path), progress_of(FakeQueue()))
    (nursery,) = _nurseries()
    environment = _environment(nursery)
    assert "PATH=" in environment
    assert "secret" not in environment


async def test_pages_are_told_while_they_are_read(
    parser: ParseProcess, slow_pdf: FetchedFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "REPORT_EVERY_S", 0.1)  # a quick machine reads all pages in little more than a second
    queue = FakeQueue()
    document = await parser.parse(slow_pdf, progress_of(queue))
    assert document.pages == PAGES
    assert queue.reported
    assert all(status is DocumentStatus.PARSING and 0 < done < total == PAGES for status, done, total in queue.reported)


async def test_a_lost_lease_ends_the_parsing(
    parser: ParseProcess, slow_pdf: FetchedFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "REPORT_EVERY_S", 0.1)
    with pytest.raises(LeaseLost):
        await parser.parse(slow_pdf, progress_of(LostQueue()))
    await until(lambda: not _parsing_children())


async def test_a_large_document_comes_back_whole(parser: ParseProcess, tmp_path: Path) -> None:
    path = tmp_path / "large.txt"
    path.write_text("\n\n".join(f"Абзац номер {number} большого документа." for number in range(50_000)))
    document = await parser.parse(_fetched(path), progress_of(FakeQueue()))
    assert len(document.blocks) == 50_000


async def test_a_nursery_that_says_nothing_is_given_up(
    parser: ParseProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(children, "START_S", 0.3)
    monkeypatch.setattr(children, "START_NURSERY", "import time; time.sleep(60)")
    monkeypatch.setattr(children, "CLOSING_S", 0.3)
    with pytest.raises(children.NurseryDied):
        await parser.parse(_small(tmp_path), progress_of(FakeQueue()))
