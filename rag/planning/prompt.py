"""Builds the planner's messages.

In: a question, the dialogue, the entities and documents that it may mean, the available tools. Out: messages; the
constant rules come first so that they can be cached. Everything that people and documents have said stands between tags
that no text can close. Pure.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date

from prompts.loader import PlannerQuestion, PlannerRules, Prompts
from rag.dialogue import likest
from rag.planning.mending import AnyTool, alias_of, name_of
from rag.planning.plan import PlannedEntity
from rag.ports import Dialogue
from rag.records import ChatMessage, DocumentMatch, Exchange
from rag.retrieval.alike import labels
from rag.words import estimate_tokens, without_headings

ANSWER_CHARS = 600  # of an earlier answer: its subject matters here, not every detail
ANSWER_END_CHARS = 120  # of its end: the last line may say how much was left out
RECALLED = 2  # exchanges of long ago; the writer sees more of them
NAME_CHARS = 90  # of a document's name
TELLING_CHARS = 80  # of what its opening says and the others' do not
_FENCE_DIGITS = 8


@dataclass(frozen=True, kw_only=True)
class KnownBefore:
    """What is known before planning."""

    dialogue: Dialogue = field(default_factory=Dialogue)
    entities: Sequence[PlannedEntity] = ()
    documents: Sequence[DocumentMatch] = ()
    total: int = 0  # documents of the base


class PlannerPrompt:
    """The planner's messages for one installation; its rules are filled once."""

    def __init__(
        self,
        prompts: Prompts,
        *,
        tools: Sequence[AnyTool],
        policy: str,
        max_calls: int,
        threshold: float,
        dialogue_tokens: int,
    ) -> None:
        """`policy` is a value of SEARCH_POLICY; the dialogue takes at most `dialogue_tokens`."""
        rules = PlannerRules(
            max_calls=max_calls,
            threshold=threshold,
            policy=prompts.policies[policy],
            tools="\n\n".join(f"{tool.name}: {tool.about}" for tool in tools if tool.is_offered),
        )
        self._rules = ChatMessage(role="system", content=prompts.planner.fill(rules))
        self._question = prompts.planner_question
        self._dialogue_tokens = dialogue_tokens

    def messages(self, question: str, known: KnownBefore, *, today: date) -> tuple[ChatMessage, ...]:
        """Rules, then one message with the dialogue, the entities and documents that may be meant, and the question."""
        parts = {
            "dialogue so far": _dialogue_text(known.dialogue, question, self._dialogue_tokens),
            "known entities": "\n".join(f"{each.id} ({each.name})" for each in known.entities),
            f"documents ({len(known.documents)} of {known.total})": "\n".join(
                _document_line(place, match, label)
                for place, (match, label) in enumerate(zip(known.documents, _labels(known.documents), strict=True))
            ),
        }
        fence = _fence("\0".join((question, *parts.values())))
        told = "".join(
            f"<{fence} {name}>\n{without_headings(text)}\n</{fence}>\n\n" for name, text in parts.items() if text
        )
        filled = PlannerQuestion(known=told, today=today.isoformat(), fence=fence, question=question)
        return (self._rules, ChatMessage(role="user", content=self._question.fill(filled)))


def _labels(documents: Sequence[DocumentMatch]) -> tuple[str, ...]:
    return labels([each.opening for each in documents], characters=TELLING_CHARS)


def _document_line(place: int, match: DocumentMatch, label: str) -> str:
    """«d1: 117.docx; Договор поставки, 2025-03-01, 4 p.; 117 · Лазурит» Names are people's text: one line each."""
    title, name = (" ".join(each.split())[:NAME_CHARS] for each in (match.title, name_of(match)))
    told = (
        title if title and title != name else match.source_type.value,
        match.published_at.date().isoformat() if match.published_at else "",
        f"{match.pages} p." if match.pages else "",
    )
    about = "; ".join(filter(None, (", ".join(filter(None, told)), label)))
    return f"{alias_of(place)}: {name or title}; {about}"


def _dialogue_text(dialogue: Dialogue, question: str, tokens: int) -> str:
    """Summary, recalled exchanges, then the newest exchanges that fit, oldest first; empty for a new dialogue."""
    if not dialogue:
        return ""
    left = tokens - estimate_tokens(dialogue.summary)
    kept: list[str] = []
    for exchange in reversed(dialogue.window):
        text = _exchange_text(exchange)
        left -= estimate_tokens(text)
        if left < 0:
            break
        kept.append(text)
    parts = [
        f"Summary of what was said before: {dialogue.summary}" if dialogue.summary else "",
        *(f"Said long ago:\n{_exchange_text(exchange)}" for exchange in likest(dialogue.recalled, question)[:RECALLED]),
        *reversed(kept),
    ]
    return "\n\n".join(filter(None, parts))


def _exchange_text(exchange: Exchange) -> str:
    return f"Person: {_shortened(exchange.question)}\nBaza: {_shortened(exchange.answer)}"


def _shortened(text: str) -> str:
    if len(text) <= ANSWER_CHARS:
        return text
    return f"{text[: ANSWER_CHARS - ANSWER_END_CHARS].rstrip()} … {text[-ANSWER_END_CHARS:].lstrip()}"


def _fence(content: str) -> str:
    """A delimiter that nobody can put into the texts on purpose: a hash of them all."""
    digest = hashlib.sha256(content.encode(errors="replace")).hexdigest()
    return f"said-{digest[:_FENCE_DIGITS]}"
