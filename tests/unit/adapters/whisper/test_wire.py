"""What the worker and the listening process say to each other comes back as it was, and nothing else comes through."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.whisper.wire import (
    Hear,
    Length,
    Message,
    Opening,
    PieceEnd,
    Ready,
    Said,
    Trouble,
    decode_message,
    encode_message,
)
from ingestion.ports import Utterance

seconds = st.floats(min_value=0, max_value=1e6)
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
messages: st.SearchStrategy[Message] = st.one_of(
    st.just(Ready()),
    st.builds(Length, total_s=seconds, has_picture=st.booleans(), title=st.none() | texts),
    st.builds(Said, utterance=st.builds(Utterance, start_s=seconds, end_s=seconds, text=texts)),
    st.builds(PieceEnd, until_s=seconds, is_last=st.booleans(), language=st.none() | texts),
    st.builds(Trouble, kind=texts, detail=texts),
)


@given(message=messages)
def test_every_message_comes_back(message: Message) -> None:
    line = encode_message(message)
    assert decode_message(line) == message
    assert line.count(b"\n") == 1


def test_requests_come_back() -> None:
    opening = Opening(model="small", models_folder="/m", threads=2, memory_bytes=1, piece_s=300.0)
    hear = Hear(path="/tmp/\udcff.ogg", from_s=1.5, language=None, limit_s=60.0)
    assert Opening.from_line(opening.to_line()) == opening
    assert Hear.from_line(hear.to_line()) == hear


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"[]",
        b"1",
        b'{"message": "Eval"}',
        b'{"message": ["Ready"]}',
        b'{"message": "Said", "start_s": "0", "end_s": 1, "text": "x"}',
        b'{"message": "Said", "start_s": -1, "end_s": 1, "text": "x"}',
        b'{"message": "Said", "start_s": Infinity, "end_s": 1, "text": "x"}',
        b'{"message": "Said", "start_s": NaN, "end_s": 1, "text": "x"}',
        b'{"message": "Said", "start_s": 0, "end_s": 1, "text": null}',
        b'{"message": "PieceEnd", "until_s": true, "is_last": true, "language": null}',
    ],
)
def test_anything_else_is_refused(line: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - json's error is one, and ours has no other type
        decode_message(line)


def test_what_postgresql_cannot_hold_is_taken_out() -> None:
    line = b'{"message": "Said", "start_s": 0, "end_s": 1, "text": "a\\u0000\\udcffb"}'
    message = decode_message(line)
    assert isinstance(message, Said)
    assert message.utterance.text == "a?b"
