"""Running a plan: calls side by side, the fallback, the search that began early."""

import asyncio
from dataclasses import replace

import pytest

from domain.errors import DatabaseAway
from domain.ids import ChunkId, DocumentId
from rag.execution.document_tools import ListDocuments, ReadDocument
from rag.execution.executor import Executor
from rag.execution.facts import ASIDE_CHARS, Advice, Fact, FactKind, FactsPayload, passage_fact
from rag.execution.graph_tool import PARTIAL
from rag.execution.search_tool import SearchArguments, SearchBase, passages_payload
from rag.execution.tools import AnyTool, StepFailed, ToolContext
from rag.planning.plain_planner import default_plan
from rag.planning.plan import FallbackReason, Step, ToolCall
from rag.records import DocumentsRead, RankedPassage
from tests.fakes.planning import QUESTION, Facts, GraphTool, ReadingTool, ScriptedTool, begin, call, plan
from tests.fakes.rag import make_passage, rank

FOUND = Facts()("RAG в AI-Portfolio")


async def test_every_call_of_the_plan_is_made_in_order() -> None:
    search = ScriptedTool(Facts()("первое"), Facts()("второе"))
    done = await Executor([search], max_calls=4).execute(plan(call("а"), call("б")), begin())
    assert search.asked == ["а", "б"]
    assert [fact.text for fact in done.payload.facts] == ["первое", "второе"]


class MeetingTool(ScriptedTool):
    """Ends only when two are at work."""

    def __init__(self) -> None:
        super().__init__()
        self._both = asyncio.Barrier(2)

    async def run(self, arguments: SearchArguments, context: ToolContext) -> FactsPayload:
        async with asyncio.timeout(60):
            await self._both.wait()
        return FOUND


async def test_calls_are_made_side_by_side() -> None:
    done = await Executor([MeetingTool()], max_calls=4).execute(plan(call("а"), call("б")), begin())
    assert done.payload == FOUND


@pytest.mark.parametrize(
    ("calls", "made", "said"),
    [
        ((call("а"), call("а"), call("б"), call("в")), ["а", "б"], "«в»"),
        ((call("а"), call("б", tool="graph_query_tool"), call("в", tool="graph_query_tool")), ["а", "б"], "«в»"),
        ((call("а"), call("б")), ["а", "б"], ""),
    ],
)
async def test_calls_beyond_the_limits_are_not_made_and_said(calls: list[ToolCall], made: list[str], said: str) -> None:
    """Two searches of a simple question, and so many calls in all."""
    search, graph = ScriptedTool(*[FOUND] * 9), GraphTool(*[FOUND] * 9)
    done = await Executor([search, graph], max_calls=2).execute(plan(*calls), begin())
    assert search.asked + graph.asked == made
    assert said in done.gaps
    assert bool(said) is bool(done.gaps)


async def test_an_analytical_plan_may_search_for_each_of_its_figures() -> None:
    search, names = ScriptedTool(*[FOUND] * 9), ["выручка", "активы", "прибыль", "вложения", "запасы"]
    asked = plan(*map(call, names), kind="analytical")
    done = await Executor([search], max_calls=4).execute(asked, begin())
    assert search.asked == names[:4]
    assert "«запасы»" in done.gaps


async def test_an_unknown_tool_is_told_and_the_fallback_serves() -> None:
    search = ScriptedTool(FOUND)
    done = await Executor([search], max_calls=4).execute(plan(call("x", tool="shell")), begin())
    assert [result.problem != "" for result in done.calls] == [True, False]
    assert search.asked == [QUESTION]
    assert done.payload.found


def found(*scores: tuple[int, float], document: str = "d", text: str = "место {}") -> FactsPayload:
    """Passages by number, with their scores."""
    ranked = [
        RankedPassage(passage=make_passage(text.format(number), number=number, document=document), score=score)
        for number, score in scores
    ]
    return passages_payload(ranked, asked="место")


async def test_of_what_is_found_only_the_documents_that_were_asked_for_are_left() -> None:
    own, foreign = found((1, 0.9), document="own"), found((2, 0.8), document="foreign")
    search = ScriptedTool(FactsPayload(facts=(*own.facts, *foreign.facts)))
    done = await Executor([search], max_calls=4).execute(plan(call("а")), replace(begin(), only=(DocumentId("own"),)))
    assert {fact.document for fact in done.payload.facts} == {"own"}


@pytest.mark.parametrize(
    ("tool", "told"),
    [(SearchBase, {"documents": ["own"]}), (ReadDocument, {"document": "own"}), (ListDocuments, {})],
)
def test_the_person_s_limit_goes_before_what_a_plan_names(tool: type[AnyTool], told: dict[str, object]) -> None:
    named = dict.fromkeys(told, "foreign")
    assert tool.within(tool.__new__(tool), named, (DocumentId("own"),)) == told
    assert tool.within(tool.__new__(tool), named, ()) == named


async def test_the_persons_own_words_are_searched_beside_the_planned_ones() -> None:
    search = ScriptedTool(found((1, 9.0), (2, 5.0)), found((2, 1.0), (3, 0.9)))
    context = replace(begin(), own_words="а штраф?")
    done = await Executor([search], max_calls=4).execute(plan(call("неустойка")), context)
    assert search.asked == ["неустойка", "а штраф?"]
    assert [fact.text for fact in done.payload.facts] == ["место 2", "место 1", "место 3"]
    assert [each.is_added for each in done.calls] == [False, True]


@pytest.mark.parametrize(
    ("calls", "asked"),
    [
        ((call("Где применял RAG"),), ["Где применял RAG"]),
        ((call("а", document="x"), call("б", document="y")), ["а", QUESTION, "б", QUESTION]),
        ((call("а"), call("б")), ["а", "б", QUESTION]),
        ((call("а", tool="graph_query_tool"),), []),
    ],
)
async def test_own_words_are_searched_once_within_each_set_of_limits(calls: list[ToolCall], asked: list[str]) -> None:
    search, graph = ScriptedTool(*[FOUND] * 9), GraphTool(FOUND)
    await Executor([search, graph], max_calls=4).execute(plan(*calls), replace(begin(), own_words=QUESTION))
    assert search.asked == asked


PREAMBLE = found((1, 9.0), document="lazurit", text="Договор с Лазурит {}")
CLAUSES = found((2, 8.0), (3, 7.9), document="other", text="Неустойка 0,1 % {}")
CLAUSE = found((4, 1.0), document="lazurit", text="Неустойка 5 % {}")


async def test_a_document_of_which_only_the_head_was_found_is_searched_once_more() -> None:
    mixed = replace(PREAMBLE, facts=(*PREAMBLE.facts, *CLAUSES.facts), coverage=0.5)
    search = ScriptedTool(mixed, CLAUSE)
    done = await Executor([search], max_calls=4, is_shortened=True).execute(plan(call("неустойка Лазурит")), begin())
    assert done.calls[0].call.args["documents"] == ["lazurit"]
    assert {fact.text for fact in done.payload.facts} >= {"Неустойка 5 % 4", "Договор с Лазурит 1"}
    assert done.payload.coverage == 1.0


HOPS = "Какая неустойка у поставщика, из-за которого перенесли запуск участка 3?"
MINUTES = tuple(
    found(
        (20 + at, 9.0 if at == 3 else 5.0),
        document=f"minutes{at}",
        text=f"Запуск участка {at} перенесён из-за ООО «{firm}». {{}}",
    )
    for at, firm in enumerate(("Вектор", "Кедр", "Полюс", "Лазурит"), start=1)
)
FORM = "платит неустойку за каждый день просрочки поставки товара по договору от цены непоставленного оборудования"
FINES = tuple(
    found((30 + at, 4.0), document=f"contract{at}", text=f"«{firm}» {FORM} 0,{at} %. {{}}")
    for at, firm in enumerate(("Вектор", "Кедр", "Полюс", "Лазурит"), start=1)
)


async def test_what_a_found_sentence_names_is_searched_for_what_it_does_not_say() -> None:
    """The second hop, where the plan has one search."""
    first = FactsPayload(
        facts=tuple(fact for each in (MINUTES[2], *MINUTES, *FINES) for fact in each.facts), coverage=0.6
    )
    hop = FactsPayload(facts=(*FINES[0].facts, *FINES[2].facts))
    search = ScriptedTool(first, hop)
    done = await Executor([search], max_calls=4).execute(plan(call(HOPS)), begin())
    assert search.asked[-1] == "неустойка поставщика Полюс"
    assert FINES[2].facts[0].text in [fact.text for fact in done.payload.facts[:2]]
    assert [each.is_second_hop for each in done.calls].count(True) == 1


@pytest.mark.parametrize("first", [CLAUSES, PREAMBLE, replace(CLAUSES, facts=(*CLAUSES.facts, *CLAUSE.facts))])
async def test_where_one_document_holds_all_or_none_stands_out_nothing_more_is_searched(first: FactsPayload) -> None:
    search = ScriptedTool(replace(first, coverage=1.0))
    await Executor([search], max_calls=4).execute(plan(call("неустойка Лазурит")), begin())
    assert len(search.asked) == 1


@pytest.mark.parametrize(
    ("graph_finds", "when", "searched"),
    [
        (FactsPayload(), FallbackReason.NO_RESULTS, True),
        (FactsPayload(), FallbackReason.LOW_COVERAGE, False),
        (Facts(coverage=PARTIAL)("немного"), FallbackReason.LOW_COVERAGE, True),
        (Facts(coverage=PARTIAL)("немного"), FallbackReason.NO_RESULTS, False),
        (Facts(coverage=1.0)("всё"), FallbackReason.LOW_COVERAGE, False),
    ],
)
async def test_the_fallback_comes_when_the_plan_says(
    graph_finds: FactsPayload, when: FallbackReason, searched: bool
) -> None:
    search, graph = ScriptedTool(FOUND), GraphTool(graph_finds)
    made = plan(call("RAG", tool="graph_query_tool"), fallback={"when": (when,)})
    await Executor([search, graph], max_calls=4).execute(made, begin())
    assert (search.asked == [QUESTION]) is searched


async def test_what_is_found_without_the_limits_that_were_asked_for_says_so() -> None:
    search = ScriptedTool(FactsPayload(), FOUND)
    made = plan(call("а", until="2020-01-01", document=None))
    done = await Executor([search], max_calls=4).execute(made, begin())
    remark, found = done.payload.facts
    assert "until: 2020-01-01" in remark.text
    assert "document" not in remark.text
    assert found.text == FOUND.facts[0].text


async def test_where_nothing_is_found_at_all_nothing_is_said_of_limits() -> None:
    done = await Executor([ScriptedTool()], max_calls=4).execute(plan(call("а", until="2020-01-01")), begin())
    assert not done.payload.found


async def test_what_was_read_in_vain_is_told_beside_what_the_fallback_finds() -> None:
    read = DocumentsRead(read=3, total=3, without_data=3)
    reader, search = ReadingTool(FactsPayload(documents=read)), ScriptedTool(FOUND)
    step = Step(id="read", action="read_documents", params={"question": "расторгнутые"})
    done = await Executor([search, reader], max_calls=4).execute(plan(steps=(step,)), begin())
    assert done.payload.found
    assert done.payload.documents == read


async def test_the_same_search_is_not_made_again_as_a_fallback() -> None:
    search = ScriptedTool()
    await Executor([search], max_calls=4).execute(plan(call(QUESTION)), begin())
    assert search.asked == [QUESTION]


async def test_a_plan_without_calls_calls_nothing() -> None:
    search = ScriptedTool(FOUND)
    done = await Executor([search], max_calls=4).execute(plan(), begin())
    assert (search.asked, done.payload.found) == ([], False)


async def test_the_search_on_the_raw_question_brings_what_the_default_plan_would() -> None:
    search = ScriptedTool(FOUND, FOUND)
    executor = Executor([search], max_calls=4)
    planned = await executor.execute(default_plan(QUESTION), begin())
    assert await executor.search(begin()) == planned.payload
    assert search.asked == [QUESTION, QUESTION]


async def early(payload: FactsPayload) -> ToolContext:
    async def search() -> FactsPayload:
        await asyncio.sleep(0)
        return payload

    return replace(begin(), early=asyncio.create_task(search()))


async def test_an_early_search_is_used_when_the_plan_asks_for_the_same_words() -> None:
    search, begun = ScriptedTool(), await early(FOUND)
    done = await Executor([search], max_calls=4).execute(plan(call("RAG: где применял")), begun)
    assert (search.asked, done.payload, done.calls[0].was_early) == ([], FOUND, True)


async def test_an_early_search_that_nobody_wants_is_cancelled() -> None:
    search, begun = ScriptedTool(FOUND), await early(FOUND)
    unwanted = plan(call("совсем другое"), fallback={"enabled": False})
    await Executor([search], max_calls=4).execute(unwanted, begun)
    assert begun.early is not None
    await asyncio.wait({begun.early})
    assert begun.early.cancelled()


async def test_an_early_search_serves_as_the_fallback_where_no_other_search_was_planned() -> None:
    search, begun = ScriptedTool(), await early(FOUND)
    made = plan(call("RAG", tool="graph_query_tool"))
    done = await Executor([search, GraphTool()], max_calls=4).execute(made, begun)
    assert (search.asked, done.payload) == ([], FOUND)
    assert [(result.is_fallback, result.was_early) for result in done.calls] == [(False, False), (True, True)]


async def test_an_early_search_serves_as_the_fallback_of_another_search() -> None:
    search, begun = ScriptedTool(FactsPayload()), await early(FOUND)
    done = await Executor([search], max_calls=4).execute(plan(call("совсем другое")), begun)
    assert (search.asked, done.payload) == (["совсем другое"], FOUND)
    assert [(result.is_fallback, result.was_early) for result in done.calls] == [(False, False), (True, True)]


async def test_an_early_search_without_a_tool_is_a_problem_of_the_call() -> None:
    executor = Executor([GraphTool()], max_calls=4)
    begun = replace(begin(), early=asyncio.create_task(executor.search(begin())))
    done = await executor.execute(default_plan(QUESTION), begun)
    assert (done.payload.found, done.calls[0].problem != "") == (False, True)


async def test_a_search_that_was_broken_off_is_made_anew_as_the_fallback() -> None:
    search, begun = ScriptedTool(FactsPayload(), FOUND), await early(FactsPayload())
    assert begun.early is not None
    begun.early.cancel()
    done = await Executor([search], max_calls=4).execute(plan(call("совсем другое")), begun)
    assert (search.asked, done.payload) == (["совсем другое", QUESTION], FOUND)


class ListTool(ScriptedTool):
    """The documents of the base, which always are there."""

    name = "list_documents"


class ThinkingTool(ScriptedTool):
    """What thinks about what was found."""

    name = "analyze"


async def test_a_step_that_found_nothing_is_told_to_the_model_that_answers() -> None:
    steps = [Step(id=each, action=each, params={"query": each}) for each in ("rag_db_query", "graph_query_tool")]
    tools = [ScriptedTool(FOUND), GraphTool()]
    done = await Executor(tools, max_calls=4).execute(plan(steps=steps), begin())
    assert done.payload.facts == FOUND.facts
    assert done.gaps.endswith("nothing was found: «graph_query_tool».")


@pytest.mark.parametrize("enough", [False, True])
async def test_what_the_last_analysis_misses_is_told_to_the_model_that_answers(enough: bool) -> None:
    tools = [ThinkingTool(replace(FOUND, advice=Advice(enough=enough, missing=("причины спада",))))]
    made = plan(steps=[Step(id="think", action="analyze", params={"query": QUESTION})])
    gaps = (await Executor(tools, max_calls=4).execute(made, begin())).gaps
    assert ("причины спада" in gaps) is not enough


async def test_of_what_an_analysis_set_aside_the_answer_is_shown_a_little() -> None:
    one, other = (passage_fact(each) for each in rank(make_passage("а", number=1), make_passage("б", number=2)))
    thought = Fact(kind=FactKind.STATEMENT, text="вывод", drawn_from=(one,))
    thinking = ThinkingTool(FactsPayload(facts=(thought,), set_aside=frozenset({ChunkId(2)})))
    steps = [Step(id=each, action=each, params={"query": QUESTION}) for each in ("rag_db_query", "analyze")]
    tools = [ScriptedTool(FactsPayload(facts=(one, other), coverage=1)), thinking]
    done = await Executor(tools, max_calls=4).execute(plan(steps=steps), begin())
    assert {each.text: each.shown for each in done.payload.facts} == {"вывод": None, "а": None, "б": ASIDE_CHARS}


async def test_a_list_of_the_documents_alone_is_no_answer_to_steps_that_found_nothing() -> None:
    search, graph = ScriptedTool(FOUND), GraphTool(error=StepFailed("the model failed at every document"))
    steps = [Step(id=each, action=each, params={"query": QUESTION}) for each in ("list_documents", "graph_query_tool")]
    listed = ListTool(Facts(kind=FactKind.DOCUMENT)("Договор.pdf"))
    done = await Executor([search, graph, listed], max_calls=4).execute(plan(steps=steps), begin())
    assert search.asked == [QUESTION]
    assert {fact.text for fact in done.payload.facts} == {"Договор.pdf", "RAG в AI-Portfolio"}


async def test_a_database_that_is_away_is_told_as_such_and_leaves_nothing_running() -> None:
    graph = GraphTool(error=DatabaseAway())
    made = plan(call("а"), call("б", tool="graph_query_tool"))
    with pytest.raises(DatabaseAway):
        await Executor([ScriptedTool(FOUND), graph], max_calls=4).execute(made, begin())
    assert asyncio.all_tasks() == {asyncio.current_task()}
