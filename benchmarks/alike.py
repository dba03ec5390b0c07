"""Search in bases of alike documents: contracts of one form, minutes, price lists, CVs, reports, annual reports.

In: nothing, or a folder of real reports with questions (`python -m benchmarks.alike --reports
../shared/data/financebench`). Out: for each base how often the clause that answers comes first and among ten, how often
the right document comes first (by passages, by `find_documents`), how often the reply shows the sentence that answers,
the share of the ten that are from other documents (Document-Level Retrieval Mismatch, arXiv 2510.06999), how often the
answer asks which document is meant or offers others, and processor milliseconds of a search (this process and
PostgreSQL), for the product without a model, for plain BM25, and with `--python /tmp/peers/bin/python` for LangChain's
BM25 and hybrid. The same questions without the name of
a document show how often it is asked which one is meant. `--reported` takes the forms that nothing was tuned on.
"""

import argparse
import asyncio
import json
import random
import re
import subprocess
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from pathlib import Path, PurePath
from statistics import fmean, quantiles

import numpy as np

from benchmarks.alike_forms import DEVELOPED_ON, REPORTED_ON, make_documents, unnamed_questions
from benchmarks.lexical import Bm25
from benchmarks.notes import server_ms
from bot.app import Parts, open_parts
from bot.home import configure_logging
from bot.replies.answers import finished_answer
from bot.settings import Settings
from bot.texts import load_texts
from domain.documents import SourceType
from domain.ids import BaseId, DocumentId, SessionId, UserId
from ingestion.chunking.passages import Passages, PassageSizes, cut_passages
from ingestion.indexing import CutDocument, Indexer
from ingestion.parsers.registry import parse_file
from ingestion.parsers.text import read_text
from ingestion.records import Batch, Chunk, Document, Source
from rag.conversation import Conversation
from rag.outcome import FEWEST
from rag.records import Answered, Passage, RankedPassage, SearchFilter
from rag.records import Question as Asked
from rag.retrieval.alike import EQUAL, equally_fitting
from rag.retrieval.search import DocumentSearch

SHOWN = 10
QUESTIONS = 160  # of each base
TOGETHER = 50  # documents that are stored in one call
SEED, REPORTED_SEED = 1, 20261122
WINDOW_TOKENS = 512  # any: there is no model
_WORD = re.compile(r"\w+")
LANGCHAIN = Path(__file__).parent / "peers" / "search_alike.py"


@dataclass(frozen=True, kw_only=True)
class Question:
    """What is asked of which document, and whether a passage of it answers."""

    text: str
    document: int
    answers: Callable[[Chunk | Passage], bool]
    said: str = ""  # the sentence that answers, where it is known


@dataclass(kw_only=True)
class Tally:
    """Counts over questions; `share` makes shares of them."""

    asked: int = 0
    sums: dict[str, float] = field(default_factory=dict)
    taken_ms: list[float] = field(default_factory=list)

    def add(self, places: Sequence[tuple[int, bool]], question: Question) -> None:
        """`places`: document and whether it answers, best first."""
        shown = places[:SHOWN]
        self.asked += 1
        self._count("clause first", bool(shown) and shown[0][1])
        self._count("among ten", any(answers for _, answers in shown))
        self._count("document first", bool(shown) and shown[0][0] == question.document)
        self._count("of others", sum(at != question.document for at, _ in shown) / max(len(shown), 1))

    def count(self, name: str, value: float) -> None:
        """One more figure of the question that was added last."""
        self._count(name, value)

    def _count(self, name: str, value: float) -> None:
        self.sums[name] = self.sums.get(name, 0.0) + value

    def __str__(self) -> str:
        told = [f"{name} {total / max(self.asked, 1):.2f}" for name, total in self.sums.items()]
        taken = self.taken_ms
        times = [f"processor {fmean(taken):.1f}, p95 {quantiles(taken, n=20)[-1]:.1f} ms"] if len(taken) > 1 else []
        return "  ".join([*told, *times])


@dataclass(frozen=True, kw_only=True)
class Base:
    """Documents with their passages, and questions."""

    name: str
    documents: tuple[tuple[str, Document, Passages], ...]  # file name first
    questions: tuple[Question, ...]
    unnamed: tuple[str, ...] = ()  # questions that say of no document that it is meant


def made_base(form: str, *, seed: int, size: int, most: int = QUESTIONS) -> Base:
    """Documents of a form as text files."""
    documents: list[tuple[str, Document, Passages]] = []
    questions = []
    used: set[str] = set()
    for number, made in enumerate(make_documents(form, seed=seed, count=size)):
        name = _unused(made.file_name, used)
        used.add(name)
        parsed = read_text(made.text, name=name)
        documents.append((name, parsed, _cut(parsed)))
        for asked in made.questions:
            said = _one_line(asked.answer)
            questions.append(Question(text=asked.text, document=number, answers=partial(_says, said), said=said))
    chosen = random.Random(seed).sample(questions, min(most, len(questions)))
    return Base(
        name=f"{form}, {size:,}",
        documents=tuple(documents),
        questions=tuple(chosen),
        unnamed=tuple(unnamed_questions(form)),
    )


def _unused(name: str, used: set[str]) -> str:
    """As the product numbers files of one name that are both kept."""
    path = PurePath(name)
    numbered = (f"{path.stem} ({number}){path.suffix}" for number in count(2))
    return name if name not in used else next(each for each in numbered if each not in used)


def read_reports(folder: Path) -> Base:
    """FinanceBench: the answer is a page of the evidence."""
    documents = []
    for path in sorted((folder / "pdf").glob("*.pdf")):
        parsed = parse_file(path, name=path.name, media_type=None)
        documents.append((path.name, parsed, _cut(parsed)))
    numbers = {name: number for number, (name, _, _) in enumerate(documents)}
    with (folder / "questions.jsonl").open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    questions = [
        Question(
            text=row["question"],
            document=numbers[row["document"]],
            answers=partial(_is_on, frozenset(row["pages"])),
        )
        for row in rows
    ]
    return Base(name=folder.name, documents=tuple(documents), questions=tuple(questions))


def _says(said: str, chunk: Chunk | Passage) -> bool:
    return said in _one_line(chunk.text)


def _is_on(pages: frozenset[int], chunk: Chunk | Passage) -> bool:
    first = chunk.locator.page or 0
    return any(first <= page <= (chunk.locator.page_end or first) for page in pages)


def _cut(parsed: Document) -> Passages:
    limits = Settings.read({}).worker
    return cut_passages(
        parsed.blocks,
        PassageSizes(
            chunk_tokens=limits.chunk_tokens, overlap_tokens=limits.overlap_tokens, window_tokens=WINDOW_TOKENS
        ),
    )


def _one_line(text: str) -> str:
    return " ".join(text.split())


async def store(parts: Parts, base: Base) -> tuple[BaseId, list[DocumentId]]:
    """The base in the database, by the calls that a worker makes."""
    target = await parts.stores.people.open_named_base(base.name)
    indexer = Indexer(embedder=parts.embedder, analyzer=parts.analyzer, queue=parts.stores.work)
    ids: list[DocumentId] = []
    for first in range(0, len(base.documents), TOGETHER):
        some = base.documents[first : first + TOGETHER]
        sources = tuple(_source(name, cut) for name, _, cut in some)
        batch = Batch(base_id=target, user_id=UserId(0), sources=sources)
        enqueued = [each.id for each in await parts.stores.intake.enqueue(batch, hold_s=60)]
        await _publish(parts, indexer, dict(zip(enqueued, some, strict=True)))
        ids += enqueued
    await parts.stores.search.ensure_index()  # counts, as the worker makes them
    return target, ids


def _source(name: str, cut: Passages) -> Source:
    size = sum(len(chunk.text) for chunk in cut.chunks)
    return Source(type=SourceType.FILE, identifier=name, size_bytes=size)


async def _publish(
    parts: Parts, indexer: Indexer, documents: Mapping[DocumentId, tuple[str, Document, Passages]]
) -> None:
    work, waiting = parts.stores.work, dict(documents)
    while waiting:
        held = await work.claim(worker="benchmark", lease_s=3600, most=len(waiting), only=tuple(waiting))
        claimed = [(each, *waiting.pop(each.id)) for each in held]
        cuts = [CutDocument(document=each, parsed=parsed, passages=cut) for each, _, parsed, cut in claimed]
        whole = await indexer.embed_together([(cut, await indexer.analyse(cut)) for cut in cuts])
        ended = await work.publish_together([replace(each, content_hash=str(each.document.id)) for each in whole])
        if not (held and all(ended.get(each.id) for each in held)):
            raise RuntimeError("a document was taken by somebody else, or is there twice")


async def ask(parts: Parts, base: Base, home: Path, stored: tuple[BaseId, list[DocumentId]]) -> Tally:
    """The product's own search."""
    target, ids = stored
    numbers = {document: number for number, document in enumerate(ids)}
    retrieval, finder = parts.retrieval(passages=SHOWN), DocumentSearch(parts.stores.search, parts.analyzer)
    tally, conversation = Tally(), parts.conversation()
    for question in base.questions:
        began = _processor_ms(home)
        found = await retrieval.rank(target, question.text)
        tally.taken_ms.append(_processor_ms(home) - began)
        tally.add([judged(numbers, question, each.passage) for each in found], question)
        documents = await finder.find_documents(target, question.text, limit=3)
        tally.count("found first", bool(documents) and numbers[documents[0].id] == question.document)
        only = SearchFilter(documents=(ids[question.document],))
        inside = await retrieval.find(target, question.text, only=only)
        tally.count("given the document", any(judged(numbers, question, each.passage)[1] for each in inside))
        if question.said:
            tally.count(
                "answer shown", words_of(question.said) in words_of(await _reply(conversation, target, question))
            )
        asked, offered = _choice(await retrieval.find(target, question.text), question.text)
        tally.count("which is asked", asked)
        tally.count("others offered", offered)
    unnamed = [_choice(await retrieval.find(target, text), text)[0] for text in base.unnamed]
    if unnamed:
        tally.sums["which is asked where none is named"] = fmean(unnamed) * tally.asked
    return tally


async def _reply(conversation: Conversation, base: BaseId, asked: Question) -> str:
    """What a person is shown who asks this first."""
    question = Asked(text=asked.text, user_id=UserId(1), session_id=SessionId(str(uuid.uuid4())), base_id=base)
    answers = [event.answer async for event in conversation.answer(question) if isinstance(event, Answered)]
    return finished_answer(answers[-1], load_texts().for_language("ru")).text


def words_of(text: str) -> str:
    """Without the signs between them: a reply has marks of its own."""
    return f" {' '.join(_WORD.findall(text.casefold()))} "


def _choice(found: Sequence[RankedPassage], question: str) -> tuple[bool, bool]:
    """Whether the answer asks which document is meant, or offers others below it."""
    is_asked = len(equally_fitting(found, question, share=EQUAL)) >= FEWEST
    return is_asked, not is_asked and len(equally_fitting(found, question)) > 1


def _processor_ms(home: Path) -> float:
    """Of this process and of PostgreSQL's."""
    return server_ms(home) + 1000 * time.process_time()


def judged(numbers: Mapping[DocumentId, int], question: Question, passage: Passage) -> tuple[int, bool]:
    """The document's number, and whether the passage answers."""
    number = numbers[passage.document_id]
    return number, number == question.document and question.answers(passage)


def texts(base: Base) -> list[str]:
    """Its passages, each under its file's name: what others search."""
    return [f"{name}\n{chunk.text}" for name, _, cut in base.documents for chunk in cut.chunks]


def tallied(base: Base, ranked: Sequence[Sequence[int]]) -> Tally:
    """`ranked`: for each question the places of passages in `texts`, best first."""
    places = [(number, chunk) for number, (_, _, cut) in enumerate(base.documents) for chunk in cut.chunks]
    counted = Tally()
    for question, best in zip(base.questions, ranked, strict=True):
        shown = [places[at] for at in best]
        counted.add(
            [(number, number == question.document and question.answers(chunk)) for number, chunk in shown], question
        )
    return counted


def ask_plain(base: Base, analyze: Callable[[str], Sequence[str]]) -> Tally:
    """BM25 over the product's own terms."""
    index = Bm25([analyze(text) for text in texts(base)])
    scores = (index.scores(analyze(question.text)) for question in base.questions)
    return tallied(base, [np.argsort(-each, kind="stable")[:SHOWN].tolist() for each in scores])


def ask_langchain(base: Base, python: Path) -> dict[str, Tally]:
    """LangChain's BM25 and hybrid, in an environment of its own."""
    asked = json.dumps({"passages": texts(base), "questions": [question.text for question in base.questions]})
    run = subprocess.run([python, LANGCHAIN], input=asked, capture_output=True, text=True, check=True)
    return {name: tallied(base, ranked) for name, ranked in json.loads(run.stdout).items()}


def bases(arguments: argparse.Namespace) -> Iterator[Base]:
    """What is asked about, one after the other."""
    if arguments.reports:
        yield read_reports(arguments.reports)
        return
    seed = arguments.seed or (REPORTED_SEED if arguments.reported else SEED)
    for form in arguments.forms or (REPORTED_ON if arguments.reported else DEVELOPED_ON):
        for size in arguments.sizes:
            yield made_base(form, seed=seed, size=size, most=arguments.questions)


async def run(arguments: argparse.Namespace) -> None:
    """A line for each base and way."""
    model = {"LOCAL_EMBEDDING_MODEL": str(arguments.model.absolute())} if arguments.model else {}
    with tempfile.TemporaryDirectory() as folder:
        settings, home = Settings.read({"BAZA_HOME": folder, **model}), Path(folder)
        configure_logging(home / "log", level="WARNING", style="text", destination="file")
        async with open_parts(settings) as parts:
            for base in bases(arguments):
                await (report_vectors(parts, base, home) if model else report(parts, base, home, arguments.python))


async def report_vectors(parts: Parts, base: Base, home: Path) -> None:
    """Words and vectors, each alone and both."""
    stored = await store(parts, base)
    for name, weight in (("words", 0.0), ("vectors", 1.0), ("both", parts.vector_weight)):
        print(f"{base.name}, {name}: {await ask(replace(parts, vector_weight=weight), base, home, stored)}", flush=True)


async def report(parts: Parts, base: Base, home: Path, python: Path | None) -> None:
    """The ways of one base."""
    print(f"{base.name}: {await ask(parts, base, home, await store(parts, base))}", flush=True)
    print(f"{' ' * len(base.name)}  plain BM25: {ask_plain(base, parts.analyzer.terms)}", flush=True)
    for name, tally in ask_langchain(base, python).items() if python else ():
        print(f"{' ' * len(base.name)}  {name}: {tally}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reports", type=Path, help="a folder with pdf and questions.jsonl")
    parser.add_argument("--reported", action="store_true", help="forms and a seed that nothing was tuned on")
    parser.add_argument("--forms", nargs="*", help="names of files in benchmarks/alike_texts")
    parser.add_argument("--python", type=Path, help="of an environment with benchmarks/peers/requirements.txt")
    parser.add_argument(
        "--model", type=Path, help="an encoder's folder (`benchmarks.minilm`): words and vectors compared"
    )
    parser.add_argument("--seed", type=int, help="instead of those of the forms")
    parser.add_argument("--questions", type=int, default=QUESTIONS, help="of each base at most")
    parser.add_argument("--sizes", nargs="*", type=int, default=[40, 400], help="documents in a base")
    asyncio.run(run(parser.parse_args()))
