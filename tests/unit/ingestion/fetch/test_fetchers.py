"""Files of this machine and files from Telegram."""

import asyncio
import hashlib
import os
import plistlib
from dataclasses import replace
from pathlib import Path

import pytest

from domain.documents import SourceType
from domain.ids import DocumentId
from ingestion.errors import FailureCode, HoldsLink, ServiceError, SourceError
from ingestion.fetch.download import DownloadLimits
from ingestion.fetch.fetchers import Fetchers, open_downloader, saved_link
from ingestion.fetch.video import VideoFetcher
from ingestion.progress import Progress
from ingestion.records import FetchedFile, Source
from tests.fakes.ingestion import FakeQueue, claimed, progress_of

QUIET = progress_of(FakeQueue())
UPLOAD = Source(type=SourceType.FILE, identifier="a.pdf", file_id="F1", size_bytes=3, media_type="application/pdf")
ADDRESS = "https://site.example/a?b=1&c=2"
WINDOWS = (
    "\ufeff[{000214A0-0000-0000-C000-000000000046}]\r\nProp3=19,2\r\n[InternetShortcut]\r\nIDList=\r\n"
    "URL=https://site.example/a?b=1&c=2\r\n"
)
LINUX = "[Desktop Entry]\nType=Link\nName=Правила\nURL=https://site.example/a?b=1&c=2\n"


class ScriptedFiles:
    """Telegram with one file."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self.asked: list[str] = []

    async def download(self, file_id: str, target: Path, *, limit_bytes: int) -> None:
        self.asked.append(file_id)
        await asyncio.to_thread(target.write_bytes, self._content)


def _path(path: Path) -> Source:
    return Source(type=SourceType.PATH, identifier=str(path))


async def _fetch(
    source: Source,
    folder: Path,
    *,
    limit_bytes: int = 5,
    files: ScriptedFiles | None = None,
    video: VideoFetcher | None = None,
) -> FetchedFile:
    limits = DownloadLimits(total_s=1.0, page_bytes=1_000, file_bytes=limit_bytes)
    async with open_downloader(limits) as downloader:
        fetchers = Fetchers(downloader=downloader, files=files, video=video)
        return await fetchers.fetch(claimed(source), folder, QUIET)


async def test_a_local_file_is_copied_with_its_hash(tmp_path: Path) -> None:
    original = tmp_path / "Отчёт.txt"
    original.write_bytes(b"words")
    file = await _fetch(_path(original), tmp_path)
    assert (file.name, file.size_bytes, file.sha256) == ("Отчёт.txt", 5, hashlib.sha256(b"words").hexdigest())
    assert file.path != original
    assert file.path.read_bytes() == b"words"


async def test_a_local_file_over_the_limit_is_refused(tmp_path: Path) -> None:
    original = tmp_path / "big"
    original.write_bytes(b"123456")
    with pytest.raises(SourceError) as caught:
        await _fetch(_path(original), tmp_path)
    assert caught.value.code is FailureCode.FILE_TOO_LARGE


@pytest.mark.parametrize("name", ["absent.txt", "zero\0byte", "x" * 300])
async def test_a_path_to_nothing_is_a_file_that_is_gone(tmp_path: Path, name: str) -> None:
    with pytest.raises(SourceError) as caught:
        await _fetch(_path(tmp_path / name), tmp_path)
    assert caught.value.code is FailureCode.FILE_GONE


async def test_a_named_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(SourceError) as caught:
        await _fetch(_path(tmp_path / "pipe"), tmp_path)
    assert caught.value.code is FailureCode.FILE_UNSUPPORTED


async def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(SourceError) as caught:
        await _fetch(_path(tmp_path), tmp_path)
    assert caught.value.code is FailureCode.FILE_UNSUPPORTED


async def test_a_disk_that_cannot_take_the_copy_is_no_fault_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"abc")
    with pytest.raises(FileNotFoundError):
        await _fetch(_path(tmp_path / "a.txt"), tmp_path / "no folder")


async def test_a_sent_file_is_downloaded_by_its_handle(tmp_path: Path) -> None:
    files = ScriptedFiles(b"abc")
    file = await _fetch(UPLOAD, tmp_path, files=files)
    assert (files.asked, file.name, file.media_type) == (["F1"], "a.pdf", "application/pdf")
    assert file.sha256 == hashlib.sha256(b"abc").hexdigest()


async def test_an_announced_size_over_the_limit_is_refused_before_the_download(tmp_path: Path) -> None:
    files = ScriptedFiles(b"abc")
    with pytest.raises(SourceError) as caught:
        await _fetch(UPLOAD, tmp_path, limit_bytes=2, files=files)
    assert (caught.value.code, files.asked) == (FailureCode.FILE_TOO_LARGE, [])


async def test_a_worker_without_telegram_leaves_files_to_others(tmp_path: Path) -> None:
    with pytest.raises(ServiceError) as caught:
        await _fetch(UPLOAD, tmp_path)
    assert caught.value.code is FailureCode.SERVICE_AWAY


class Watched(VideoFetcher):
    """Says that it was asked."""

    async def fetch(self, source: Source, folder: Path, progress: Progress) -> FetchedFile:
        return FetchedFile(path=folder, name="video", media_type=None, size_bytes=0, sha256="")


async def test_a_link_to_a_video_goes_to_who_can_watch_it(tmp_path: Path) -> None:
    video = Watched(may_listen=False, total_s=1, size_bytes=1, sound_s=1)
    source = Source(type=SourceType.LINK, identifier="https://www.youtube.com/watch?v=abcdefghijk")
    assert (await _fetch(source, tmp_path, video=video)).name == "video"
    with pytest.raises(SourceError) as caught:
        await _fetch(Source(type=SourceType.LINK, identifier="https://127.0.0.1/watch?v=a"), tmp_path, video=video)
    assert caught.value.code is FailureCode.PAGE_ADDRESS_FORBIDDEN


async def test_a_download_over_the_limit_is_refused_whatever_was_announced(tmp_path: Path) -> None:
    with pytest.raises(SourceError) as caught:
        await _fetch(UPLOAD, tmp_path, files=ScriptedFiles(b"123456"))
    assert caught.value.code is FailureCode.FILE_TOO_LARGE


async def test_of_several_files_those_are_fetched_that_can_be(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"words")
    (tmp_path / "a.url").write_text(WINDOWS, encoding="utf-8")
    sources = [_path(tmp_path / name) for name in ("a.txt", "absent.txt", "a.url")] + [UPLOAD]
    several = [replace(claimed(source), id=DocumentId(f"d{at}")) for at, source in enumerate(sources)]
    async with open_downloader(DownloadLimits(total_s=1.0, page_bytes=1_000, file_bytes=1_000)) as downloader:
        without_telegram = await Fetchers(downloader=downloader).fetch_files(several, tmp_path)
        all_of_them = await Fetchers(downloader=downloader, files=ScriptedFiles(b"abc")).fetch_files(several, tmp_path)
    assert [(document.id, file.path.read_bytes()) for document, file in without_telegram] == [("d0", b"words")]
    assert [(document.id, file.name, file.size_bytes) for document, file in all_of_them] == [
        ("d0", "a.txt", 5),
        ("d3", "a.pdf", 3),
    ]


def _file(folder: Path, content: bytes, name: str) -> FetchedFile:
    path = folder / "saved"
    path.write_bytes(content)
    return FetchedFile(path=path, name=name, media_type=None, size_bytes=len(content), sha256="00")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("Правила.url", WINDOWS.encode()),
        ("Правила.desktop", LINUX.encode()),
        ("Правила.webloc", plistlib.dumps({"URL": ADDRESS})),
        ("Правила.webloc", plistlib.dumps({"URL": ADDRESS}, fmt=plistlib.FMT_BINARY)),
    ],
)
def test_the_address_is_found(tmp_path: Path, name: str, content: bytes) -> None:
    assert saved_link(_file(tmp_path, content, name)) == ADDRESS


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("настройки.ini", b"[server]\nURL=https://site.example/\n"),
        ("a.url", b"[InternetShortcut]\nURL=file:///etc/passwd\n"),
        ("a.url", b"[InternetShortcut]\n[other]\nURL=https://site.example/\n"),
        ("a.txt", b"How to:\n[InternetShortcut]\nURL=https://site.example/\n"),
        ("a.url", b"[InternetShortcut]\n" * 3_000),
        ("Info.plist", plistlib.dumps({"URL": ADDRESS})),
        ("a.url", b"\n" * 60_000),
        ("a.url", WINDOWS.encode() + b" " * 70_000),
    ],
)
def test_other_files_hold_none(tmp_path: Path, name: str, content: bytes) -> None:
    assert saved_link(_file(tmp_path, content, name)) is None


@pytest.mark.parametrize("host", ["site.example", "127.0.0.1", "[::1]", "169.254.169.254"])
async def test_a_file_that_holds_a_link_is_not_followed_as_a_file(tmp_path: Path, host: str) -> None:
    files = ScriptedFiles(f"[InternetShortcut]\nURL=http://{host}/a\n".encode())
    sent = Source(type=SourceType.FILE, identifier="a.url", file_id="F1")
    with pytest.raises(HoldsLink) as raised:
        await _fetch(sent, tmp_path, limit_bytes=1_000, files=files)
    assert raised.value.address == f"http://{host}/a"
