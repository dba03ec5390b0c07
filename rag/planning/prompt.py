"""Builds the planner's messages.

In: a question, the dialogue, the entities that it may name, the available tools and intents. Out: messages; the
constant rules come first so that they can be cached. Pure.
"""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import date

from prompts.intents import Intent
from prompts.loader import Prompts
from prompts.records import PlannerQuestion, PlannerRules
from rag.dialogue.records import Dialogue
from rag.planning.plan import PlannedEntity
from rag.planning.wire import AnyTool
from rag.records import ChatMessage, Exchange
from rag.tokens import estimate_tokens

ANSWER_CHARS = 600  # of an earlier answer: its subject matters here, not every detail
ANSWER_END_CHARS = 120  # of its end: the last line may say how much was left out
_FENCE_DIGITS = 8


class PlannerPrompt:
    """The planner's messages for one installation; its rules are filled once."""

    def __init__(
        self,
        prompts: Prompts,
        *,
        intents: Mapping[str, Intent],
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
            intents="\n".join(f"- {intent.name}: {intent.about}" for intent in intents.values()),
            tools="\n\n".join(f"## {tool.name}\n{tool.about}" for tool in tools if tool.is_offered),
        )
        self._rules = ChatMessage(role="system", content=prompts.planner.fill(rules))
        self._question = prompts.planner_question
        self._dialogue_tokens = dialogue_tokens

    def messages(
        self, question: str, dialogue: Dialogue, entities: Sequence[PlannedEntity], *, today: date
    ) -> tuple[ChatMessage, ...]:
        """Rules, then one message with the dialogue, the entities that may be meant, and the question."""
        filled = PlannerQuestion(
            dialogue=_dialogue_text(dialogue, self._dialogue_tokens),
            entities="\n".join(f"- {each.id} ({each.type}): {each.name}" for each in entities) or "None.",
            today=today.isoformat(),
            fence=_fence(question),
            question=question,
        )
        return (self._rules, ChatMessage(role="user", content=self._question.fill(filled)))


def _dialogue_text(dialogue: Dialogue, tokens: int) -> str:
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
        *(f"Said long ago:\n{_exchange_text(exchange)}" for exchange in dialogue.recalled),
        *reversed(kept),
    ]
    return "# Dialogue so far (data)\n\n" + "\n\n".join(filter(None, parts)) + "\n\n"


def _exchange_text(exchange: Exchange) -> str:
    return f"Person: {exchange.question}\nBaza: {_shortened(exchange.answer)}"


def _shortened(answer: str) -> str:
    if len(answer) <= ANSWER_CHARS:
        return answer
    beginning = answer[: ANSWER_CHARS - ANSWER_END_CHARS].rstrip()
    return f"{beginning} … {answer[-ANSWER_END_CHARS:].lstrip()}"


def _fence(question: str) -> str:
    """A delimiter that nobody can put into the question on purpose: a hash of the question."""
    digest = hashlib.sha256(question.encode(errors="replace")).hexdigest()
    return f"question-{digest[:_FENCE_DIGITS]}"
