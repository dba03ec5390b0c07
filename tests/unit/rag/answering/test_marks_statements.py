"""An answer falls into statements, and statements can be taken out of it."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.answering.marks import split, without
from tests.material.statements import HALVES, load_cases

ANSWER = """\
Вот условия:

**Вектор**
- 0,1 % в день [1]. Не больше 10 % [1]
- Да. Есть и отсрочка [2]

| Кто | Сколько |
|---|---|
| Альфа | 5 [1] |
| Бета | 6 [2] |

Итого 900 руб. [1] Конец. [2]
[1]
```
total = 11
```"""


def test_sentences_items_rows_and_code_are_statements_with_their_marks() -> None:
    assert [(each.text, each.marks) for each in split(ANSWER, facts=2)] == [
        ("Вот условия:", ()),
        ("**Вектор**", ()),
        ("0,1 % в день.", (1,)),
        ("Не больше 10 %", (1,)),
        ("Да. Есть и отсрочка", (2,)),
        ("Кто: Альфа; Сколько: 5", (1,)),
        ("Кто: Бета; Сколько: 6", (2,)),
        ("Итого 900 руб.", (1,)),
        ("Конец.", (2, 1)),
        ("```\ntotal = 11\n```", ()),
    ]


def test_only_a_line_in_bold_or_a_heading_is_a_title() -> None:
    titles = split("# Сроки\n**Вектор**:\n**14 дней** — срок [1].\n**Важно** [1]", facts=1)
    assert [each.is_title for each in titles] == [True, True, False, False]


@pytest.mark.parametrize(
    ("answer", "texts"),
    [
        ("Срок 14 дней [1], штраф 0,1 % [2].", ["Срок 14 дней, штраф 0,1 %."]),
        ("Срок 14 дней. [1] Штраф 0,1 %. [2]", ["Срок 14 дней.", "Штраф 0,1 %."]),
        ("Цена 5 тыс. руб. [1]. Срок 3 дня [2].", ["Цена 5 тыс. руб.", "Срок 3 дня."]),
        ("1. Выключите [1]\n2. Включите [1]", ["Выключите", "Включите"]),
        ("> Цитата [1]", ["Цитата"]),
        ('See "Note 21"; Embraer is told of there [1].', ['See "Note 21"; Embraer is told of there.']),
        ("", []),
    ],
)
def test_a_statement_is_a_whole_sentence_however_its_marks_are_set(answer: str, texts: list[str]) -> None:
    assert [each.text for each in split(answer, facts=2)] == texts


def test_numbers_of_facts_that_are_not_there_are_no_marks() -> None:
    assert [each.marks for each in split("Срок 14 дней [3, 1].", facts=2)] == [(1,)]


def test_what_is_taken_out_leaves_no_empty_items_heads_or_titles() -> None:
    statements = split(ANSWER, facts=2)
    gone = [each for each in statements if 1 in each.marks]
    assert without(ANSWER, gone) == (
        "Вот условия:\n\n**Вектор**\n- Да. Есть и отсрочка [2]\n\n"
        "| Кто | Сколько |\n|---|---|\n| Бета | 6 [2] |\n\n```\ntotal = 11\n```"
    )
    rows = "**Сроки**\n\n| Кто | Сколько |\n|---|---|\n| Альфа | 5 [1] |\n\n**Прочее**\nНичего [2]."
    assert without(rows, split(rows, facts=2)[1:2]) == "**Прочее**\nНичего [2]."


@given(st.text(alphabet="аб1.![]() \n|-*`:>#", max_size=120))
def test_nothing_is_lost_or_shared_between_statements(answer: str) -> None:
    statements = split(answer, facts=3)
    assert all(one.end <= other.start for one, other in pairwise(statements))
    assert without(answer, ()) == answer.strip()
    assert len(without(answer, statements)) <= len(answer)


@pytest.mark.parametrize("half", HALVES)
def test_the_material_falls_into_the_statements_that_it_was_made_of(half: str) -> None:
    for case in load_cases(half):
        assert len(split(case.answer, facts=len(case.facts))) == len(case.told), case.id
