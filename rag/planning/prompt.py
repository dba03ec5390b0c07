"""Builds the messages that a plan is made from.

In: a question, the dialogue, the entities that it may name, the tools and intents there are. Out: messages, the
unchanging rules first so that they can be cached. Pure.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from prompts.intents import Intent
from prompts.loader import Prompts
from prompts.records import PlannerQuestion, PlannerRules
from rag.planning.plan import PlannedEntity
from rag.planning.wire import AnyTool
from rag.records import ChatMessage, Exchange
from rag.tokens import estimate_tokens

ANSWER_CHARS = 600  # of an earlier answer: what it was about matters here, not all that it said
_FENCE_DIGITS = 8


@dataclass(frozen=True, kw_only=True)
class Dialogue:
    """What the planner may know of what was said before."""

    summary: str = ""  # of what has left the window
    window: tuple[Exchange, ...] = ()  # oldest first
    recalled: tuple[Exchange, ...] = ()  # older exchanges that seem to be about the same

    def __bool__(self) -> bool:
        """False at the beginning of a dialogue."""
        return bool(self.summary or self.window or self.recalled)


def planner_rules(
    prompts: Prompts,
    *,
    intents: Mapping[str, Intent],
    tools: Sequence[AnyTool],
    policy: str,
    max_calls: int,
    threshold: float,
) -> ChatMessage:
    """The system message; `policy` is a value of SEARCH_POLICY."""
    rules = PlannerRules(
        max_calls=max_calls,
        threshold=threshold,
        policy=prompts.policies[policy],
        intents="\n".join(f"- {intent.name}: {intent.about}" for intent in intents.values()),
        tools="\n\n".join(f"## {tool.name}\n{tool.about}" for tool in tools),
    )
    return ChatMessage(role="system", content=prompts.planner.fill(rules))


def planner_messages(
    prompts: Prompts,
    rules: ChatMessage,
    *,
    question: str,
    dialogue: Dialogue,
    entities: Sequence[PlannedEntity],
    today: date,
    tokens: int,
) -> tuple[ChatMessage, ...]:
    """Rules, then one message with the dialogue (at most `tokens` of it), the entities and the question."""
    filled = PlannerQuestion(
        dialogue=_dialogue_text(dialogue, tokens),
        entities="\n".join(f"- {each.id} ({each.type}): {each.name}" for each in entities) or "None.",
        today=today.isoformat(),
        fence=_fence(question),
        question=question,
    )
    return (rules, ChatMessage(role="user", content=prompts.planner_question.fill(filled)))


def _dialogue_text(dialogue: Dialogue, tokens: int) -> str:
    """The newest exchanges that fit, then what was said before them; nothing for a new dialogue."""
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
        *(f"Said long ago:\n{_exchange_text(exchange)}" for exchange in dialogue.recalled),
        *reversed(kept),
    ]
    return "# Dialogue so far (data)\n\n" + "\n\n".join(filter(None, parts)) + "\n\n"


def _exchange_text(exchange: Exchange) -> str:
    answer = exchange.answer if len(exchange.answer) <= ANSWER_CHARS else exchange.answer[:ANSWER_CHARS].rstrip() + "…"
    return f"Person: {exchange.question}\nBaza: {answer}"


def _fence(question: str) -> str:
    """A word that the question cannot have been written to contain."""
    digest = hashlib.sha256(question.encode(errors="replace")).hexdigest()
    return f"question-{digest[:_FENCE_DIGITS]}"
