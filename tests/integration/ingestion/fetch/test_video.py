"""yt-dlp itself, in its process, against a server on loopback: captions, sound, reasons, and nothing left behind.

Only its reader of any page, which is open for hosts of tests alone, can be pointed at loopback; the hosts we know
cannot be reached from here.
"""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from domain.documents import DocumentStatus, Medium, SourceType
from ingestion.errors import FailureCode, IngestionError
from ingestion.fetch import video
from ingestion.fetch.guard import AddressGuard
from ingestion.fetch.video import VideoFetcher
from ingestion.parsers.registry import parse_file
from ingestion.records import FetchedFile, Source
from tests.fakes.ingestion import FakeQueue, progress_of
from tests.fakes.voice import speak, write_recording
from tests.processes import confined, environment
from tests.servers.web import Reply, WebServer, serve_web
from tests.waiting import until

PAGE = "<html><head><title>Лекция</title></head><body><video><source src='{source}' type='video/mp4'>{tracks}</video>"
TRACK = "<track kind='captions' srclang='{language}' src='/{language}.vtt'>"
CAPTIONS = "WEBVTT\n\n00:00:01.000 --> 00:00:03.000\nПривет, это лекция.\n"
BYTES = 5_000_000


@pytest.fixture
async def host(tmp_path: Path) -> AsyncIterator[WebServer]:
    """A host with one video, without captions."""
    sound = write_recording(tmp_path / "sound.mp4", "aac", speak(3)).read_bytes()
    async with serve_web() as web:
        _film(web)
        web.replies["/film.mp4"] = Reply(body=sound, headers=(("Content-Type", "video/mp4"),))
        web.replies["/ru.vtt"] = Reply(body=CAPTIONS.encode(), headers=(("Content-Type", "text/vtt"),))
        yield web


def _film(web: WebServer, *languages: str, source: str = "/film.mp4") -> None:
    tracks = "".join(TRACK.format(language=language) for language in languages)
    web.replies["/video"] = Reply(body=PAGE.format(source=source, tracks=tracks).encode())


def _fetcher(web: WebServer, *, may_listen: bool = True, size: int = BYTES, total_s: float = 60) -> VideoFetcher:
    guard = AddressGuard(allow_hosts=frozenset({web.host}))
    return VideoFetcher(may_listen=may_listen, total_s=total_s, size_bytes=size, sound_s=60, guard=guard)


async def _fetch(
    web: WebServer, folder: Path, fetcher: VideoFetcher | None = None, queue: FakeQueue | None = None
) -> FetchedFile:
    source = Source(type=SourceType.LINK, identifier=web.url("/video"))
    place = folder / "document"
    place.mkdir(exist_ok=True)
    return await (fetcher or _fetcher(web)).fetch(source, place, progress_of(queue or FakeQueue()))


async def _code(web: WebServer, folder: Path, fetcher: VideoFetcher | None = None) -> FailureCode:
    with pytest.raises(IngestionError) as caught:
        await _fetch(web, folder, fetcher)
    return caught.value.code


def _children() -> list[int]:
    return confined(video.ENTRY)


async def test_captions_are_fetched_and_not_the_film(host: WebServer, tmp_path: Path) -> None:
    _film(host, "de", "ru")
    file = await _fetch(host, tmp_path)
    document = parse_file(file.path, name=file.name, media_type=file.media_type)
    assert [(block.text, block.locator.start_s) for block in document.blocks] == [("Привет, это лекция.", 1.0)]
    assert [asked.path for asked in host.asked] == ["/video", "/ru.vtt"]


async def test_what_the_host_says_goes_with_the_file(host: WebServer, tmp_path: Path) -> None:
    file = await _fetch(host, tmp_path)
    assert file.about is not None
    assert (file.about.title or "").startswith("Лекция")
    assert file.about.medium is Medium.VIDEO
    assert file.url == host.url("/video")


async def test_without_captions_the_sound_is_fetched_and_told_of(host: WebServer, tmp_path: Path) -> None:
    queue = FakeQueue()
    file = await _fetch(host, tmp_path, queue=queue)
    assert file.size_bytes == len(host.replies["/film.mp4"].body)
    assert (DocumentStatus.FETCHING, file.size_bytes, file.size_bytes) in queue.reported


async def test_captions_that_are_not_given_are_heard_instead(host: WebServer, tmp_path: Path) -> None:
    _film(host, "ru")
    host.replies["/ru.vtt"] = Reply(status=429)
    file = await _fetch(host, tmp_path)
    assert file.path.suffix == ".mp4"


async def test_where_nothing_listens_no_sound_is_fetched(host: WebServer, tmp_path: Path) -> None:
    assert await _code(host, tmp_path, _fetcher(host, may_listen=False)) is FailureCode.FILE_NEEDS_HEARING
    assert [asked.path for asked in host.asked] == ["/video"]


async def test_a_sound_beyond_the_limit_is_refused(host: WebServer, tmp_path: Path) -> None:
    assert await _code(host, tmp_path, _fetcher(host, size=1000)) is FailureCode.FILE_TOO_LARGE


async def test_a_video_that_is_gone_says_so(host: WebServer, tmp_path: Path) -> None:
    host.replies["/video"] = Reply(status=404)
    assert await _code(host, tmp_path) is FailureCode.VIDEO_UNAVAILABLE


async def test_a_host_that_is_down_is_asked_again_later(host: WebServer, tmp_path: Path) -> None:
    host.replies["/video"] = Reply(status=503)
    assert await _code(host, tmp_path) is FailureCode.PAGE_UNREACHABLE


async def test_no_film_leads_inside(host: WebServer, tmp_path: Path) -> None:
    async with serve_web() as inside:
        inside.replies["/film.mp4"] = host.replies["/film.mp4"]
        _film(host, source=inside.url("/film.mp4"))
        assert await _code(host, tmp_path) is FailureCode.VIDEO_REFUSED
        assert inside.asked == []


async def test_any_other_page_is_refused_where_it_is_no_test(host: WebServer, tmp_path: Path) -> None:
    fetcher = VideoFetcher(may_listen=True, total_s=60, size_bytes=BYTES, sound_s=60)
    assert await _code(host, tmp_path, fetcher) is FailureCode.PAGE_ADDRESS_FORBIDDEN
    assert host.asked == []


async def test_a_slow_host_is_given_up_and_its_process_with_it(host: WebServer, tmp_path: Path) -> None:
    host.replies["/film.mp4"] = Reply(wait_s=60)
    assert await _code(host, tmp_path, _fetcher(host, total_s=3)) is FailureCode.PAGE_TOO_SLOW
    assert _children() == []


async def test_cancelling_ends_the_process_at_once(host: WebServer, tmp_path: Path) -> None:
    host.replies["/film.mp4"] = Reply(wait_s=60)
    fetching = asyncio.create_task(_fetch(host, tmp_path))
    await until(lambda: any(asked.path == "/film.mp4" for asked in host.asked))
    async with asyncio.timeout(30):  # the film would take 60
        fetching.cancel()
        await asyncio.gather(fetching, return_exceptions=True)
    assert _children() == []


async def test_no_secret_reaches_the_process(host: WebServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOT_TOKEN", "123456:secret")
    host.replies["/film.mp4"] = Reply(wait_s=60)
    fetching = asyncio.create_task(_fetch(host, tmp_path))
    await until(lambda: any(asked.path == "/film.mp4" for asked in host.asked))
    (child,) = _children()
    started_with = environment(child)
    fetching.cancel()
    await asyncio.gather(fetching, return_exceptions=True)
    assert "PATH=" in started_with
    assert "secret" not in started_with
    assert "HOME=" not in started_with
