"""Plans where no model is configured: by the words of `prompts/breadth.toml` and `prompts/small_talk.toml`.

In: a `PlanningRequest`. Out: a `QueryPlan`: one search, a search of each document where the question names them all
(`Breadth`), the list of documents, or the rest of a list that an earlier answer has cut. Pure.
"""

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from prompts.wordings import GENERAL, language_of
from rag.planning.mending import PlanningRequest
from rag.planning.plain_requests import Breadth, RequestKind
from rag.planning.plan import (
    LIST,
    MAX_ITEMS,
    READ_ONE,
    SEARCH,
    SURVEY,
    AnswerStyle,
    Fallback,
    Limits,
    QueryPlan,
    RenderStyle,
    ToolCall,
)
from rag.records import Exchange, SmallTalk
from rag.small_talk import SmallTalkRule

PRICE = {"ru": "цена", "en": "price"}  # the word of the column that «дешевле» means
LONGEST_QUESTION = 1000  # characters, as in `QueryPlan`


def rest_of(question: str, window: Sequence[Exchange], breadth: Breadth) -> tuple[str, int] | None:
    """The question whose list is to be continued, and how many items were shown so far. None where the last answer left
    out nothing, or the message asks for something else."""
    left, total = 0, 0
    for said in _REMAINDER.finditer(window[-1].answer if window else ""):  # the last line that has both numbers counts
        if said[2] or said[4]:
            left, total = int(said[1] or said[3]), int(said[2] or said[4])
    if left >= total or not breadth.takes_up(re.sub(rf"\b{left}\b", "", question)):  # «выведи ещё 18», as was offered
        return None
    asked = (each.question for each in reversed(window) if not breadth.takes_up(each.question))
    first = next(asked, None)
    return (first, total - left) if first else None


@dataclass(frozen=True)
class PlainPlanner:
    """Plans without a model."""

    tools: Container[str]  # names of those that there are
    breadth: Breadth
    small_talk: SmallTalkRule

    def plan(self, request: PlanningRequest) -> QueryPlan:
        """A question that depends on the dialogue («а сколько это стоит?») is searched with the words of the one before
        it, first in the documents that answered that. The plan's question is then the person's own, with these words
        behind it: what it leaves open, they decide (`rag.answering`)."""
        question, window = request.question, request.known.dialogue.window
        before = asked_before(window, self.small_talk)
        rest = rest_of(question, window, self.breadth)
        if rest and (listing := self._listing(rest[0])):
            limits = listing.limits.model_copy(update={"skip": rest[1]})
            return listing.model_copy(update={"limits": limits})
        if talk := self.small_talk.kind(question):
            if talk is not SmallTalk.MORE or not before:
                return default_plan(question)
            sought = self.small_talk.sought(before)  # by its subject where each document was searched
            sought = self.breadth.subject(sought) if self.breadth.names_all_documents(before) else sought
            return self._documents(before) or default_plan(before, sought)
        if listing := self._documents(question):
            return listing
        if before and self.breadth.names_nothing_else(question):
            return self._plan_for_all(default_plan(before, self.small_talk.sought(before)))
        sought = self.small_talk.sought(question)
        if window and self.breadth.leans(sought):
            plan = self._leaning(question, sought, self.small_talk.subject(before), window[-1])
        else:
            plan = self._with_request(default_plan(question, sought), sought)
        return self._plan_for_all(plan) if self.breadth.names_all_documents(question) else plan

    def _leaning(self, question: str, sought: str, subject: str, last: Exchange) -> QueryPlan:
        """With the words of the question before; a single search is made in the documents of the last answer first."""
        sought = f"{sought} {subject}".strip()
        plan = self._with_request(default_plan(question, sought), sought)
        answered: list[JsonValue] = list(dict.fromkeys(str(source["document_id"]) for source in last.sources))
        if answered and [call.tool for call in plan.tool_calls] == [SEARCH]:
            (search,) = plan.tool_calls
            inside = search.model_copy(update={"args": {**search.args, "documents": answered}})
            plan = plan.model_copy(update={"tool_calls": (inside, search)})
        asked = f"{question} {subject}"[:LONGEST_QUESTION] if subject else plan.question
        return plan.model_copy(update={"question": asked})

    def _with_request(self, plan: QueryPlan, sought: str) -> QueryPlan:
        """A request for an outline reads the document that it names; one for prices also looks for «цена»."""
        asked = self.breadth.request(plan.question)
        if asked and asked.kind is RequestKind.OUTLINE and asked.about and READ_ONE in self.tools:
            reading = ToolCall(tool=READ_ONE, args={"document": asked.about})
            return plan.model_copy(update={"tool_calls": (reading, *plan.tool_calls)})
        if asked and asked.condition and asked.condition.is_price:
            return default_plan(plan.question, f"{sought} {PRICE[language_of(plan.question)]}")
        return plan

    def _listing(self, question: str) -> QueryPlan | None:
        if self.breadth.names_all_documents(question) and not self.small_talk.asks_for_documents(question):
            return self._plan_for_all(default_plan(question, self.small_talk.sought(question)))
        return self._documents(question)

    def _documents(self, question: str) -> QueryPlan | None:
        """A plan that lists the documents, or those of a kind, when the question asks for nothing else."""
        asks_for_all = self.small_talk.asks_for_documents(question)
        kind = "" if asks_for_all or self.breadth.names_all_documents(question) else self.breadth.counted(question)
        if LIST not in self.tools or not (asks_for_all or kind):
            return None
        listing = ToolCall(tool=LIST, args={"about": kind} if kind else {})
        fallback = Fallback(enabled=bool(kind))  # «сколько у меня дней отпуска»: no document is called so
        return _of_all(default_plan(question).model_copy(update={"tool_calls": (listing,), "fallback": fallback}))

    def _plan_for_all(self, plan: QueryPlan) -> QueryPlan:
        if SURVEY in self.tools:
            calls = tuple(ToolCall(tool=SURVEY, args=call.args) for call in plan.tool_calls)
            plan = plan.model_copy(update={"fallback": Fallback(tool=SURVEY), "tool_calls": calls})
        return _of_all(plan)


def _of_all(plan: QueryPlan) -> QueryPlan:
    return plan.model_copy(update={"render_style": RenderStyle.BULLETS, "limits": Limits(max_items=MAX_ITEMS)})


def default_plan(question: str, sought: str = "") -> QueryPlan:
    """The emergency plan of seed 4, section 6.4: one search for `sought`, or for the question as it stands."""
    return QueryPlan(
        question=question[:LONGEST_QUESTION] or "?",
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


# «ещё 10 (по запросу могу вывести)», «ещё 10 из 20», "10 more of 20", in a line of its own and without other numbers
_REMAINDER = re.compile(
    r"^[^\w\n]*(?:и |and )?(?:(?:ещё|еще)\s+(\d{1,4})(?:\s+из\s+(\d{1,4}))?|(\d{1,4}) more(?:\s+of\s+(\d{1,4}))?)"
    r"\b[^\d\n]{0,60}$",
    re.MULTILINE | re.IGNORECASE,
)


def without_remainder(text: str) -> str:
    """The text without the line that says how many items are left («ещё 10 из 20»)."""
    return _REMAINDER.sub("", text)
