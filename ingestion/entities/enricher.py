"""Extracts entities from ready documents in the background, one document after another.

In: the queue of ready documents. Out: their entities and facts, stored. It starts after a document is searchable and
delays nobody. It may be killed at any moment: its document is claimed again when the lease expires.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from time import monotonic

import structlog

from domain.ending import end
from domain.errors import DatabaseAway
from domain.ids import BaseId
from ingestion.entities.merging import gather, merge
from ingestion.entities.records import ClaimedEnrichment, EnrichmentQueue, Extract, FactReader, NameFinder, NameReader
from ingestion.entities.structure import placed, read_structure
from ingestion.errors import LeaseLost, ServiceError
from ingestion.indexing import compute
from ingestion.ports import Charged, DocumentText, for_nothing
from ingestion.records import BLOCK_SEPARATOR, Block
from ingestion.spool import in_portions

LEASE_S = 600  # renewed before each part, for which a model may take minutes
ATTEMPTS = 4
FIRST_PAUSE_S = 30.0  # after a service was away; doubled for each further attempt
BETWEEN_S = 1.0  # at most: after each document it rests as long as the work took
PART_CHARS = 8_000  # of a document, per call of the model
MOST_CHARS = 2_000_000  # of a document, a book of a thousand pages: what is found in it is in memory at once
MOST_PARTS = 40  # of one document that the model reads; the rest is read by rules alone
MOST_KNOWN = 100  # names from earlier parts that the model is shown, the latest ones
AGAIN_EVERY_S = 6 * 3600.0  # how often what was read without the model is queued for it: it was missing or away
RULES = "rules"

log = structlog.get_logger()


@dataclass(kw_only=True)
class Enricher:
    """Works on one document at a time."""

    queue: EnrichmentQueue
    text: DocumentText
    names: NameReader
    finder: NameFinder | None = None
    facts: FactReader | None = None  # takes the finder's place
    poll_s: float
    charged: Charged = for_nothing
    _again_at: float = 0.0  # on the monotonic clock

    async def run(self, stop: asyncio.Event) -> None:
        """Work until `stop`; the document in work is then left to the next claim."""
        working = asyncio.create_task(self._work_on())
        try:
            await stop.wait()
        finally:  # also when cancelled: it must not go on with a closed database
            await end(working)

    async def drain(self, base: BaseId) -> None:
        """Enrich everything that waits in one base (`baza add`). Raises DatabaseAway."""
        while await self._take(only=base):
            pass

    async def _work_on(self) -> None:
        while True:
            started, worked = monotonic(), False
            try:
                await self._let_read_again()
                worked = await self._take()
            except DatabaseAway as error:
                log.warning("enrichment.database_away", reason=str(error))
            except (Exception, asyncio.CancelledError) as error:  # the outermost handler: nothing may stop the loop
                if (own := asyncio.current_task()) and own.cancelling():
                    raise
                log.error("enrichment.failed", exc_info=error)
            await asyncio.sleep(min(monotonic() - started, BETWEEN_S) if worked else self.poll_s)

    async def _let_read_again(self) -> None:
        """At the start and every AGAIN_EVERY_S, queue what was read without a model: one may be configured by now."""
        if self.facts is None or monotonic() < self._again_at:
            return
        waiting = await self.queue.read_again(reader=RULES)
        self._again_at = monotonic() + AGAIN_EVERY_S
        if waiting:
            log.info("enrichment.read_again", documents=waiting, model=self.facts.name)

    async def _take(self, only: BaseId | None = None) -> bool:
        """Work on the next document; False when none waits."""
        claimed = await self.queue.claim(lease_s=LEASE_S, attempts=ATTEMPTS, only=only)
        if claimed is None:
            return False
        started = monotonic()
        try:
            async with self.charged(claimed.base_id, [claimed.document]):
                await self._work(claimed)
        except LeaseLost as error:
            log.info("enrichment.lease_lost", document=str(error))
        except ServiceError as error:
            await self._postpone(claimed, error.code.value)
        except DatabaseAway:
            raise
        except Exception as error:  # the outermost handler of one document: a bug must not stop the others
            log.exception("enrichment.broke", document=claimed.document, attempt=claimed.attempt)
            await self._postpone(claimed, type(error).__name__)
        else:
            log.info("enriched", document=claimed.document, seconds=round(monotonic() - started, 2))
        return True

    async def _work(self, claimed: ClaimedEnrichment) -> None:
        blocks = await self.text.blocks(claimed.base_id, claimed.document, most_chars=MOST_CHARS)
        characters, names = sum(len(block.text) for block in blocks), self.names
        spans = await self.queue.spans(claimed)
        structure = await compute(
            lambda: read_structure(blocks, title=claimed.title, names_person=names.names_person), characters=characters
        )
        extracts, reader = [structure], self.facts.name if self.facts else RULES
        try:
            extracts += await self._read_prose(blocks, claimed)
        except ServiceError:
            if claimed.attempt < ATTEMPTS:
                raise
            reader = RULES
        gathered = await compute(lambda: gather(extracts, names), characters=characters)
        keys = sorted({key for entity in gathered.values() for key in entity.keys})
        known = await self.queue.known(claimed.base_id, keys)
        found = await compute(
            lambda: merge(extracts, gathered, known=known, spans=spans, names=names), characters=characters
        )
        await self.queue.store(claimed, found=found, reader=reader)

    async def _read_prose(self, blocks: Sequence[Block], claimed: ClaimedEnrichment) -> list[Extract]:
        """By the model if there is one, part by part, else by the name finder."""
        if self.facts is None:
            if self.finder is None or claimed.language != "ru":
                return []
            text = BLOCK_SEPARATOR.join(block.text for block in blocks)
            return [Extract(mentions=tuple(await self.finder.find(text)))]
        extracts: list[Extract] = []
        parts = in_portions(placed(blocks), lambda each: len(each[0].text), limit=PART_CHARS)
        for part in islice(parts, MOST_PARTS):
            await self.queue.renew(claimed, lease_s=LEASE_S)
            known = dict.fromkeys(mention.of.name for extract in extracts for mention in extract.mentions)
            extracts.append(await self.facts.read(part, title=claimed.title, known=tuple(known)[-MOST_KNOWN:]))
        return extracts

    async def _postpone(self, claimed: ClaimedEnrichment, problem: str) -> None:
        delay_s = FIRST_PAUSE_S * 2 ** (claimed.attempt - 1)
        is_final = claimed.attempt >= ATTEMPTS
        tell = log.error if is_final else log.warning
        tell("enrichment.given_up" if is_final else "enrichment.postponed", document=claimed.document, problem=problem)
        try:
            await self.queue.postpone(claimed, delay_s=delay_s, problem=problem, is_final=is_final)
        except LeaseLost as error:
            log.info("enrichment.lease_lost", document=str(error))
