"""The answer without a model: the facts themselves, and how many the limits leave out.

In: an `Assignment`. Out: a finished `Draft`. Used where there is no model, where it fails before its first word, and
where its text may not be shown.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from prompts.loader import MoreItems, Prompts
from prompts.wordings import language_of
from rag.answering.prompt import Assignment
from rag.execution.facts import Fact, FactKind
from rag.metering import CheckCounts
from rag.planning.plan import AnswerStyle
from rag.quoting.plain_requests import PlainRequests
from rag.quoting.quotes import MAX_QUOTES, quote_passages
from rag.quoting.renderer import render
from rag.records import AnswerKind, Citation, RankedPassage, SmallTalk
from rag.small_talk import is_said_by

_ITEM = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+\S", re.MULTILINE)
_ROW = re.compile(r"^[ \t]*\|(?![ :|-]+$).*\|[ \t]*$", re.MULTILINE)
# «ещё 10 (по запросу могу вывести)», «ещё 10 из 20», "10 more of 20", in a line of its own and without other numbers
_REMAINDER = re.compile(
    r"^[^\w\n]*(?:и |and )?(?:(?:ещё|еще)\s+(\d{1,4})(?:\s+из\s+(\d{1,4}))?|(\d{1,4}) more(?:\s+of\s+(\d{1,4}))?)"
    r"\b[^\d\n]{0,60}$",
    re.MULTILINE | re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class Draft:
    """The answer so far."""

    kind: AnswerKind
    text: str
    citations: tuple[Citation, ...] = ()
    used: tuple[int, ...] = ()  # ranks, from 1, of the facts that it used
    cited: tuple[Fact, ...] = ()  # these facts
    model: str | None = None
    cut: bool = False
    passages: str = ""  # Markdown, below an answer that was cut (they may hold the rest) or below small talk
    small_talk: SmallTalk | None = None  # then `text` is empty, and the bot adds its own words
    stopped: bool = False  # by the person, in mid-answer
    done: bool = False
    is_weak: bool = False  # quotes that may be about something else
    instead: str = ""  # what code did where a model would write (`plain_requests.RequestKind`)
    in_other_language: bool = False  # than wanted; shown because the alternative would be worse
    remarks: tuple[str, ...] = ()  # what was wrong with rejected answers
    check: CheckCounts = field(default_factory=CheckCounts)


NOTHING = Draft(kind=AnswerKind.NOTHING, text="", done=True)


class PlainAnswers:
    """Writes plain answers for all questions of an installation."""

    def __init__(self, prompts: Prompts, language: str, requests: PlainRequests | None = None) -> None:
        """`language` is ANSWER_LANGUAGE; it affects only the line about left-out items, not the facts."""
        self._requests = requests
        self._prompts = prompts
        self._language = language

    def write(self, assignment: Assignment, *, marked: Sequence[Fact] = ()) -> Draft:
        """The facts, or NOTHING. `marked`: facts that a rejected answer marked; they may be the right ones."""
        if assignment.small_talk is SmallTalk.MORE:
            return self._more(assignment)
        if assignment.small_talk:
            return _small_talk(assignment, assignment.small_talk)
        answer = render(
            assignment.facts,
            style=assignment.style,
            limits=assignment.limits,
            question=assignment.understood or assignment.question,
            marked=marked,
            asked=assignment.question,
            requests=self._requests,
        )
        if not answer.text:
            return NOTHING
        draft = Draft(
            kind=AnswerKind.QUOTES,
            text=answer.text,
            citations=answer.citations,
            used=(used := _ranks(assignment, answer.citations)),
            cited=tuple(assignment.facts.facts[rank - 1] for rank in used) or assignment.facts.facts,  # of a list: all
            done=True,
            is_weak=answer.is_weak,
            instead=answer.done.value if answer.done else "",
        )
        if not (answer.items and answer.left):
            return draft
        return replace(draft, text=f"{draft.text}\n\n{self.remainder(answer.items, answer.left, assignment)}")

    def ask_which(self, assignment: Assignment) -> Draft:
        """The question which of several documents is meant; the bot adds a button for each."""
        text = self._prompts.which[language_of(assignment.question)]
        return Draft(kind=AnswerKind.CONVERSATION, text=text, done=True)

    def _more(self, assignment: Assignment) -> Draft:
        """Passages that no earlier answer has quoted. The question is the same as then, so equal quotes are found."""
        said = "\n\n".join(exchange.answer for exchange in assignment.dialogue.window)
        question = assignment.understood or assignment.question
        new = [
            fact
            for fact in assignment.facts.facts
            if fact.passage and fact.kind is FactKind.PASSAGE and not _is_quoted(fact.passage, question, said)
        ]
        facts = replace(assignment.facts, facts=tuple(new))
        draft = self.write(replace(assignment, facts=facts, small_talk=None))
        return draft if draft.text else replace(NOTHING, small_talk=SmallTalk.MORE)

    def remainder(self, listed: int, left: int, assignment: Assignment) -> str:
        """«ещё 10 из 20 (по запросу могу вывести)»."""
        is_english = self._language == "en" or assignment.answer_style is AnswerStyle.NATURAL_EN
        language = "en" if is_english and self._language != "ru" else "ru"
        total = assignment.limits.skip + listed + left
        return self._prompts.more[language].fill(MoreItems(left=left, total=total))


def without_remainder(text: str) -> str:
    """The text without the line that says how many items are left («ещё 10 из 20»)."""
    return _REMAINDER.sub("", text)


def left_and_total(text: str) -> tuple[int, int] | None:
    """Both numbers of the last line that has both: «ещё 8 из 20» gives (8, 20)."""
    said = [next((match[n], match[n + 1]) for n in (1, 3) if match[n]) for match in _REMAINDER.finditer(text)]
    return next(((int(left), int(total)) for left, total in reversed(said) if total), None)


def listed_items(text: str) -> int:
    """The number of list items or table rows."""
    return max(len(_ITEM.findall(text)), len(_ROW.findall(text)) - 1, 0)


def _ranks(assignment: Assignment, citations: Sequence[Citation]) -> tuple[int, ...]:
    cited = {each.chunk_id for each in citations}
    facts = enumerate(assignment.facts.facts, start=1)
    return tuple(rank for rank, fact in facts if fact.passage and fact.passage.passage.chunk_id in cited)


def _is_quoted(passage: RankedPassage, question: str, said: str) -> bool:
    return quote_passages([passage], question)[0] in said


def _small_talk(assignment: Assignment, kind: SmallTalk) -> Draft:
    """Small talk; below it, passages that say exactly the message: a note «Привет» is still found by «привет»."""
    passages = [fact.passage for fact in assignment.facts.facts if fact.passage]
    said = [each for each in passages if is_said_by(each.passage, assignment.question)][:MAX_QUOTES]
    text, citations = quote_passages(said, assignment.question)
    return Draft(
        kind=AnswerKind.CONVERSATION,
        text="",
        small_talk=kind,
        passages=text,
        citations=citations,
        used=(used := _ranks(assignment, citations)),
        cited=tuple(assignment.facts.facts[rank - 1] for rank in used),
        done=True,
    )
