"""Links that desktops keep as files."""

import plistlib
from pathlib import Path

import pytest

from domain.documents import SourceType
from ingestion.errors import HoldsLink
from ingestion.fetch.fetchers import FetchLimits, open_fetchers
from ingestion.fetch.saved_link import saved_link
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


@pytest.mark.parametrize("host", ["site.example", "127.0.0.1", "[::1]", "169.254.169.254"])
async def test_a_file_that_holds_a_link_is_not_followed_as_a_file(tmp_path: Path, host: str) -> None:
    limits = FetchLimits(file_bytes=1_000, page_bytes=1_000, page_s=1.0)
    files = ScriptedFiles(f"[InternetShortcut]\nURL=http://{host}/a\n".encode())
    sent = claimed(Source(type=SourceType.FILE, identifier="a.url", file_id="F1"))
    async with open_fetchers(limits, files=files) as fetchers:
        with pytest.raises(HoldsLink) as raised:
            await fetchers.fetch(sent, tmp_path, progress_of(FakeQueue()))
    assert raised.value.address == f"http://{host}/a"
