"""The picture of questions a day."""

from datetime import date, timedelta

from bot.handlers.stats import HEIGHT, KINDS, PAINTS, WIDTH, questions_chart
from domain.statistics import TurnsOfDay
from rag.records import AnswerKind
from tests.unit.bot.handlers.stats.pixels import colours_of, opened

LAST = date(2026, 5, 30)


def turns(kind: str, count: int, *, days_ago: int = 0) -> TurnsOfDay:
    return TurnsOfDay(day=LAST - timedelta(days=days_ago), kind=kind, turns=count)


def colours(*shown: TurnsOfDay) -> dict[str, int]:
    """Colour -> pixels."""
    image = opened(questions_chart(shown, last_day=LAST, days=30))
    assert image.size == (WIDTH, HEIGHT)
    return colours_of(image)


def test_every_kind_of_answer_has_a_colour_and_a_sign() -> None:
    assert set(KINDS) == {kind.value for kind in AnswerKind}
    assert set(KINDS.values()) <= set(PAINTS)


def test_a_kind_takes_as_much_of_the_picture_as_it_has_turns() -> None:
    seen = colours(turns("from_base", 6), turns("general", 3), turns("quotes", 3, days_ago=29))
    base, general, quotes = (seen[PAINTS[KINDS[kind]]] for kind in ("from_base", "general", "quotes"))
    assert abs(base - 2 * general) < 100
    assert abs(general - quotes) < 100


def test_a_single_turn_is_seen_beside_thousands() -> None:
    assert PAINTS[KINDS["general"]] in colours(turns("from_base", 12_345), turns("general", 1, days_ago=1))


def test_what_lies_outside_the_days_is_not_drawn() -> None:
    seen = colours(turns("from_base", 1), turns("general", 5, days_ago=30), turns("general", 5, days_ago=-1))
    assert PAINTS[KINDS["general"]] not in seen


def test_no_questions_are_an_empty_picture() -> None:
    assert not set(PAINTS.values()) & set(colours())
