"""Builds the answer model's messages.

In: an `Assignment` (the plan and what its tools found) and the prompts. Out: messages in an order that suits prompt
caching (the constant system prompt, the dialogue, then materials and question), and the numbers of the facts: each
stands between tags that no text can close. The same facts always give the same block. Pure.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime

from domain.documents import SourceType, title_beside
from domain.locator import Locator
from domain.visible import visible
from prompts.loader import (
    AnswerRules,
    Earlier,
    MoreItems,
    Prompts,
    QuestionAlone,
    QuestionFromDialogue,
    QuestionWithMaterials,
)
from rag.answering.grounding import near
from rag.dialogue import excerpt, fit_window, likest, size_of
from rag.execution.facts import Fact, FactKind, FactsPayload
from rag.planning.plan import AnswerStyle, Limits, RenderStyle
from rag.ports import Dialogue
from rag.records import ChatMessage, Exchange, Passage, SmallTalk
from rag.words import digest, estimate_tokens, person_name, without_headings

_FENCE_DIGITS = 4  # no text holds the word (`_fence`): they need not be many
_SOURCE_WORDS = {"note": "note", "file": "file", "link": "web page", "site": "web site", "path": "file"}
"""Kinds of sources as the prompt names them."""
_MEDIA = {
    **dict.fromkeys(("jpg", "jpeg", "png", "webp", "gif", "bmp", "tif", "tiff", "heic", "heif"), "photo"),
    **dict.fromkeys(("ogg", "oga", "opus"), "voice message"),
    **dict.fromkeys(("mp4", "mov", "m4v", "mkv", "webm", "avi"), "video"),
}
"""By file extension: a passage does not hold its medium."""
_SENT = {
    "photo": "photo",
    "voice": "voice message",
    "video_note": "video message",
    "video": "video",
    "audio": "recording",
}
_SENT_AS = re.compile(rf"({'|'.join(_SENT)})-\d+")  # names given by `bot.handlers.received`
_KIND_LINES = {
    FactKind.STATEMENT: "Statement about: {title}",
    FactKind.DOCUMENT: "Entry of the list of documents",
    FactKind.VALUE: "Worked out by the program",
    FactKind.DISAGREEMENT: "Documents disagree; this is what one of them says",
}
_WORDED = "Concluded by a model from: {title}"
_MIN_CUT_TOKENS = 50  # of a first passage that is cut; less is not worth a model call


@dataclass(frozen=True, kw_only=True)
class FactsBlock:
    """The text for the prompt, and the facts behind its numbers."""

    fence: str
    text: str
    facts: tuple[Fact, ...]  # number n is facts[n - 1]
    said: tuple[str, ...] = ()  # for each fact: what an answer that cites it is held against (`_said`)


def build_block(facts: Sequence[Fact], *, tokens: int, about: str = "") -> FactsBlock:
    """As many facts as fit into `tokens`, from the first on; the first one is cut rather than left out. What is said of
    a document above its first passage is not said again above the others. Of a passage that is not shown whole there is
    what is near `about`."""
    fence = _fence([_words(fact) for fact in facts])
    texts: list[str] = []
    placed: list[Fact] = []
    left = tokens
    for fact in facts:
        is_known = _is_known(fact, placed)
        heading = _heading(fact, is_known=is_known)
        fitting = fact if placed else _cut(fact, left - estimate_tokens(_tagged([*heading, "Text:", ""], fence)))
        sought = f"{about}\n{fact.sought}"
        words = near(_text(fitting), sought, limit=fact.shown) if about and fact.shown else _text(fitting)
        text = _tagged([*heading, "Text:", words], fence, number=len(placed) + 1)
        left -= estimate_tokens(text)
        if left < 0 and placed:
            break
        texts.append(text)
        placed.append(fitting)
    return FactsBlock(fence=fence, text="\n\n".join(texts), facts=tuple(placed), said=tuple(map(_said, placed)))


def _is_known(fact: Fact, before: Sequence[Fact]) -> bool:
    """Whether its document stands above already, and no other of that name."""
    if fact.passage is None:
        return False
    own, others = fact.passage.passage, [each.passage.passage for each in before if each.passage]
    same = [each for each in others if each.name == own.name]
    return bool(same) and all(each.document_id == own.document_id for each in same)


def _fence(told: Sequence[str]) -> str:
    """A hash of all text between the tags (names of people included), so that nobody can have written it into the text
    on purpose; checked nevertheless."""
    content = "\0".join(told)
    fence, salt = "", 0
    while not fence or fence in content:
        fence, salt = f"material-{digest(str(salt), content)[:_FENCE_DIGITS]}", salt + 1
    return fence


def _tagged(lines: Sequence[str], fence: str, *, number: int = 1) -> str:
    return "\n".join((f"<{fence} number={number}>", *lines, f"</{fence}>"))


def _words(fact: Fact) -> str:
    return "\n".join((*_heading(fact), "Text:", _text(fact)))


def _said(fact: Fact) -> str:
    """All that can carry a statement: the fact with the words of its passage; of what a model has worded, what that was
    drawn from."""
    if fact.drawn_from:
        return "\n\n".join(dict.fromkeys(map(_said, fact.drawn_from)))
    if fact.kind is FactKind.PASSAGE or fact.passage is None:
        return _words(fact)
    return f"{_words(fact)}\nIts passage:\n{_plain(fact.passage.passage.text)}"


def _text(fact: Fact) -> str:
    """The text; a line of it that looks like a heading is no heading of the prompt."""
    is_passage = fact.kind is FactKind.PASSAGE and fact.passage is not None
    return _plain(fact.passage.passage.text if is_passage and fact.passage else fact.text)


def _plain(text: str) -> str:
    return without_headings(visible(text).strip())


def _heading(fact: Fact, *, is_known: bool = False) -> list[str]:
    passage = fact.passage.passage if fact.passage else None
    line = _WORDED if fact.drawn_from and fact.title else _KIND_LINES.get(fact.kind, "")
    said = [line.format(title=_about(fact))] if line else []
    return said if passage is None else [*said, *_place(passage, is_known=is_known)]


def _about(fact: Fact) -> str:
    """«МедСовет (technologies used)»: a bare «RAG» would leave its relation to the project open."""
    return f"{_one_line(fact.title)} ({fact.aspect})" if fact.aspect else _one_line(fact.title)


def _place(passage: Passage, *, is_known: bool = False) -> list[str]:
    """The passage's document, its place there, its author, sender and date, as far as known."""
    locator = passage.locator
    before = {"Title": title_beside(passage.name, passage.title), "Begins": passage.opening}
    places = {
        "Page": _range(locator.page, locator.page_end),
        "Slide": str(locator.slide or ""),
        "Rows": _range(locator.row, locator.row_end),
        "Time": _time(locator),
        "File inside": locator.member or "",
        "Section": " > ".join(locator.headings),
    }
    people = {
        "Author": person_name(passage.author),
        "Sent by": person_name(passage.sender) if passage.sender != passage.author else "",
        "Date": passage.published_at.date().isoformat() if passage.published_at else "",
    }
    lines = places if is_known else {**before, **places, **people}
    named = [f"{name}: {_one_line(value)}" for name, value in lines.items() if value]
    source = "" if is_known else f" ({_source(passage)})"
    return [f"Document: {_one_line(passage.name)}{source}", *named]


def _source(passage: Passage) -> str:
    """The kind of source as the person sees it: a voice message is no file, and a link with spoken text is a video."""
    is_heard = passage.locator.start_s is not None
    if passage.source_type is SourceType.LINK and is_heard:
        return "video"
    ending = passage.source_identifier.rpartition(".")[2].casefold()
    if sent := _SENT_AS.fullmatch(passage.source_identifier):
        return _SENT[sent[1]]
    is_file = passage.source_type in (SourceType.FILE, SourceType.PATH)
    medium = _MEDIA.get(ending, "recording" if is_heard else "") if is_file else ""
    return medium or _SOURCE_WORDS[passage.source_type]


def _range(first: int | None, last: int | None) -> str:
    return "" if first is None else f"{first}-{last}" if last else f"{first}"


def _time(locator: Locator) -> str:
    if locator.start_s is None:
        return ""
    minutes, seconds = divmod(int(locator.start_s), 60)
    return f"from {minutes}:{seconds:02}"


def _one_line(text: str) -> str:
    return " ".join(visible(text).split())


def _cut(fact: Fact, tokens: int) -> Fact:
    """The fact with no more text than `tokens` allow."""
    text, allowed = _text(fact), max(tokens, _MIN_CUT_TOKENS)
    if (needed := estimate_tokens(text)) <= allowed:
        return fact
    shorter = text[: len(text) * allowed // needed]
    if fact.passage is None or fact.kind is not FactKind.PASSAGE:
        return replace(fact, text=shorter)
    ranked = replace(fact.passage, passage=replace(fact.passage.passage, text=shorter))
    return replace(fact, text=shorter, passage=ranked)


# The dialogue's share of the prompt without rules and question, where facts could use all of it; what they leave is the
# dialogue's, too. Seed 3's TokenBudget gives it 0 to 50 %, growing over the steps of a plan; a single step takes the
# middle.
_HISTORY_SHARE = 0.25
_EARLIER_SHARE = 0.5  # of the dialogue's room: for the summary and what is recalled, as far as it is needed
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
    """The messages to the model, and what they were made from."""

    assignment: Assignment
    today: date
    messages: tuple[ChatMessage, ...]
    facts: tuple[Fact, ...]  # that may be cited: number n is facts[n - 1]
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
    left -= estimate_tokens(_gaps(assignment, _FENCE))
    reserved = min(_size(assignment.dialogue), int(left * _HISTORY_SHARE))
    block = build_block(assignment.facts.facts, tokens=left - reserved, about=asked)
    room = max(left - estimate_tokens(block.text) - len(block.facts), reserved)
    window, earlier = _dialogue(assignment, prompts, pairs=settings.window_pairs, tokens=room)
    gaps = _gaps(assignment, block.fence or _FENCE)
    materials = "\n\n".join(filter(None, (block.text, gaps)))
    doubt = f"{DOUBT}\n\n" if assignment.doubtful and assignment.dialogue else ""
    before = earlier + doubt + (f"{gaps}\n\n" if gaps and not block.facts else "")
    last = before + _last(assignment, asked, replace(block, text=materials), prompts, today)
    messages = (ChatMessage(role="system", content=rules), *window, ChatMessage(role="user", content=last))
    said = (*block.said, assignment.gaps) if gaps else block.said
    return AnswerPrompt(assignment=assignment, today=today, messages=messages, facts=block.facts, said=said)


def _gaps(assignment: Assignment, fence: str) -> str:
    """The gaps as data, like the materials but without a number: the answer may mention them but not cite them."""
    if not assignment.gaps:
        return ""
    return f"<{fence}>\nWhat the program did not find or do:\n{assignment.gaps}\n</{fence}>"


def _asked(assignment: Assignment) -> str:
    """The question, and its standalone form where that differs."""
    if not assignment.understood or assignment.understood == assignment.question:
        return assignment.question
    return f"{assignment.question}\n(In full: {assignment.understood})"


def _size(dialogue: Dialogue) -> int:
    """The tokens that all of it would take."""
    return estimate_tokens(dialogue.summary) + sum(map(size_of, (*dialogue.recalled, *dialogue.window)))


def _dialogue(
    assignment: Assignment, prompts: Prompts, *, pairs: int, tokens: int
) -> tuple[tuple[ChatMessage, ...], str]:
    """The window as messages, and what goes before the question of all that is older or does not fit: the summary, and
    the exchanges most like the question, wherever in the dialogue they stand."""
    dialogue = assignment.dialogue
    whole = fit_window(dialogue.window, pairs=pairs, tokens=tokens)
    if not (dialogue.summary or dialogue.recalled or whole.left_out):
        return whole.messages, ""
    older = _older(dialogue, whole.left_out, assignment)
    needed = min(_room_of(older, prompts), int(tokens * _EARLIER_SHARE))
    fitted = fit_window(dialogue.window, pairs=pairs, tokens=tokens - needed)
    left = tokens - sum(estimate_tokens(message.content) for message in fitted.messages)
    return fitted.messages, _earlier(_older(dialogue, fitted.left_out, assignment), prompts, tokens=left)


def _older(dialogue: Dialogue, left_out: Sequence[Exchange], assignment: Assignment) -> list[str]:
    """The summary, then recalled exchanges and those left out of the window, the likest first; what the store has
    recalled by words that are not to be seen here comes last."""
    question = f"{assignment.question} {assignment.understood}"
    best = likest((*dialogue.recalled, *left_out), question)
    told = (excerpt(each, question) for each in dict.fromkeys((*best, *dialogue.recalled)))
    parts = (dialogue.summary, *(f"Person: {each.question}\nYou: {each.answer}" for each in told))
    return [part for part in parts if part]


def _room_of(parts: Sequence[str], prompts: Prompts) -> int:
    return estimate_tokens(prompts.earlier.text) + sum(estimate_tokens(part) + 1 for part in parts)


def _earlier(parts: Sequence[str], prompts: Prompts, *, tokens: int) -> str:
    """The dialogue beyond its window, as far as it fits into `tokens`."""
    left = tokens - estimate_tokens(prompts.earlier.text)
    kept: list[str] = []
    for part in parts:
        if (size := estimate_tokens(part) + 1) <= left:
            kept.append(part)
            left -= size
    return prompts.earlier.fill(Earlier(earlier=without_headings("\n\n".join(kept)))) + "\n\n" if kept else ""


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
    if left := assignment.facts.left_out:
        total = limits.skip + assignment.facts.listed + left
        form += " " + prompts.left_out.fill(MoreItems(left=left, total=total))
    return form
