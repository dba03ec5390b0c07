"""Builds the answer model's messages.

In: an `Assignment` (the plan and what its tools found) and the prompts. Out: messages in an order that suits prompt
caching (the constant system prompt, the dialogue, then materials and question), and the numbers of the facts. Pure.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from functools import cached_property, partial

from prompts.loader import Prompts
from rag.answering.marks import ParsedAnswer, read
from rag.dialogue import fit_window, likest, size_of
from rag.excerpts import near
from rag.execution.facts import Fact, FactKind, FactsPayload
from rag.execution.facts_block import build_block
from rag.planning.plan import AnswerStyle, Limits, RenderStyle
from rag.ports import Dialogue
from rag.records import AnswerKind, ChatMessage, Exchange, SmallTalk
from rag.words import estimate_tokens, plain, without_headings

# The dialogue's share of the prompt without rules and question, where facts could use all of it; what they leave is the
# dialogue's, too. Seed 3's TokenBudget gives it 0 to 50 %, growing over the steps of a plan; a single step takes the
# middle.
_HISTORY_SHARE = 0.25
_EARLIER_SHARE = 0.5  # of the dialogue's room: for the summary and what is recalled, as far as it is needed
EXCERPT_CHARS = 600  # of either side of an exchange of long ago
DOUBT = "The question may be about another subject than the conversation so far: use that only where it answers."
_FENCE = "material-00000000"  # as long as every fence word, for estimates


def today_utc() -> date:
    """The day in UTC: people of one base live in several time zones, and a bot does not know theirs."""
    return datetime.now(UTC).date()


@dataclass(frozen=True, kw_only=True)
class Assignment:
    """One question with everything that its answer may use."""

    question: str  # as it was asked, normalised
    understood: str = ""  # the standalone question, without need of the dialogue; empty when it is the same
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
    """The messages to the model, and what they were made from."""

    assignment: Assignment
    today: date
    messages: tuple[ChatMessage, ...]
    facts: tuple[Fact, ...]  # that may be cited: number n is facts[n - 1]
    said: tuple[str, ...] = ()  # the text of each fact in the prompt, then the text about gaps

    @property
    def asked(self) -> str:
        """In the person's words, and in full."""
        return f"{self.assignment.question}\n{self.assignment.understood}"

    @cached_property
    def names(self) -> frozenset[str]:
        """Of the documents, as `plain` has them; none where documents are listed: there they are the answer."""
        if any(fact.kind is FactKind.DOCUMENT for fact in self.facts):
            return frozenset()
        passages = [fact.passage.passage for fact in self.facts if fact.passage]
        named = [name for each in passages for name in (each.title, each.source_identifier, each.name)]
        return frozenset(filter(None, map(plain, (*named, *(name.partition("://")[2] for name in named)))))

    def read(self, raw: str, *, complete: bool) -> ParsedAnswer:
        """What the model wrote, parsed. Without facts it is general knowledge, whatever it claims."""
        reading = read(raw, passages=len(self.facts), complete=complete, names=self.names)
        is_claimed = reading.kind is AnswerKind.FROM_BASE and not self.facts
        return replace(reading, kind=AnswerKind.GENERAL) if is_claimed else reading


def build_prompt(assignment: Assignment, *, prompts: Prompts, settings: AnswerSettings, today: date) -> AnswerPrompt:
    """Messages within `settings.prompt_tokens`, provided that rules and question alone fit."""
    rules = prompts.answer.fill(
        language=prompts.languages[settings.language], outside=prompts.outside[settings.general_knowledge]
    )
    asked, dialogue = assignment.question, assignment.dialogue
    if assignment.understood not in ("", asked):
        asked = f"{asked}\n(In full: {assignment.understood})"
    form = _form(assignment, prompts)
    frame = sum(map(estimate_tokens, (rules, prompts.question.text, asked, form)))
    left = max(settings.prompt_tokens - frame, 0)
    left -= estimate_tokens(_gaps(assignment, _FENCE))
    needed = estimate_tokens(dialogue.summary) + sum(map(size_of, (*dialogue.recalled, *dialogue.window)))
    reserved = min(needed, int(left * _HISTORY_SHARE))
    block = build_block(assignment.facts.facts, tokens=left - reserved, about=asked)
    room = max(left - estimate_tokens(block.text) - len(block.facts), reserved)
    window, earlier = _dialogue(assignment, prompts, pairs=settings.window_pairs, tokens=room)
    gaps = _gaps(assignment, block.fence or _FENCE)
    materials = "\n\n".join(filter(None, (block.text, gaps)))
    doubt = f"{DOUBT}\n\n" if assignment.doubtful and dialogue else ""
    before = earlier + doubt + (f"{gaps}\n\n" if gaps and not block.facts else "")
    day = today.isoformat()
    if block.facts:
        last = prompts.question.fill(fence=block.fence, materials=materials, today=day, question=asked, form=form)
    else:
        alone = prompts.question_alone if assignment.searched else prompts.question_dialogue
        last = alone.fill(today=day, question=asked)
    messages = (ChatMessage(role="system", content=rules), *window, ChatMessage(role="user", content=before + last))
    said = (*block.said, assignment.gaps) if gaps else block.said
    return AnswerPrompt(assignment=assignment, today=today, messages=messages, facts=block.facts, said=said)


def _gaps(assignment: Assignment, fence: str) -> str:
    """The gaps as data, like the materials but without a number: the answer may mention them but not cite them."""
    if not assignment.gaps:
        return ""
    return f"<{fence}>\nWhat the program did not find or do:\n{assignment.gaps}\n</{fence}>"


def _dialogue(
    assignment: Assignment, prompts: Prompts, *, pairs: int, tokens: int
) -> tuple[tuple[ChatMessage, ...], str]:
    """The window, and what goes before the question: the summary, and older exchanges most like the question."""
    dialogue = assignment.dialogue
    messages, left_out = fit_window(dialogue.window, pairs=pairs, tokens=tokens)
    if not (dialogue.summary or dialogue.recalled or left_out):
        return messages, ""
    older = _older(dialogue, left_out, assignment)
    room = estimate_tokens(prompts.earlier.text) + sum(estimate_tokens(part) + 1 for part in older)
    needed = min(room, int(tokens * _EARLIER_SHARE))
    messages, left_out = fit_window(dialogue.window, pairs=pairs, tokens=tokens - needed)
    left = tokens - sum(estimate_tokens(message.content) for message in messages)
    left -= estimate_tokens(prompts.earlier.text)
    kept: list[str] = []
    for part in _older(dialogue, left_out, assignment):
        if (size := estimate_tokens(part) + 1) <= left:
            kept.append(part)
            left -= size
    earlier = without_headings("\n\n".join(kept))
    return messages, prompts.earlier.fill(earlier=earlier) + "\n\n" if kept else ""


def _older(dialogue: Dialogue, left_out: Sequence[Exchange], assignment: Assignment) -> list[str]:
    """The summary, then recalled exchanges and those left out of the window, the likest first."""
    question = f"{assignment.question} {assignment.understood}"
    best = likest((*dialogue.recalled, *left_out), question)
    shorter = partial(near, about=question, limit=EXCERPT_CHARS)
    told = dict.fromkeys((*best, *dialogue.recalled))
    parts = (dialogue.summary, *(f"Person: {shorter(each.question)}\nYou: {shorter(each.answer)}" for each in told))
    return [part for part in parts if part]


def _form(assignment: Assignment, prompts: Prompts) -> str:
    limits = assignment.limits
    form = prompts.forms[assignment.style.value].format(
        items=limits.max_items, groups=limits.max_groups, paragraphs=limits.max_paragraphs
    )
    if left := assignment.facts.left_out:
        total = limits.skip + assignment.facts.listed + left
        form += " " + prompts.left_out.fill(left=left, total=total)
    return form
