"""Facts as a prompt shows them: numbered, each between tags that no text can close, with its document and place.

In: facts, room in tokens, what is asked. Out: the text, the facts behind its numbers, and all that can carry what cites
them. The same facts always give the same block, which suits prompt caching. Pure.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from domain.documents import SourceType, title_beside
from domain.locator import Locator
from domain.visible import visible
from rag.excerpts import near
from rag.execution.facts import Fact, FactKind, told_once
from rag.records import Passage
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
    a document above its first passage is not said again above the others, nor a piece that stands in a passage above.
    Of a passage that is not shown whole there is what is near `about`."""
    fence = _fence([_words(fact) for fact in facts])
    texts: list[str] = []
    placed: list[Fact] = []
    left = tokens
    for fact in told_once(facts):
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
