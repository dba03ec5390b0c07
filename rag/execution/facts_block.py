"""Facts as a prompt shows them: numbered, each between tags that no text can close, with its document and place.

In: facts, room in tokens, what is asked. Out: the text, the facts behind its numbers, and all that can carry what cites
them. The same facts always give the same block, which suits prompt caching. Pure.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from domain.documents import SourceType, title_beside
from domain.visible import visible
from rag.excerpts import near
from rag.execution.facts import Fact, FactKind, told_once
from rag.records import Passage
from rag.words import digest, estimate_tokens, person_name, without_headings

_SOURCE_WORDS = {"note": "note", "file": "file", "link": "web page", "site": "web site", "path": "file"}
_MEDIA = {  # by file extension: a passage does not hold its medium
    **dict.fromkeys(("jpg", "jpeg", "png", "webp", "gif", "bmp", "tif", "tiff", "heic", "heif"), "photo"),
    **dict.fromkeys(("ogg", "oga", "opus"), "voice message"),
    **dict.fromkeys(("mp4", "mov", "m4v", "mkv", "webm", "avi"), "video"),
}
_SENT = {"voice": "voice message", "video_note": "video message", "audio": "recording"}
_SENT_AS = re.compile(r"(photo|video|voice|video_note|audio)-\d+")  # names given by `bot.handlers.received`
_KIND_LINES = {
    FactKind.STATEMENT: "Statement about: {title}",
    FactKind.DOCUMENT: "Entry of the list of documents",
    FactKind.VALUE: "Worked out by the program",
    FactKind.DISAGREEMENT: "Documents disagree; this is what one of them says",
}
_MIN_CUT_TOKENS = 50  # of a first passage that is cut


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
    # A hash of all text between the tags (names of people included), so that nobody can have written it into the text
    # on purpose; four digits, since it is made sure that no text holds the word.
    content, salt = "\0".join(map(_words, facts)), 0
    while (fence := f"material-{digest(str(salt), content)[:4]}") in content:
        salt += 1
    texts: list[str] = []
    placed: list[Fact] = []
    left = tokens
    for fact in told_once(facts):
        own = fact.passage.passage if fact.passage else None
        above = [each.passage.passage for each in placed if each.passage]
        # whether its document stands above already, and no other of that name
        same = {each.document_id for each in above if own and each.name == own.name}
        heading = _heading(fact, is_known=own is not None and same == {own.document_id})
        fitting = fact if placed else _cut(fact, left - estimate_tokens(_tagged([*heading, "Text:", ""], fence)))
        words = _text(fitting)
        if about and fact.shown:
            words = near(words, f"{about}\n{fact.sought}", limit=fact.shown)
        text = _tagged([*heading, "Text:", words], fence, number=len(placed) + 1)
        left -= estimate_tokens(text)
        if left < 0 and placed:
            break
        texts.append(text)
        placed.append(fitting)
    return FactsBlock(fence=fence, text="\n\n".join(texts), facts=tuple(placed), said=tuple(map(_said, placed)))


def _tagged(lines: Sequence[str], fence: str, *, number: int = 1) -> str:
    return "\n".join((f"<{fence} number={number}>", *lines, f"</{fence}>"))


def _words(fact: Fact) -> str:
    return "\n".join((*_heading(fact), "Text:", _text(fact)))


def _said(fact: Fact) -> str:
    """All that can carry a statement: fact and passage; of what a model has worded, what that was drawn from."""
    if fact.drawn_from:
        return "\n\n".join(dict.fromkeys(map(_said, fact.drawn_from)))
    if fact.kind is FactKind.PASSAGE or fact.passage is None:
        return _words(fact)
    return f"{_words(fact)}\nIts passage:\n{_plain(fact.passage.passage.text)}"


def _text(fact: Fact) -> str:
    return _plain(fact.passage.passage.text if fact.passage and fact.kind is FactKind.PASSAGE else fact.text)


def _plain(text: str) -> str:
    """A line that looks like a heading is no heading of the prompt."""
    return without_headings(visible(text).strip())


def _heading(fact: Fact, *, is_known: bool = False) -> list[str]:
    """«МедСовет (technologies used)»: a bare «RAG» would leave its relation to the project open."""
    about = f"{_one_line(fact.title)} ({fact.aspect})" if fact.aspect else _one_line(fact.title)
    kind = "Concluded by a model from: {title}" if fact.drawn_from and fact.title else _KIND_LINES.get(fact.kind, "")
    said = kind.format(title=about)
    place = _place(fact.passage.passage, is_known=is_known) if fact.passage else []
    return [said, *place] if said else place


def _place(passage: Passage, *, is_known: bool) -> list[str]:

    locator = passage.locator
    before = {"Title": title_beside(passage.name, passage.title), "Begins": passage.opening}
    minutes, seconds = divmod(int(locator.start_s or 0), 60)
    places = {
        "Page": "-".join(str(each) for each in (locator.page, locator.page_end) if each is not None),
        "Slide": str(locator.slide or ""),
        "Rows": "-".join(str(each) for each in (locator.row, locator.row_end) if each is not None),
        "Time": "" if locator.start_s is None else f"from {minutes}:{seconds:02}",
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
    if sent := _SENT_AS.fullmatch(passage.source_identifier):
        return _SENT.get(sent[1], sent[1])
    ending = passage.source_identifier.rpartition(".")[2].casefold()
    is_file = passage.source_type in (SourceType.FILE, SourceType.PATH)
    medium = _MEDIA.get(ending, "recording" if is_heard else "") if is_file else ""
    return medium or _SOURCE_WORDS[passage.source_type]


def _one_line(text: str) -> str:
    return " ".join(visible(text).split())


def _cut(fact: Fact, tokens: int) -> Fact:
    """The fact with no more text than `tokens` allow; less than _MIN_CUT_TOKENS of it is not worth a model call."""
    text, allowed = _text(fact), max(tokens, _MIN_CUT_TOKENS)
    if (needed := estimate_tokens(text)) <= allowed:
        return fact
    shorter = text[: len(text) * allowed // needed]
    ranked = fact.passage
    if ranked and fact.kind is FactKind.PASSAGE:
        ranked = replace(ranked, passage=replace(ranked.passage, text=shorter))
    return replace(fact, text=shorter, passage=ranked)
