"""How values travel to the database."""

import json
from collections import Counter
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.database.payloads import DIMENSIONS, json_bytes, name_key, vector_text
from domain.locator import JsonValue

ANY_TEXT = st.text(st.characters(exclude_categories=()))  # with halves of surrogates


@pytest.mark.parametrize("broken", ["a\x00b", "a\ud800b", "\\u0000 as typed, and \x00"])
def test_what_postgresql_refuses_is_mended_everywhere(broken: str) -> None:
    sent = json_bytes([{broken: broken, "inside": [broken, {"deep": broken}]}])
    assert "\x00" not in json.dumps(json.loads(sent), ensure_ascii=False)
    assert "\ufffd" in sent.decode()


@given(st.dictionaries(ANY_TEXT, ANY_TEXT))
def test_whatever_the_texts_the_json_can_be_stored(texts: dict[str, str]) -> None:
    values = json.loads(json_bytes(texts))
    assert not any("\x00" in text for pair in values.items() for text in pair)


def test_good_text_travels_as_it_is() -> None:
    value: dict[str, JsonValue] = {
        "text": 'кавычки " и \\ и \n и 😀',
        "terms": dict(Counter("абб")),
        "none": None,
    }
    assert json.loads(json_bytes(value)) == {**value, "terms": {"а": 1, "б": 2}}


@pytest.mark.parametrize("number", [2**63, 2**64, -(2**63) - 1, 10**30])
def test_a_number_of_any_length_travels(number: int) -> None:
    sent = json_bytes([{"пункт": number, "text": "\x00"}])
    assert json.loads(sent) == [{"пункт": number, "text": "\ufffd"}]


def test_a_read_only_mapping_travels_too() -> None:
    assert json_bytes(MappingProxyType({"name": "а"})) == '{"name":"а"}'.encode()


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=DIMENSIONS))
def test_a_vector_is_padded_and_written_in_the_half_precision_that_it_is_stored_in(vector: list[float]) -> None:
    numbers = json.loads(vector_text(vector))
    stored = np.array(numbers, dtype=np.float16)
    assert len(numbers) == DIMENSIONS
    assert np.array_equal(stored[: len(vector)], np.array(vector, dtype=np.float16))
    assert not any(numbers[len(vector) :])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("Отчёт.PDF", "отчёт.pdf", id="letters"),
        pytest.param("и\u0306.txt", "Й.txt", id="composition"),
        pytest.param("straße.doc", "STRASSE.doc", id="folding"),
    ],
)
def test_names_that_people_call_the_same_are_the_same(one: str, other: str) -> None:
    assert name_key(one) == name_key(other)


@pytest.mark.parametrize("other", ["Отчет.pdf", "Отчёт.pdf ", "Отчёт.doc"])
def test_other_names_are_others(other: str) -> None:
    assert name_key("Отчёт.pdf") != name_key(other)
