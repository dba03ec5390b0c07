"""The picture of questions a day."""

import io
from datetime import date, timedelta

from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from bot.charts import COLOURS, HEIGHT, LINES, WIDTH, questions_chart, scale_step
from bot.replies.stats import SIGNS
from domain.statistics import TurnsOfDay
from rag.records import AnswerKind

LAST = date(2026, 5, 30)


def turns(kind: str, count: int, *, days_ago: int = 0) -> TurnsOfDay:
    return TurnsOfDay(day=LAST - timedelta(days=days_ago), kind=kind, turns=count)


def colours_of(*shown: TurnsOfDay) -> dict[str, int]:
    """Colour -> pixels."""
    with Image.open(io.BytesIO(questions_chart(shown, last_day=LAST, days=30))) as image:
        assert (image.format, image.size) == ("PNG", (WIDTH, HEIGHT))
        counted = image.convert("RGB").getcolors(WIDTH * HEIGHT) or []
    return {f"#{red:02x}{green:02x}{blue:02x}": pixels for pixels, (red, green, blue) in counted}  # type: ignore[misc] # RGB


def test_every_kind_of_answer_has_a_colour_and_a_sign() -> None:
    kinds = {kind.value for kind in AnswerKind}
    assert set(COLOURS) == kinds
    assert set(SIGNS) == kinds


def test_a_kind_takes_as_much_of_the_picture_as_it_has_turns() -> None:
    seen = colours_of(turns("from_base", 6), turns("general", 3), turns("quotes", 3, days_ago=29))
    base, general, quotes = (seen[COLOURS[kind]] for kind in ("from_base", "general", "quotes"))
    assert abs(base - 2 * general) < 100
    assert abs(general - quotes) < 100


def test_what_lies_outside_the_days_is_not_drawn() -> None:
    seen = colours_of(turns("from_base", 1), turns("general", 5, days_ago=30), turns("general", 5, days_ago=-1))
    assert COLOURS["general"] not in seen


def test_no_questions_are_an_empty_picture() -> None:
    assert not set(COLOURS.values()) & set(colours_of())


@given(most=st.integers(0, 10**7))
def test_the_scale_reaches_the_highest_bar_with_few_lines(most: int) -> None:
    step = scale_step(most)
    assert step * LINES >= most
    assert str(step).rstrip("0") in {"1", "2", "5"}
    assert step == 1 or step * LINES <= 2.5 * most + LINES
