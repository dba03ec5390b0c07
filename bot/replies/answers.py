"""An answer as the person sees it: label, text, what was read, sources; and before it the live list of its steps.

In: events and the `Answer` of a turn; steps as the engine reports them. Out: rich text; a growing answer is always a
prefix of the finished one, its open Markdown closed and a half-written end held back. Only addresses that the facts,
the question or the dialogue hold can be pressed. It does not import aiogram, which would slow the command line.
"""

import re
from collections.abc import Sequence, Set
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import groupby

from bot.replies.citations import TITLE_CHARACTERS, source_block
from bot.replies.names import shortened
from bot.replies.rich import ITALIC, LINK, QUOTES, RichText, Run, Style, join, render_markdown, rich
from bot.texts import Words
from rag.addresses import addresses, broken, defanged
from rag.execution.tools import Spent
from rag.progress import StepShown, StepState
from rag.records import Answer, AnswerKind, DocumentsRead, SmallTalk, TextGrew

_FENCE = re.compile(r"^ {0,3}(```+|~~~+)", re.MULTILINE)
_CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)

_HALF_LINK = re.compile(r"!?\[([^\[\]]*)(?:\]\([^()\s]*)?\Z")
_HALF_MARK = re.compile(r"(?:(?:\A|(?<=\n))(?:[#>*+-]+|\d+\.)|(?:\A|(?<=\s))[*_~`]+)[ \t]*\Z")
_TABLE_ROW = re.compile(r"(?:^\|[^\n]*\n)*^\|[^\n]*\Z", re.MULTILINE)
_TABLE_RULE = re.compile(r"^\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t:|-]*)?$", re.MULTILINE)
LABELS = {AnswerKind.GENERAL: "answer-general-label", AnswerKind.QUOTES: "answer-quotes-label"}
SIGNS = {
    StepState.WAITING: "▫️",
    StepState.RUNNING: "⏳",
    StepState.DONE: "✅",
    StepState.SHORT: "☑️",
    StepState.FAILED: "⚠️",
    StepState.STOPPED: "⏹",
    StepState.SKIPPED: "▫️",
}
LISTED = 8  # steps shown in the list: one phone screen


def without_strange_links(text: RichText, known: Set[str]) -> RichText:
    """`known`: keys as `rag.addresses.keys` gives them."""

    def part_of(run: Run) -> tuple[Style | None, bool]:
        return next((style for style in run.styles if style.tag == LINK), None), run.is_literal

    safe = RichText()
    for (link, is_literal), runs in groupby(text.runs, key=part_of):
        part = RichText(tuple(runs))
        safe += _linked(part, link.value, known) if link else _plain(part, known, in_code=is_literal)
    return safe


def _plain(part: RichText, known: Set[str], *, in_code: bool) -> RichText:
    safe, at, text = RichText(), 0, part.text
    for address in addresses(text, in_code=in_code):
        if address.key not in known:
            styles = part.cut(address.start, address.start + 1).runs[0].styles
            safe += part.cut(at, address.start) + rich(broken(text[address.start : address.end]), *styles)
            at = address.end
    return safe + part.cut(at, len(text))


def _linked(label: RichText, target: str, known: Set[str]) -> RichText:
    """The link, if it is known and its label names no other site; else the label, and the address beside it."""
    leads = next(addresses(target), None)
    is_known = leads is not None and leads.key in known
    if leads and is_known and all(not each.host or each.host == leads.host for each in addresses(label.text)):
        return label
    runs = (Run(run.text, tuple(style for style in run.styles if style.tag != LINK)) for run in label.runs)
    bare = _plain(RichText(tuple(runs)), known, in_code=False)
    shown = target if is_known else defanged(target, frozenset())
    return bare if label.text.strip() == target else bare + rich(f" ({shown})")


def close_unfinished(markdown: str) -> str:
    """The part that can be shown now. Finished text is returned unchanged."""
    if len(_FENCE.findall(markdown)) % 2:
        return markdown  # inside a code block marks are plain text; the parser closes the block
    head, separator, tail = markdown.rpartition("\n\n")
    if rows := _TABLE_ROW.search(tail):  # held back until its rule (`|---|`) is there, then shown row by row
        if not _TABLE_RULE.search(rows.group()):
            tail = tail[: rows.start()]
        elif not tail.endswith("|"):
            tail = tail.rpartition("\n")[0]
    shown = _HALF_MARK.sub("", _HALF_LINK.sub(r"\1", tail))
    outside_code = _CODE_SPAN.sub("", shown)
    for mark in ("**", "__", "~~", "`"):
        if outside_code.count(mark) % 2:  # an opening one at the very end goes, a half-written closing one is completed
            shown = shown.rstrip()
            shown = shown.removesuffix(mark) if shown.endswith(mark) else shown.removesuffix(mark[0]) + mark
    return head + separator + shown


def in_words(answer: Answer, words: Words, *, lack: str | None = None) -> Answer:
    """Gives small talk that no model has answered a short text, and with a greeting or «ок» the possible next step.
    `lack`: "empty" or "reading" when the base has nothing to answer from yet."""
    kind = answer.small_talk
    if kind is None or answer.text:
        return answer
    if kind is SmallTalk.LEANING and lack:
        return replace(answer, text=words.plain(f"answer-nothing-{lack}"))
    said = words.plain(f"small-talk-{kind}")
    if kind in (SmallTalk.GREETING, SmallTalk.ASSENT):
        said += " " + words.plain(f"small-talk-ask-{lack}" if lack else "small-talk-ask")
    return replace(answer, text=said)


def growing_answer(event: TextGrew, words: Words) -> RichText:
    """The showable part of an answer that is still being written."""
    text = render_markdown(close_unfinished(event.text))
    return _labelled(event.kind, without_strange_links(text, event.addresses), words)


def finished_answer(
    answer: Answer, words: Words, *, nothing: str | None = None, spent_until: datetime | None = None
) -> RichText:
    """The whole answer, its sources last; of one that was cut its passages below it. It is never blank: an answer
    without text gets the text of key `nothing`, or one that says whether the base was searched. With `spent_until` it
    begins with why no model was asked."""
    spent = ""
    if spent_until:  # the clock is shown without its seconds
        spent = words.plain("answer-day-spent", until=words.until(spent_until + timedelta(minutes=1)))
    broken = words.plain("answer-stopped" if answer.stopped else "answer-cut") if answer.stopped or answer.cut else ""
    markdown = close_unfinished(answer.text) if broken else answer.text
    shown = without_strange_links(render_markdown(markdown), answer.addresses)
    text = _labelled(answer.kind, shown, words, is_weak=answer.is_weak)
    if not (text.text.strip() or answer.stopped):
        said = rich(words.plain(nothing or ("answer-nothing" if answer.searched else "answer-unsearched")))
        return join([rich(spent, ITALIC), said, rich(_by_words(answer, words), ITALIC)], "\n\n")
    quoted = without_strange_links(render_markdown(answer.passages), answer.addresses)
    below = _labelled(AnswerKind.QUOTES, quoted, words)
    remarks = [*_remarks(answer, words), *work_done(answer, words)]
    for document in answer.still_read:
        title = shortened(document.name, TITLE_CHARACTERS)
        remarks.append(words.plain("answer-still-read", title=title, percent=document.percent))
    lines, sources = (rich(line, ITALIC) for line in remarks), source_block(answer.citations, words)
    return join([rich(spent, ITALIC), text, rich(broken, ITALIC), below, *lines, sources], "\n\n")


def _remarks(answer: Answer, words: Words) -> list[str]:
    withdrawn = answer.check.withdrawn
    said = [
        _by_words(answer, words),
        words.plain(f"answer-instead-{answer.instead}") if answer.instead else "",
        words.plain("answer-withdrawn", count=withdrawn, kind=answer.kind.value) if withdrawn else "",
        words.plain("answer-other-language") if answer.in_other_language else "",
        words.plain("answer-unread", count=answer.unread) if answer.unread else "",
        words.plain("answer-alike") if answer.alike and not answer.asks_which else "",
    ]
    return list(filter(None, said))


def _by_words(answer: Answer, words: Words) -> str:
    """What a search by words cannot find, where that may be why nothing fits."""
    if answer.by_words:
        return words.plain("answer-by-words", words=answer.by_words)
    return words.plain("answer-misses-meaning") if answer.misses_meaning else ""


def _labelled(kind: AnswerKind, text: RichText, words: Words, *, is_weak: bool = False) -> RichText:
    if kind not in LABELS or not text:
        return text
    text = text.folded() if kind is AnswerKind.QUOTES else text
    has_margin = text.runs[0].tags & QUOTES
    label = "answer-weak-label" if is_weak else LABELS[kind]
    return join([rich(words.plain(label), ITALIC), text], "\n" if has_margin else "\n\n")


def steps_text(steps: Sequence[StepShown], words: Words) -> RichText:
    """The live list, without skipped steps; one that found nothing says so."""
    lines = [rich(words.plain("steps-title"))]
    for step in [step for step in steps if step.state is not StepState.SKIPPED][-LISTED:]:
        sign, said = SIGNS[step.state], _step(step, words)
        if step.is_empty:
            nothing = "step-no-conclusion" if step.action == "analyze" else "step-nothing"
            sign, said = SIGNS[StepState.SHORT], words.plain(nothing, step=said)
        elif step.state is StepState.STOPPED:
            said = words.plain("step-stopped", step=said)
        lines.append(rich(f"{sign} {said}"))
    return join(lines, "\n")


def work_done(answer: Answer, words: Words) -> list[str]:
    """How much was read, why the work ended early, what failed or was not done: a line each."""
    read = answer.documents
    lines = _reading_done(read, words) if read else []
    if answer.spent and not (answer.stopped and answer.spent == Spent.STOPPED):  # the answer itself says that already
        lines.append(words.plain(f"answer-spent-{answer.spent.replace('_', '-')}"))
    if answer.spent and read and (left := read.total - read.read - read.problems):  # not read, or not to their end
        lines.append(words.plain("answer-documents-left", count=left))
    failed = [_step(step, words) for step in answer.steps if step.state is StepState.FAILED]
    if failed:
        lines.append(words.plain("answer-steps-failed", steps="; ".join(failed)))
    return lines


def _reading_done(read: DocumentsRead, words: Words) -> list[str]:
    lines = [words.plain("answer-documents-read", read=read.read, total=read.total, without=read.without_data)]
    if read.remembered:
        lines.append(words.plain("answer-documents-remembered", count=read.remembered))
    if read.chosen_from:
        lines.append(words.plain("answer-documents-chosen", total=read.total, base=read.chosen_from))
    counts = (
        ("answer-documents-failed", read.problems),
        ("answer-facts-uncompared", read.uncompared),
        ("answer-rows-missing", read.missing_rows),
    )
    return [*lines, *(words.plain(key, count=count) for key, count in counts if count)]


def _step(step: StepShown, words: Words) -> str:
    key = f"step-{step.action}" if f"step-{step.action}" in words.keys else "step-other"
    about = defanged(step.about, frozenset())  # a model's words: it may have obeyed a document
    told = {"about": shortened(about, 60)} if "about" in words.variables(key) else {}
    action = words.plain(key, **told)
    counted = step.total and step.state is StepState.RUNNING
    return f"{action}: {words.plain('step-progress', done=step.done, total=step.total)}" if counted else action
