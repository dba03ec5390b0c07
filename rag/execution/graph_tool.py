"""`graph_query_tool`: what the documents say about one entity, or about all, by kind of question.

In: a structural intent, and a canonical id that the question was resolved to. Out: statements, each with its passage
and the name of its entity; ids are not shown (seed 4, section 7.1). It searches no text.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum

from pydantic import Field

from rag.entities import EntityGraph, GraphFact
from rag.execution.facts import Fact, FactKind, FactsPayload
from rag.execution.tools import Tool, ToolArguments, ToolContext
from rag.records import RankedPassage

GRAPH_TOOL = "graph_query_tool"
MOST_FACTS = 200  # the plan's limits pass on a dozen; the rest is counted («ещё X»)


class GraphIntent(StrEnum):
    """The intents of prompts/intents.toml that the graph answers first; a test looks for each of them there."""

    CURRENT_JOB = "CURRENT_JOB"
    PROJECT_DETAILS = "PROJECT_DETAILS"
    PROJECT_ACHIEVEMENTS = "PROJECT_ACHIEVEMENTS"
    PROJECT_TECH_STACK = "PROJECT_TECH_STACK"
    TECHNOLOGY_USAGE = "TECHNOLOGY_USAGE"
    EXPERIENCE_SUMMARY = "EXPERIENCE_SUMMARY"
    TECHNOLOGY_OVERVIEW = "TECHNOLOGY_OVERVIEW"
    CONTACTS = "CONTACTS"
    ENTITY_FACTS = "ENTITY_FACTS"


ANSWERED_BY: Mapping[GraphIntent, Sequence[GraphIntent]] = {
    GraphIntent.TECHNOLOGY_USAGE: (GraphIntent.TECHNOLOGY_USAGE, GraphIntent.PROJECT_TECH_STACK),
    GraphIntent.EXPERIENCE_SUMMARY: (GraphIntent.EXPERIENCE_SUMMARY, GraphIntent.CURRENT_JOB),
    GraphIntent.TECHNOLOGY_OVERVIEW: (GraphIntent.TECHNOLOGY_OVERVIEW, GraphIntent.PROJECT_TECH_STACK),
    GraphIntent.ENTITY_FACTS: tuple(GraphIntent),
}
"""Intents that use more relations than the one of their own name."""

ASPECTS: Mapping[str, str] = {
    GraphIntent.CURRENT_JOB: "works at, or as",
    GraphIntent.PROJECT_DETAILS: "project",
    GraphIntent.PROJECT_ACHIEVEMENTS: "results",
    GraphIntent.PROJECT_TECH_STACK: "technologies used",
    GraphIntent.TECHNOLOGY_USAGE: "how a technology was applied",
    GraphIntent.EXPERIENCE_SUMMARY: "experience",
    GraphIntent.TECHNOLOGY_OVERVIEW: "technologies known",
    GraphIntent.CONTACTS: "contacts",
}
"""Tells the model what a statement says about its entity, since the text is often a bare name."""

TYPES: Mapping[str, str] = {
    GraphIntent.CURRENT_JOB: "job",
    GraphIntent.PROJECT_DETAILS: "project",
    GraphIntent.PROJECT_ACHIEVEMENTS: "achievement",
    GraphIntent.PROJECT_TECH_STACK: "technology",
    GraphIntent.TECHNOLOGY_USAGE: "technology_usage",
    GraphIntent.EXPERIENCE_SUMMARY: "experience",
    GraphIntent.TECHNOLOGY_OVERVIEW: "technology",
    GraphIntent.CONTACTS: "contact",
}
"""Types of items, as seed 4, section 7.3 has them."""

REACHES_FURTHER = frozenset(
    {GraphIntent.PROJECT_DETAILS, GraphIntent.PROJECT_ACHIEVEMENTS, GraphIntent.PROJECT_TECH_STACK}
)
"""For an employer or a technology, these intents are about the projects that name it."""


LISTS = frozenset(GraphIntent) - {GraphIntent.CURRENT_JOB, GraphIntent.CONTACTS, GraphIntent.PROJECT_DETAILS}
"""Intents that are answered by several facts as a rule."""

FEWEST = 3  # facts; a list with fewer may be what the reading of names has missed
PARTIAL = 0.4  # coverage of a list that may be incomplete: below `executor.LOW_COVERAGE`, so that a search joins


class GraphArguments(ToolArguments):
    """What to look up."""

    intent: GraphIntent
    entity_id: str | None = Field(None, max_length=200)


class GraphQuery(Tool[GraphArguments]):
    """whole lists of what documents state of a known entity; the first choice for the intents from CURRENT_JOB to
    ENTITY_FACTS when «known entities» has what is meant (a search joins by itself). intent; entity_id: exact, of the
    technology for TECHNOLOGY_USAGE, or left out for all at once. Projects at X: PROJECT_DETAILS of X.
    """

    name = GRAPH_TOOL
    arguments = GraphArguments

    def __init__(self, graph: EntityGraph) -> None:
        self._graph = graph

    async def run(self, arguments: GraphArguments, context: ToolContext) -> FactsPayload:
        """All facts. The coverage is 1 where the list is complete; where documents are still to be read, or a list is
        short, it is so low that a search joins. Raises DatabaseAway."""
        relations = [relation.value for relation in ANSWERED_BY.get(arguments.intent, (arguments.intent,))]
        found = await self._graph.facts(
            context.base_id,
            entity=arguments.entity_id or None,
            relations=relations,
            related=arguments.intent in REACHES_FURTHER,
            limit=MOST_FACTS,
        )
        facts = tuple(map(_fact, _without_bare_names(found)))
        unread = await self._graph.unread(context.base_id)
        is_short = arguments.intent in LISTS and len(facts) < FEWEST
        coverage = 0.0 if not facts else PARTIAL if unread or is_short else 1.0
        return FactsPayload(facts=facts, coverage=coverage, unread=unread)


def _without_bare_names(found: Sequence[GraphFact]) -> list[GraphFact]:
    """Drops the bare mention of a technology by a project when another fact says how the project applied it."""
    told = {(fact.entity, fact.object) for fact in found if fact.relation == GraphIntent.TECHNOLOGY_USAGE}
    return [
        fact
        for fact in found
        if fact.relation != GraphIntent.PROJECT_TECH_STACK or (fact.entity, fact.object) not in told
    ]


def _fact(fact: GraphFact) -> Fact:
    return Fact(
        kind=FactKind.STATEMENT,
        text=fact.text,
        type=TYPES.get(fact.relation, ""),
        title=fact.entity,
        aspect=ASPECTS.get(fact.relation, ""),
        passage=RankedPassage(passage=fact.passage, score=fact.confidence),
        document=fact.passage.document_id,
    )
