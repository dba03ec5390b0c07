"""`rag_db_query`: search in the base, by words and by meaning, and what its passages lead to.

In: a query, and filters when the question has any. Out: the best passages as facts, and how much of the query they
cover; the second hop of a question («неустойка у поставщика, из-за которого перенесли запуск»). `search_each_document`
tells how many documents have a `certain` passage, for questions about all documents where no model can read them.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta
from itertools import combinations
from typing import Annotated, Literal

from pydantic import Field

from domain.documents import DocumentCard, Medium, SourceType
from domain.ending import together
from domain.ids import DocumentId
from prompts.wordings import Wordings, language_of
from rag.excerpts import quote
from rag.execution.documents import (
    Since,
    Until,
    documents_named,
    in_order_of_worth,
    is_asker,
    is_by,
    is_sent_by,
    ready_documents,
)
from rag.execution.facts import MOST, Fact, FactKind, FactsPayload, passage_fact, said_by
from rag.execution.tools import Tool, ToolContext
from rag.planning.plain_requests import Breadth
from rag.planning.plan import SEARCH, SURVEY
from rag.planning.tool import ToolArguments
from rag.ports import DocumentCatalogue
from rag.records import RankedPassage, SearchFilter
from rag.retrieval.alike import ALIKE, opening_of
from rag.retrieval.search import Retrieval
from rag.words import STEM_LETTERS, akin, likeness, sentences, share, stems, union

TITLES = 10  # of an author's latest documents, where the question names nothing but the author
MOST_NAMED = 12  # documents that one search is limited to by name

SourceKind = Literal["note", "file", "link", "image", "audio", "video"]
_KINDS: Mapping[SourceKind, SearchFilter] = {
    "note": SearchFilter(types=(SourceType.NOTE,)),
    "file": SearchFilter(types=(SourceType.FILE, SourceType.PATH)),
    "link": SearchFilter(types=(SourceType.LINK, SourceType.SITE)),
    "image": SearchFilter(media=(Medium.IMAGE,)),
    "audio": SearchFilter(media=(Medium.AUDIO,)),
    "video": SearchFilter(media=(Medium.VIDEO,)),
}
HALF_FOUND = 2  # documents that are looked into: the one that is meant, and one that mentions it
MOST_NAMES = 3  # of a sentence; a list of participants leads nowhere
PARTLY = 0.7  # share of the query's words; a document that holds more of them answers it itself
REACHED = 0.5  # share of the words that were missing: «которого» is one of them, too

_QUOTED = re.compile(r"[«“\"]([^«»“”\"\n]{2,60})[»”\"]")
_NAMED = re.compile(r"(?<=[^\s.!?…:•*-]) +((?:[A-ZА-ЯЁ][\w-]*[a-zа-яё][\w-]*)(?: [A-ZА-ЯЁ][\w-]*[a-zа-яё][\w-]*)*)")
_WORD = re.compile(r"[\w-]+")


class SearchArguments(ToolArguments):
    """What to look for, and where; what is left open narrows nothing."""

    query: str = Field(min_length=1)
    documents: tuple[str, ...] = Field((), max_length=MOST_NAMED)
    source: SourceKind | None = None
    author: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    sender: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    since: Since | None = None
    until: Until | None = None
    top_k: int | None = Field(None, ge=1, le=MOST)


@dataclass(eq=False)
class SearchBase(Tool[SearchArguments]):
    """the passages that fit best, word for word; the way to any content. query: rare words that the document itself
    would use, names and numbers included, and the rarest also in the documents' other language («обеспечительный платёж
    security deposit»). Optional: documents; source: note, file, link, image, audio, video; author: who wrote it, a part
    of the name in its first case; sender: who sent it, or "asker" («что я присылал»); since, until: days; top_k.
    """

    name = SEARCH
    arguments = SearchArguments

    retrieval: Retrieval
    catalogue: DocumentCatalogue

    async def run(self, arguments: SearchArguments, context: ToolContext) -> FactsPayload:
        """Where the query is nothing but the author's or sender's name («Что пишет Анна?»), or finds nothing, titles of
        theirs are searched for. Raises DatabaseAway."""
        documents, remarks = await documents_named(self.catalogue, context.base_id, arguments.documents)
        sender, midnight = arguments.sender, time(tzinfo=UTC)  # the people's time zones are not known
        is_own = sender is not None and is_asker(sender)
        limits = replace(
            _KINDS[arguments.source] if arguments.source else SearchFilter(),
            documents=documents,
            sender=None if is_own else sender,
            sent_by=context.user_id if is_own else None,
            author=arguments.author,
            since=datetime.combine(arguments.since, midnight) if arguments.since else None,
            before=datetime.combine(arguments.until + timedelta(days=1), midnight) if arguments.until else None,
        )
        only = None if limits == SearchFilter() else limits
        asked, people = stems(arguments.query), stems(f"{arguments.author or ''} {arguments.sender or ''}")
        query, is_of_people = arguments.query, bool(asked) and asked <= people
        found = () if is_of_people else await self.retrieval.find(context.base_id, query, only=only)
        if not found and (arguments.author or sender):
            # documents of theirs may contain neither the name nor the question's words («про цены»)
            cards = await ready_documents(self.catalogue, context.base_id)
            by_author = (each for each in cards if is_by(each, arguments.author))
            theirs = [each.title for each in by_author if is_sent_by(each, sender, asker=context.user_id)]
            titles = "\n".join(theirs[:TITLES])
            query = titles if is_of_people and titles else query
            if titles or is_of_people:
                found = await self.retrieval.find(context.base_id, titles or query, only=only)
        return replace(passages_payload(found[: arguments.top_k], asked=query), remarks=remarks)


def passages_payload(found: Sequence[RankedPassage], *, asked: str) -> FactsPayload:
    """Passages as facts. The coverage is the share of the query's words that the passages of one document hold, its
    title included: a head that names the party and clauses of other contracts answer nothing together."""
    facts = tuple(map(passage_fact, found))
    return FactsPayload(facts=facts, coverage=max(coverage_by_document(facts, asked).values(), default=0.0))


def coverage_by_document(facts: Sequence[Fact], asked: str) -> Mapping[DocumentId, float]:
    """For each document the share of the words of `asked` that its passages hold; the best document's passage first."""
    wanted = stems(asked)
    return {document: share(wanted, words) for document, words in _holds(facts, wanted).items()}


@dataclass(frozen=True, kw_only=True)
class Hop:
    """A search for what the question asks of a thing that only a found sentence names."""

    names: tuple[str, ...]
    asked: tuple[str, ...]  # words of the query that the document with that sentence lacks
    source: DocumentId  # that document

    @property
    def query(self) -> str:
        """The words to search for."""
        return " ".join((*self.asked, *self.names))

    def reaches(self, fact: Fact) -> bool:
        """Whether this passage holds most of what is asked, in another document that is about the thing: it begins with
        its name or is called so."""
        if fact.document in (None, self.source) or fact.passage is None:
            return False
        names, asked = stems(" ".join(self.names)), stems(" ".join(self.asked))
        of = fact.passage.passage
        subject = f"{of.name}\n{of.title}\n{opening_of(of)}"
        return names <= stems(subject) and len(asked & stems(fact.text)) >= REACHED * len(asked)


def half_found(facts: Sequence[Fact], query: str) -> tuple[DocumentId, ...]:
    """Documents that were found by a telling word of the query (one that hardly any other found document has), while
    words that they lack were found in others; in the order in which they were found, HALF_FOUND at most."""
    holds = _holds(facts, stems(query))
    found = union(holds.values())
    holders = Counter(stem for words in holds.values() for stem in words)
    telling = {stem for stem, count in holders.items() if count <= HALF_FOUND < len(holds) or count == 1 < len(holds)}
    return tuple(each for each, words in holds.items() if words & telling and found - words)[:HALF_FOUND]


def second_hop(facts: Sequence[Fact], query: str, *, in_alike: bool = False) -> Hop | None:
    """The hop that the best document or a half-found one leads to, if its sentence that holds most of the query names
    something and others have words of the query that it lacks (`in_alike`: others of one form, of which the name
    chooses one); else None."""
    wanted = stems(query)
    holds = _holds(facts, wanted)
    for document in dict.fromkeys((*list(holds)[:1], *half_found(facts, query))):
        missing = union(holds.values()) - holds[document]
        if in_alike:
            told = [(fact.document, stems(fact.text)) for fact in facts if fact.document]
            pairs = ((one, other) for (own, one), (its, other) in combinations(told, 2) if own != its)
            missing &= union(one & other for one, other in pairs if likeness(one, other) >= ALIKE)
        texts = [fact.text for fact in facts if fact.document == document]
        said = (text[span.start : span.end] for text in texts for span in sentences(text))
        sentence = max(said, key=lambda each: len(wanted & stems(each)), default="")
        # what stands in quotation marks, then words with a capital that do not begin the sentence
        marked = [*_QUOTED.findall(sentence), *_NAMED.findall(_QUOTED.sub(" ", sentence))]
        names = tuple(dict.fromkeys(each for each in marked if stems(each) and not stems(each) & wanted))
        longer = (word for word in _WORD.findall(query) if len(word) >= STEM_LETTERS)
        asked = tuple(dict.fromkeys(word for word in longer if stems(word) & missing))
        if asked and 0 < len(names) <= MOST_NAMES and share(wanted, holds[document]) <= PARTLY:
            return Hop(names=names, asked=asked, source=document)
    return None


def _holds(facts: Sequence[Fact], wanted: frozenset[str]) -> Mapping[DocumentId, frozenset[str]]:
    """For each document the wanted words that its passages and names hold."""
    texts: dict[DocumentId, list[str]] = {}
    for fact in facts:
        if fact.kind is FactKind.PASSAGE and fact.document:
            name = fact.passage.passage.name if fact.passage else ""
            texts.setdefault(fact.document, []).append(f"{fact.title}\n{name}\n{fact.text}")
    return {document: wanted & stems("\n".join(said)) for document, said in texts.items()}


MOST_DOCUMENTS = 60  # that are searched one by one, some milliseconds each; the likeliest, then the newest
AT_ONCE = 4  # concurrent searches, so that a turn does not take all connections
EXCERPT_CHARS = 200  # per document: a line or two


class SurveyArguments(ToolArguments):
    """What to look for in every document."""

    query: str = Field(min_length=1)


@dataclass(eq=False)
class SurveyBase(Tool[SurveyArguments]):
    """Searches the documents of the base one by one, and returns the best place in each. query: what it is about."""

    name = SURVEY
    is_offered = False
    arguments = SurveyArguments

    catalogue: DocumentCatalogue
    finder: Retrieval
    wordings: Mapping[str, Wordings]
    breadth: Breadth

    async def run(self, arguments: SurveyArguments, context: ToolContext) -> FactsPayload:
        """Empty when no document has a `certain` passage. Raises DatabaseAway."""
        query = self.breadth.subject(arguments.query)
        cards = await ready_documents(self.catalogue, context.base_id, only=context.only)
        first = await self.finder.find(context.base_id, query)
        searched = in_order_of_worth(cards, first)[:MOST_DOCUMENTS]
        places = asyncio.Semaphore(AT_ONCE)

        async def best_of(card: DocumentCard) -> RankedPassage | None:
            async with places:
                only = SearchFilter(documents=(card.id,))
                found = await self.finder.find(context.base_id, query, only=only)
            return next((each for each in found if each.certain), None)

        bests = await together(*map(best_of, searched))
        hits = [(card.name, best.passage) for card, best in zip(searched, bests, strict=True) if best]
        if not hits:
            return FactsPayload()
        asked, words = stems(query), self.wordings[language_of(query)]
        holds = [share(asked, stems(f"{best.title}\n{best.text}")) for _, best in hits]
        wording = words.survey if len(searched) == len(cards) else words.survey_of
        said = wording.format(found=len(hits), searched=len(searched), total=len(cards))
        most = holds.count(max(holds))
        told = f"{said}, {words.survey_best.format(best=most)}" if most < len(hits) else said
        facts = [Fact(kind=FactKind.VALUE, text=f"{told}. {words.survey_remark}", title=said)]
        # Documents that hold most of the question's words first: the others may be about a single word of it.
        for _, (name, passage) in sorted(zip(holds, hits, strict=True), key=lambda each: -each[0]):
            about = " ".join(union(akin(asked, stems(passage.text)).values()))
            excerpt = quote(passage.text, about=about, limit=EXCERPT_CHARS)
            facts.append(replace(said_by(passage, FactKind.STATEMENT, f"{name}: {excerpt}"), title=name))
        return FactsPayload(facts=tuple(facts), coverage=1.0)
