"""What replies change in the list of facts."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.ids import ChunkId, DocumentId
from rag.execution.ledger import KnownFact, Ledger, merge_conflicts, merge_facts, refine, settle, take
from rag.execution.wire import CONTRADICTS, Certainty, IterationReply, NewFact, NumberedFact, UpdatedFact
from rag.records import Claim, Conflict, Passage
from rag.words import plain
from tests.fakes.rag import make_passage

PART = [make_passage("Договор № 7: цена 100 000 ₽. Срок поставки 30 дней.", number=1)]
LETTER = [replace(make_passage("Цена договора № 7 теперь 120 000 ₽.", number=2), document_id=DocumentId("letter"))]


def new(text: str, certainty: Certainty = Certainty.HIGH) -> NewFact:
    return NewFact(fact=text, certainty=certainty, reasoning="")


def reply(
    *facts: NewFact, updates: tuple[UpdatedFact, ...] = (), answer: str = "", can: bool = False
) -> IterationReply:
    return IterationReply(answer=answer, reasoning="", new_facts=facts, updated_facts=updates, can_answer=can)


def update(number: str, text: str, certainty: str) -> UpdatedFact:
    return UpdatedFact.model_validate({"id": number, "fact": text, "certainty": certainty, "reasoning": ""})


KNOWN = take(Ledger(), reply(new("Цена договора № 7: 100 000 ₽"), new("Срок поставки 30 дней")), PART, asked="")


def test_new_facts_get_ids_and_their_place() -> None:
    assert [(fact.id, fact.sources[0].chunk_id) for fact in KNOWN.facts] == [("f1", 1), ("f2", 1)]


def test_a_fact_whose_number_stands_nowhere_is_dropped_and_counted() -> None:
    after = take(KNOWN, reply(new("Срок поставки 45 дней")), PART, asked="")
    assert after.facts == KNOWN.facts
    assert after.dropped == 1


def test_the_same_words_from_another_document_are_another_source_of_one_fact() -> None:
    elsewhere = [replace(PART[0], chunk_id=make_passage("", number=9).chunk_id)]
    after = take(KNOWN, reply(new("срок поставки — 30 дней.")), elsewhere, asked="")
    assert [source.chunk_id for source in after.facts[1].sources] == [1, 9]
    assert len(after.facts) == 2


def test_an_update_changes_words_and_certainty_of_that_fact_alone() -> None:
    after = take(KNOWN, reply(updates=(update("f2", "Срок поставки 30 дней по договору № 7", "low"),)), PART, asked="")
    assert after.facts[0] == KNOWN.facts[0]
    assert (after.facts[1].text, after.facts[1].certainty) == ("Срок поставки 30 дней по договору № 7", Certainty.LOW)


def test_an_update_of_an_unknown_id_is_ignored() -> None:
    after = take(KNOWN, reply(updates=(update("f9", "Срок поставки 30 дней", "low"),)), PART, asked="")
    assert after.facts == KNOWN.facts


def test_a_wording_that_no_source_bears_is_not_taken_over() -> None:
    after = take(KNOWN, reply(updates=(update("f2", "Срок поставки 31 день", "high"),)), PART, asked="")
    assert (after.facts, after.dropped) == (KNOWN.facts, 1)


def test_a_contradiction_by_another_document_drops_the_fact_and_keeps_both_sides() -> None:
    said = update("f1", "Цена договора № 7 теперь 120 000 ₽", CONTRADICTS)
    after = take(KNOWN, reply(updates=(said,)), LETTER, asked="")
    assert [fact.id for fact in after.facts] == ["f2"]
    assert [claim.passage.document_id for claim in after.conflicts[0].claims] == ["letter", "doc"]


def test_a_document_that_corrects_itself_is_no_conflict() -> None:
    after = take(KNOWN, reply(updates=(update("f1", "Цена договора № 7: 100 000 ₽", CONTRADICTS),)), PART, asked="")
    assert [fact.id for fact in after.facts] == ["f2"]
    assert after.conflicts == ()


def test_an_id_is_never_given_twice() -> None:
    without = take(KNOWN, reply(updates=(update("f2", "Срок поставки 30 дней", CONTRADICTS),)), PART, asked="")
    after = take(without, reply(new("Срок поставки 30 дней")), PART, asked="")
    assert [fact.id for fact in after.facts] == ["f1", "f3"]


def test_the_answer_is_carried_on_until_there_is_another() -> None:
    first = take(Ledger(), reply(new("Срок поставки 30 дней"), answer="30 дней", can=True), PART, asked="")
    assert take(first, reply(), PART, asked="").answer == "30 дней"
    assert take(first, reply(answer="30 дней с оплаты"), PART, asked="").answer == "30 дней с оплаты"


def of_day(passages: list[Passage], year: int) -> list[Passage]:
    return [replace(each, published_at=datetime(year, 1, 1, tzinfo=UTC)) for each in passages]


@pytest.mark.parametrize(("year", "texts"), [(2025, ("Срок поставки 30 дней",)), (2023, ("Цена договора", "Срок"))])
def test_a_fact_of_a_newer_document_stays_though_an_older_one_contradicts_it(year: int, texts: tuple[str, ...]) -> None:
    facts = (new("Цена договора № 7: 100 000 ₽"), new("Срок поставки 30 дней"))
    ledger = take(Ledger(), reply(*facts), of_day(PART, 2024), asked="")
    said = reply(updates=(update("f1", "Цена договора № 7 теперь 120 000 ₽", CONTRADICTS),))
    after = take(take(ledger, said, of_day(LETTER, year), asked=""), said, of_day(LETTER, year), asked="")
    assert [fact.text.startswith(text) for fact, text in zip(after.facts, texts, strict=True)] == [True] * len(texts)
    assert len(after.conflicts) == 1


def test_nothing_can_be_answered_without_a_fact() -> None:
    assert not take(Ledger(), reply(answer="Да", can=True), PART, asked="").can_answer


@given(contradicted=st.sets(st.integers(0, 9)), repeated=st.integers(1, 3))
def test_contradictions_remove_exactly_the_facts_that_they_name(contradicted: set[int], repeated: int) -> None:
    text = " ".join(f"Пункт {number} устанавливает срок {number} дней." for number in range(10))
    part = [make_passage(text)]
    facts = [new(f"Пункт {number} устанавливает срок {number} дней") for number in range(10)]
    known = take(Ledger(), reply(*facts), part, asked="")
    updates = tuple(update(f"f{number + 1}", "Срок отменён", CONTRADICTS) for number in sorted(contradicted))
    after = take(known, reply(updates=updates * repeated), part, asked="")
    assert {fact.id for fact in after.facts} == {f"f{number + 1}" for number in range(10) if number not in contradicted}


LETTER_SAYS = take(KNOWN, reply(new("Цена договора № 7 теперь 120 000 ₽")), LETTER, asked="")


def test_two_facts_that_are_said_to_contradict_each_other_do_not_both_go() -> None:
    both = (
        update("f1", "Цена договора № 7 теперь 120 000 ₽", CONTRADICTS),
        update("f3", "Цена договора № 7: 100 000 ₽", CONTRADICTS),
    )
    after = settle(LETTER_SAYS, both, asked="")
    assert [fact.id for fact in after.facts] == ["f2", "f3"]
    assert [claim.passage.document_id for claim in after.conflicts[0].claims] == ["letter", "doc"]


def test_groups_put_side_by_side_may_reword_a_fact_as_far_as_its_source_bears_it() -> None:
    updates = (update("f2", "Срок поставки по договору № 7 30 дней", "low"), update("f1", "Цена 7 000 ₽", "low"))
    after = settle(KNOWN, updates, asked="")
    assert [fact.text for fact in after.facts] == [KNOWN.facts[0].text, "Срок поставки по договору № 7 30 дней"]


DOCUMENTS = ("a", "b", "c")
ORDER = {DocumentId(name): place for place, name in enumerate(DOCUMENTS)}


def source(document: str, chunk: int, text: str = "текст") -> Passage:
    passage = make_passage(text, number=chunk, document=document)
    return replace(passage, chunk_id=ChunkId(ord(document) * 1000 + chunk))


@st.composite
def known_facts(draw: st.DrawFn) -> KnownFact:
    return KnownFact(
        id=f"f{draw(st.integers(1, 5))}",
        text=draw(st.sampled_from(("Срок 5 дней", "срок — 5 дней.", "Цена 7 ₽", "Пеня 1 %", "Залог"))),
        certainty=draw(st.sampled_from(Certainty)),
        reasoning=draw(st.sampled_from(("x", "y"))),
        sources=(source(draw(st.sampled_from(DOCUMENTS)), draw(st.integers(1, 3))),),
    )


LEDGERS = st.lists(st.lists(known_facts(), max_size=5).map(lambda facts: Ledger(facts=tuple(facts))), max_size=4)


@given(ledgers=LEDGERS)
def test_no_fact_and_no_source_is_lost(ledgers: list[Ledger]) -> None:
    found = {(plain(fact.text), each.chunk_id) for one in ledgers for fact in one.facts for each in fact.sources}
    merged = merge_facts(ledgers, ORDER)
    assert {(plain(fact.text), each.chunk_id) for fact in merged for each in fact.sources} == found
    assert len({plain(fact.text) for fact in merged}) == len(merged)


@given(ledgers=LEDGERS, data=st.data())
def test_the_order_of_the_groups_does_not_matter(ledgers: list[Ledger], data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(ledgers))
    assert merge_facts(shuffled, ORDER) == merge_facts(ledgers, ORDER)


def test_the_surest_come_first_then_those_of_better_documents() -> None:
    facts = [
        KnownFact(id="f1", text="третье", certainty=Certainty.LOW, reasoning="", sources=(source("a", 1),)),
        KnownFact(id="f2", text="второе", certainty=Certainty.HIGH, reasoning="", sources=(source("b", 1),)),
        KnownFact(id="f1", text="первое", certainty=Certainty.HIGH, reasoning="", sources=(source("a", 2),)),
    ]
    merged = merge_facts([Ledger(facts=(fact,)) for fact in facts], ORDER)
    assert [(fact.id, fact.text) for fact in merged] == [("f1", "первое"), ("f2", "второе"), ("f3", "третье")]


def test_every_disagreement_is_kept_once() -> None:
    claims = tuple(Claim(value=value, passage=source("a", 1), dated=None) for value in ("1", "2"))
    one, two = Conflict(about="цена", claims=claims), Conflict(about="цена", claims=claims[:1])
    ledgers = [Ledger(conflicts=(one, two)), Ledger(conflicts=(one,))]
    assert set(merge_conflicts(ledgers)) == {one, two}
    assert merge_conflicts(ledgers) == merge_conflicts(ledgers[::-1])


FACTS = [
    KnownFact(
        id=f"f{number}",
        text=f"Срок {number} дней",
        certainty=Certainty.HIGH,
        reasoning="",
        sources=(source("a", number, f"Установлен срок {number} дней для всех."),),
    )
    for number in (1, 2, 3)
]


@given(st.permutations(FACTS), st.integers(0, 3))
def test_a_synthesis_orders_facts_and_loses_none(chosen: list[KnownFact], kept: int) -> None:
    said = [fact.wire() for fact in chosen[:kept]]
    refined = refine(FACTS, said, asked="")
    assert [fact.id for fact in refined[:kept]] == [each.id for each in said]
    assert {fact.id for fact in refined} == {fact.id for fact in FACTS}


def test_a_synthesis_rewords_only_what_the_source_bears() -> None:
    said = [
        NumberedFact(id="f1", fact="Для всех срок 1 дней", certainty=Certainty.HIGH, reasoning=""),
        NumberedFact(id="f2", fact="Срок 20 дней", certainty=Certainty.HIGH, reasoning=""),
        NumberedFact(id="f9", fact="Срок 1 дней", certainty=Certainty.HIGH, reasoning=""),
    ]
    assert [fact.text for fact in refine(FACTS, said, asked="")] == [
        "Для всех срок 1 дней",
        "Срок 2 дней",
        "Срок 3 дней",
    ]
