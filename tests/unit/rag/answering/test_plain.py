"""Facts as an answer without a model's words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prompts.loader import load_prompts
from rag.answering.plain import Draft, PlainAnswers
from rag.answering.prompt import Assignment
from rag.execution.facts import Fact, FactKind, FactsPayload
from rag.execution.search_tool import passages_payload
from rag.planning.plan import Limits, RenderStyle
from tests.fakes.rag import make_passage, rank

PLAIN = PlainAnswers(load_prompts(), "ru")


def statement(text: str, title: str = "АЛОР") -> Fact:
    return Fact(kind=FactKind.STATEMENT, text=text, title=title)


def rendered(payload: FactsPayload, style: RenderStyle = RenderStyle.BULLETS, **limits: int) -> Draft:
    bounds = Limits.model_validate(limits)
    return PLAIN.write(Assignment(question="Что сделано, какой срок?", facts=payload, style=style, limits=bounds))


def show(*facts: Fact, style: RenderStyle = RenderStyle.BULLETS, **limits: int) -> str:
    return rendered(FactsPayload(facts=facts), style, **limits).text.partition("\n\nещё ")[0]


def test_bullets_show_every_item() -> None:
    assert show(statement("ускорил сборку"), statement("ввёл тесты")) == "- ускорил сборку\n- ввёл тесты"


def test_groups_stand_under_their_names() -> None:
    text = show(
        statement("а", "АЛОР"), statement("б", "Aston"), statement("в", "АЛОР"), style=RenderStyle.GROUPED_BULLETS
    )
    assert text == "**АЛОР**\n- а\n- в\n\n**Aston**\n- б"


def test_a_short_answer_is_a_paragraph_for_each_thing() -> None:
    assert show(statement("а"), statement("б."), style=RenderStyle.SHORT) == "а. б."


def test_a_table_has_a_column_for_each_field() -> None:
    row = Fact(kind=FactKind.VALUE, text="x", title="Аренда", fields=(("Срок", "14 дней"), ("Сумма", "1 | 2")))
    assert show(row, style=RenderStyle.TABLE) == "| Срок | Сумма |\n| --- | --- |\n| 14 дней | 1 \\| 2 |"


def test_facts_without_columns_make_a_list_of_a_table() -> None:
    assert show(statement("а"), style=RenderStyle.TABLE) == "- а"


def test_what_rows_come_to_stands_above_the_table_and_is_no_item() -> None:
    total = Fact(kind=FactKind.VALUE, text="Всего (договор): 2", title="договор")
    rows = [
        Fact(kind=FactKind.VALUE, text="x", title=name, fields=(("Сумма", name),), passage=rank(make_passage(name))[0])
        for name in ("10", "20")
    ]
    text = show(total, *rows, style=RenderStyle.TABLE, max_items=2)
    assert text == "- Всего (договор): 2\n\n| Сумма |\n| --- |\n| 10 |\n| 20 |"


@pytest.mark.parametrize(
    ("style", "limits", "items"),
    [
        (RenderStyle.GROUPED_BULLETS, {"max_groups": 2}, 2),
        (RenderStyle.SHORT, {"max_paragraphs": 3}, 3),
        (RenderStyle.BULLETS, {"max_items": 4}, 4),
    ],
)
def test_what_the_limits_leave_out_is_counted(style: RenderStyle, limits: dict[str, int], items: int) -> None:
    payload = FactsPayload(facts=tuple(statement(name, name) for name in "абвгде"), left_out=10)
    assert rendered(payload, style, **limits).text.endswith(f"ещё {16 - items} из 16 (по запросу могу вывести)")


def test_items_that_say_the_same_count_each() -> None:
    assert show(*[statement("а")] * 5, max_items=2) == "- а\n- а"


@given(st.lists(st.text(min_size=1, max_size=5), max_size=20), st.sampled_from(RenderStyle), st.integers(1, 12))
def test_no_style_shows_more_than_the_limit(texts: list[str], style: RenderStyle, items: int) -> None:
    facts = [statement(f"x{number}x {text}") for number, text in enumerate(texts)]
    shown = show(*facts, style=style, max_items=items)
    assert sum(f"x{number}x" in shown for number in range(len(texts))) == min(items, len(texts))


def test_passages_are_quoted_with_their_sources() -> None:
    payload = passages_payload(rank(make_passage("Срок 14 дней.")), asked="срок")
    shown = rendered(payload, RenderStyle.SHORT)
    assert shown.text == "**Срок 14 дней.**"
    assert [citation.chunk_id for citation in shown.citations] == [1]


@pytest.mark.parametrize("style", list(RenderStyle))
def test_nothing_found_shows_nothing(style: RenderStyle) -> None:
    assert show(style=style) == ""


def test_what_two_documents_bear_is_said_once_and_cited_twice() -> None:
    sides = [
        Fact(kind=FactKind.VALUE, text="Изменилось: А", title=ranked.passage.title, passage=ranked, item="А")
        for ranked in rank(make_passage("А 1", number=1), make_passage("А 2", number=2))
    ]
    shown = rendered(FactsPayload(facts=tuple(sides)))
    assert (shown.text, len(shown.citations)) == ("- Изменилось: А", 2)
