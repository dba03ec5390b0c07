"""Builds the answer model's messages.

In: an `Assignment` (the plan and what its tools found) and the prompts. Out: messages in an order that suits prompt
caching (the constant system prompt, the dialogue, then materials and question), and the numbers of the facts. Pure.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date

from prompts.loader import Prompts
from prompts.records import AnswerRules, Earlier, QuestionAlone, QuestionFromDialogue, QuestionWithMaterials
from rag.answering.facts_block import FactsBlock, build_block
from rag.dialogue.records import Dialogue
from rag.dialogue.window import window_messages
from rag.execution.facts import Fact, FactsPayload
from rag.planning.plan import AnswerStyle, Limits, RenderStyle
from rag.records import ChatMessage, SmallTalk
from rag.tokens import estimate_tokens

# The dialogue's share of the prompt without rules and question. Seed 3's TokenBudget gives it 0 to 50 %, growing over
# the steps of a plan; a single step takes the middle.
_HISTORY_SHARE = 0.25
DOUBT = "The question may be about another subject than the conversation so far: use that only where it answers."
_FENCE = "material-00000000"  # as long as every fence word, for estimates


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
    doubtful: bool = False  # the dialogue may be about another subject
    style: RenderStyle = RenderStyle.SHORT
    answer_style: AnswerStyle = AnswerStyle.NATURAL_RU
    limits: Limits = field(default_factory=Limits)
    hidden_ids: tuple[str, ...] = ()  # ids of entities, which no answer may show


@dataclass(frozen=True, kw_only=True)
class AnswerSettings:
    """Settings of answers, for all questions of an installation."""

    language: str  # ru, en or auto
    general_knowledge: bool
    window_pairs: int
    prompt_tokens: int
    rules: bool = True  # whether answers are held to the rules: ANSWER_CHECK is not `off`


@dataclass(frozen=True, kw_only=True)
class AnswerPrompt:
    """The messages to the model, and the facts that it may cite."""

    messages: tuple[ChatMessage, ...]
    facts: tuple[Fact, ...]  # number n is facts[n - 1]
    said: tuple[str, ...] = ()  # the text of each fact in the prompt, then the text about gaps

    @property
    def rules(self) -> str:
        """The system prompt, which nobody should see."""
        return self.messages[0].content


def build_prompt(assignment: Assignment, *, prompts: Prompts, settings: AnswerSettings, today: date) -> AnswerPrompt:
    """Messages within `settings.prompt_tokens`, provided that rules and question alone fit."""
    rules = prompts.answer.fill(
        AnswerRules(language=prompts.languages[settings.language], outside=prompts.outside[settings.general_knowledge])
    )
    asked = _asked(assignment)
    frame = sum(map(estimate_tokens, (rules, prompts.question.text, asked, _form(assignment, prompts))))
    left = max(settings.prompt_tokens - frame, 0)
    history_tokens = int(left * _HISTORY_SHARE)
    earlier = _earlier(assignment.dialogue, prompts, tokens=history_tokens // 2)
    window = window_messages(
        assignment.dialogue.window,
        pairs=settings.window_pairs,
        tokens=history_tokens - estimate_tokens(earlier),
    )
    spent = estimate_tokens(earlier) + sum(estimate_tokens(message.content) for message in window)
    block = build_block(assignment.facts.facts, tokens=left - spent - estimate_tokens(_gaps(assignment, _FENCE)))
    gaps = _gaps(assignment, block.fence) if block.facts else ""
    materials = "\n\n".join(filter(None, (block.text, gaps)))
    last = earlier + _doubt(assignment) + _last(assignment, asked, replace(block, text=materials), prompts, today)
    messages = (ChatMessage(role="system", content=rules), *window, ChatMessage(role="user", content=last))
    said = (*block.said, assignment.gaps) if gaps else block.said
    return AnswerPrompt(messages=messages, facts=block.facts, said=said)


def _gaps(assignment: Assignment, fence: str) -> str:
    """The gaps as data, like the materials but without a number: the answer may mention them but not cite them."""
    if not assignment.gaps:
        return ""
    return f"<{fence}>\nWhat the program did not find or do:\n{assignment.gaps}\n</{fence}>"


def _doubt(assignment: Assignment) -> str:
    return f"{DOUBT}\n\n" if assignment.doubtful and assignment.dialogue else ""


def _asked(assignment: Assignment) -> str:
    """The question, and its standalone form where that differs."""
    if not assignment.understood or assignment.understood == assignment.question:
        return assignment.question
    return f"{assignment.question}\n(In full: {assignment.understood})"


def _earlier(dialogue: Dialogue, prompts: Prompts, *, tokens: int) -> str:
    """The dialogue beyond its window: the summary, then recalled exchanges, as far as they fit into `tokens`."""
    parts: Sequence[str] = [
        dialogue.summary,
        *(f"Person: {each.question}\nYou: {each.answer}" for each in dialogue.recalled),
    ]
    kept: list[str] = []
    for part in filter(None, parts):
        tokens -= estimate_tokens(part)
        if tokens >= 0:
            kept.append(part)
    return prompts.earlier.fill(Earlier(earlier="\n\n".join(kept))) + "\n\n" if kept else ""


def _last(assignment: Assignment, asked: str, block: FactsBlock, prompts: Prompts, today: date) -> str:
    day = today.isoformat()
    if block.facts:
        form = _form(assignment, prompts)
        return prompts.question.fill(
            QuestionWithMaterials(fence=block.fence, materials=block.text, today=day, question=asked, form=form)
        )
    if assignment.searched:
        return prompts.question_alone.fill(QuestionAlone(today=day, question=asked))
    return prompts.question_dialogue.fill(QuestionFromDialogue(today=day, question=asked))


def _form(assignment: Assignment, prompts: Prompts) -> str:
    """The form with the plan's limits in it."""
    form, limits = prompts.forms[assignment.style.value], assignment.limits
    for name, value in (
        ("items", limits.max_items),
        ("groups", limits.max_groups),
        ("paragraphs", limits.max_paragraphs),
    ):
        form = form.replace(f"{{{name}}}", str(value))
    return form
