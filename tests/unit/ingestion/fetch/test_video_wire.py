"""What the worker and the process of yt-dlp say to each other comes back as it was, and nothing else comes through."""

import pytest

from ingestion.errors import FailureCode
from ingestion.fetch.video_wire import Fetched, Got, Message, Refused, Wanted, decode_message, encode_message

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
    assert decode_message(encode_message(message)) == message


def test_a_request_comes_back() -> None:
    wanted = Wanted(
        url="https://youtu.be/x",
        folder="/tmp/x",
        may_listen=True,
        limit_s=60.0,
        size_bytes=1,
        memory_bytes=2,
        cpu_s=3,
        allow_hosts=("127.0.0.1:80",),
    )
    assert Wanted.from_line(wanted.to_line()) == wanted


@pytest.mark.parametrize("file", ["../x", "/etc/passwd", "", "..", "."])
def test_a_file_elsewhere_is_refused(file: str) -> None:
    line = encode_message(GOT).replace(b"video.ru.vtt", file.encode())
    with pytest.raises(ValueError, match="a name in the folder"):
        decode_message(line)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"[]",
        b'{"message": "Refused", "code": "no-such-code", "title": "", "detail": ""}',
        b'{"message": "Fetched", "done_bytes": -1, "total_bytes": 0}',
        b'{"message": "Fetched", "done_bytes": "1", "total_bytes": 0}',
        b'{"message": "Got", "file": "x"}',
        b'{"message": "Got", "file": 1, "title": "", "author": null, "published_at": null, "duration_s": null}',
        b'{"message": "Got", "file": "x", "title": "", "author": null, "published_at": "soon", "duration_s": null}',
    ],
)
def test_anything_else_is_refused(line: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - json's error is one, and ours has no other type
        decode_message(line)
