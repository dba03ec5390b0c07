"""Steps of a plan: their order, and a template for each kind of question when the model names no steps.

In: steps, or a kind and a question. Out: the steps in an order in which they can be run, or those of seed 3's
strategies ("Типы сложных запросов"). Pure; it runs nothing.
"""

from collections.abc import Container, Sequence

from rag.planning.plan import ALL_PREVIOUS, QueryKind, Step, Success

SEARCH, LIST, READ, ANALYZE = "rag_db_query", "list_documents", "read_documents", "analyze"
READ_ONE = "read_document"
SURVEY = "search_each_document"  # for emergency plans only; the planner model is not offered it

ANYTHING = Success(min_facts=0)
"""The criterion of a step that may find no facts: its advice on how to go on is worth as much."""


def in_order(steps: Sequence[Step]) -> tuple[Step, ...] | None:
    """The steps in topological order: each after those that it needs; None when there is a cycle."""
    ordered: list[Step] = []
    left = list(steps)
    while left:
        settled = {step.id for step in ordered}
        ready = [step for step in left if needs(step) <= settled]
        if not ready:
            return None
        ordered += ready
        left = [step for step in left if step not in ready]
    return tuple(ordered)


def needs(step: Step) -> frozenset[str]:
    """The ids of the steps that must end before this one: those it depends on and those whose results it reads."""
    return frozenset({*step.depends_on, *step.context_requirements} - {ALL_PREVIOUS})


def template(kind: QueryKind, question: str, tools: Container[str]) -> tuple[Step, ...]:
    """The steps for a kind, limited to the actions that this installation has; none for a simple question."""
    steps = [step for step in _TEMPLATES[kind](question) if step.action in tools]
    held = {step.id for step in steps}
    return tuple(
        step.model_copy(update={"depends_on": tuple(each for each in step.depends_on if each in held)})
        for step in steps
    )


def _analytical(question: str) -> tuple[Step, ...]:
    """Overview, then details of each part; the answer does the synthesis."""
    return (
        Step(id="overview", action=LIST),
        Step(id="details", action=READ, params={"question": question}),
    )


def _iterative(question: str) -> tuple[Step, ...]:
    """Search, look at the results, search again for what is missing (those searches are added while it runs)."""
    look = Step(id="look", action=ANALYZE, params={"task": question}, depends_on=("search",), success=ANYTHING)
    return (Step(id="search", action=SEARCH, params={"query": question}), look)


def _diagnostic(question: str) -> tuple[Step, ...]:
    """The known symptoms, the likely causes, and what proves or disproves each cause."""
    task = f"{question}\nName the likely causes, and what in the documents would prove or disprove each of them."
    return (
        Step(id="symptom", action=SEARCH, params={"query": question}),
        Step(id="causes", action=ANALYZE, params={"task": task}, depends_on=("symptom",), success=ANYTHING),
    )


_TEMPLATES = {
    QueryKind.SIMPLE: lambda question: (),
    QueryKind.ANALYTICAL: _analytical,
    QueryKind.ITERATIVE: _iterative,
    QueryKind.DIAGNOSTIC: _diagnostic,
}
