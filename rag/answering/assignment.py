"""What the answer model is to do in one turn.

In: the plan and what its tools found. Out: a frozen record. It decides nothing.
"""

from dataclasses import dataclass, field

from rag.dialogue.records import Dialogue
from rag.execution.facts import FactsPayload
from rag.planning.plan import AnswerStyle, Limits, RenderStyle
from rag.records import SmallTalk


@dataclass(frozen=True, kw_only=True)
class Assignment:
    """One question with everything that its answer may stand on."""

    question: str  # as it was asked, normalised
    understood: str = ""  # the same, understandable without the dialogue; empty when it is no different
    subject: str = ""  # its words without those that only ask; empty when nobody has told them apart
    small_talk: SmallTalk | None = None  # it asks nothing, and no planner has said what it wants instead
    facts: FactsPayload = field(default_factory=FactsPayload)
    gaps: str = ""  # what steps were after and did not bring
    searched: bool = True  # False: the plan called no tool, the dialogue alone must do
    dialogue: Dialogue = field(default_factory=Dialogue)
    style: RenderStyle = RenderStyle.SHORT
    answer_style: AnswerStyle = AnswerStyle.NATURAL_RU
    limits: Limits = field(default_factory=Limits)
    hidden_ids: tuple[str, ...] = ()  # of entities, which no answer may show
