"""`graph_query_tool`: what the documents say about one entity, or about all, by kind of question.

In: a structural intent, and a canonical id that the question was resolved to. Out: statements, each with its passage
and the name of its entity; ids are not shown (seed 4, section 7.1). It searches no text.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import Field

from domain.names import Relation
from rag.entities import EntityGraph
from rag.execution.facts import Fact, FactKind, FactsPayload
from rag.execution.tools import Tool, ToolContext
from rag.planning.plan import GRAPH
from rag.planning.tool import ToolArguments
from rag.records import RankedPassage

MOST_FACTS = 200  # the plan's limits pass on a dozen; the rest is counted («ещё X»)

# Intents that use more relations than the one of their own name.
ANSWERED_BY: Mapping[Relation, Sequence[Relation]] = {
    Relation.TECHNOLOGY_USAGE: (Relation.TECHNOLOGY_USAGE, Relation.PROJECT_TECH_STACK),
    Relation.EXPERIENCE_SUMMARY: (Relation.EXPERIENCE_SUMMARY, Relation.CURRENT_JOB),
    Relation.TECHNOLOGY_OVERVIEW: (Relation.TECHNOLOGY_OVERVIEW, Relation.PROJECT_TECH_STACK),
    Relation.ENTITY_FACTS: tuple(Relation),
}
# What a statement says about its entity, for the model, since the text is often a bare name; and the type of the item,
# as seed 4, section 7.3 has it.
TOLD: Mapping[str, tuple[str, str]] = {
    Relation.CURRENT_JOB: ("works at, or as", "job"),
    Relation.PROJECT_DETAILS: ("project", "project"),
    Relation.PROJECT_ACHIEVEMENTS: ("results", "achievement"),
    Relation.PROJECT_TECH_STACK: ("technologies used", "technology"),
    Relation.TECHNOLOGY_USAGE: ("how a technology was applied", "technology_usage"),
    Relation.EXPERIENCE_SUMMARY: ("experience", "experience"),
    Relation.TECHNOLOGY_OVERVIEW: ("technologies known", "technology"),
    Relation.CONTACTS: ("contacts", "contact"),
}
# For an employer or a technology, these intents are about the projects that name it.
REACHES_FURTHER = frozenset({Relation.PROJECT_DETAILS, Relation.PROJECT_ACHIEVEMENTS, Relation.PROJECT_TECH_STACK})
# Intents that are answered by several facts as a rule.
LISTS = frozenset(Relation) - {Relation.CURRENT_JOB, Relation.CONTACTS, Relation.PROJECT_DETAILS}
FEWEST = 3  # facts; a list with fewer may be what the reading of names has missed
PARTIAL = 0.4  # coverage of a list that may be incomplete: below `executor.LOW_COVERAGE`, so that a search joins


class GraphArguments(ToolArguments):
    """What to look up."""

    intent: Relation
    entity_id: str | None = Field(None, max_length=200)


@dataclass(eq=False)
class GraphQuery(Tool[GraphArguments]):
    """whole lists of what documents state of a known entity; the first choice for the intents from CURRENT_JOB to
    ENTITY_FACTS when «known entities» has what is meant (a search joins by itself). intent; entity_id: exact, of the
    technology for TECHNOLOGY_USAGE, or left out for all at once. Projects at X: PROJECT_DETAILS of X.
    """

    name = GRAPH
    arguments = GraphArguments

    graph: EntityGraph

    async def run(self, arguments: GraphArguments, context: ToolContext) -> FactsPayload:
        """All facts. The coverage is 1 where the list is complete; where documents are still to be read, or a list is
        short, it is so low that a search joins. Raises DatabaseAway."""
        relations = [relation.value for relation in ANSWERED_BY.get(arguments.intent, (arguments.intent,))]
        found = await self.graph.facts(
            context.base_id,
            entity=arguments.entity_id or None,
            relations=relations,
            related=arguments.intent in REACHES_FURTHER,
            limit=MOST_FACTS,
        )
        # The bare mention of a technology by a project, where another fact says how the project applied it.
        told = {(fact.entity, fact.object) for fact in found if fact.relation == Relation.TECHNOLOGY_USAGE}
        bare = Relation.PROJECT_TECH_STACK
        facts = tuple(
            Fact(
                kind=FactKind.STATEMENT,
                text=each.text,
                type=TOLD.get(each.relation, ("", ""))[1],
                title=each.entity,
                aspect=TOLD.get(each.relation, ("", ""))[0],
                passage=RankedPassage(passage=each.passage, score=each.confidence),
                document=each.passage.document_id,
            )
            for each in found
            if each.relation != bare or (each.entity, each.object) not in told
        )
        unread = await self.graph.unread(context.base_id)
        is_short = arguments.intent in LISTS and len(facts) < FEWEST
        coverage = 0.0 if not facts else PARTIAL if unread or is_short else 1.0
        return FactsPayload(facts=facts, coverage=coverage, unread=unread)
