"""Facts of several tools as one payload."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.execution.facts import (
    ASIDE_CHARS,
    WHOLE_CHARS,
    Fact,
    FactKind,
    FactsPayload,
    fuse,
    limit,
    merge,
    passage_fact,
    shortlist,
    told_once,
    weighed,
)
from rag.execution.search_tool import passages_payload
from rag.records import DocumentsRead, RankedPassage
from rag.retrieval.ranking import merge_neighbours
from tests.fakes.planning import Facts
from tests.fakes.rag import make_passage, rank

texts = st.lists(st.text(min_size=1, max_size=8), max_size=12)


@given(st.lists(texts, max_size=4))
def test_every_fact_is_kept_once_whatever_the_tools_repeat(found: list[list[str]]) -> None:
    merged = merge([Facts()(*each) for each in found])
    wanted = {" ".join(text.casefold().split()) for each in found for text in each}
    assert {" ".join(fact.text.casefold().split()) for fact in merged.facts} == wanted
    assert len(merged.facts) == len(wanted)


@given(texts, st.integers(1, 12), st.integers(0, 12))
def test_nothing_is_lost_between_what_is_shown_and_what_is_counted(found: list[str], items: int, skip: int) -> None:
    payload = merge([Facts()(*found)])
    shown = limit(payload, items=items, skip=skip)
    assert len(shown.facts) <= items
    assert shown.left_out == max(len(payload.facts) - skip - items, 0)


def test_the_parts_of_a_question_take_turns() -> None:
    merged = merge([Facts()("a1", "a2"), Facts()("b1", "b2")])
    assert [fact.text for fact in merged.facts] == ["a1", "b1", "a2", "b2"]


def test_a_part_that_nothing_answers_leaves_the_whole_uncovered() -> None:
    assert merge([Facts(coverage=0.9)("а"), FactsPayload()]).coverage == 0


def test_the_same_passage_found_twice_is_one_fact() -> None:
    (ranked,) = rank(make_passage("Срок 14 дней."))
    first = Fact(kind=FactKind.PASSAGE, text="Срок 14 дней.", passage=ranked)
    again = Fact(kind=FactKind.PASSAGE, text="Срок 14 дней", passage=ranked)
    assert merge([FactsPayload(facts=(first,)), FactsPayload(facts=(again,))]).facts == (first,)


def test_passages_are_no_list_items() -> None:
    passages = tuple(
        Fact(kind=FactKind.PASSAGE, text=each.passage.text, passage=each)
        for each in rank(make_passage("а", number=1), make_passage("б", number=2))
    )
    assert limit(FactsPayload(facts=passages), items=1).facts == passages


def test_the_json_is_the_seeds() -> None:
    (place,) = rank(make_passage("Ускорил расчёты вдвое.", number=3, title="Резюме.pdf"))
    stated = replace(Facts(title="АЛОР Брокер")("Торговая платформа.").facts[0], document=place.passage.document_id)
    stated = replace(stated, passage=place)
    row = Fact(kind=FactKind.VALUE, text="Аренда: 5", title="Аренда", fields=(("Договор", "Аренда"), ("Цена", "5")))
    payload = FactsPayload(
        facts=(
            replace(stated, type="achievement", text="Ускорил расчёты вдвое."),
            replace(stated, type="project"),
            row,
        ),
        coverage=0.9,
    )
    known = {"source": {"id": "doc", "title": "Резюме.pdf"}, "place": {"page": 3}}
    items = [
        {"type": "achievement", "title": "АЛОР Брокер", "text": "Ускорил расчёты вдвое.", **known},
        {"type": "project", "title": "АЛОР Брокер", "summary": "Торговая платформа.", **known},
        {"type": "value", "title": "Аренда", "text": "Аренда: 5", "fields": {"Договор": "Аренда", "Цена": "5"}},
    ]
    assert payload.to_json() == {
        "found": True,
        "items": items,
        "groups": [{"title": "АЛОР Брокер", "items": items[:2]}, {"title": "Аренда", "items": items[2:]}],
        "meta": {"coverage": 0.9, "left_out": 0},
        "sources": [{"id": "doc", "label": "Резюме.pdf"}],
    }


def test_a_remark_on_the_items_is_no_item_and_stays() -> None:
    count = Fact(kind=FactKind.VALUE, text="Documents that fit: 3.")
    names = [Fact(kind=FactKind.DOCUMENT, text=name, title=name) for name in ("а", "б", "в")]
    payload = limit(FactsPayload(facts=(count, *names), coverage=1.0), items=1, skip=1)
    assert (payload.facts, payload.left_out) == ((count, names[1]), 1)


def test_facts_of_one_item_count_once_and_stay_together() -> None:
    sides = [
        Fact(kind=FactKind.STATEMENT, text=f"Изменилось: {name}", title=side, item=name)
        for name in "абв"
        for side in "12"
    ]
    payload = limit(FactsPayload(facts=tuple(sides)), items=1, skip=1)
    assert (payload.facts, payload.left_out) == (tuple(sides[2:4]), 1)


def test_the_same_words_of_two_things_are_two_items() -> None:
    twins = [Fact(kind=FactKind.STATEMENT, text="Python", title=title) for title in ("АЛОР", "Aston")]
    assert limit(FactsPayload(facts=tuple(twins)), items=1).left_out == 1


def test_what_the_rows_come_to_is_no_row_and_stays() -> None:
    whole = Fact(kind=FactKind.VALUE, text="Всего (договор): 3", title="договор")
    rows = [Fact(kind=FactKind.VALUE, text=name, title="договор", fields=(("номер", name),)) for name in "абв"]
    payload = limit(FactsPayload(facts=(whole, *rows)), items=2, skip=1)
    assert (payload.facts, payload.left_out) == ((whole, *rows[1:]), 0)


def test_rows_that_one_of_two_tools_left_out_are_missing_in_the_whole() -> None:
    payloads = [FactsPayload(documents=DocumentsRead(read=read, total=9, missing_rows=2 - read)) for read in (1, 2)]
    assert merge(payloads).documents == DocumentsRead(read=2, total=9, missing_rows=1)


def scored(*scores: float, first: int = 1) -> FactsPayload:
    ranked = [
        RankedPassage(passage=make_passage(f"место {number:02}", number=number), score=score)
        for number, score in enumerate(scores, start=first)
    ]
    return passages_payload(ranked, asked="место")


@pytest.mark.parametrize(
    ("scores", "kept"),
    [
        ((9.0, 3.0, 2.0, 1.0, 0.9, 0.8), 4),
        ((9.0, 8.0, 7.0, 6.0, 5.0, 4.0), 5),
        ((1.0,) * 30, 20),
        ((0.0,) * 6, 4),
        ((1.0, 0.9), 2),
        ((), 0),
    ],
)
def test_as_many_passages_are_kept_as_their_scores_suggest(scores: tuple[float, ...], kept: int) -> None:
    payload = scored(*scores)
    assert [fact.text for fact in shortlist(payload).facts] == [fact.text for fact in payload.facts[:kept]]


def test_what_is_no_passage_stays() -> None:
    payload = scored(*(1.0, *[0.1] * 9))
    told = replace(payload, facts=(*payload.facts, *Facts()("всего 12").facts))
    assert [fact.text for fact in shortlist(told).facts][-2:] == ["место 04", "всего 12"]


def test_long_passages_are_fewer_and_stand_aside_where_the_answer_is_short() -> None:
    ranked = [
        RankedPassage(passage=make_passage(f"место {number} " * 300, number=number), score=1.0) for number in range(9)
    ]
    payload = passages_payload(ranked, asked="место")
    shown = [[fact.shown for fact in shortlist(payload, is_short=is_short).facts] for is_short in (True, False)]
    assert shown == [[WHOLE_CHARS, WHOLE_CHARS, ASIDE_CHARS, ASIDE_CHARS], [None] * 5]
    brief = passages_payload(
        [replace(each, passage=replace(each.passage, text="мы " * 200)) for each in ranked], asked=""
    )
    assert [fact.shown for fact in shortlist(brief).facts] == [WHOLE_CHARS] * 2 + [ASIDE_CHARS] * 7


@given(st.lists(st.lists(st.floats(0, 10), max_size=12), min_size=1, max_size=4))
def test_fusing_loses_and_repeats_nothing(searches: list[list[float]]) -> None:
    payloads = [scored(*sorted(scores, reverse=True), first=place) for place, scores in enumerate(searches)]
    texts = [fact.text for fact in fuse(payloads).facts]
    assert sorted(texts) == sorted({fact.text for payload in payloads for fact in payload.facts})


def test_what_both_searches_found_comes_first() -> None:
    both = fuse([scored(10.0, 9.0, 8.0), scored(0.5, 0.4, first=3)])
    assert [fact.text for fact in both.facts] == ["место 03", "место 01", "место 02", "место 04"]


def test_the_best_of_each_search_goes_before_what_several_found_by_the_way() -> None:
    table, rest = scored(10.0), scored(6.0, 5.9, first=2)
    planned = replace(table, facts=(*table.facts, *rest.facts))
    own = scored(7.0, first=9)
    both = fuse([planned, replace(own, facts=(*own.facts, *rest.facts))])
    assert [fact.text for fact in both.facts] == ["место 01", "место 09", "место 02", "место 03"]


def test_each_part_of_a_question_has_room_for_a_whole_passage() -> None:
    ranked = [RankedPassage(passage=make_passage("мы " * 900, number=number), score=1.0) for number in range(9)]
    payload = passages_payload(ranked, asked="")
    facts = shortlist(payload, sought=["доходы", "расходы", "налоги"]).facts
    assert [fact.shown for fact in facts[:5]] == [WHOLE_CHARS] * 4 + [ASIDE_CHARS]
    assert {fact.sought for fact in facts} == {"доходы\nрасходы\nналоги"}


def test_a_part_of_a_passage_that_another_search_found_whole_is_the_same() -> None:
    whole, part = scored(1.0), scored(1.0, first=2)
    longer = replace(whole.facts[0], text="место 02 и дальше", document=part.facts[0].document)
    assert len(fuse([replace(whole, facts=(longer,)), part]).facts) == 1


def neighbours(*numbers: int) -> Fact:
    """Passages that follow each other, as one search found and merged them."""
    made = (make_passage(f"Пункт {number}. Сумма {number} руб.", number=number) for number in numbers)
    (merged,) = merge_neighbours(rank(*(replace(each, ordinal=each.chunk_id) for each in made)))
    return passage_fact(merged)


def test_what_two_searches_merged_with_other_neighbours_is_told_once() -> None:
    first, rest = told_once([neighbours(1, 2, 3), neighbours(2, 3, 4), neighbours(2, 3), neighbours(2)])
    assert (first, rest.text) == (neighbours(1, 2, 3), "Пункт 4. Сумма 4 руб.")
    assert rest.pieces == {4}


def test_what_is_shown_in_part_is_told_again() -> None:
    assert len(told_once([replace(neighbours(1, 2, 3), shown=10), neighbours(2, 3)])) == 2


def concluded(text: str, *behind: Fact) -> Fact:
    return Fact(kind=FactKind.STATEMENT, text=text, passage=behind[0].passage, drawn_from=behind)


def test_what_an_analysis_drew_nothing_from_is_shown_in_short() -> None:
    used, unused, new = (neighbours(number, number + 1) for number in (1, 3, 5))
    seen = FactsPayload(facts=(concluded("Сумма 1 руб.", used),), set_aside=unused.pieces | used.pieces)
    assert [each.shown for each in weighed((used, unused, new), [seen])] == [None, ASIDE_CHARS, None]


@pytest.mark.parametrize(
    ("other", "kept"),
    [
        ("В 2022 году расходы выросли до 20,8 % выручки, в 2021 было 19,1 %.", 1),
        ("В 2022 году расходы выросли до 20,8 % выручки, в 2020 было 19,1 %.", 2),
        ("В 2022 году было 20,8 %.", 1),
        ("Подешевело сырьё.", 2),
    ],
)
def test_a_conclusion_that_another_of_the_same_passage_says_is_left_out(other: str, kept: int) -> None:
    """Rounds of an analysis repeat each other in other words."""
    told = "Расходы выросли в 2022 году: было 19,1 % выручки в 2021, стало 20,8 %."
    both = (concluded(told, neighbours(1, 2)), concluded(other, neighbours(2, 3)))
    assert len(weighed(both, [])) == kept
    assert len(weighed((both[0], concluded(other, neighbours(4, 5))), [])) == 2
