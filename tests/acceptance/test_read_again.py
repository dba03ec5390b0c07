"""A base that was read before a chat model was configured is read by it after the next start, behind everybody's back,
and nothing is said twice.
"""

import asyncio
from collections import Counter
from pathlib import Path

from bot.app import Parts, open_parts
from bot.cli.content import add_sources
from bot.settings import Settings
from domain.ids import BaseId
from rag.entities import GraphFact
from tests.acceptance.test_portfolio import PORTFOLIO, read_notes
from tests.servers.llm import LlmServer

PATIENCE_S = 120.0
DIARY = "он просит двух операторов неделю вести дневник"


def settings_of(home: Path, database_url: str, **more: str) -> Settings:
    quick = {"BAZA_HOME": str(home), "DATABASE_URL": database_url, "WORKER_POLL_SECONDS": "0.05"}
    return Settings.read({**quick, **more})


async def add_without_model(settings: Settings) -> BaseId:
    async with open_parts(settings) as parts:
        base = await parts.stores.people.open_named_base("portfolio")
        async with parts.open_worker() as worker, parts.open_enricher() as enricher:
            async for _ in add_sources(parts, worker, base, [str(path) for path in PORTFOLIO]):
                pass
            await enricher.drain(base)
    return base


async def facts_in(parts: Parts, base: BaseId) -> list[GraphFact]:
    relations = ["CURRENT_JOB", "CONTACTS", "PROJECT_ACHIEVEMENTS", "PROJECT_TECH_STACK", "ENTITY_FACTS"]
    return await parts.stores.entities.facts(base, entity=None, relations=relations, related=False, limit=900)


async def run_until_read(parts: Parts, base: BaseId, llm: LlmServer) -> None:
    """As `baza run` does, until the model was shown every document, and what it read in the notes is there."""
    stop = asyncio.Event()
    async with parts.open_enricher() as enricher, asyncio.timeout(PATIENCE_S):
        running = asyncio.create_task(enricher.run(stop))
        while len(llm.parts) < len(PORTFOLIO) or DIARY not in {fact.text for fact in await facts_in(parts, base)}:
            await asyncio.sleep(0.05)
        stop.set()
        await running


async def test_a_model_that_is_configured_later_reads_what_is_there(
    tmp_path: Path, database_url: str, llm: LlmServer
) -> None:
    base = await add_without_model(settings_of(tmp_path, database_url))
    llm.reader = read_notes
    async with open_parts(settings_of(tmp_path, database_url, LLM_BASE_URL=llm.url)) as parts:
        before = await facts_in(parts, base)
        await run_until_read(parts, base, llm)
        after = await facts_in(parts, base)
    said = Counter((fact.entity, fact.relation, fact.text) for fact in after)
    assert said - Counter((fact.entity, fact.relation, fact.text) for fact in before) == {
        ("Дмитрий Иванов", "ENTITY_FACTS", DIARY): 1
    }
    assert len(llm.parts) == len(PORTFOLIO)
