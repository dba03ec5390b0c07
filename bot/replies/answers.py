"""An answer as the person sees it: label, text, sources.

In: events and the `Answer` of a turn. Out: rich text; a growing answer is always a prefix of the finished one, its open
Markdown closed and a half-written end held back. Only addresses that the facts, the question or the dialogue hold can
be pressed. Small talk that no model has answered gets a short text and the possible next step. It sends nothing. It
does not import aiogram, which would slow the command line by seconds.
"""

import re
from collections.abc import Set
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import groupby

from bot.replies.citations import TITLE_CHARACTERS, source_block
from bot.replies.markdown import render_markdown
from bot.replies.names import shortened
from bot.replies.rich import ITALIC, Kind, RichText, Run, Style, join, rich
from bot.replies.steps import work_done
from bot.texts import Words
from rag.addresses import addresses, broken, defanged
from rag.records import Answer, AnswerKind, SmallTalk, StillRead, TextGrew

_FENCE = re.compile(r"^ {0,3}(```+|~~~+)", re.MULTILINE)
_CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
_MARKS = ("**", "__", "~~", "`")
_HALF_LINK = re.compile(r"!?\[([^\[\]]*)(?:\]\([^()\s]*)?\Z")
_HALF_MARK = re.compile(r"(?:(?:\A|(?<=\n))(?:[#>*+-]+|\d+\.)|(?:\A|(?<=\s))[*_~`]+)[ \t]*\Z")
_TABLE_ROW = re.compile(r"(?:^\|[^\n]*\n)*^\|[^\n]*\Z", re.MULTILINE)
_TABLE_RULE = re.compile(r"^\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t:|-]*)?$", re.MULTILINE)
_GO_ON = frozenset({SmallTalk.GREETING, SmallTalk.ASSENT})  # their replies end with the possible next step
LABELS = {AnswerKind.GENERAL: "answer-general-label", AnswerKind.QUOTES: "answer-quotes-label"}


def without_strange_links(text: RichText, known: Set[str]) -> RichText:
    """`known`: keys as `rag.addresses.keys` gives them."""
    safe = RichText()
    for (link, is_literal), runs in groupby(text.runs, key=_part_of):
        part = RichText(tuple(runs))
        safe += _linked(part, link.value, known) if link else _plain(part, known, in_code=is_literal)
    return safe


def _part_of(run: Run) -> tuple[Style | None, bool]:
    return next((style for style in run.styles if style.kind is Kind.LINK), None), run.is_literal


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
    named = [address.host for address in addresses(label.text) if address.host]
    is_honest = leads is not None and all(host == leads.host for host in named)
    if leads is not None and leads.key in known and is_honest:
        return label
    bare = _plain(RichText(tuple(_without_link(run) for run in label.runs)), known, in_code=False)
    shown = target if leads is not None and leads.key in known else defanged(target, frozenset())
    return bare if label.text.strip() == target else bare + rich(f" ({shown})")


def _without_link(run: Run) -> Run:
    return Run(run.text, tuple(style for style in run.styles if style.kind is not Kind.LINK))


def close_unfinished(markdown: str) -> str:
    """The part that can be shown now. Finished text is returned unchanged."""
    if len(_FENCE.findall(markdown)) % 2:
        return markdown  # inside a code block marks are plain text; the parser closes the block
    head, separator, tail = markdown.rpartition("\n\n")
    return head + separator + _close_paragraph(_without_half_table(tail))


def _without_half_table(paragraph: str) -> str:
    """Holds a table back until its rule (`|---|`) is there; from then on it is shown row by row."""
    rows = _TABLE_ROW.search(paragraph)
    if not rows:
        return paragraph
    if not _TABLE_RULE.search(rows.group()):
        return paragraph[: rows.start()]
    return paragraph if paragraph.endswith("|") else paragraph.rpartition("\n")[0]


def _close_paragraph(paragraph: str) -> str:
    shown = _HALF_MARK.sub("", _HALF_LINK.sub(r"\1", paragraph))
    outside_code = _CODE_SPAN.sub("", shown)
    for mark in _MARKS:
        if outside_code.count(mark) % 2:
            shown = _closed(shown, mark)
    return shown


def _closed(text: str, mark: str) -> str:
    """Drops an opening mark at the very end; completes a half-written closing mark."""
    trimmed = text.rstrip()
    if trimmed.endswith(mark):
        return trimmed.removesuffix(mark)
    return trimmed.removesuffix(mark[0]) + mark


def in_words(answer: Answer, words: Words, *, lack: str | None = None) -> Answer:
    """Gives a small-talk answer its text; any other answer is returned as it is. `lack`: "empty" or "reading" when the
    base has nothing to answer from yet."""
    kind = answer.small_talk
    if kind is None or answer.text:
        return answer
    if kind is SmallTalk.LEANING and lack:
        return replace(answer, text=words.plain(f"answer-nothing-{lack}"))
    said = words.plain(f"small-talk-{kind}")
    go_on = f" {words.plain(f'small-talk-ask-{lack}' if lack else 'small-talk-ask')}" if kind in _GO_ON else ""
    return replace(answer, text=f"{said}{go_on}")


def growing_answer(event: TextGrew, words: Words) -> RichText:
    """The showable part of an answer that is still being written."""
    text = render_markdown(close_unfinished(event.text))
    return _labelled(event.kind, without_strange_links(text, event.addresses), words)


def finished_answer(
    answer: Answer, words: Words, *, nothing: str | None = None, spent_until: datetime | None = None
) -> RichText:
    """The whole answer, its sources last. It is never blank: an answer without text gets the text of key `nothing`, or
    one that says whether the base was searched. With `spent_until` it begins with why no model was asked."""
    if spent_until is None:
        return _whole(answer, words, nothing)
    next_minute = spent_until + timedelta(minutes=1)  # the clock is shown without its seconds
    spent = words.plain("answer-day-spent", until=words.until(next_minute))
    return join([rich(spent, ITALIC), _whole(answer, words, nothing)], "\n\n")


def _whole(answer: Answer, words: Words, nothing: str | None) -> RichText:
    broken = _broken_off(answer, words)
    markdown = close_unfinished(answer.text) if broken else answer.text
    shown = without_strange_links(render_markdown(markdown), answer.addresses)
    text = _labelled(answer.kind, shown, words, is_weak=answer.is_weak)
    if not (text.text.strip() or answer.stopped):
        said = rich(words.plain(nothing or ("answer-nothing" if answer.searched else "answer-unsearched")))
        return join([said, rich(_by_words(answer, words), ITALIC)], "\n\n")
    unfinished = [rich(_still_read(document, words), ITALIC) for document in answer.still_read]
    done = [rich(line, ITALIC) for line in work_done(answer, words)]
    remarks = [rich(line, ITALIC) for line in _remarks(answer, words)]
    below = [_quoted(answer, words)] if answer.passages else []
    return join([text, broken, *below, *remarks, *done, *unfinished, source_block(answer.citations, words)], "\n\n")


def _remarks(answer: Answer, words: Words) -> list[str]:
    withdrawn = answer.check.withdrawn
    instead = words.plain(f"answer-instead-{answer.instead}") if answer.instead else ""
    told = words.plain("answer-withdrawn", count=withdrawn, kind=answer.kind.value) if withdrawn else ""
    other_language = words.plain("answer-other-language") if answer.in_other_language else ""
    alike = words.plain("answer-alike") if answer.alike and not answer.asks_which else ""
    unread = words.plain("answer-unread", count=answer.unread) if answer.unread else ""
    return list(filter(None, (_by_words(answer, words), instead, told, other_language, unread, alike)))


def _by_words(answer: Answer, words: Words) -> str:
    """What a search by words cannot find, where that may be why nothing fits."""
    if answer.by_words:
        return words.plain("answer-by-words", words=answer.by_words)
    return words.plain("answer-misses-meaning") if answer.misses_meaning else ""


def _quoted(answer: Answer, words: Words) -> RichText:
    """The passages from which an interrupted answer was being written."""
    text = without_strange_links(render_markdown(answer.passages), answer.addresses)
    return _labelled(AnswerKind.QUOTES, text, words)


def _broken_off(answer: Answer, words: Words) -> RichText:
    """Why an answer is incomplete; empty for a complete one."""
    if answer.stopped:
        return rich(words.plain("answer-stopped"), ITALIC)
    return rich(words.plain("answer-cut"), ITALIC) if answer.cut else RichText()


def _still_read(document: StillRead, words: Words) -> str:
    return words.plain("answer-still-read", title=shortened(document.name, TITLE_CHARACTERS), percent=document.percent)


def _labelled(kind: AnswerKind, text: RichText, words: Words, *, is_weak: bool = False) -> RichText:
    if kind not in LABELS or not text:
        return text
    text = text.folded() if kind is AnswerKind.QUOTES else text
    has_margin = text.runs[0].kinds & {Kind.QUOTE, Kind.FOLDED_QUOTE}
    label = "answer-weak-label" if is_weak else LABELS[kind]
    return join([rich(words.plain(label), ITALIC), text], "\n" if has_margin else "\n\n")
