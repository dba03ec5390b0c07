"""What each rule of the search by words brings: the product with one rule of its own SQL changed.

In: the folder of data (`python -m benchmarks.ablation ../shared/data --home FOLDER`; the folder keeps the bases for the
next run). Out: a line for each variant and set, its figure for either half of the questions: of forms (see
`benchmarks.alike`) how often the answering clause comes first, of corpora nDCG@10. A variant replaces some words of a
function file, which have to stand there once, and puts the file back afterwards.
"""

import argparse
import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

import psycopg

from adapters.database.embedded import embedded_database
from adapters.database.migrate import read_schema
from benchmarks.alike import REPORTED_SEED, SEED, SHOWN, Base, judged, made_base, read_reports, store
from benchmarks.alike_forms import DEVELOPED_ON
from bot.app import Parts, open_parts
from bot.cli.measuring import CANDIDATES, evaluate, fill_base, read_qrels, read_rows
from bot.home import configure_logging
from bot.settings import Settings
from domain.ids import BaseId, DocumentId

FORMS = ("contracts_ru:40", "contracts_ru:400", "minutes_ru:400", "contracts_en:400", "invoices_ru:400", "cvs_ru:400")
CORPORA = ("vkcloud/ru", "vkcloud/en", "xquad/ru", "xquad/en")
REPORTS = "financebench"

FILES = ("term_search", "document_choice")

Halves = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class Variant:
    """A search: in a file of functions other words in the place of some."""

    label: str
    file: str = FILES[0]
    old: str = ""
    new: str = ""


VARIANTS = (
    Variant(label="the product"),
    Variant(label="no document's words", old="where p_within is null\n  )", new="where false\n  )"),
    Variant(label="no choice", file=FILES[1], old="else t.parted *", new="else 0 *"),
    Variant(
        label="no inheritance",
        file=FILES[1],
        old="least(t.parted, 1) * power(t.share, 0.7)",
        new="least(t.parted, 1) * power(t.share, 99)",
    ),
    Variant(label="no relatives", old="select 0.5::double precision", new="select 0::double precision"),
    Variant(label="titles count nothing", old="(0.5 / 1.2)", new="(0 / 1.2)"),
)


class Bench:
    """The bases of one folder."""

    def __init__(self, parts: Parts, connection: psycopg.Connection, data: Path) -> None:
        self._parts = parts
        self._connection = connection
        self._data = data

    async def measure(self, name: str, variants: Sequence[Variant]) -> None:
        """A line for each variant."""
        ask = self._corpus if "/" in name else self._forms
        figures = await ask(name, variants)
        for variant, (first, second) in zip(variants, figures, strict=True):
            print(f"{name:18} {variant.label:28} {first:.3f} {second:.3f}", flush=True)

    async def _forms(self, name: str, variants: Sequence[Variant]) -> list[Halves]:
        base, target = self._made(name), await self._base(name)
        if not self._identifiers(target):
            await store(self._parts, replace(base, name=name))
        names = [document for document, _, _ in base.documents]
        numbers = {document: names.index(name) for document, name in self._identifiers(target).items()}
        shown = SHOWN if name == REPORTS else 1
        figures: list[Halves] = []
        for variant in variants:
            self.alter(variant)
            retrieval = self._parts.retrieval(passages=shown)
            found = [(question, await retrieval.rank(target, question.text)) for question in base.questions]
            right = [any(judged(numbers, asked, each.passage)[1] for each in ranked) for asked, ranked in found]
            figures.append((fmean(right[::2]), fmean(right[1::2])))
        return figures

    async def _corpus(self, name: str, variants: Sequence[Variant]) -> list[Halves]:
        folder, target = self._data / name, await self._base(name)
        if not self._identifiers(target):
            await fill_base(self._parts, target, folder / "corpus.jsonl")
        names = self._identifiers(target)
        gains = read_qrels(folder / "qrels.tsv")
        asked = {row["id"]: row["text"] for row in read_rows(folder / "queries.jsonl") if row["id"] in gains}
        retrieval = self._parts.retrieval(candidates=CANDIDATES, passages=CANDIDATES)
        figures: list[Halves] = []
        for variant in variants:
            self.alter(variant)
            found = {key: await retrieval.rank(target, text) for key, text in asked.items()}
            run = {key: [names[each.passage.document_id] for each in ranked] for key, ranked in found.items()}
            first, second = ({key: gains[key] for key in sorted(asked)[half::2]} for half in (0, 1))
            figures.append((evaluate(run, first)["ndcg@10"], evaluate(run, second)["ndcg@10"]))
        return figures

    def alter(self, variant: Variant) -> None:
        """The functions of the variant take the place of the last one's."""
        for name, text in read_schema().functions.items():
            if name not in FILES:
                continue
            if variant.old and name == variant.file:
                if text.count(variant.old) != 1:
                    raise ValueError(f"{name}.sql has {variant.old!r} {text.count(variant.old)} times")
                text = text.replace(variant.old, variant.new)
            self._connection.execute(text.encode())

    async def _base(self, name: str) -> BaseId:
        return await self._parts.stores.people.open_named_base(name)

    def _made(self, name: str) -> Base:
        if name == REPORTS:
            return read_reports(self._data / name)
        form, size = name.split(":")
        seed = SEED if form in DEVELOPED_ON else REPORTED_SEED
        return made_base(form, seed=seed, size=int(size))

    def _identifiers(self, base: BaseId) -> dict[DocumentId, str]:
        rows = self._connection.execute(
            "select id::text, source_identifier from documents where base_id = %s and status = 'ready'", [base]
        )
        return {DocumentId(key): str(identifier) for key, identifier in rows}


async def run(data: Path, home: Path, names: Sequence[str], variants: Sequence[Variant]) -> None:
    """Set by set."""
    settings = Settings.read({"BAZA_HOME": str(home)})
    configure_logging(settings.home / "log", level="WARNING", style="text", destination="file")
    async with open_parts(settings) as parts, embedded_database(settings.home) as url:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("set search_path = public, baza_internal, extensions")
            bench = Bench(parts, connection, data)
            for name in names:
                await bench.measure(name, variants)
            bench.alter(VARIANTS[0])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--sets", nargs="*", default=[*FORMS, REPORTS, *CORPORA])
    parser.add_argument("--only", nargs="*", help="labels of variants")
    given = parser.parse_args()
    chosen = [each for each in VARIANTS if given.only is None or each.label in given.only]
    asyncio.run(run(given.data, given.home, given.sets, chosen))
