"""What planning and bookkeeping add to each step of a question that takes several (issue 6: at most 5 ms).

In: nothing (`python -m benchmarks.steps`). Out: CPU milliseconds a step for plans of 2 to 8 steps whose tools answer
at once, each with as many facts as a search finds: validation, order, context, budgets, judging, the person's list.
"""

import argparse
import asyncio
import logging
import time
from collections.abc import Awaitable, Callable

import structlog

from rag.execution.executor import Executor
from rag.execution.facts import Fact, FactKind, FactsPayload
from rag.execution.search_tool import SearchArguments
from rag.execution.tools import Run, RunLimits, ToolContext
from rag.planning.plan import in_order
from rag.records import RankedPassage
from tests.fakes.planning import ScriptedTool, begin, plan
from tests.fakes.rag import make_passage, rank
from tests.fakes.steps import step

LIMIT_MS = 5.0
FACTS = 10  # passages that a search finds
WORDS = 150  # of a passage
PLANS = 50  # of each size


class Instant(ScriptedTool):
    """Finds passages without looking."""

    async def run(self, arguments: SearchArguments, context: ToolContext) -> FactsPayload:
        texts = [f"{arguments.query} {number} " + "слово " * WORDS for number in range(FACTS)]
        ranked = rank(*(make_passage(text, number=hash(text) % 10**9) for text in texts))
        return FactsPayload(facts=tuple(map(_fact, ranked)), coverage=1.0)


def _fact(found: RankedPassage) -> Fact:
    return Fact(kind=FactKind.PASSAGE, text=found.passage.text, title="Договор", passage=found)


async def one(size: int) -> None:
    """A plan of which every other step waits for the one before."""
    before = [[f"s{number - 1}"] if number % 2 else [] for number in range(size)]
    steps = [step(f"s{number}", *after, context_requirements=["all_previous"]) for number, after in enumerate(before)]
    tool = Instant()
    assert in_order(steps) is not None
    context = begin(Run(limits=RunLimits(steps=size)))
    await Executor((tool,), max_calls=4).execute(plan(steps=steps), context)


async def instant(size: int) -> None:
    """The tools alone."""
    for number in range(size):
        await Instant().run(SearchArguments(query=f"s{number}"), begin())


async def cpu_ms(work: Callable[[int], Awaitable[None]], size: int) -> float:
    """Per plan."""
    began = time.process_time()
    for _ in range(PLANS):
        await work(size)
    return 1000 * (time.process_time() - began) / PLANS


async def run() -> None:
    """A line for each size."""
    await one(2)
    for size in (2, 4, 8):
        added = (await cpu_ms(one, size) - await cpu_ms(instant, size)) / size
        print(f"{size} steps: {added:.2f} ms of CPU a step (limit {LIMIT_MS:.0f})")


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__).parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    asyncio.run(run())
