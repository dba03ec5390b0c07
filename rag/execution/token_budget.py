"""Divides a prompt between the history of earlier steps and this step's materials (seed 3, "Динамический бюджет").

In: the plan's progress, and the size of the fixed prompt. Out: tokens for history, materials and the reply. Pure.
"""

from dataclasses import dataclass

RESPONSE_TOKENS = 512
"""Seed 3's reserve for the reply; never given away."""


@dataclass(frozen=True, kw_only=True)
class StepBudget:
    """Tokens of one step; their sum is never over the whole budget, provided that the reply fits in it."""

    history: int  # the summary of earlier steps
    rag: int  # the materials
    response: int


@dataclass(frozen=True, kw_only=True)
class TokenBudget:
    """Seed 3's rule: early steps get more materials, late ones more history, half and half at the end."""

    total: int
    response: int = RESPONSE_TOKENS

    def allocate(self, *, step_number: int, total_steps: int, context_size: int) -> StepBudget:
        """`step_number` counts from 1; `context_size` is the rest of the prompt (rules, question), in tokens."""
        available = max(self.total - self.response - context_size, 0)
        progress = min(max(step_number / max(total_steps, 1), 0.0), 1.0)
        history = int(available * progress * 0.5)
        rag = int(available * (1.0 - progress * 0.5))
        return StepBudget(history=history, rag=min(rag, available - history), response=self.response)
