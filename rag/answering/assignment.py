"""The input of the answer model in one turn.

In: the plan and what its tools found. Out: a frozen record. It decides nothing.
"""

from dataclasses import dataclass, field

from rag.dialogue.records import Dialogue
from rag.execution.facts import FactsPayload
from rag.planning.plan import AnswerStyle, Limits, RenderStyle
from rag.records import SmallTalk


@dataclass(frozen=True, kw_only=True)
class Assignment:
    """One question with everything that its answer may use."""

    question: str  # as it was asked, normalised
    understood: str = ""  # the standalone question, without need of the dialogue; empty when it is the same
    subject: str = ""  # the question without interrogatives; empty when it was not split
    small_talk: SmallTalk | None = None  # set when it asks nothing, and no plan says what it wants instead
    facts: FactsPayload = field(default_factory=FactsPayload)
    gaps: str = ""  # what steps looked for and did not find
    searched: bool = True  # False: the plan called no tool; the answer comes from the dialogue alone
    dialogue: Dialogue = field(default_factory=Dialogue)
    style: RenderStyle = RenderStyle.SHORT
    answer_style: AnswerStyle = AnswerStyle.NATURAL_RU
    limits: Limits = field(default_factory=Limits)
    hidden_ids: tuple[str, ...] = ()  # ids of entities, which no answer may show
