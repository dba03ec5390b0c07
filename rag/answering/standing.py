"""What an answer stands on: its kind and its sources, by what the model marked and what was found.

In: a model's text as it was read, and the prompt that it was written from. Out: the same with what the model left open,
and citations. It judges no words; that is `postcheck`'s.
"""

from dataclasses import replace

from rag.answering.citations import cite, supports, without_references
from rag.answering.marks import Reading, read
from rag.answering.prompt import AnswerPrompt
from rag.execution.facts import FactKind
from rag.records import AnswerKind, Citation


def understood(raw: str, prompt: AnswerPrompt) -> Reading:
    """A whole answer without the references that the model listed below it; where it marked nothing else, these are
    its marks."""
    own = read(without_references(raw, prompt.facts), passages=len(prompt.facts), complete=True)
    if not own.used:
        own = replace(read(raw, passages=len(prompt.facts), complete=True), text=own.text)
    return sober(own, prompt)


def sober(reading: Reading, prompt: AnswerPrompt) -> Reading:
    """Where nothing was found, nothing can be from the base, whatever the model says."""
    claimed = reading.kind is AnswerKind.FROM_BASE and not prompt.facts
    return replace(reading, kind=AnswerKind.GENERAL) if claimed else reading


def settle(reading: Reading, prompt: AnswerPrompt, question: str) -> Reading:
    """An answer that is said to be from the base, or says nothing of it, but marks nothing.

    Its sources are the facts whose words it repeats; where there are none, it is general knowledge: a false label on a
    true answer costs less than a source that does not hold it.
    """
    if reading.used or reading.kind in (AnswerKind.GENERAL, AnswerKind.CONVERSATION):
        return reading
    used = supports(reading.text, question, prompt.facts)
    return replace(reading, kind=AnswerKind.FROM_BASE if used else AnswerKind.GENERAL, used=used)


def is_held_to_facts(reading: Reading, prompt: AnswerPrompt) -> bool:
    """Also a conversation with materials at hand: under its sign an answer from them would have no sources, either."""
    return reading.kind is AnswerKind.FROM_BASE or (reading.kind is AnswerKind.CONVERSATION and bool(prompt.facts))


def citations_of(reading: Reading, prompt: AnswerPrompt, question: str) -> tuple[Citation, ...]:
    """A passage cited for several facts is one source. Lists of documents and worked-out values name their own."""
    if reading.kind is not AnswerKind.FROM_BASE:
        return ()
    used = [prompt.facts[number - 1] for number in reading.used]
    about = f"{question}\n{reading.text}"
    cited = [
        cite(fact.passage.passage, about=about if fact.kind is FactKind.PASSAGE else fact.text)
        for fact in used
        if fact.passage
    ]
    return tuple({citation.chunk_id: citation for citation in cited}.values())
