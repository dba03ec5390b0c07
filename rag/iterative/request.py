"""The messages of one call while documents are read: rules, then seed 0's request as JSON.

In: the ledger, the part that is read, a budget. Out: messages within the budget. Texts of documents are JSON strings,
whatever they contain. Facts that do not fit are not shown to the model, but stay in the ledger. Pure.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from prompts.loader import Prompts
from rag.iterative.conflicts import document_name
from rag.iterative.ledger import KnownFact, Ledger
from rag.iterative.parts import chunk_of
from rag.iterative.wire import Certainty, ComparisonRequest, IterationRequest, SynthesisRequest, WirePart
from rag.records import ChatMessage, Conflict, Passage
from rag.tokens import estimate_tokens

QUESTION_TOKENS = 500  # of a question of a thousand letters, the longest that the tools take
FRAME_TOKENS = 100  # field names, braces
SHARES = {"document": 0.55, "facts": 0.25, "answer": 0.1, "dialogue": 0.1}  # of the prompt without rules and question
_SURENESS = {certainty: rank for rank, certainty in enumerate(Certainty)}


@dataclass(frozen=True, kw_only=True)
class RequestBudget:
    """Tokens of each part of a request."""

    document: int
    facts: int
    answer: int
    dialogue: int

    @property
    def comparison(self) -> int:
        """For a comparison of facts, whose prompt has neither a document nor an answer."""
        return self.document + self.facts

    @classmethod
    def of(cls, prompt_tokens: int, prompts: Prompts) -> Self:
        """`prompt_tokens`: limit for the whole prompt."""
        rules = max(estimate_tokens(prompts.iterative), estimate_tokens(prompts.iterative_synthesis))
        task = estimate_tokens(prompts.iterative_task)
        left = max(prompt_tokens - rules - task - QUESTION_TOKENS - FRAME_TOKENS, 0)
        return cls(**{part: int(left * share) for part, share in SHARES.items()})


def iteration_messages(
    prompts: Prompts, budget: RequestBudget, ledger: Ledger, part: Sequence[Passage], *, question: str, dialogue: str
) -> tuple[ChatMessage, ...]:
    """The messages for one part of a document."""
    request = IterationRequest(
        task=prompts.iterative_task,
        question=question,
        document_context=tuple(chunk_of(passage) for passage in part),
        previous_facts=tuple(fact.wire() for fact in fitting(ledger.facts, budget.facts)),
        previous_answer=cut(ledger.answer, budget.answer),
        dialog_history=cut(dialogue, budget.dialogue),
    )
    return _messages(prompts.iterative, request)


def synthesis_messages(
    prompts: Prompts, budget: RequestBudget, known: Ledger, *, question: str, answers: Sequence[str]
) -> tuple[ChatMessage, ...]:
    """The messages for the synthesis. The document's share of the budget goes to the facts; at most half of that share
    goes to contradictions that the groups have found."""
    said = cut("\n\n".join(filter(None, answers)), budget.answer + budget.dialogue)
    told, taken = _contradictions(known.conflicts, budget.document // 2)
    shown = fitting(known.facts, budget.document + budget.facts - taken)
    request = SynthesisRequest(
        question=question,
        previous_answer=said,
        facts=tuple(fact.wire() for fact in shown),
        contradictions=told,
    )
    return _messages(prompts.iterative_synthesis, request)


def compared_anyway(budget: RequestBudget, known: Ledger, *, groups: int) -> tuple[KnownFact, ...]:
    """Facts that are in one prompt together anyway: those in the synthesis; or, where one group has read everything,
    those that fit into its last prompt."""
    _, taken = _contradictions(known.conflicts, budget.document // 2)
    return fitting(known.facts, budget.document + budget.facts - taken if groups > 1 else budget.facts)


def comparison_messages(prompts: Prompts, facts: Sequence[KnownFact], *, question: str) -> tuple[ChatMessage, ...]:
    """The messages for a comparison of facts that may contradict each other."""
    request = ComparisonRequest(question=question, facts=tuple(fact.wire() for fact in facts))
    return _messages(prompts.iterative_comparison, request)


def size_of(messages: Sequence[ChatMessage]) -> int:
    """Tokens of all messages."""
    return sum(estimate_tokens(message.content) for message in messages)


def fitting(facts: Sequence[KnownFact], tokens: int) -> tuple[KnownFact, ...]:
    """As many facts as fit, chosen by certainty, then the latest first; returned in their original order."""
    places = sorted(range(len(facts)), key=lambda place: (_SURENESS[facts[place].certainty], -place))
    kept: set[int] = set()
    for place in places:
        tokens -= estimate_tokens(facts[place].wire().model_dump_json()) + 1  # a comma
        if tokens < 0:
            break
        kept.add(place)
    return tuple(fact for place, fact in enumerate(facts) if place in kept)


def _contradictions(conflicts: Sequence[Conflict], tokens: int) -> tuple[tuple[str, ...], int]:
    """One line per conflict, as many as fit, and the tokens that they take."""
    told: list[str] = []
    taken = 0
    for conflict in conflicts:
        line = "; ".join(f"{document_name(each.passage.passage)}: {each.value}" for each in conflict.claims)
        size = estimate_tokens(line) + 2  # its quotation marks and comma
        if taken + size <= tokens:
            told.append(line)
            taken += size
    return tuple(told), taken


def cut(text: str, tokens: int) -> str:
    """The end of a text that fits: the end of an answer or a dialogue is its latest part."""
    while text and (size := estimate_tokens(text)) > tokens:
        text = text[-min(len(text) * tokens // size, len(text) - 1) :] if tokens > 0 else ""
    return text


def _messages(rules: str, request: WirePart) -> tuple[ChatMessage, ...]:
    return (
        ChatMessage(role="system", content=rules),
        ChatMessage(role="user", content=request.model_dump_json()),
    )
