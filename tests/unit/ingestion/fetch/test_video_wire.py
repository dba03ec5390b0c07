"""What the worker and the process of yt-dlp say to each other comes back as it was, and nothing else comes through."""

from dataclasses import replace

import pytest

from ingestion.errors import FailureCode
from ingestion.fetch.video_wire import Fetched, Got, Message, Refused, read_message
from sandbox.records import to_line

GOT = Got(file="video.ru.vtt", title="Лекция", author=None, published_at="2024-05-17T08:00:00+00:00", duration_s=65.0)


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


@pytest.mark.parametrize("message", [replace(GOT, published_at="soon"), Fetched(done_bytes=-1, total_bytes=0)])
def test_what_cannot_be_is_refused(message: Message) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - of datetime or of ours
        read_message(to_line(message))
