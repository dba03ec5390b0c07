"""What a person says at the local page."""

from hypothesis import given
from hypothesis import strategies as st

from localchat.people import parts_of


@given(st.text("абв😀. \n", max_size=300), st.integers(8, 40))
def test_a_long_text_is_cut_into_parts_that_fit_and_lose_only_whitespace(text: str, units: int) -> None:
    parts = parts_of(text, units)
    assert all(len(part.encode("utf-16-le")) <= units * 2 for part in parts)
    assert "".join("".join(parts).split()) == "".join(text.split())


def test_a_long_text_is_cut_where_a_reader_would() -> None:
    assert parts_of("Раз два. Три четыре пять.", 16) == ["Раз два.", "Три четыре пять."]
    assert parts_of("Раз два\n\nтри четыре. Пять", 14) == ["Раз два", "три четыре.", "Пять"]
