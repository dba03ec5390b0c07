"""The stages in a row, with everything outside scripted."""

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from domain.documents import DocumentStatus, Medium, SourceType, UnreadPart
from domain.ids import DocumentId
from ingestion.about import hash_note, hash_words
from ingestion.chunking.passages import PassageSizes
from ingestion.errors import FailureCode, ServiceError, SourceError
from ingestion.fetch.fetchers import Fetchers
from ingestion.pipeline import IngestionPipeline
from ingestion.progress import Progress
from ingestion.records import About, Block, BlockKind, ClaimedDocument, Document, FetchedFile, Source
from ingestion.worker import Worker
from tests.fakes.ingestion import (
    CutHere,
    FakeEmbedder,
    FakeQueue,
    HeardMeter,
    PlainReader,
    ScriptedPipeline,
    WordAnalyzer,
    claimed,
    note,
    progress_of,
)

PARAGRAPH = "Арендатор вносит плату не позднее пятого числа каждого месяца, начиная с первого месяца аренды."
LONG_TEXT = "\n\n".join(f"{number}. {PARAGRAPH}" for number in range(300))


class FakeFetchers(Fetchers):
    """A text file whose words are its handle; a page whose words are the source's text."""

    def __init__(self, about: About | None = None) -> None:
        self._about = about

    async def fetch(self, document: ClaimedDocument, folder: Path, progress: Progress) -> FetchedFile:
        path, source = folder / document.id, document.source
        if source.type is SourceType.LINK:
            path.write_text(source.text or "", encoding="utf-8")
            return FetchedFile(
                path=path,
                name="page.html",
                media_type="text/html",
                size_bytes=1,
                sha256="f" * 64,
                url="https://site.example/a",
            )
        path.write_text(source.file_id or "", encoding="utf-8")
        return FetchedFile(
            path=path,
            name="file.txt",
            media_type="text/plain",
            size_bytes=1,
            sha256=hash_words(source.file_id or ""),
            about=self._about,
        )

    async def fetch_files(
        self, documents: Sequence[ClaimedDocument], folder: Path
    ) -> list[tuple[ClaimedDocument, FetchedFile]]:
        return [(each, await self.fetch(each, folder, progress_of(FakeQueue()))) for each in documents]


SIZES = PassageSizes(chunk_tokens=60, overlap_tokens=0, window_tokens=1000)


def make_pipeline(
    queue: FakeQueue,
    scratch: Path,
    *,
    embedder: FakeEmbedder | None = None,
    reader: PlainReader | None = None,
    about: About | None = None,
) -> IngestionPipeline:
    return IngestionPipeline(
        fetchers=FakeFetchers(about),
        reader=reader or PlainReader(),
        cutter=CutHere(),
        embedder=embedder or FakeEmbedder(),
        analyzer=WordAnalyzer(),
        queue=queue,
        sizes=SIZES,
        scratch=scratch,
    )


def _file(text: str = "Слова файла.", *, caption: str | None = None) -> Source:
    return Source(type=SourceType.FILE, identifier="a.txt", file_id=text, text=caption)


def _link(text: str) -> Source:
    return Source(type=SourceType.LINK, identifier="https://site.example/a", text=text)


async def test_a_note_becomes_published_chunks_with_vectors_and_terms(tmp_path: Path) -> None:
    queue = FakeQueue()
    await make_pipeline(queue, tmp_path).run(claimed(note("Встреча во вторник, во вторник", title="Встреча")))
    indexed = queue.chunks[0]
    assert queue.published == [1]
    assert (indexed.terms["вторник"], indexed.terms["во"], indexed.length) == (1, 2, 5)
    assert (indexed.vector, indexed.model) == ([0.0], "fake")


async def test_a_chunk_is_found_by_the_title_of_its_document_too(tmp_path: Path) -> None:
    queue = FakeQueue()
    await make_pipeline(queue, tmp_path).run(claimed(note("Платить до пятого числа", title="Договор")))
    assert queue.chunks[0].titled["договор"] == 1


async def test_a_file_is_found_by_its_own_name_too(tmp_path: Path) -> None:
    queue = FakeQueue()
    await make_pipeline(queue, tmp_path).run(claimed(replace(_file(), identifier="Договор аренды.docx")))
    assert queue.parsed is not None
    assert [name.text for name in queue.parsed.names] == [queue.parsed.title, "Договор аренды"]
    assert (queue.chunks[0].titled["договор"], queue.chunks[0].titled["аренды"]) == (1, 1)


async def test_a_note_is_called_by_its_title(tmp_path: Path) -> None:
    queue = FakeQueue()
    await make_pipeline(queue, tmp_path).run(claimed(note(title="Про встречу")))
    assert queue.parsed is not None
    assert queue.parsed.title == "Про встречу"


async def test_a_caption_is_the_first_paragraph_of_its_file(tmp_path: Path) -> None:
    queue = FakeQueue()
    await make_pipeline(queue, tmp_path).run(claimed(_file("Договор", caption="Черновик договора")))
    assert queue.parsed is not None
    assert [block.text for block in queue.parsed.blocks] == ["Черновик договора", "Договор"]


async def test_words_under_a_known_file_are_added_to_what_was_read_in_it(tmp_path: Path) -> None:
    queue, reader = FakeQueue(), PlainReader()
    queue.reading = Document(
        title="Лекция",
        blocks=(Block(kind=BlockKind.PARAGRAPH, text="Слова лекции"),),
        medium=Medium.AUDIO,
        duration_s=60,
    )
    known = replace(claimed(_file(caption="Лекция Петрова")), is_known=True)
    await make_pipeline(queue, tmp_path, reader=reader).run(known)
    assert queue.parsed is not None
    assert [block.text for block in queue.parsed.blocks] == ["Лекция Петрова", "Слова лекции"]
    assert (queue.parsed.medium, queue.parsed.duration_s) == (Medium.AUDIO, 60)
    assert (reader.files, queue.hashes, queue.published) == ([], [], [1])


async def test_a_file_whose_twin_has_gone_is_read_after_all(tmp_path: Path) -> None:
    queue, reader = FakeQueue(), PlainReader()
    known = replace(claimed(_file(caption="Лекция Петрова")), is_known=True)
    await make_pipeline(queue, tmp_path, reader=reader).run(known)
    assert len(reader.files) == len(queue.published) == 1


async def test_what_comes_to_a_full_base_is_refused_unread(tmp_path: Path) -> None:
    queue, reader = FakeQueue(), PlainReader()
    with pytest.raises(SourceError) as refused:
        await make_pipeline(queue, tmp_path, reader=reader).run(replace(claimed(_file()), full_at=5000))
    assert (refused.value.code, refused.value.params) == (FailureCode.BASE_FULL, {"most": 5000})
    assert (reader.files, queue.hashes, queue.published) == ([], [], [])


async def test_a_photo_without_words_is_kept_for_its_caption(tmp_path: Path) -> None:
    queue, reader = FakeQueue(), PlainReader(SourceError(FailureCode.FILE_WITHOUT_WORDS, name="a.txt"))
    await make_pipeline(queue, tmp_path, reader=reader).run(claimed(_file(caption="Кот на даче")))
    assert queue.parsed is not None
    assert [block.text for block in queue.parsed.blocks] == ["Кот на даче"]
    unread = UnreadPart(name="file.txt", code=FailureCode.FILE_WITHOUT_WORDS)
    assert (queue.parsed.medium, queue.parsed.unread) == (Medium.IMAGE, (unread,))


async def test_a_program_is_kept_for_what_is_written_under_it(tmp_path: Path) -> None:
    queue, reader = FakeQueue(), PlainReader(SourceError(FailureCode.FILE_UNSUPPORTED, name="a.apk"))
    await make_pipeline(queue, tmp_path, reader=reader).run(claimed(_file(caption="Новая версия приложения")))
    assert queue.parsed is not None
    assert [block.text for block in queue.parsed.blocks] == ["Новая версия приложения"]
    assert queue.parsed.unread == (UnreadPart(name="file.txt", code=FailureCode.FILE_UNSUPPORTED),)


async def test_a_photo_without_words_or_caption_is_a_reason(tmp_path: Path) -> None:
    reader = PlainReader(SourceError(FailureCode.FILE_WITHOUT_WORDS, name="a.txt"))
    with pytest.raises(SourceError):
        await make_pipeline(FakeQueue(), tmp_path, reader=reader).run(claimed(_file()))


async def test_only_the_reading_of_a_small_document_is_reported(tmp_path: Path) -> None:
    queue = FakeQueue()
    await make_pipeline(queue, tmp_path).run(claimed(note()))
    assert queue.reported == []
    await make_pipeline(queue, tmp_path).run(claimed(_file()))
    assert queue.reported == [(DocumentStatus.PARSING, 0, 0)]
    assert queue.expected == len(queue.chunks)


async def test_a_document_of_several_batches_says_how_far_it_is_while_it_is_stored(tmp_path: Path) -> None:
    queue = FakeQueue()
    await make_pipeline(queue, tmp_path).run(claimed(note(LONG_TEXT)))
    assert len(queue.batches) > 1
    assert queue.expected == sum(queue.batches)


async def test_the_queue_learns_what_a_file_turned_out_to_be(tmp_path: Path) -> None:
    queue = FakeQueue()
    await make_pipeline(queue, tmp_path).run(claimed(_file()))
    assert queue.sizes == [1]


@pytest.mark.parametrize(
    ("title", "found"),
    [pytest.param("file", "С сайта", id="nameless file"), pytest.param("Своё имя", "Своё имя", id="own title")],
)
async def test_the_place_of_a_file_says_what_the_file_leaves_open(tmp_path: Path, title: str, found: str) -> None:
    queue = FakeQueue()
    about = About(title="С сайта", author="Анна Петрова", published_at=datetime(2026, 3, 1, tzinfo=UTC))
    pipeline = make_pipeline(queue, tmp_path, reader=PlainReader(title=title), about=about)
    await pipeline.run(claimed(_file()))
    assert queue.parsed is not None
    assert (queue.parsed.title, queue.parsed.author) == (found, "Анна Петрова")
    assert queue.parsed.published_at == about.published_at


async def test_a_file_bears_the_day_that_its_text_gives_it(tmp_path: Path) -> None:
    queue = FakeQueue()
    await make_pipeline(queue, tmp_path).run(claimed(_file("Приказ № 5 от 12.03.2024")))
    assert queue.parsed is not None
    assert queue.parsed.published_at == datetime(2024, 3, 12, tzinfo=UTC)


async def test_a_forwarded_post_bears_its_own_day_and_not_one_that_its_text_claims(tmp_path: Path) -> None:
    queue, posted = FakeQueue(), datetime(2026, 10, 28, 9, tzinfo=UTC)
    await make_pipeline(queue, tmp_path).run(claimed(replace(note("Date: 2019-01-01"), published_at=posted)))
    assert queue.parsed is not None
    assert queue.parsed.published_at == posted


async def test_a_small_document_is_stored_together_with_its_publication(tmp_path: Path) -> None:
    queue = FakeQueue()
    await make_pipeline(queue, tmp_path).run(claimed(note()))
    assert (queue.batches, queue.published, len(queue.chunks)) == ([], [1], 1)


async def test_what_an_earlier_attempt_stored_of_another_text_is_dropped(tmp_path: Path) -> None:
    queue = FakeQueue()
    await make_pipeline(queue, tmp_path).run(claimed(note("Старые слова.")))
    await make_pipeline(queue, tmp_path).run(claimed(note("Новые слова."), attempt=2))
    assert [indexed.chunk.text for indexed in queue.chunks.values()] == ["Новые слова."]


async def test_a_note_needs_no_file_and_no_parser(tmp_path: Path) -> None:
    queue, reader = FakeQueue(), PlainReader()
    await make_pipeline(queue, tmp_path, reader=reader).run(claimed(note()))
    assert (queue.published, reader.files, os.listdir(tmp_path)) == ([1], [], [])


async def test_a_note_that_the_base_holds_is_not_published(tmp_path: Path) -> None:
    queue = FakeQueue()
    queue.known_hashes[hash_words("Заметка Слова заметки.")] = DocumentId("first")
    await make_pipeline(queue, tmp_path).run(claimed(note("Слова   заметки.\n")))
    assert queue.published == []


async def test_known_content_is_neither_parsed_nor_published(tmp_path: Path) -> None:
    queue, reader = FakeQueue(), PlainReader()
    queue.known_hashes[hash_words("Слова файла.")] = DocumentId("first")
    await make_pipeline(queue, tmp_path, reader=reader).run(claimed(_file("Слова файла.")))
    assert (reader.files, queue.published) == ([], [])


async def test_pages_are_compared_by_their_words_and_not_by_their_markup(tmp_path: Path) -> None:
    queue = FakeQueue()
    await make_pipeline(queue, tmp_path).run(claimed(_link("Слова страницы")))
    assert queue.hashes == [hash_words("Слова страницы")]


async def test_a_page_without_words_is_called_a_page(tmp_path: Path) -> None:
    reader = PlainReader(SourceError(FailureCode.FILE_WITHOUT_TEXT, name="page.html"))
    with pytest.raises(SourceError) as caught:
        await make_pipeline(FakeQueue(), tmp_path, reader=reader).run(claimed(_link("")))
    assert caught.value.code is FailureCode.PAGE_WITHOUT_TEXT
    assert caught.value.params == {"host": "site.example"}


async def test_every_chunk_gets_its_own_vector_in_batches_of_128(tmp_path: Path) -> None:
    queue = FakeQueue()
    await make_pipeline(queue, tmp_path).run(claimed(note(LONG_TEXT)))
    assert queue.published == [len(queue.chunks)]
    assert len(queue.chunks) > 128
    assert max(queue.batches) <= 128
    assert all(indexed.vector == [float(ordinal)] for ordinal, indexed in queue.chunks.items())


async def test_a_window_that_is_refused_for_its_length_is_split(tmp_path: Path) -> None:
    queue, embedder = FakeQueue(), FakeEmbedder(most_chunks=3)
    await make_pipeline(queue, tmp_path, embedder=embedder).run(claimed(note(LONG_TEXT)))
    assert queue.published == [len(queue.chunks)]
    assert all(indexed.vector == [float(ordinal)] for ordinal, indexed in queue.chunks.items())


async def test_a_later_attempt_pays_for_no_vector_twice(tmp_path: Path) -> None:
    queue, embedder = FakeQueue(), FakeEmbedder()
    embedder.after_windows = 4
    with pytest.raises(ServiceError):
        await make_pipeline(queue, tmp_path, embedder=embedder).run(claimed(note(LONG_TEXT)))
    embedder.after_windows = None
    await make_pipeline(queue, tmp_path, embedder=embedder).run(claimed(note(LONG_TEXT), attempt=2))
    embedded = [chunk.ordinal for window in embedder.windows for chunk in window.own]
    assert embedded == list(range(len(queue.chunks)))
    assert queue.published == [len(queue.chunks)]


@pytest.mark.parametrize("error", [None, SourceError(FailureCode.FILE_DAMAGED, name="x"), ValueError("a bug")])
async def test_no_file_is_left_behind(tmp_path: Path, error: Exception | None) -> None:
    with suppress(SourceError, ValueError):
        await make_pipeline(FakeQueue(), tmp_path, reader=PlainReader(error)).run(claimed(_file()))
    assert os.listdir(tmp_path) == ["gate.lock"]


def pipeline_of(queue: FakeQueue, meter: HeardMeter, scratch: Path) -> IngestionPipeline:
    return IngestionPipeline(
        fetchers=FakeFetchers(),
        reader=PlainReader(),
        cutter=CutHere(),
        embedder=FakeEmbedder(),
        analyzer=WordAnalyzer(),
        queue=queue,
        sizes=SIZES,
        scratch=scratch,
        meter=meter,
    )


async def test_a_document_that_is_read_ends_its_stages_and_is_ready(tmp_path: Path) -> None:
    meter = HeardMeter()
    await pipeline_of(FakeQueue(), meter, tmp_path).run(claimed(note("Встреча во вторник")))
    assert meter.stages == [DocumentStatus.FETCHING, DocumentStatus.EMBEDDING]
    assert meter.outcomes == [("ready", "")]


async def test_a_document_that_the_base_has_is_known(tmp_path: Path) -> None:
    queue, meter, source = FakeQueue(), HeardMeter(), note("Встреча во вторник")
    queue.known_hashes[hash_note(source)] = claimed(source).id
    await pipeline_of(queue, meter, tmp_path).run(claimed(source))
    assert meter.outcomes == [("known", "")]


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (SourceError(FailureCode.FILE_DAMAGED, name="a"), ("failed", "file-damaged")),
        (ServiceError(FailureCode.SERVICE_AWAY, service="jina"), ("postponed", "service-away")),
    ],
)
async def test_an_attempt_that_fails_says_why(error: Exception, told: tuple[str, str]) -> None:
    document, meter = claimed(note()), HeardMeter()
    worker = Worker(
        queue=FakeQueue(document),
        pipeline=ScriptedPipeline(error, None),
        name="w",
        concurrency=1,
        lease_s=60,
        poll_s=0.01,
        attempts=4,
        backoff_s=0.01,
        meter=meter,
    )
    await worker.run_only([document.id])
    assert meter.outcomes == [told]


async def test_a_stage_lasts_until_the_next_one_or_the_end() -> None:
    now, told = [0.0], list[tuple[DocumentStatus, float]]()
    meter = HeardMeter()
    meter.stage_ended = lambda status, seconds: told.append((status, seconds))  # type: ignore[method-assign] # with seconds
    progress = Progress(FakeQueue(), claimed(note()), clock=lambda: now[0], meter=meter)
    now[0] = 2.0
    await progress.report(DocumentStatus.PARSING)
    now[0] = 5.0
    await progress.report(DocumentStatus.PARSING, done=1, total=2)
    now[0] = 9.0
    progress.entered(DocumentStatus.EMBEDDING)
    now[0] = 10.0
    progress.close()
    assert told == [
        (DocumentStatus.FETCHING, 2.0),
        (DocumentStatus.PARSING, 7.0),
        (DocumentStatus.EMBEDDING, 1.0),
    ]


async def test_a_part_of_a_document_has_no_stages_of_its_own() -> None:
    meter = HeardMeter()
    inner = Progress(FakeQueue(), claimed(note()), meter=meter).muted()
    await inner.report(DocumentStatus.PARSING)
    await inner.report(DocumentStatus.EMBEDDING)
    assert meter.stages == []
