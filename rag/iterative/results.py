"""What a reading has brought, as a tool's result.

In: the groups' ledgers, and the synthesis when there was one. Out: `FactsPayload`: the answer that was put together,
disagreements, and each fact with its passages. Pure.
"""

from collections.abc import Sequence
from decimal import Decimal

from domain.ids import DocumentId
from prompts.wordings import Wordings
from rag.answering.numbers import written_numbers
from rag.execution.facts import Fact, FactKind, FactsPayload
from rag.iterative.conflicts import conflict_facts, dated, document_name
from rag.iterative.grounding import numbers_in
from rag.iterative.ledger import KnownFact
from rag.iterative.merging import merge_conflicts, merge_facts
from rag.iterative.reading import Reading
from rag.records import Conflict

MAX_SOURCES = 3  # of one fact: an answer that cites more is not surer
HALF_COVERED = 0.5  # there are facts, and no model has said that they answer the question


def facts_of(reading: Reading) -> tuple[KnownFact, ...]:
    """Of all groups, each once."""
    return merge_facts(reading.ledgers, order_of(reading))


def order_of(reading: Reading) -> dict[DocumentId, int]:
    """Documents by their worth for the question."""
    return {card.id: place for place, card in enumerate(reading.inquiry.cards)}


def conflicts_of(reading: Reading) -> tuple[Conflict, ...]:
    """Of all groups, with dates."""
    came = {card.id: card.created_at for card in reading.inquiry.cards}
    return dated(merge_conflicts(reading.ledgers), came)


def payload_of(reading: Reading, facts: Sequence[KnownFact], *, answer: str, words: Wordings) -> FactsPayload:
    """`facts` in the order in which they are to be said, `answer` as the model put them together."""
    conflicts = conflicts_of(reading)
    said = _answer(answer, facts, conflicts, question=reading.inquiry.question, heading=words.summary)
    disagreements = (fact for each in conflicts for fact in conflict_facts(each, heading=words.conflict))
    statements = (statement for fact in facts for statement in _statements(fact))
    can_answer = any(ledger.can_answer for ledger in reading.ledgers)
    return FactsPayload(
        facts=(*said, *disagreements, *statements),
        coverage=(1.0 if can_answer else HALF_COVERED) if facts else 0.0,
        documents=reading.documents,
        conflicts=conflicts,
    )


def _answer(
    answer: str, facts: Sequence[KnownFact], conflicts: Sequence[Conflict], *, question: str, heading: str
) -> tuple[Fact, ...]:
    """A guide for the model that writes: without a source, so that it cannot be cited, and only when every number in it
    stands in a fact. It has no title: nobody is shown it as it is."""
    sides = [claim.value for conflict in conflicts for claim in conflict.claims]
    if not facts or not answer:
        return ()
    known = frozenset[Decimal]().union(*map(numbers_in, (question, *(fact.text for fact in facts), *sides)))
    if not all(number.is_among(known) for number in written_numbers(answer)):
        return ()
    return (Fact(kind=FactKind.VALUE, text=f"{heading}: {answer}"),)


def _statements(fact: KnownFact) -> list[Fact]:
    """One for each passage that it stands in: all of them can be cited."""
    return [
        Fact(
            kind=FactKind.STATEMENT,
            text=fact.text,
            title=document_name(source.passage),
            passage=source,
            document=source.passage.document_id,
        )
        for source in fact.sources[:MAX_SOURCES]
    ]
