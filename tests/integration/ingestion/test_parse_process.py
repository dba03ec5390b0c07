"""The parsing process under attack: limits hold, only the file at fault is lost, nothing is left.

In: files made here. Out: assertions about documents, reasons and processes. Linux: children are looked for in /proc.
"""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Awaitable
from contextlib import suppress
from pathlib import Path

import pytest

from domain.documents import DocumentStatus
from ingestion import progress
from ingestion.chunking.passages import CutBlocks, Passages, PassageSizes, cut_passages
from ingestion.errors import FailureCode, LeaseLost, SourceError
from ingestion.parsers import process
from ingestion.parsers.codec import Request
from ingestion.parsers.process import ParseProcess, Receive
from ingestion.records import Block, BlockKind, ClaimedDocument, Document, FetchedFile
from sandbox import kernel, pool
from sandbox.confinement import Confinement
from sandbox.pool import Line, Pool, PoolDied
from tests.fakes.ingestion import FakeQueue, progress_of
from tests.processes import confined, environment, forkservers
from tests.unit.ingestion.parsers.files import p, write_docx, write_pdf
from tests.unit.ingestion.parsers.packages import write_odf
from tests.waiting import until

PAGES = 800  # a second or two
LARGE_MARKDOWN_CHARS = 12_000_000  # takes far longer than any of these tests waits
SIZES = PassageSizes(chunk_tokens=300, overlap_tokens=40, window_tokens=2_000)


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
    folder.mkdir(exist_ok=True)
    path = folder / "small.md"
    path.write_text("# Договор\n\nТекст абзаца.")
    return _fetched(path)


async def _code(parsing: Awaitable[Document]) -> FailureCode:
    with pytest.raises(SourceError) as caught:
        await parsing
    return caught.value.code


def _is_there(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


async def _parse_and_signal(parser: ParseProcess, file: FetchedFile, number: signal.Signals) -> FailureCode:
    parsing = asyncio.create_task(parser.parse(file, progress_of(FakeQueue())))
    await until(lambda: bool(confined()))
    os.kill(confined()[0], number)
    return await _code(parsing)


async def test_a_document_comes_back(parser: ParseProcess, tmp_path: Path) -> None:
    document = await parser.parse(_small(tmp_path), progress_of(FakeQueue()))
    assert (document.title, document.language) == ("Договор", "ru")
    assert [block.kind for block in document.blocks] == [BlockKind.HEADING, BlockKind.PARAGRAPH]


async def test_a_parsers_reason_comes_back_with_its_values(parser: ParseProcess, tmp_path: Path) -> None:
    path = tmp_path / "пусто.txt"
    path.touch()
    with pytest.raises(SourceError) as caught:
        await parser.parse(_fetched(path), progress_of(FakeQueue()))
    assert (caught.value.code, caught.value.params) == (FailureCode.FILE_EMPTY, {"name": "пусто.txt"})


async def test_many_files_are_parsed_at_once(parser: ParseProcess, tmp_path: Path) -> None:
    documents = await asyncio.gather(*(parser.parse(_small(tmp_path), progress_of(FakeQueue())) for _ in range(12)))
    assert {document.title for document in documents} == {"Договор"}
    await until(lambda: not confined())


async def test_time_runs_out_and_the_process_is_gone(slow_file: FetchedFile) -> None:
    async with ParseProcess(timeout_s=1, memory_mb=4096) as parser:
        assert await _code(parser.parse(slow_file, progress_of(FakeQueue()))) is FailureCode.FILE_TOO_SLOW
        await until(lambda: not confined())


async def test_memory_runs_out_for_this_file_alone(tmp_path: Path) -> None:
    heavy = write_odf(tmp_path / "heavy.odt", "text", "<text:p>x</text:p>" * 1_000_000)  # it is held as a tree
    async with ParseProcess(timeout_s=300, memory_mb=200) as parser:
        assert await _code(parser.parse(_fetched(heavy), progress_of(FakeQueue()))) is FailureCode.FILE_TOO_HEAVY
        assert (await parser.parse(_small(tmp_path), progress_of(FakeQueue()))).title == "Договор"


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
    await until(lambda: bool(confined()))
    parsing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await parsing
    await until(lambda: not confined())


async def test_closing_leaves_no_process(slow_file: FetchedFile) -> None:
    async with ParseProcess(timeout_s=300, memory_mb=4096) as parser:
        parsing = asyncio.create_task(parser.parse(slow_file, progress_of(FakeQueue())))
        await until(lambda: bool(confined()))
        family = forkservers() + confined()
    assert not any(map(_is_there, family))
    assert await _code(parsing) in {FailureCode.FILE_TOO_HEAVY, FailureCode.FILE_DAMAGED}


async def test_closing_while_the_process_starts_leaves_none(slow_file: FetchedFile) -> None:
    async with ParseProcess(timeout_s=300, memory_mb=4096) as parser:
        parsing = asyncio.create_task(parser.parse(slow_file, progress_of(FakeQueue())))
        await until(lambda: bool(forkservers()))
    with pytest.raises((SourceError, PoolDied)):
        await parsing
    assert not forkservers()


async def test_a_task_that_comes_after_the_closing_starts_no_process(tmp_path: Path) -> None:
    async with ParseProcess(timeout_s=300, memory_mb=1024) as parser:
        await parser.parse(_small(tmp_path), progress_of(FakeQueue()))
    with pytest.raises(PoolDied):
        await parser.parse(_small(tmp_path), progress_of(FakeQueue()))
    assert not forkservers()


async def test_a_pool_that_died_is_started_anew(parser: ParseProcess, tmp_path: Path) -> None:
    await parser.parse(_small(tmp_path), progress_of(FakeQueue()))
    (server,) = forkservers()
    os.kill(server, signal.SIGKILL)
    assert (await parser.parse(_small(tmp_path), progress_of(FakeQueue()))).title == "Договор"


async def test_who_learns_late_that_a_process_died_leaves_the_next_one_alone() -> None:
    async with Pool(entry=process.ENTRY) as children:
        with suppress(PoolDied):
            async with children.child(Confinement()):
                with suppress(PoolDied):
                    async with children.child(Confinement()):
                        raise PoolDied
                async with children.child(Confinement()):
                    following = forkservers()
                raise PoolDied
        assert len(following) == 1
        assert forkservers() == following


async def test_no_secret_of_the_environment_reaches_the_parsers(
    parser: ParseProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOT_TOKEN", "1:secret")
    await parser.parse(_small(tmp_path), progress_of(FakeQueue()))
    (server,) = forkservers()
    assert "PATH=" in environment(server)
    assert "secret" not in environment(server)


async def test_pages_are_told_while_they_are_read(
    parser: ParseProcess, slow_pdf: FetchedFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "REPORT_EVERY_S", 0.1)  # a quick machine reads all pages in little more than a second
    queue = FakeQueue()
    document = await parser.parse(slow_pdf, progress_of(queue))
    assert document.pages == PAGES
    assert queue.reported
    assert all(
        status is DocumentStatus.PARSING and 0 < done <= total == PAGES for status, done, total in queue.reported
    )


async def test_a_lost_lease_ends_the_parsing(
    parser: ParseProcess, slow_pdf: FetchedFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "REPORT_EVERY_S", 0.1)
    with pytest.raises(LeaseLost):
        await parser.parse(slow_pdf, progress_of(LostQueue()))
    await until(lambda: not confined())


async def test_a_large_document_comes_back_whole(parser: ParseProcess, tmp_path: Path) -> None:
    path = tmp_path / "large.txt"
    path.write_text("\n\n".join(f"Абзац номер {number} большого документа." for number in range(50_000)))
    document = await parser.parse(_fetched(path), progress_of(FakeQueue()))
    assert len(document.blocks) == 50_000


async def test_a_text_is_cut_as_it_would_be_here(parser: ParseProcess, tmp_path: Path) -> None:
    blocks = tuple(
        Block(kind=BlockKind.PARAGRAPH, text=f"Абзац номер {number} большого документа. " * 20)
        for number in range(3_000)
    )
    passages = await parser.cut(blocks, SIZES, tmp_path)
    here = cut_passages(blocks, SIZES)
    assert (list(passages.chunks), passages.windows) == (list(here.chunks), here.windows)


async def test_a_file_is_cut_where_it_is_read(parser: ParseProcess, tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text(
        "\n\n".join(f"# Глава {n}\n\nАбзац номер {n}. Плата вносится." for n in range(300)), encoding="utf-8"
    )
    plain = await parser.parse(_fetched(path), progress_of(FakeQueue()))
    cut = await parser.parse(_fetched(path), progress_of(FakeQueue()), SIZES)
    assert isinstance(cut.blocks, CutBlocks)
    here = cut_passages(plain.blocks, SIZES)
    assert (list(cut.blocks), cut.blocks.passages, cut.blocks.sizes) == (list(plain.blocks), here, SIZES)


async def test_a_text_that_cannot_be_cut_where_it_is_read_is_read(
    parser: ParseProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.md"
    path.write_text("Абзац.", encoding="utf-8")
    monkeypatch.setattr(process, "_receive_passages", _too_slow)
    document = await parser.parse(_fetched(path), progress_of(FakeQueue()), SIZES)
    assert (list(document.blocks), isinstance(document.blocks, CutBlocks)) != ([], True)


async def _too_slow(*_: object) -> Passages:
    raise SourceError(FailureCode.FILE_TOO_SLOW, name="a.md")


async def test_a_text_that_takes_too_long_to_cut_ends_with_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "CUT_PATIENCE", 1)
    blocks = [Block(kind=BlockKind.PARAGRAPH, text="Да. " * 10_000)] * 2_000
    async with ParseProcess(timeout_s=1, memory_mb=1024) as parser:
        with pytest.raises(SourceError) as caught:
            await parser.cut(blocks, SIZES, tmp_path)
    assert caught.value.code is FailureCode.FILE_TOO_SLOW


async def test_a_pool_that_says_nothing_is_given_up(
    parser: ParseProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "START_S", 0.3)
    monkeypatch.setattr(pool, "START", "import time; time.sleep(60)")
    with pytest.raises(PoolDied):
        await parser.parse(_small(tmp_path), progress_of(FakeQueue()))


async def test_small_files_share_a_process_until_one_of_them_breaks_it(
    parser: ParseProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Confinement] = []
    start = Pool.start

    async def counted(pool: Pool, confinement: Confinement) -> Line:
        started.append(confinement)
        return await start(pool, confinement)

    monkeypatch.setattr(Pool, "start", counted)
    files = [_small(tmp_path / name) for name in ("a", "b", "c", "d", "refused")]
    files[4].path.write_bytes(b"\n \n")
    files[1].path.write_bytes(b"%PDF-1.7\n" + bytes(500))
    async with parser.shared(tmp_path) as shared:
        assert (await shared.parse(files[0], progress_of(FakeQueue()))).blocks
        assert await _code(shared.parse(files[4], progress_of(FakeQueue()))) is FailureCode.FILE_EMPTY
        assert await _code(shared.parse(files[1], progress_of(FakeQueue()))) is FailureCode.FILE_DAMAGED
        read = [await shared.parse(file, progress_of(FakeQueue())) for file in files[2:4]]
        cut = await shared.cut(read[0].blocks, SIZES, tmp_path)
    assert [document.blocks == read[0].blocks for document in read] == [True, True]
    assert cut.chunks
    # The one that broke it is read again by a new one, which nothing before can have changed, and breaks that too.
    assert [confinement.reads for confinement in started] == [(str(tmp_path),)] * 3


async def test_a_file_is_not_damaged_because_of_what_was_read_before(
    parser: ParseProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [_small(tmp_path / name) for name in ("a", "b")]
    answered, asked = process._answered, []

    async def ill(line: Line, request: Request, receive: Receive[Document], *, timeout_s: float) -> Document:
        asked.append(line)
        if len(asked) == 2:
            raise SourceError(FailureCode.FILE_DAMAGED)
        return await answered(line, request, receive, timeout_s=timeout_s)

    monkeypatch.setattr(process, "_answered", ill)
    async with parser.shared(tmp_path) as shared:
        read = [await shared.parse(file, progress_of(FakeQueue())) for file in files]
    assert [bool(document.blocks) for document in read] == [True, True]
    assert asked[0] is asked[1] is not asked[2]


@pytest.mark.skipif(kernel.abi() == 0, reason="this kernel has no Landlock")
async def test_a_shared_process_opens_no_file_of_another_base(parser: ParseProcess, tmp_path: Path) -> None:
    own, other = tmp_path / "own", tmp_path / "other"
    files = [_small(own), _small(other)]
    async with parser.shared(own) as shared:
        assert (await shared.parse(files[0], progress_of(FakeQueue()))).blocks
        assert await _code(shared.parse(files[1], progress_of(FakeQueue()))) is FailureCode.FILE_DAMAGED
