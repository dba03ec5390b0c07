"""Each file is read in the way that its content asks for, or refused with what is missing."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from domain.documents import DocumentStatus, Medium, UnreadPart
from domain.locator import Locator
from ingestion.chunking.passages import PassageSizes
from ingestion.errors import FailureCode, SourceError
from ingestion.files import SITE_TYPE
from ingestion.parsers.process import ParseProcess
from ingestion.ports import Transcript
from ingestion.progress import Progress
from ingestion.reading import reader
from ingestion.reading.pictures import PictureReader
from ingestion.reading.reader import FileReader, read_recording, read_section
from ingestion.records import Block, BlockKind, Document, FetchedFile
from tests.fakes.ingestion import FakeQueue, progress_of
from tests.fakes.speech import FakeTranscriber, said

PNG, OGG, TEXT = b"\x89PNG\r\n\x1a\n", b"OggS", b"words"
WORDS = (Block(kind=BlockKind.PARAGRAPH, text="слова"),)
VOICE = FetchedFile(path=Path("/tmp/x"), name="Голосовое.ogg", media_type="audio/ogg", size_bytes=1, sha256="")
HEARD = Transcript(
    utterances=said((0.5, 3.0, "Купить молоко."), (8.0, 9.5, "И хлеб.")),
    duration_s=10.0,
    language="ru",
    has_picture=False,
)
PAGE = "https://site.example/docs/"
BROKEN = UnreadPart(name=f"{PAGE}broken", code=FailureCode.PAGE_STATUS)
INSIDE = UnreadPart(name="inside.docx", code=FailureCode.FILE_ENCRYPTED)
REASONS = {
    "bad": FailureCode.FILE_DAMAGED,
    "blank": FailureCode.FILE_WITHOUT_TEXT,
    "scan": FailureCode.FILE_NEEDS_RECOGNITION,
}


class Ways(ParseProcess, PictureReader, FakeTranscriber):
    """A parser, pictures and a transcriber in one: each answers with its name as the title."""

    def __init__(self, parsed: Document, *, filled: Document | None = None) -> None:
        self._parsed = parsed
        self._filled = filled or parsed

    async def parse(self, file: FetchedFile, progress: Progress, sizes: PassageSizes | None = None) -> Document:
        """As scripted."""
        return self._parsed

    async def fill_pages(self, file: FetchedFile, parsed: Document, progress: Progress) -> Document:
        """As scripted."""
        return self._filled

    async def read_picture(self, file: FetchedFile, progress: Progress) -> Document:
        """A picture."""
        return Document(title="picture", blocks=WORDS, medium=Medium.IMAGE)

    async def transcribe(
        self, path: Path, *, name: str, heard: Callable[[float, float], Awaitable[None]]
    ) -> Transcript:
        """A recording."""
        return replace(HEARD, title="recording")


PARSED = Document(title="parsed", blocks=WORDS)
SCAN = Document(title="scan", blocks=(), pages=1, pages_without_text=(1,))


def _read(reader: FileReader, folder: Path, content: bytes) -> Awaitable[Document]:
    path = folder / "a.bin"
    path.write_bytes(content)
    file = FetchedFile(path=path, name="a.bin", media_type=None, size_bytes=len(content), sha256="")
    return reader.read(file, progress_of(FakeQueue()))


def _reader(ways: Ways, *, equipped: bool = True) -> FileReader:
    models = ways if equipped else None
    return FileReader(parser=ways, pictures=models, recordings=models)


@pytest.mark.parametrize(("content", "title"), [(PNG, "picture"), (OGG, "recording"), (TEXT, "parsed")])
async def test_content_decides(tmp_path: Path, content: bytes, title: str) -> None:
    assert (await _read(_reader(Ways(PARSED)), tmp_path, content)).title == title


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (PNG, FailureCode.FILE_NEEDS_RECOGNITION),
        (OGG, FailureCode.FILE_NEEDS_HEARING),
        (TEXT, FailureCode.FILE_NEEDS_RECOGNITION),
    ],
)
async def test_without_a_model_it_is_said_what_is_missing(tmp_path: Path, content: bytes, code: FailureCode) -> None:
    with pytest.raises(SourceError) as caught:
        await _read(_reader(Ways(SCAN), equipped=False), tmp_path, content)
    assert caught.value.code is code


async def test_pages_without_text_are_looked_at(tmp_path: Path) -> None:
    assert await _read(_reader(Ways(SCAN, filled=PARSED)), tmp_path, TEXT) is PARSED


async def test_a_scan_without_words_is_told_so(tmp_path: Path) -> None:
    with pytest.raises(SourceError) as caught:
        await _read(_reader(Ways(SCAN)), tmp_path, TEXT)
    assert caught.value.code is FailureCode.FILE_WITHOUT_WORDS


async def test_what_is_said_becomes_paragraphs_with_their_seconds() -> None:
    document = await read_recording(VOICE, progress_of(FakeQueue()), FakeTranscriber(HEARD))
    places = [(block.text, block.locator.start_s, block.locator.end_s) for block in document.blocks]
    assert places == [("Купить молоко.", 0.5, 3.0), ("И хлеб.", 8.0, 9.5)]
    assert (document.title, document.language, document.duration_s) == ("Голосовое", "ru", 10.0)
    assert document.medium is Medium.AUDIO


async def test_a_film_is_video_and_keeps_its_title() -> None:
    film = replace(HEARD, has_picture=True, title="Лекция о базах")
    document = await read_recording(VOICE, progress_of(FakeQueue()), FakeTranscriber(film))
    assert (document.medium, document.title) == (Medium.VIDEO, "Лекция о базах")


async def test_progress_is_told_in_seconds() -> None:
    queue = FakeQueue()
    await read_recording(VOICE, progress_of(queue), FakeTranscriber(HEARD))
    assert queue.reported[0] == (DocumentStatus.LISTENING, 0, 0)
    assert queue.reported[1:] == [(DocumentStatus.LISTENING, 3, 10), (DocumentStatus.LISTENING, 10, 10)]


async def test_silence_is_named() -> None:
    silence = replace(HEARD, utterances=())
    with pytest.raises(SourceError) as caught:
        await read_recording(VOICE, progress_of(FakeQueue()), FakeTranscriber(silence))
    assert (caught.value.code, caught.value.params) == (FailureCode.FILE_WITHOUT_SPEECH, {"name": "Голосовое.ogg"})


def _file(name: str, media_type: str, *attached: FetchedFile, url: str) -> FetchedFile:
    return FetchedFile(
        path=Path(name), name=name, media_type=media_type, size_bytes=1, sha256=name, url=url, attached=attached
    )


def _section(*names: str) -> FetchedFile:
    files = (_file(name, "application/pdf", url=f"{PAGE}{name}") for name in names)
    return _file("site.example", SITE_TYPE, *files, url=PAGE)


async def _read_pages(file: FetchedFile, progress: Progress) -> Document:
    heading = Block(kind=BlockKind.HEADING, text="Сайт", level=1, locator=Locator(url=PAGE))
    return Document(title="Сайт", blocks=(heading,), language="ru", parts=2, unread=(BROKEN,))


async def _read_nothing(file: FetchedFile, progress: Progress) -> Document:
    raise SourceError(FailureCode.FILE_WITHOUT_TEXT, name=file.name)


async def _read_chapter(file: FetchedFile, progress: Progress) -> Document:
    await progress.report(DocumentStatus.RECOGNISING, done=1, total=2)
    for beginning, code in REASONS.items():
        if file.name.startswith(beginning):
            raise SourceError(code, name=file.name)
    heading = Block(kind=BlockKind.HEADING, text="Сроки", level=1, locator=Locator(page=2))
    text = Block(kind=BlockKind.PARAGRAPH, text="До мая.", locator=Locator(page=2, headings=("Сроки",)))
    unread = (INSIDE,) if file.name.startswith("half") else ()
    return Document(title="Microsoft Word - 1", blocks=(heading, text), language="ru", pages=7, unread=unread)


async def _read_whole(file: FetchedFile, queue: FakeQueue | None = None) -> Document:
    return await read_section(file, progress_of(queue or FakeQueue()), read_pages=_read_pages, read=_read_chapter)


async def test_a_document_is_a_chapter_under_its_file_name_with_its_address_and_pages() -> None:
    _, front, heading, text = (await _read_whole(_section("plan.pdf"))).blocks
    address = f"{PAGE}plan.pdf"
    assert (front.text, front.level, front.locator) == ("plan.pdf", 1, Locator(url=address))
    assert (heading.text, heading.level) == ("Сроки", 2)
    assert text.locator == Locator(page=2, url=address, headings=("plan.pdf", "Сроки"))


async def test_what_cannot_be_read_is_named_and_what_says_nothing_is_not() -> None:
    document = await _read_whole(_section("bad.pdf", "plan.pdf", "blank.pdf", "scan.pdf"))
    assert document.parts == 3
    assert document.unread == (
        BROKEN,
        UnreadPart(name=f"{PAGE}bad.pdf", code=FailureCode.FILE_DAMAGED),
        UnreadPart(name=f"{PAGE}scan.pdf", code=FailureCode.FILE_NEEDS_RECOGNITION),
    )


async def test_what_could_not_be_read_inside_a_document_is_named() -> None:
    document = await _read_whole(_section("half.zip"))
    assert document.unread == (BROKEN, INSIDE)


async def test_a_mere_list_of_documents_is_read() -> None:
    progress = progress_of(FakeQueue())
    document = await read_section(_section("plan.pdf", "b.pdf"), progress, read_pages=_read_nothing, read=_read_chapter)
    assert (document.title, document.parts, document.language) == ("site.example", 2, "ru")


async def test_a_single_document_gives_its_name() -> None:
    progress = progress_of(FakeQueue())
    document = await read_section(_section("plan.pdf"), progress, read_pages=_read_nothing, read=_read_chapter)
    assert (document.title, document.parts) == ("plan.pdf", 1)


async def test_a_section_that_says_nothing_at_all_is_refused() -> None:
    with pytest.raises(SourceError) as caught:
        await read_section(_section("bad.pdf"), progress_of(FakeQueue()), read_pages=_read_nothing, read=_read_chapter)
    assert caught.value.code is FailureCode.FILE_WITHOUT_TEXT


async def test_progress_is_told_in_documents() -> None:
    queue = FakeQueue()
    await _read_whole(_section("a.pdf", "b.pdf"), queue)
    assert {status for status, *_ in queue.reported} == {DocumentStatus.PARSING}


async def test_documents_for_which_no_time_is_left_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "READING_S", -1.0)
    document = await _read_whole(_section("plan.pdf"))
    late = UnreadPart(name=f"{PAGE}plan.pdf", code=FailureCode.FILE_TOO_SLOW)
    assert (document.parts, document.unread[-1]) == (2, late)
