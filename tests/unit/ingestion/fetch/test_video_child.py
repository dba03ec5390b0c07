"""What is taken of a video, decided on descriptions in the shapes that yt-dlp gives them."""

import socket
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from domain.documents import Medium
from ingestion.errors import FailureCode
from ingestion.fetch.video_child import (
    AUTOMATIC,
    MANUAL,
    Fetched,
    Got,
    Message,
    Refused,
    VideoFetch,
    Wanted,
    choose_captions,
    classify_trouble,
    read_info,
    read_message,
)
from ingestion.records import About
from sandbox.records import to_line

ABOUT = About(title="Лекция", published_at=datetime(2024, 5, 17, 8, tzinfo=UTC), medium=Medium.VIDEO, duration_s=65.0)
GOT = Got(file="video.ru.vtt", about=ABOUT)
VTT = [{"ext": "json3", "url": "x"}, {"ext": "vtt", "url": "x", "name": "x"}]
UNREADABLE = [{"ext": "json", "url": "x"}]
TRANSLATED = dict.fromkeys(("ab", "de", "en", "ru", "zh-Hans"), VTT)

YOUTUBE: dict[str, Any] = {
    "id": "dQw4w9WgXcQ",
    "title": "Как устроены  базы данных",
    "channel": "Лекторий",
    "uploader": "lectory",
    "duration": 3723,
    "timestamp": 1715932800,
    "upload_date": "20240517",
    "language": "ru",
    "is_live": False,
    "live_status": "not_live",
    "subtitles": {},
    "automatic_captions": {**TRANSLATED, "ru-orig": VTT},
}
VK = {"id": "-1_2", "title": "Запись", "uploader": "Группа", "duration": 65.0, "upload_date": "20231102"}


def test_a_description_is_read() -> None:
    video = read_info(YOUTUBE)
    assert (video.title, video.author, video.duration_s) == ("Как устроены базы данных", "Лекторий", 3723.0)
    assert video.published_at == datetime(2024, 5, 17, tzinfo=UTC)


def test_a_host_that_says_little_is_enough() -> None:
    video = read_info(VK)
    assert (video.author, video.published_at) == ("Группа", datetime(2023, 11, 2, tzinfo=UTC))
    assert choose_captions(VK) is None
    assert read_info({"id": "x", "duration": "?", "upload_date": "soon", "timestamp": 1e30}).title == "x"


@pytest.mark.parametrize(
    ("fields", "language", "option"),
    [
        ({"subtitles": {"de": VTT, "en": VTT, "ru": VTT}}, "ru", MANUAL),
        ({"subtitles": {"de": VTT, "en-GB": VTT}}, "en-GB", MANUAL),
        ({"subtitles": {"de": VTT}, "language": "de"}, "de", MANUAL),
        ({"subtitles": {"ru": UNREADABLE, "live_chat": UNREADABLE}}, "ru-orig", AUTOMATIC),
        ({"subtitles": {"es": VTT}}, "ru-orig", AUTOMATIC),  # what was said goes before a translation of it
        ({"automatic_captions": TRANSLATED}, "ru", AUTOMATIC),  # the language that is spoken
        ({"automatic_captions": {"kk": VTT}, "language": None}, "kk", AUTOMATIC),  # the only one
        ({"automatic_captions": {}, "subtitles": {"es": VTT, "fr": VTT}}, "es", MANUAL),
    ],
)
def test_captions_are_chosen(fields: dict[str, Any], language: str, option: str) -> None:
    assert choose_captions({**YOUTUBE, **fields}) == (option, language)


@pytest.mark.parametrize(
    "fields",
    [
        {"automatic_captions": TRANSLATED, "language": None},  # nobody knows which of them was said
        {"automatic_captions": TRANSLATED, "language": "kk"},
        {"automatic_captions": {"ru": UNREADABLE}},
        {"automatic_captions": None, "subtitles": None},
    ],
)
def test_what_a_machine_translated_is_not_taken(fields: dict[str, Any]) -> None:
    assert choose_captions({**YOUTUBE, **fields}) is None


@pytest.mark.parametrize("fields", [{"is_live": True}, {"live_status": "is_upcoming"}, {"live_status": "post_live"}])
def test_what_is_on_the_air_is_known(fields: dict[str, Any]) -> None:
    wanted = Wanted(url="https://youtu.be/x", folder="", may_listen=True, limit_s=1, size_bytes=1)
    refused = VideoFetch(wanted, cast("socket.socket", None))._fetch({**YOUTUBE, **fields})
    assert isinstance(refused, Refused)
    assert refused.code is FailureCode.VIDEO_LIVE


@pytest.mark.parametrize(
    ("message", "trouble"),
    [
        (
            "ERROR: [youtube] x: Private video. Sign in if you've been granted access to this video",
            FailureCode.VIDEO_UNAVAILABLE,
        ),
        (
            "ERROR: [youtube] x: Video unavailable. This video has been removed by the uploader",
            FailureCode.VIDEO_UNAVAILABLE,
        ),
        (
            "ERROR: [youtube] x: Join this channel to get access to members-only content like this video",
            FailureCode.VIDEO_UNAVAILABLE,
        ),
        ("ERROR: [vk] -1_2: This video is not available", FailureCode.VIDEO_UNAVAILABLE),
        (
            "ERROR: [rutube] x: Unable to download JSON metadata: HTTP Error 404: Not Found",
            FailureCode.VIDEO_UNAVAILABLE,
        ),
        ("ERROR: [youtube] x: Sign in to confirm you’re not a bot. Use --cookies", FailureCode.VIDEO_REFUSED),
        ("ERROR: [vimeo] 1: Unable to download webpage: HTTP Error 403: Forbidden", FailureCode.VIDEO_REFUSED),
        ("ERROR: [rutube] x: The video is not available in your country", FailureCode.VIDEO_REFUSED),
        ("ERROR: [youtube] x: This live event will begin in 3 hours.", FailureCode.VIDEO_LIVE),
        ("ERROR: [youtube] x: Premieres in 5 minutes", FailureCode.VIDEO_LIVE),
        ("ERROR: [rutube] x: Unable to download JSON metadata: HTTP Error 503: Service Unavailable", None),
        ("<urlopen error [Errno -3] Temporary failure in name resolution>", None),
        ("(caused by TransportError('[Errno -2] Name or service not known'))", None),
        ("(caused by TransportError('10.0.0.1:443 is closed to videos'))", FailureCode.VIDEO_REFUSED),
        (
            "ERROR: [youtube] x: Sign in to confirm your age. This video may be inappropriate",
            FailureCode.VIDEO_UNAVAILABLE,
        ),
        ("The read operation timed out", None),
        ("ERROR: [youtube] x: Something that yt-dlp has never said before", FailureCode.VIDEO_REFUSED),
    ],
)
def test_reasons_are_told_apart(message: str, trouble: FailureCode | None) -> None:
    assert classify_trouble(message) is trouble


@pytest.mark.parametrize(
    "message",
    [
        Fetched(done_bytes=1, total_bytes=0),
        GOT,
        Refused(code=FailureCode.VIDEO_LIVE, title="Эфир", detail=""),
        Refused(code=None, title="", detail="away"),
    ],
)
def test_every_message_comes_back(message: Message) -> None:
    assert read_message(to_line(message)) == message


@pytest.mark.parametrize("file", ["../x", "/etc/passwd", "", "..", "."])
def test_a_file_elsewhere_is_refused(file: str) -> None:
    with pytest.raises(ValueError, match="a name in the folder"):
        read_message(to_line(replace(GOT, file=file)))
