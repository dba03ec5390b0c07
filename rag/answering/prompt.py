"""Builds the messages that an answer is written from.

In: a question, the dialogue's window, ranked passages, prompts. Out: messages in the order that prompt caches like
(the unchanging system prompt, the dialogue, then materials and question), and which passage has which number. Pure.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from prompts.loader import Prompts
from prompts.records import AnswerRules, QuestionAlone, QuestionWithMaterials
from rag.answering.passages_block import PassagesBlock, build_block
from rag.dialogue.memory import window_messages
from rag.records import ChatMessage, Exchange, RankedPassage
from rag.tokens import estimate_tokens

# Of what the rules and the question leave: seed 3's TokenBudget gives the dialogue 0 to 50 %, growing over the steps of
# a plan; a single step stands in the middle.
_HISTORY_SHARE = 0.25


@dataclass(frozen=True, kw_only=True)
class AnswerSettings:
    """How answers are to be, for all questions of an installation."""

    language: str  # ru, en or auto
    general_knowledge: bool
    window_pairs: int
    prompt_tokens: int


@dataclass(frozen=True, kw_only=True)
class AnswerPrompt:
    """What the model is sent, and what it may cite."""

    messages: tuple[ChatMessage, ...]
    passages: tuple[RankedPassage, ...]  # number n is passages[n - 1]


def build_prompt(
    question: str,
    history: Sequence[Exchange],
    found: Sequence[RankedPassage],
    *,
    prompts: Prompts,
    settings: AnswerSettings,
    today: date,
) -> AnswerPrompt:
    """Messages within `settings.prompt_tokens`, as long as rules and question alone are within it."""
    rules = prompts.answer.fill(
        AnswerRules(language=prompts.languages[settings.language], outside=prompts.outside[settings.general_knowledge])
    )
    frame = estimate_tokens(rules) + estimate_tokens(prompts.question.text) + estimate_tokens(question)
    left = max(settings.prompt_tokens - frame, 0)
    history_tokens = int(left * _HISTORY_SHARE)
    window = window_messages(history, pairs=settings.window_pairs, tokens=history_tokens)
    spent = sum(estimate_tokens(message.content) for message in window)
    block = build_block(found, tokens=left - spent)
    last = ChatMessage(role="user", content=_last(question, block, prompts, today))
    return AnswerPrompt(messages=(ChatMessage(role="system", content=rules), *window, last), passages=block.passages)


def _last(question: str, block: PassagesBlock, prompts: Prompts, today: date) -> str:
    day = today.isoformat()
    if not block.passages:
        return prompts.question_alone.fill(QuestionAlone(today=day, question=question))
    return prompts.question.fill(
        QuestionWithMaterials(fence=block.fence, materials=block.text, today=day, question=question)
    )
