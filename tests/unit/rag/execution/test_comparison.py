"""Facts that no prompt holds together are still held against each other."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from domain.ids import DocumentId
from rag.execution.ledger import MAX_SETS, KnownFact, comparisons
from rag.execution.wire import Certainty
from rag.words import estimate_tokens
from tests.fakes.rag import make_passage, rank

TOPICS = ("цена абонемента", "директор магазина", "срок гарантии", "вес погрузчика", "часы работы", "номер счёта")


def fact(number: int, text: str, document: str) -> KnownFact:
    (place,) = rank(replace(make_passage(text, number=number), document_id=DocumentId(document)))
    return KnownFact(id=f"f{number}", text=text, certainty=Certainty.HIGH, reasoning="", sources=(place,))


def size(*facts: KnownFact) -> int:
    return sum(estimate_tokens(each.wire().model_dump_json()) + 1 for each in facts)


PAIRS = [
    (fact(2 * place, f"В старом: {topic} {place}1.", "old"), fact(2 * place + 1, f"В новом: {topic} {place}2.", "new"))
    for place, topic in enumerate(TOPICS)
]
FACTS = [side for pair in PAIRS for side in pair]


def test_facts_of_the_same_thing_stand_together() -> None:
    found = comparisons(FACTS, (), tokens=size(*PAIRS[0]) * 2)
    for pair in PAIRS:
        assert any(set(pair) <= set(each) for each in found.sets)


def test_what_is_compared_anyway_is_not_asked_for() -> None:
    assert comparisons(FACTS, FACTS, tokens=10_000).sets == ()


def test_facts_of_one_document_and_facts_without_a_common_word_are_not_compared() -> None:
    one = [fact(1, "Цена сто рублей.", "a"), fact(2, "Цена двести рублей.", "a"), fact(3, "Иван директор.", "b")]
    assert comparisons(one, (), tokens=10_000).sets == ()


def test_a_pair_that_fits_nowhere_is_told() -> None:
    assert comparisons(PAIRS[0], (), tokens=size(PAIRS[0][0])).left_out == {"f0", "f1"}


def test_what_is_beyond_the_calls_is_told() -> None:
    facts = 400
    many = [fact(number, f"{number // 2} {1000 + number}.", str(number % 2)) for number in range(facts)]
    found = comparisons(many, (), tokens=size(*many[-2:]))
    assert len(found.sets) == MAX_SETS
    assert len(found.left_out) == facts - 2 * MAX_SETS


texts = st.lists(st.tuples(st.sampled_from(TOPICS), st.integers(0, 9), st.sampled_from("abcd")), max_size=25)


@given(texts, st.integers(0, 600))
def test_every_set_fits_and_spans_documents_and_nothing_else_is_lost(
    said: list[tuple[str, int, str]], tokens: int
) -> None:
    facts = [fact(place, f"{topic} {value}", document) for place, (topic, value, document) in enumerate(said)]
    found = comparisons(facts, (), tokens=tokens)
    assert len(found.sets) <= MAX_SETS
    assert all(size(*each) <= tokens for each in found.sets)
    assert all(len({one.sources[0].passage.document_id for one in each}) > 1 for each in found.sets)
    seen = {one.id for each in found.sets for one in each} | found.left_out
    alike = {one.id for one in facts for other in facts if _are_alike(one, other)}
    assert alike <= seen


def _are_alike(one: KnownFact, other: KnownFact) -> bool:
    topic = one.text.rsplit(" ", 1)[0]
    here, there = (each.sources[0].passage.document_id for each in (one, other))
    return here != there and other.text.startswith(topic)
