"""Plans where no model is configured: by the words of `prompts/breadth.toml` and `prompts/small_talk.toml`.

In: a `PlanningRequest`. Out: a `QueryPlan`: one search, a search of each document where the question is about all of
them, or the list of documents. Where a model is configured no word of the question chooses a plan; a model that fails
is followed by `default_plan` (seed 4, section 6.4). Pure.
"""

from collections.abc import Container

from prompts.intents import GENERAL
from prompts.wordings import language_of
from rag.planning.breadth import Breadth, Reach, Rest, rest_of
from rag.planning.mending import PlanningRequest
from rag.planning.plan import MAX_ITEMS, AnswerStyle, Fallback, Limits, QueryPlan, RenderStyle, ToolCall
from rag.planning.steps import LIST, SEARCH, SURVEY
from rag.records import Exchange, SmallTalk
from rag.small_talk import SmallTalkRule


class PlainPlanner:
    """Plans without a model; it keeps no state."""

    def __init__(self, tools: Container[str], breadth: Breadth, small_talk: SmallTalkRule) -> None:
        """`tools`: names of those that there are."""
        self._tools = tools
        self._breadth = breadth
        self._small_talk = small_talk

    def plan(self, request: PlanningRequest) -> QueryPlan:
        """A question that depends on the dialogue is searched as it stands: only a model could tell its subject."""
        rest = rest_of(request.question, request.window, self._breadth)
        if rest and (listing := self._listing(rest.question)):
            return _from(listing, rest)
        if talk := self._small_talk.kind(request.question):
            before = asked_before(request.window, self._small_talk) if talk is SmallTalk.MORE else ""
            return self._plan_for_more(before) if before else default_plan(request.question)
        if listing := self._documents(request.question):
            return listing
        sought = self._small_talk.sought(request.question)
        plan = default_plan(request.question, sought)
        leans = request.has_dialogue and self._breadth.leans(sought)
        return plan if leans or self._breadth.reach(request.question) is not Reach.ALL else self._plan_for_all(plan)

    def _plan_for_more(self, before: str) -> QueryPlan:
        """Lists the documents again, or searches `before` again. Where that answer showed one place in each document,
        the search is for the subject alone, which finds other places."""
        sought = self._small_talk.sought(before)
        if self._breadth.reach(before) is Reach.ALL:
            sought = self._breadth.subject(sought)
        return self._documents(before) or default_plan(before, sought)

    def _listing(self, question: str) -> QueryPlan | None:
        """The plan for `question` if its answer may have been a list, else None."""
        if self._breadth.reach(question) is Reach.ALL and not self._small_talk.asks_for_documents(question):
            return self._plan_for_all(default_plan(question, self._small_talk.sought(question)))
        return self._documents(question)

    def _documents(self, question: str) -> QueryPlan | None:
        """A plan that lists the documents, when the question asks for that and nothing else (a search with its words
        would find no document); else None."""
        if LIST not in self._tools or not self._small_talk.asks_for_documents(question):
            return None
        changes = {
            "tool_calls": (ToolCall(tool=LIST),),
            "render_style": RenderStyle.BULLETS,
            "limits": Limits(max_items=MAX_ITEMS),
        }
        return default_plan(question).model_copy(update=changes)

    def _plan_for_all(self, plan: QueryPlan) -> QueryPlan:
        """Searches each document."""
        style = RenderStyle.BULLETS if plan.render_style is RenderStyle.SHORT else plan.render_style
        changes: dict[str, object] = {"render_style": style, "limits": Limits(max_items=MAX_ITEMS)}
        if SURVEY in self._tools:
            changes["fallback"] = Fallback(tool=SURVEY)
            changes["tool_calls"] = tuple(ToolCall(tool=SURVEY, args=call.args) for call in plan.tool_calls)
        return plan.model_copy(update=changes)


def default_plan(question: str, sought: str = "") -> QueryPlan:
    """The emergency plan of seed 4, section 6.4: one search for `sought`, or for the question as it stands."""
    return QueryPlan(
        question=question[:1000] or "?",
        intents=(GENERAL,),
        tool_calls=(ToolCall(tool=SEARCH, args={"query": sought or question}),),
        fallback=Fallback(enabled=False),
        limits=Limits(),
        render_style=RenderStyle.SHORT,
        answer_style=AnswerStyle.NATURAL_EN if language_of(question) == "en" else AnswerStyle.NATURAL_RU,
        confidence=0.0,
    )


def asked_before(window: tuple[Exchange, ...], small_talk: SmallTalkRule) -> str:
    """The last message of the window that was no small talk; empty when there is none."""
    asked = (each.question for each in reversed(window))
    return next((question for question in asked if not small_talk.kind(question)), "")


def _from(plan: QueryPlan, rest: Rest) -> QueryPlan:
    """The same list, continued from where it stopped."""
    return plan.model_copy(update={"limits": plan.limits.model_copy(update={"skip": rest.shown})})
