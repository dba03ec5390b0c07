"""Summarises older steps with a model where code would leave their facts out (seed 3, "Hierarchical Summarization").

In: finished steps that the next one does not ask for, a budget in tokens. Out: their summary within the budget: the
last steps by code, the older ones by the model. The summary by code is the fallback when the model fails, when the
limits forbid the call, or when the model's notes are too long or hold a number that is in no fact.
"""

import hashlib
from collections.abc import Sequence

import structlog

from prompts.loader import Prompts
from prompts.records import StepsSoFar, StepsSoFarRules
from rag.errors import ModelError
from rag.execution.run import Run
from rag.execution.step_context import WINDOW, Finished, Summary, summary
from rag.extraction.calls import Allowance, size_of
from rag.numbers import numbers
from rag.ports import ChatModel
from rag.records import ChatMessage
from rag.tokens import estimate_tokens

FEWEST_TOKENS = 80  # for notes; with fewer they would hold no more than code's one line per step
SOURCE_TOKENS = 6_000  # of the text to summarise, in one call
SOURCE_CHARS = (1_200, 600, 160)  # of each fact in it, the most that fits: the beginning alone seldom has the answer
REPLY_TOKENS = 1_000  # what a reply may take besides
SPARED_CALLS = 3  # reserved in the turn's limit for the step itself and the answer with its retry
MOST_CALLS = 2  # per turn
TOKENS_A_WORD = 4  # for Russian, with some margin

log = structlog.get_logger()


class StepSummariser:
    """Serves any number of turns concurrently; each turn's `Run` holds its limits."""

    def __init__(self, model: ChatModel, prompts: Prompts) -> None:
        self._model = model
        self._rules = prompts.steps_so_far
        self._task = prompts.steps_so_far_task

    async def tell(self, finished: Sequence[Finished], *, question: str, tokens: int, run: Run) -> str:
        """A summary of at most `tokens`. Never raises ModelError."""
        plain = summary(finished, tokens=tokens)
        older, latest = finished[:-WINDOW], finished[-WINDOW:]
        if not plain.bare or not any(each.payload.found for each in older):
            return plain.text
        recent = summary(latest, tokens=tokens // 2).text
        notes = await self._notes(older, question, tokens - estimate_tokens(recent) - 1, run)
        told = "\n".join(filter(None, (notes, recent)))
        return told if notes and estimate_tokens(told) <= tokens else plain.text

    async def _notes(self, older: Sequence[Finished], question: str, tokens: int, run: Run) -> str:
        """The model's notes; empty when there are none that can be used."""
        if tokens < FEWEST_TOKENS:
            return ""
        source = _source(older)
        messages = self._messages(source, question, words=tokens // TOKENS_A_WORD)
        allowance = Allowance(run=run, reply_tokens=REPLY_TOKENS, spared_calls=SPARED_CALLS)
        size = size_of(messages)
        if run.summaries >= MOST_CALLS or allowance.refusal(size):
            return ""  # not recorded as refused: code summarises the steps instead
        run.summaries += 1
        try:
            with allowance.calling(size):
                written = (await self._model.complete(messages)).strip()
        except ModelError as error:
            log.warning("steps.not_summed_up", reason=type(error).__name__)
            return ""
        is_sound = numbers(written) <= numbers(f"{source.text}\n{question}") and estimate_tokens(written) <= tokens
        log.info("steps.summed_up", steps=len(older), used=is_sound)
        return written if is_sound else ""

    def _messages(self, source: Summary, question: str, *, words: int) -> tuple[ChatMessage, ...]:
        digest = hashlib.sha256(f"{question}\0{source.text}".encode(errors="replace")).hexdigest()
        filled = StepsSoFar(fence=f"steps-{digest[:8]}", question=question, steps=source.text)
        return (
            ChatMessage(role="system", content=self._rules.fill(StepsSoFarRules(words=words))),
            ChatMessage(role="user", content=self._task.fill(filled)),
        )


def _source(steps: Sequence[Finished]) -> Summary:
    """All facts of all steps, each cut to the largest of SOURCE_CHARS with which all fit."""
    tellings = (summary(steps, tokens=SOURCE_TOKENS, window=len(steps), chars=chars) for chars in SOURCE_CHARS)
    told = next(tellings)
    while told.bare and (shorter := next(tellings, None)):
        told = shorter
    return told
