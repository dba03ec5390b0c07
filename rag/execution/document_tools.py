"""The tools that look at the documents of a base: `list_documents` and `read_document`.

In: part of a name, a kind, what documents are called, a sender, dates; or a document's name or id, and perhaps what is
sought. Out: a fact for each document, with its columns, and the total number; or the passages of one in order, as many
as a prompt may hold. A long document is read as a person reads it: its contents are made by code (`contents_of`), a
model chooses the sections, and these are read. No texts are searched.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import groupby
from typing import Annotated, Literal

import structlog
from pydantic import BaseModel, ConfigDict, Field

from domain.documents import DocumentCard, Medium, SourceType, title_beside
from prompts.loader import Prompts
from prompts.wordings import Wordings, language_of
from rag.execution.documents import Since, Until, documents_named, is_sent_by, pages_of, ready_documents
from rag.execution.facts import Fact, FactKind, FactsPayload, said_by
from rag.execution.tools import Tool, ToolContext, ask
from rag.planning.plan import READ_ONE
from rag.planning.tool import ToolArguments
from rag.ports import ChatModel, DocumentCatalogue, DocumentPassages, ModelError
from rag.records import Passage, asking
from rag.retrieval.search import DocumentSearch
from rag.words import person_name, share, stems

log = structlog.get_logger()

_KINDS = {"text", "image", "audio", "video"}
PASSAGES = 24  # about 8,000 tokens of passages of usual size: as much as a prompt of one answer takes
MOST_PASSAGES = 6_000  # of a document whose contents are made
MOST_CHOSEN = 5  # sections
CONTENTS_CHARS = 12_000  # of all titles: they leave room for numbers and pages
REPLY_TOKENS = 200
PART = 12  # passages of a part of a long section: some four pages
TITLE_CHARS = range(80, 301)  # the fewer sections, the more of each
MOST_SECTIONS = 160  # of contents that a model is shown
MANY = 0.4  # share of the sections; a name that more of them have is the document's or a running head
# A line that stands alone, or the lines above a table.
_ALONE = re.compile(r"(?:^|\n\n)(?:([^\n|]{3,80})(?=\n\n)|((?:[^\n|]{3,100}\n){1,3})(?=\|))")


class ListArguments(ToolArguments):
    """What to list; nothing given lists everything, newest first."""

    name_contains: str | None = Field(None, max_length=200)
    about: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    kind: Literal["text", "image", "audio", "video", "link", "note"] | None = None
    sender: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    since: Since | None = None
    until: Until | None = None


@dataclass(eq=False)
class ListDocuments(Tool[ListArguments]):
    """which documents there are, how many, of what kind, when they came; not what they say. Optional: name_contains,
    about (what they are: «договоры поставки»; counts those that are called so or begin so), kind (text, image, audio,
    video, link, note), sender, since, until.
    """

    name = "list_documents"
    arguments = ListArguments

    catalogue: DocumentCatalogue
    wordings: Mapping[str, Wordings]
    finder: DocumentSearch | None = None  # for `about`; without it no document is of a kind

    async def run(self, arguments: ListArguments, context: ToolContext) -> FactsPayload:
        """A fact for each document. Raises DatabaseAway."""
        base, about, words = context.base_id, arguments.about, self.wordings[language_of(context.question)]
        named = arguments.name_contains or None
        cards = await ready_documents(self.catalogue, base, name_contains=named, only=context.only)
        if about is not None:
            called = await self.finder.called(base, about) if self.finder else frozenset()
            cards = [card for card in cards if card.id in called]
        kind, since, until = arguments.kind, arguments.since or date.min, arguments.until or date.max
        listed = tuple(
            _fact(card, words)
            for card in cards
            if kind in (None, card.medium.value if kind in _KINDS else card.source_type.value)
            and is_sent_by(card, arguments.sender, asker=context.user_id)
            and since <= card.created_at.date() <= until
        )
        if not listed:
            return FactsPayload()
        # The total, and that of a kind, are worded for people, who read them where no model answers; a count by other
        # filters is worded for the model, with the filters: they distinguish two lists of one plan.
        given = {name: value for name, value in arguments.model_dump().items() if value}
        if given.keys() - {"about"}:
            limits = ", ".join(f"{name}: {value}" for name, value in given.items())
            count = Fact(kind=FactKind.VALUE, text=f"Documents that fit ({limits}): {len(listed)}.")
        else:
            said = (words.documents_called if about else words.documents).format(count=len(listed), about=about)
            count = Fact(kind=FactKind.VALUE, text=said, title=said)
        return FactsPayload(facts=(count, *listed), coverage=1.0)


def _fact(card: DocumentCard, words: Wordings) -> Fact:
    """Worded in the language of the question: where no model answers, people read it as it is."""
    is_file = card.source_type in (SourceType.FILE, SourceType.PATH)
    name, kind = card.name, card.medium.value if is_file else card.source_type.value
    told = {
        words.entry_title: title_beside(name, card.title),
        words.entry_pages: str(card.pages or ""),
        words.entry_length: str(timedelta(seconds=round(card.duration_s))) if card.duration_s else "",  # 0:00:12
        words.entry_author: person_name(card.author),
        words.entry_dated: card.published_at.strftime(words.day) if card.published_at else "",
        words.entry_sender: person_name(card.sender),
        words.entry_added: card.created_at.strftime(words.day),
    }
    known = {label: value for label, value in told.items() if value}
    named_kind = words.kinds[kind]
    columns = {words.entry_name: name, words.entry_kind: named_kind, **known}
    said = () if kind == Medium.TEXT.value else (named_kind,)
    return Fact(
        kind=FactKind.DOCUMENT,
        text=", ".join((name, *said, *(f"{label} {value}" for label, value in known.items()))),
        title=name,
        document=card.id,
        fields=tuple((label.capitalize(), value) for label, value in columns.items()),
    )


@dataclass(frozen=True, kw_only=True)
class Section:
    """A run of passages under one heading."""

    title: str
    first: int  # places of its passages among the document's, the last one included
    last: int
    pages: str  # «12-15»; empty where there are none


class ReadArguments(ToolArguments):
    """Which document, where to begin, or what is sought in it."""

    document: str = Field(min_length=1, max_length=300)
    part: int = Field(1, ge=1, le=1000)
    about: str | None = Field(None, max_length=1000)


class ChosenSections(BaseModel):
    """The model's reply."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    sections: Annotated[tuple[int, ...], Field(max_length=50)] = ()


@dataclass(eq=False)
class ReadDocument(Tool[ReadArguments]):
    """reads one document: as a whole from its beginning (part: 1, 2 …) to retell it; or, with about (a question), the
    sections of a long one (over 10 pages) that its contents show to matter. document.
    """

    name = READ_ONE
    arguments = ReadArguments

    catalogue: DocumentCatalogue
    passages: DocumentPassages
    model: ChatModel | None = None  # without it sections are chosen by their titles' words
    prompts: Prompts | None = None

    async def run(self, arguments: ReadArguments, context: ToolContext) -> FactsPayload:
        """The document's passages, or those of the sections that matter. Raises DatabaseAway."""
        documents, remarks = await documents_named(self.catalogue, context.base_id, [arguments.document])
        if not documents:
            return FactsPayload(remarks=remarks)
        document = documents[0]
        if arguments.about is None:
            after = (arguments.part - 1) * PASSAGES - 1
            read = await self.passages.read(context.base_id, document, after=after, limit=PASSAGES)
            return _payload(read, remarks)
        whole: list[Passage] = []
        async for page in pages_of(self.passages, context.base_id, document):
            whole += page
            if len(whole) >= MOST_PASSAGES:
                break
        if len(whole) <= PASSAGES:
            return _payload(whole, remarks)
        sections = contents_of(whole)
        numbers = await self._numbers(sections, arguments.about, context)
        chosen = [sections[number - 1] for number in dict.fromkeys(numbers) if 0 < number <= len(sections)]
        if not chosen:  # by the words of the titles, where the model does not answer or fits none
            wanted = stems(arguments.about)
            chosen = sorted(sections, key=lambda section: -share(wanted, stems(section.title)))
        chosen = chosen[:MOST_CHOSEN]
        told = "; ".join(f"{each.title} ({each.pages or each.first + 1})" for each in chosen)
        remark = f"Read of a long document, chosen by its contents: {len(chosen)} of {len(sections)} sections: {told}."
        return _payload(_within(whole, chosen, arguments.about), (*remarks, remark))

    async def _numbers(self, sections: Sequence[Section], about: str, context: ToolContext) -> tuple[int, ...]:
        if self.model is None or self.prompts is None:
            return ()
        lines = (
            f"{number}. {section.title}" + (f", p. {section.pages}" if section.pages else "")
            for number, section in enumerate(sections, start=1)  # «3. Ответственность сторон, p. 12-15»
        )
        asked = "# Contents\n\n{}\n\n# Question\n\n{}".format("\n".join(lines), about)
        messages = asking(self.prompts.contents, asked)
        try:
            reply = await ask(self.model, messages, ChosenSections, context.run, reply_tokens=REPLY_TOKENS)
        except ModelError as error:
            log.warning("reading.contents_not_chosen", reason=type(error).__name__)
            return ()
        return reply.sections if reply else ()


def _within(whole: Sequence[Passage], chosen: Sequence[Section], about: str) -> list[Passage]:
    """At most PASSAGES, in reading order; of a section that does not fit, those with most of the question's words."""
    wanted, places = stems(about), list[int]()
    for section in chosen:
        own = list(range(section.first, section.last + 1))
        if len(own) > PASSAGES - len(places):
            own.sort(key=lambda place: -share(wanted, stems(whole[place].text)))
        places += own[: PASSAGES - len(places)]
    return [whole[place] for place in sorted(places)]


def _payload(read: Sequence[Passage], remarks: tuple[str, ...]) -> FactsPayload:
    facts = tuple(said_by(passage, FactKind.PASSAGE, passage.text) for passage in read)
    return FactsPayload(facts=facts, coverage=1.0 if facts else 0.0, remarks=remarks)


def contents_of(passages: Sequence[Passage]) -> tuple[Section, ...]:
    """In reading order, each passage in exactly one section, at most MOST_SECTIONS: the runs under one heading, a long
    one in parts, and short ones together where there are too many. A section is told by its headings, and a run that
    has none of its own by the short lines that stand alone in it; what stands in many sections tells of none."""
    most = max(PART, 2 * len(passages) // MOST_SECTIONS)
    runs = [
        run[at : at + most]
        for _, each in groupby(range(len(passages)), key=lambda place: passages[place].locator.headings)
        for run in [list(each)]
        for at in range(0, len(run), most)
    ]
    joined = next(found for width in range(len(passages) + 1) if len(found := _joined(runs, width)) <= MOST_SECTIONS)
    names = [_names([passages[place] for place in run]) for run in joined]
    often = Counter(name for each in names for name in each)
    common = {name for name, count in often.items() if count > max(1, len(joined) * MANY)}
    chars = min(max(CONTENTS_CHARS // max(len(joined), 1), TITLE_CHARS.start), TITLE_CHARS[-1])
    sections: list[Section] = []
    for run, own in zip(joined, names, strict=True):
        first, last = passages[run[0]], passages[run[-1]]
        pages = (first.locator.page, last.locator.page_end or last.locator.page)
        title = "; ".join(name for name in own if name not in common)[:chars] or first.text[: TITLE_CHARS.start]
        told = "-".join(dict.fromkeys(str(page) for page in pages if page)) if pages[0] is not None else ""
        sections.append(Section(title=" ".join(title.split()), first=run[0], last=run[-1], pages=told))
    return tuple(sections)


def _joined(runs: Sequence[list[int]], width: int) -> list[list[int]]:
    """Neighbours as one while they have at most `width` passages together."""
    joined: list[list[int]] = []
    for run in runs:
        if joined and len(joined[-1]) + len(run) <= width:
            joined[-1] = joined[-1] + run
        else:
            joined.append(run)
    return joined


def _names(passages: Sequence[Passage]) -> list[str]:
    """All that the section could be called by: headings, and lines that the parser may have taken for none."""
    names = [name for each in passages for name in each.locator.headings]
    alone = (found[0].strip() for each in passages for found in _ALONE.finditer(each.text))
    for line in (line for lines in alone for line in lines.splitlines()):
        is_begun = line[0].isupper() or line[0].isdigit()
        if is_begun and line[-1] not in ".,;:" and sum(map(str.isalpha, line)) * 2 > len(line):
            names.append(line)
    return list(dict.fromkeys(names))
