"""Putting groups together."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from domain.ids import ChunkId, DocumentId
from rag.iterative.grounding import plain
from rag.iterative.ledger import KnownFact, Ledger
from rag.iterative.merging import merge_conflicts, merge_facts, refine
from rag.iterative.wire import Certainty, NumberedFact
from rag.records import Claim, Conflict, RankedPassage
from tests.fakes.rag import make_passage

DOCUMENTS = ("a", "b", "c")
ORDER = {DocumentId(name): place for place, name in enumerate(DOCUMENTS)}


def source(document: str, chunk: int, text: str = "текст") -> RankedPassage:
    passage = make_passage(text, number=chunk, document=document)
    return RankedPassage(passage=replace(passage, chunk_id=ChunkId(ord(document) * 1000 + chunk)), score=1.0)


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
    found = {
        (plain(fact.text), each.passage.chunk_id) for one in ledgers for fact in one.facts for each in fact.sources
    }
    merged = merge_facts(ledgers, ORDER)
    assert {(plain(fact.text), each.passage.chunk_id) for fact in merged for each in fact.sources} == found
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
