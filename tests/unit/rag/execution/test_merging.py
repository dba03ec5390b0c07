"""Facts of several tools as one payload."""

from hypothesis import given
from hypothesis import strategies as st

from rag.execution.facts import Fact, FactKind, FactsPayload
from rag.execution.merging import limit, merge
from rag.records import DocumentsRead
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
    json = Facts()("Достижение").to_json()
    assert json["found"] is True
    assert json["items"] == [
        {"type": "statement", "text": "Достижение", "title": "Договор", "source": {"id": "d", "title": "Договор"}}
    ]
    assert json["sources"] == [{"id": "d", "label": "Договор"}]


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
