"""Decides the kind and the sources of an answer, by the model's marks and by what was found.

In: a model's parsed text, and its prompt. Out: the same with kind and sources filled in where the model left them open,
and citations. It does not judge the text; `postcheck` does.
"""

from dataclasses import replace

from rag.answering.citations import cite, supports, without_references
from rag.answering.marks import Reading, read
from rag.answering.prompt import AnswerPrompt
from rag.execution.facts import FactKind
from rag.records import AnswerKind, Citation


def understood(raw: str, prompt: AnswerPrompt) -> Reading:
    """A complete answer without the list of references below it. If the answer has no other marks, the references count
    as its marks."""
    own = read(without_references(raw, prompt.facts), passages=len(prompt.facts), complete=True)
    if not own.used:
        own = replace(read(raw, passages=len(prompt.facts), complete=True), text=own.text)
    return sober(own, prompt)


def sober(reading: Reading, prompt: AnswerPrompt) -> Reading:
    """Without facts an answer cannot be from the base, whatever the model claims: it becomes general knowledge."""
    claimed = reading.kind is AnswerKind.FROM_BASE and not prompt.facts
    return replace(reading, kind=AnswerKind.GENERAL) if claimed else reading


def settle(reading: Reading, prompt: AnswerPrompt, question: str) -> Reading:
    """Settles an answer without marks that claims to be from the base, or has no sign.

    Its sources are the facts whose words it repeats. If there are none, it is general knowledge: a wrong label on a
    correct answer costs less than a source that does not support it.
    """
    if reading.used or reading.kind in (AnswerKind.GENERAL, AnswerKind.CONVERSATION):
        return reading
    used = supports(reading.text, question, prompt.facts)
    return replace(reading, kind=AnswerKind.FROM_BASE if used else AnswerKind.GENERAL, used=used)


def is_held_to_facts(reading: Reading, prompt: AnswerPrompt) -> bool:
    """Whether the facts must support the answer: one from the base, and also a conversation when there are facts, since
    an answer from them might be given under that sign without sources."""
    return reading.kind is AnswerKind.FROM_BASE or (reading.kind is AnswerKind.CONVERSATION and bool(prompt.facts))


def citations_of(reading: Reading, prompt: AnswerPrompt, question: str) -> tuple[Citation, ...]:
    """The sources of an answer from the base. A passage cited for several facts is one source; for facts other than
    passages, the quote is chosen by the fact's own text."""
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
