"""An answer as the person sees it: label, text, sources.

In: events and the `Answer` of a turn. Out: rich text; a growing answer is always a prefix of the finished one. It
sends nothing. It does not import aiogram, which would slow the command line by seconds.
"""

from datetime import datetime, timedelta

from bot.replies.citations import TITLE_CHARACTERS, source_block
from bot.replies.links import without_strange_links
from bot.replies.markdown import render_markdown
from bot.replies.names import shortened
from bot.replies.rich import ITALIC, Kind, RichText, join, rich
from bot.replies.steps import work_done
from bot.replies.unfinished import close_unfinished
from bot.texts import Words
from domain.documents import known_as
from rag.records import Answer, AnswerKind, StillRead, TextGrew

LABELS = {AnswerKind.GENERAL: "answer-general-label", AnswerKind.QUOTES: "answer-quotes-label"}


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
        by_words = words.plain("answer-by-words", words=answer.by_words) if answer.by_words else ""
        return join([said, rich(by_words, ITALIC)], "\n\n")
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
    by_words = words.plain("answer-by-words", words=answer.by_words) if answer.by_words else ""
    return list(filter(None, (by_words, instead, told, other_language, unread, alike)))


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
    name = known_as(document.source_type, document.title, document.source_identifier)
    return words.plain("answer-still-read", title=shortened(name, TITLE_CHARACTERS), percent=document.percent)


def _labelled(kind: AnswerKind, text: RichText, words: Words, *, is_weak: bool = False) -> RichText:
    if kind not in LABELS or not text:
        return text
    text = text.folded() if kind is AnswerKind.QUOTES else text
    has_margin = text.runs[0].kinds & {Kind.QUOTE, Kind.FOLDED_QUOTE}
    label = "answer-weak-label" if is_weak else LABELS[kind]
    return join([rich(words.plain(label), ITALIC), text], "\n" if has_margin else "\n\n")
