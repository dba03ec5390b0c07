"""The regression set of seed 4, section 10.2, over a portfolio: lists are complete, the graph comes first, the search
is the fallback, and nothing technical reaches the person.

The scripted planner does what a model is told to: it names the intent and takes an entity from the list it is shown.
The scripted writer repeats all facts it is given, as bullets with their numbers.
"""

import json
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bot.app import Parts, open_parts
from bot.cli.content import add_sources
from bot.settings import Settings
from domain.ids import BaseId, SessionId, UserId
from domain.locator import JsonValue
from rag.records import Answer, Answered, Question
from tests.servers.llm import ChatRequest, LlmServer

PORTFOLIO = sorted((Path(__file__).parent / "portfolio").glob("*.md"))
ALOR_ACHIEVEMENTS = (
    "с 9 минут до 2,5 минут", "до 96 %", "48 000 страниц", "через 40 секунд", "на 38 %", "персональных данных",
)  # fmt: skip
TECHNICAL = re.compile(
    r"confidence|\[\d+\]|(?:person|project|organization|technology):\w|[0-9a-f]{8}-[0-9a-f]{4}", re.I
)
FORBIDDEN = re.compile("рекомендуется уточнить|конфиденциальность низкая|не найдено", re.IGNORECASE)

_KNOWN = re.compile(r"^(?P<id>(?P<type>\w+):\S+) \((?P<name>.+)\)$", re.MULTILINE)
_FACT = re.compile(r"<(?P<fence>material-\w+) number=(?P<number>\d+)>.*?Text:\n(?P<text>.*?)\n</(?P=fence)>", re.DOTALL)
_ABOUT = re.compile(r"Statement about: (.+?)(?: \(|\n)")


def plan(request: ChatRequest, intent: str, kind: str) -> str:
    """One look-up of the first known entity of this kind, the search as the fallback."""
    known = next((match.groupdict() for match in _KNOWN.finditer(request.last) if match["type"] == kind), None)
    args = {"intent": intent, "entity_id": known["id"] if known else None}
    return json.dumps(
        {
            "question": "что известно",
            "intents": [intent],
            "entities": [known] if known else [],
            "tool_calls": [{"tool": "graph_query_tool", "args": args}],
            "limits": {"max_items": 10, "max_groups": 4, "max_paragraphs": 3},
            "confidence": 0.9,
        }
    )


def repeat_facts(request: ChatRequest) -> str:
    """Every fact as a bullet, with what it is about."""
    facts = _FACT.finditer(request.last)
    lines = []
    for fact in facts:
        about = _ABOUT.search(fact.group())
        lines.append(f"- {about[1] + ': ' if about else ''}{fact['text']} [{fact['number']}]")
    return "[+] " + "\n".join(lines)


def read_notes(request: ChatRequest) -> str:
    """What a model makes of prose: a fact that stands there, and one that it made up."""
    if "дневник" not in request.last:
        return '{"entities": [], "facts": []}'
    name, quotes = "Дмитрий Иванов", ("он просит двух операторов неделю вести дневник", "он любит кошек")
    facts = [{"entity": name, "relation": "ENTITY_FACTS", "object": None, "quote": quote} for quote in quotes]
    return json.dumps({"entities": [{"name": name, "type": "person", "aliases": ["Дмитрий"]}], "facts": facts})


@dataclass(kw_only=True)
class Portfolio:
    """The base, and a dialogue with it."""

    parts: Parts
    base: BaseId
    llm: LlmServer
    session: SessionId = field(default_factory=lambda: SessionId("00000000-0000-0000-0000-000000000001"))

    async def ask(self, text: str, intent: str, kind: str) -> Answer:
        """The answer to a question that the planner understands so."""
        self.llm.planner = lambda request: plan(request, intent, kind)
        asked = Question(text=text, user_id=UserId(1), session_id=self.session, base_id=self.base)
        async for event in self.parts.conversation().answer(asked):
            if isinstance(event, Answered):
                return event.answer
        raise AssertionError("no answer")


@pytest.fixture
async def portfolio(tmp_path: Path, database_url: str, llm: LlmServer) -> AsyncIterator[Portfolio]:
    """The files as `baza add` adds them."""
    llm.reply, llm.reader = repeat_facts, read_notes
    settings = Settings.read(
        {"BAZA_HOME": str(tmp_path), "DATABASE_URL": database_url, "LLM_BASE_URL": llm.url, "LLM_TIMEOUT_SECONDS": "9"}
    )
    async with open_parts(settings) as parts:
        base = await parts.stores.people.open_named_base("portfolio")
        async with parts.open_worker() as worker, parts.open_enricher() as enricher:
            async for _ in add_sources(parts, worker, base, [str(path) for path in PORTFOLIO]):
                pass
            await enricher.drain(base)
        yield Portfolio(parts=parts, base=base, llm=llm)


def tools_of(answer: Answer) -> list[tuple[JsonValue, JsonValue]]:
    """Which tools were called, and which of them as a fallback."""
    assert answer.trace
    calls = answer.trace["calls"]
    assert isinstance(calls, list)
    return [(call["tool"], call["fallback"]) for call in calls if isinstance(call, dict)]


def assert_clean(answer: Answer) -> None:
    """Nothing of seed 4, section 8.2, and sources for what is said."""
    assert not TECHNICAL.search(answer.text), answer.text
    assert not FORBIDDEN.search(answer.text), answer.text
    assert answer.citations


@pytest.mark.parametrize(
    ("text", "intent", "kind", "wanted"),
    [
        ("Где сейчас работает Дмитрий?", "CURRENT_JOB", "person", ("Aston", "ведущий разработчик")),
        ("Достижения на проекте АЛОР", "PROJECT_ACHIEVEMENTS", "project", ALOR_ACHIEVEMENTS),
        ("Где применял RAG?", "TECHNOLOGY_USAGE", "technology", ("АЛОР Брокер", "AI-Portfolio", "МедСовет")),
        (
            "Какие технологии использовал в AI-Portfolio?", "PROJECT_TECH_STACK", "project",
            ("Python", "FastAPI", "LangGraph", "RAG", "ChromaDB", "React", "Docker"),
        ),
        (
            "Контакты Дмитрия", "CONTACTS", "person",
            ("+7 900 555-01-42", "dmitry.ivanov@example.org", "@dmitry_ivanov_dev", "github.com/dmitry-ivanov-example"),
        ),
    ],
)  # fmt: skip
async def test_a_structural_question_gets_the_whole_list_from_the_graph(
    portfolio: Portfolio, text: str, intent: str, kind: str, wanted: tuple[str, ...]
) -> None:
    answer = await portfolio.ask(text, intent, kind)

    assert [part for part in wanted if part not in answer.text] == []
    assert tools_of(answer) == [("graph_query_tool", False)]
    assert_clean(answer)


async def test_a_follow_up_asks_about_the_other_entity(portfolio: Portfolio) -> None:
    await portfolio.ask("Где применял RAG?", "TECHNOLOGY_USAGE", "technology")
    answer = await portfolio.ask("А какие проекты в Aston?", "PROJECT_DETAILS", "organization")

    assert "АЛОР Брокер" in answer.text
    assert "AI-Portfolio" in answer.text
    assert "Маршрут-Контроль" not in answer.text
    assert tools_of(answer) == [("graph_query_tool", False)]
    assert_clean(answer)


async def test_what_the_question_before_named_may_still_be_meant(portfolio: Portfolio) -> None:
    await portfolio.ask("Расскажи про АЛОР Брокер", "PROJECT_DETAILS", "project")
    answer = await portfolio.ask("а достижения там какие?", "PROJECT_ACHIEVEMENTS", "project")

    assert [part for part in ALOR_ACHIEVEMENTS if part not in answer.text] == []


async def test_what_the_graph_does_not_know_is_searched(portfolio: Portfolio) -> None:
    answer = await portfolio.ask("Контакты МедСовет", "CONTACTS", "project")

    assert tools_of(answer) == [("graph_query_tool", False), ("rag_db_query", True)]


async def test_the_plan_names_the_entity_and_the_text_does_not_show_its_id(portfolio: Portfolio) -> None:
    answer = await portfolio.ask("Что достигнуто в Алоре?", "PROJECT_ACHIEVEMENTS", "project")

    assert answer.trace
    shown = answer.trace["plan"]
    assert isinstance(shown, dict)
    assert shown["entities"] == [{"type": "project", "id": "project:alor-broker", "name": "АЛОР Брокер"}]
    assert "alor-broker" not in answer.text


async def test_what_a_model_reads_in_prose_is_known_if_it_stands_there(portfolio: Portfolio) -> None:
    found = await portfolio.parts.stores.entities.facts(
        portfolio.base, entity="person:dmitrij-ivanov", relations=["ENTITY_FACTS"], related=False, limit=100
    )
    texts = [fact.text for fact in found]
    assert "он просит двух операторов неделю вести дневник" in texts
    assert "он любит кошек" not in texts


async def test_entities_of_one_base_are_not_known_in_another(portfolio: Portfolio) -> None:
    portfolio.base = await portfolio.parts.stores.people.open_named_base("another")
    await portfolio.ask("Достижения на проекте АЛОР", "PROJECT_ACHIEVEMENTS", "project")

    assert "project:alor-broker" not in portfolio.llm.plans[-1].last


async def test_a_deleted_document_takes_its_facts_along(portfolio: Portfolio) -> None:
    cards = await portfolio.parts.stores.library.documents(portfolio.base, limit=50)
    for card in cards:
        if card.title == "АЛОР Брокер":
            await portfolio.parts.stores.library.delete(portfolio.base, card.id)
    answer = await portfolio.ask("Достижения на проекте АЛОР", "PROJECT_ACHIEVEMENTS", "project")

    assert "с 9 минут" not in answer.text
