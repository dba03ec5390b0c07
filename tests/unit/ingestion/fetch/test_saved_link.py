"""Links that desktops keep as files."""

import plistlib
from pathlib import Path

import pytest

from domain.documents import SourceType
from ingestion.errors import FailureCode, SourceError
from ingestion.fetch.fetchers import Fetchers, FetchLimits, open_fetchers
from ingestion.fetch.saved_link import saved_link
from ingestion.fetch.telegram import TelegramFetcher
from ingestion.progress import Progress
from ingestion.records import FetchedFile, Source
from tests.fakes.ingestion import FakeQueue, claimed, progress_of
from tests.unit.ingestion.fetch.test_fetchers import ScriptedFiles

ADDRESS = "https://site.example/a?b=1&c=2"
WINDOWS = (
    "\ufeff[{000214A0-0000-0000-C000-000000000046}]\r\nProp3=19,2\r\n[InternetShortcut]\r\nIDList=\r\n"
    "URL=https://site.example/a?b=1&c=2\r\n"
)
LINUX = "[Desktop Entry]\nType=Link\nName=Правила\nURL=https://site.example/a?b=1&c=2\n"


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
        ("Info.plist", plistlib.dumps({"URL": ADDRESS})),
        ("a.url", b"\n" * 60_000),
        ("a.url", WINDOWS.encode() + b" " * 70_000),
    ],
)
def test_other_files_hold_none(tmp_path: Path, name: str, content: bytes) -> None:
    assert saved_link(_file(tmp_path, content, name)) is None


class _Pages:
    """A web of one page."""

    async def fetch(self, source: Source, folder: Path, progress: Progress) -> FetchedFile:
        assert source.type is SourceType.LINK
        return _file(folder, source.identifier.encode(), "page.html")


async def test_the_page_behind_a_saved_link_is_read(tmp_path: Path) -> None:
    files = TelegramFetcher(ScriptedFiles(WINDOWS.encode()), limit_bytes=1_000)
    fetchers = Fetchers({SourceType.FILE: files, SourceType.LINK: _Pages()})
    sent = claimed(Source(type=SourceType.FILE, identifier="Правила.url", file_id="F1"))
    file = await fetchers.fetch(sent, tmp_path, progress_of(FakeQueue()))
    assert file.path.read_text() == ADDRESS


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "169.254.169.254", "localhost", "2130706433"])
async def test_a_saved_link_leads_nowhere_inside(tmp_path: Path, host: str) -> None:
    limits = FetchLimits(file_bytes=1_000, page_bytes=1_000, page_s=1.0)
    files = ScriptedFiles(f"[InternetShortcut]\nURL=http://{host}/\n".encode())
    sent = claimed(Source(type=SourceType.FILE, identifier="a.url", file_id="F1"))
    async with open_fetchers(limits, files=files) as fetchers:
        with pytest.raises(SourceError) as raised:
            await fetchers.fetch(sent, tmp_path, progress_of(FakeQueue()))
    assert raised.value.code in (FailureCode.PAGE_ADDRESS_FORBIDDEN, FailureCode.PAGE_ADDRESS_INVALID)
