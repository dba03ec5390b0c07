"""What is read of a chat server's replies, and what single providers want."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.llm.client import (
    as_reply,
    call_of,
    has_ended,
    is_openrouter,
    piece_of,
    text_of,
    without_half,
)
from rag.metering import ModelCall
from rag.ports import ModelNonsense

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["choices", "delta", "message", "content", "usage", "cost"]), inner, max_size=3
        )
    ),
)


@pytest.mark.parametrize("url", ["https://openrouter.ai/api/v1", "https://eu.OpenRouter.ai/api/v1"])
def test_openrouter_is_known_by_its_host(url: str) -> None:
    assert is_openrouter(url)


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1:11434/v1", "https://api.openai.com/v1", "https://notopenrouter.ai", "http://x/openrouter.ai"],
)
def test_other_servers_are_not_openrouter(url: str) -> None:
    assert not is_openrouter(url)


def test_json_under_another_content_type_is_read() -> None:
    assert text_of(as_reply('{"choices": [{"message": {"content": "да"}}]}')) == "да"


def test_an_emoji_that_was_cut_in_two_is_one_again() -> None:
    told, half = "", ""
    for piece in ("Готово \ud83d", "\ude00!", " И \ude00 половина \ud83d", ""):
        whole, half = without_half(half + piece)
        told += whole
    assert (told, half) == ("Готово 😀! И \ufffd половина ", "\ud83d")


def test_a_whole_answer_holds_no_halves() -> None:
    assert text_of({"choices": [{"message": {"content": "да \ud83d\ude00\ud83d"}}]}) == "да 😀"
    with pytest.raises(ModelNonsense):
        text_of({"choices": [{"message": {"content": "\ud83d"}}]})


def test_a_web_page_is_no_reply() -> None:
    with pytest.raises(ValueError, match="Expecting value"):
        as_reply("<html>")


def test_the_first_choice_is_the_answer() -> None:
    with pytest.raises(ModelNonsense):
        text_of({"choices": [{"message": {"content": " "}}, {"message": {"content": "нет"}}]})


def test_the_end_and_the_tokens_are_told_by_the_last_pieces() -> None:
    assert has_ended({"choices": [{"delta": {}, "finish_reason": "stop"}]})
    usage = {"prompt_tokens": 3, "completion_tokens": 2, "cost": 0.5}
    told = ModelCall(model="gpt", prompt_tokens=3, answer_tokens=2, cost=0.5)
    assert call_of({"choices": [], "usage": usage}, "gpt") == told


@pytest.mark.parametrize("told", ["1e999", "NaN", "1" + "0" * 400, '"3"'])
def test_a_number_that_cannot_be_added_up_counts_nothing(told: str) -> None:
    usage = f'{{"prompt_tokens": {told}, "completion_tokens": {told}, "cost": {told}}}'
    assert call_of(as_reply(f'{{"usage": {usage}}}'), "gpt") == ModelCall(model="gpt")


@given(JSON)
def test_no_shape_makes_it_fall_over(body: object) -> None:
    if isinstance(body, str):
        return
    reply = as_reply(body)
    assert isinstance(piece_of(reply), str)
    assert has_ended(reply) in (True, False)
    assert call_of(reply, "gpt") is None or isinstance(call_of(reply, "gpt"), ModelCall)
    with suppress(ModelNonsense):
        assert text_of(reply).strip()
