"""The result of a reading, as a tool's payload.

In: the groups' ledgers, and the synthesis when there was one. Out: `FactsPayload`: the synthesised answer, conflicts,
and each fact with its passages. Pure.
"""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from domain.ids import DocumentId
from prompts.wordings import Wordings
from rag.answering.numbers import written_numbers
from rag.execution.facts import Fact, FactKind, FactsPayload
from rag.iterative.conflicts import conflict_facts, dated, document_name, in_words
from rag.iterative.grounding import numbers_in
from rag.iterative.ledger import KnownFact, Ledger
from rag.iterative.merging import merge_conflicts, merge_facts
from rag.iterative.reading import Reading
from rag.records import Conflict

MAX_SOURCES = 3  # of one fact: more citations do not make an answer more certain
HALF_COVERED = 0.5  # coverage when there are facts, but no model has said that they answer the question


def merged(reading: Reading) -> Ledger:
    """What all groups know: each fact once, with a new id, and every conflict."""
    facts = merge_facts(reading.ledgers, order_of(reading))
    answers = answers_of(reading)
    return Ledger(
        facts=facts,
        answer=answers[0] if len(answers) == 1 else "",
        can_answer=any(ledger.can_answer for ledger in reading.ledgers),
        conflicts=merge_conflicts(reading.ledgers),
        numbered=len(facts),
    )


def answers_of(reading: Reading) -> list[str]:
    """The answers of the groups that found something."""
    return [ledger.answer for ledger in reading.ledgers if ledger.facts]


def order_of(reading: Reading) -> dict[DocumentId, int]:
    """Document -> its rank for the question."""
    return {card.id: place for place, card in enumerate(reading.inquiry.cards)}


def payload_of(reading: Reading, known: Ledger, *, words: Wordings) -> FactsPayload:
    """The payload of `known`, whose facts are in their final order and whose answer is the synthesis."""
    came = {card.id: card.created_at for card in reading.inquiry.cards}
    conflicts = tuple(in_words(each, words) for each in dated(known.conflicts, came))
    said = _answer(known.answer, known.facts, conflicts, question=reading.inquiry.question, heading=words.summary)
    disagreements = (fact for each in conflicts for fact in conflict_facts(each, words))
    statements = (statement for fact in known.facts for statement in _statements(fact))
    is_known = bool(known.facts or conflicts)
    return FactsPayload(
        facts=(*said, *disagreements, *_uncompared(known, words), *statements),
        coverage=(1.0 if known.can_answer else HALF_COVERED) if is_known else 0.0,
        documents=replace(reading.documents, uncompared=known.uncompared),
        conflicts=conflicts,
    )


def _uncompared(known: Ledger, words: Wordings) -> tuple[Fact, ...]:
    """A remark on the facts; it has no title, so it does not count as one of them."""
    text = words.uncompared.format(count=known.uncompared)
    return (Fact(kind=FactKind.VALUE, text=text),) if known.uncompared else ()


def _answer(
    answer: str, facts: Sequence[KnownFact], conflicts: Sequence[Conflict], *, question: str, heading: str
) -> tuple[Fact, ...]:
    """The synthesis as a guide for the model that writes the answer, only if every number in it is in a fact. It has no
    source, so that it cannot be cited, and no title, so that it is never shown as it is."""
    sides = [claim.value for conflict in conflicts for claim in conflict.claims]
    if not facts or not answer:
        return ()
    known = frozenset[Decimal]().union(*map(numbers_in, (question, *(fact.text for fact in facts), *sides)))
    if not all(number.is_among(known) for number in written_numbers(answer)):
        return ()
    return (Fact(kind=FactKind.VALUE, text=f"{heading}: {answer}"),)


def _statements(fact: KnownFact) -> list[Fact]:
    """One for each of the first MAX_SOURCES sources, so that each of them can be cited."""
    return [
        Fact(
            kind=FactKind.STATEMENT,
            text=fact.text,
            title=document_name(source.passage),
            passage=source,
            document=source.passage.document_id,
            item=f"{fact.id}: {fact.text}" if len(fact.sources) > 1 else "",
        )
        for source in fact.sources[:MAX_SOURCES]
    ]
