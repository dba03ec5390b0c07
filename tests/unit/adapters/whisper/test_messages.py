"""What the worker and the listening process say to each other comes back as it was, and nothing else comes through."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.whisper import (
    OF_RECORDINGS,
    Length,
    Message,
    Opening,
    PieceEnd,
    Ready,
    Trouble,
    read_message,
)
from ingestion.errors import FailureCode
from ingestion.ports import Utterance
from sandbox.records import to_line

seconds = st.floats(min_value=0, max_value=1e6)
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
messages: st.SearchStrategy[Message] = st.one_of(
    st.just(Ready()),
    st.builds(Length, total_s=seconds, has_picture=st.booleans(), title=st.none() | texts),
    st.builds(Utterance, start_s=seconds, end_s=seconds, text=texts),
    st.builds(PieceEnd, until_s=seconds, is_last=st.booleans(), language=st.none() | texts),
    st.builds(Trouble, code=st.none() | st.sampled_from(sorted(OF_RECORDINGS)), detail=texts),
)


@given(message=messages)
def test_every_message_comes_back(message: Message) -> None:
    line = to_line(message)
    assert read_message(line) == message
    assert line.count(b"\n") == 1


@pytest.mark.parametrize(
    "message",
    [
        Utterance(start_s=-1, end_s=1, text="x"),
        Length(total_s=-1, has_picture=False, title=None),
        PieceEnd(until_s=-1, is_last=True, language=None),
    ],
    ids=lambda message: type(message).__name__,
)
def test_no_second_is_before_the_beginning(message: Message) -> None:
    with pytest.raises(ValueError, match="before the beginning"):
        read_message(to_line(message))


def test_a_reason_of_others_is_none_of_a_recording() -> None:
    with pytest.raises(ValueError, match="reason"):
        read_message(to_line(Trouble(code=FailureCode.DUPLICATE, detail="")))


@pytest.mark.parametrize("request_", [Opening(model="/m", threads=2, piece_s=300.0), b"{}"], ids=str)
def test_anything_else_is_refused(request_: object) -> None:
    with pytest.raises(ValueError, match="record"):
        read_message(request_ if isinstance(request_, bytes) else to_line(request_))
