"""An answer that tells one side of a disagreement is sent back; what it still lacks is told by code."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.ids import DocumentId
from prompts.wordings import load_wordings
from rag.answering.citations import cite
from rag.answering.disagreement import misdated, unspoken, with_sides
from rag.extraction.conflicts import dated, in_words
from rag.records import Citation, Claim, Conflict
from tests.fakes.rag import make_passage, rank

PLACES = rank(make_passage("30 дней", title="Письмо.eml"), make_passage("14 дней", number=2, title="Договор.pdf"))
CLAIMS = tuple(Claim(value=each.passage.text, passage=each, dated=None) for each in PLACES)
CONFLICT = Conflict(about="срок оплаты", claims=CLAIMS)


@pytest.mark.parametrize("answer", ["Срок 14 дней.", "Платить надо за **30 дней**."])
def test_one_side_alone_is_remarked_on_with_both_documents(answer: str) -> None:
    (remark,) = unspoken(answer, [CONFLICT])
    assert "Письмо.eml: 30 дней; Договор.pdf: 14 дней" in remark


def sentences(*said: str) -> Conflict:
    places = rank(*(make_passage(each, number=number, title=f"{number}.txt") for number, each in enumerate(said)))
    return Conflict(
        about="x", claims=tuple(Claim(value=each.passage.text, passage=each, dated=None) for each in places)
    )


PRICES = sentences("С 1 марта 2025 года абонемент стоит 180 рублей.", "Цена абонемента — 150 рублей в месяц.")
HEADS = sentences("Магазином на Лесной заведует Ольга Ким.", "Заведующий магазином на Лесной — Пётр Волков.")


@pytest.mark.parametrize(
    ("answer", "conflict"),
    [
        ("По новому прайсу абонемент стоит 180 ₽, раньше просили 150 ₽.", PRICES),
        ("Один документ называет Ольгу Ким, другой — Петра Волкова.", HEADS),
        ("Про скидки ничего не сказано.", PRICES),
    ],
)
def test_sides_that_are_sentences_may_be_reworded(answer: str, conflict: Conflict) -> None:
    assert unspoken(answer, [conflict]) == ()


@pytest.mark.parametrize(
    ("answer", "conflict"), [("Абонемент стоит 150 ₽.", PRICES), ("Магазином заведует Ольга Ким.", HEADS)]
)
def test_one_of_two_sentences_alone_is_remarked_on(answer: str, conflict: Conflict) -> None:
    assert len(unspoken(answer, [conflict])) == 1


@pytest.mark.parametrize("answer", ["В письме 30 дней, в договоре 14 дней.", "Штраф 10 %.", "Срок 140 дней."])
def test_both_sides_or_another_matter_are_fine(answer: str) -> None:
    assert unspoken(answer, [CONFLICT]) == ()


def of(value: str, title: str, day: datetime | None, *, number: int) -> Claim:
    passage = make_passage(value, number=number, title=title)
    (place,) = rank(replace(passage, document_id=DocumentId(title), published_at=day))
    return Claim(value=value, passage=place, dated=day)


OLD, NEW = datetime(2024, 1, 15, tzinfo=UTC), datetime(2025, 3, 1, tzinfo=UTC)
LETTER, CONTRACT = of("30 дней", "Письмо.eml", NEW, number=1), of("14 дней", "Договор.pdf", OLD, number=2)
(DATED,) = dated([Conflict(about="срок оплаты", claims=(CONTRACT, LETTER))], {})
TERMS = in_words(DATED, load_wordings()["ru"])
BOTH: list[Citation] = [cite(each.passage.passage, about="") for each in TERMS.claims]
TOLD = """\
Документы расходятся: срок оплаты.

- Письмо.eml (от 01.03.2025): 30 дней
- Договор.pdf (от 15.01.2024): 14 дней"""


@pytest.mark.parametrize(
    "answer",
    [
        "По письму от 1 марта 2025 года — 30 дней, по договору от 15.01.2024 — 14 дней.",
        "30 дней (2025-03-01), раньше 14 дней (15 января 2024 г.).",
        "Про неустойку ничего нет.",
    ],
)
def test_an_answer_with_both_sides_sources_and_days_stays_as_it_is(answer: str) -> None:
    assert with_sides(answer, BOTH, [TERMS]) == (answer, tuple(BOTH))


@pytest.mark.parametrize(
    "answer",
    [
        "Срок 14 дней.",
        "В письме 30 дней, в договоре 14 дней.",
        "По договору от 15.01.2024 — 14 дней, по письму от 01.03.2025 — 30 дней.",
        "30 дней (01.03.2025) или 14 дней.",
    ],
)
def test_a_side_a_day_or_the_order_that_is_missing_is_told_by_code(answer: str) -> None:
    text, cited = with_sides(answer, BOTH[:1], [TERMS])
    assert text == f"{answer}\n\n{TOLD}"
    assert [each.title for each in cited] == ["Письмо.eml", "Договор.pdf"]


def test_sources_of_the_answer_stay_in_their_order_before_those_that_are_added() -> None:
    other = cite(of("x", "Прочее.txt", None, number=3).passage.passage, about="")
    _, cited = with_sides("Срок 14 дней.", (BOTH[1], other), [TERMS])
    assert [each.title for each in cited] == ["Договор.pdf", "Прочее.txt", "Письмо.eml"]


def test_a_source_that_is_not_cited_is_added() -> None:
    answer = "По письму от 01.03.2025 — 30 дней, по договору от 15.01.2024 — 14 дней."
    assert len(with_sides(answer, BOTH[1:], [TERMS])[1]) == 2


@given(st.permutations(["14 дней", "30 дней", "15.01.2024", "01.03.2025"]), st.integers(1, 4))
def test_what_is_shown_names_both_sides_and_days_the_newest_first(words: list[str], kept: int) -> None:
    answer = ", ".join(words[:kept])
    shown, cited = with_sides(answer, (), [TERMS])
    is_touched = "дней" in answer
    assert (len(cited) == 2) is is_touched
    assert not is_touched or shown.endswith(TOLD)


@pytest.mark.parametrize(
    "answer",
    [
        "Договор от 01.03.2025 даёт 14 дней, письмо от 01.03.2025 — 30 дней.",
        "В письме — 30 дней (15 января 2024 года), а в договоре — 14 дней.",
    ],
)
def test_a_side_with_the_other_documents_day_is_remarked_on(answer: str) -> None:
    assert len(misdated(answer.replace(", письмо", "; письмо"), [TERMS])) == 1


@pytest.mark.parametrize(
    "answer",
    [
        "В письме от 01.03.2025 — 30 дней; в договоре от 15.01.2024 — 14 дней.",
        "С 01.03.2025 было 30 дней, в договоре 14 дней от 15.01.2024.",
        "Срок 14 дней.",
    ],
)
def test_own_days_are_no_mistake(answer: str) -> None:
    assert misdated(answer, [TERMS]) == ()


def test_a_day_of_coming_is_said_to_be_that_and_need_not_be_told() -> None:
    claims = (of("30 дней", "Письмо.eml", None, number=1), of("14 дней", "Договор.pdf", None, number=2))
    (conflict,) = dated([Conflict(about="срок", claims=claims)], dict.fromkeys(map(DocumentId, ("Письмо.eml",)), NEW))
    told = in_words(conflict, load_wordings()["ru"])
    assert "Письмо.eml (без своей даты, в базе с 01.03.2025): 30 дней" in told.told
    answer = "В письме 30 дней, в договоре 14 дней."
    assert with_sides(answer, BOTH, [told])[0] == answer


def test_names_and_values_are_no_markup() -> None:
    conflict = Conflict(about="x", claims=(of("*5*", "a_b_c.txt", None, number=1), of("6", "b.txt", None, number=2)))
    assert "a\\_b\\_c.txt: \\*5\\*" in in_words(conflict, load_wordings()["en"]).told


REMOTE = tuple(
    of(value, title, day, number=number)
    for number, (value, title, day) in enumerate(
        (
            ("По положению (в ред. от 10.09.2025) отдел продаж работает удалённо три дня в неделю.", "a", NEW),
            ("По приказу № 3 от 01.02.2023 отделу продаж дано два дня удалённой работы в неделю.", "b", OLD),
        )
    )
)
WARRANTY = (
    of("По справке от 03.03.2025 гарантия на погрузчик 24 месяца.", "Справка.txt", NEW, number=1),
    of("По паспорту изделия гарантийный срок 12 месяцев.", "Паспорт.txt", OLD, number=2),
)


@pytest.mark.parametrize("answer", ["Отдел продаж работает удалённо три дня.", "Два дня удалённой работы, 10.09.2025."])
def test_days_and_numbers_of_documents_tell_no_side(answer: str) -> None:
    assert len(unspoken(answer, [Conflict(about="x", claims=REMOTE)])) == 1


def test_words_that_begin_like_a_number_sign_tell_a_side() -> None:
    claims = (of("No refund", "a", NEW, number=1), of("Refund, letter No. 12/3", "b", OLD, number=2))
    conflict = Conflict(about="refund", claims=claims)
    assert len(unspoken("No refund.", [conflict])) == 1
    notices = sentences("Notice of the tenant.", "November of the landlord.")
    assert unspoken("Notice of the tenant, November of the landlord.", [notices]) == ()


def test_a_day_tells_a_side_where_nothing_else_is_different() -> None:
    claims = (of("Срок до 12.03.2025", "a", NEW, number=1), of("Срок до 15.04.2025", "b", OLD, number=2))
    conflict = Conflict(about="срок", claims=claims)
    assert len(unspoken("Срок до 12.03.2025.", [conflict])) == 1
    assert unspoken("Срок до 12.03.2025, по другому документу до 15.04.2025.", [conflict]) == ()


def test_a_wrong_day_is_seen_among_other_days_of_the_sides() -> None:
    answer = "В паспорте гарантия 12 месяцев (01.03.2025); в справке — 24 месяца."
    assert len(misdated(answer, [Conflict(about="x", claims=WARRANTY)])) == 1


def test_documents_with_days_of_their_own_come_before_those_that_only_came() -> None:
    undated = of("12 месяцев", "Паспорт.txt", None, number=2)
    came = {undated.passage.passage.document_id: datetime(2026, 11, 21, tzinfo=UTC)}
    (conflict,) = dated([Conflict(about="x", claims=(undated, LETTER))], came)
    assert [each.value for each in conflict.claims] == ["30 дней", "12 месяцев"]


def test_a_document_without_a_day_is_not_said_to_be_of_the_day_on_which_it_came() -> None:
    undated = replace(of("12 месяцев", "Паспорт.txt", None, number=2), dated=datetime(2026, 11, 21, tzinfo=UTC))
    (remark,) = misdated("В паспорте 12 месяцев (01.03.2025).", [Conflict(about="x", claims=(LETTER, undated))])
    assert remark.startswith("«Паспорт.txt» bears no date and came to the base on 2026-11-21.")
