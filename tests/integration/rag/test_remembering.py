"""What a person said is in the prompt when they ask for it, however long ago and however long the answers were."""

from dataclasses import replace
from datetime import date
from uuid import uuid4

import pytest

from adapters.database.stores.dialogue import DialogueStore
from adapters.database.stores.people import PeopleStore
from adapters.database.transport import Transport
from adapters.lexical import RussianEnglishAnalyzer
from domain.ids import ChatId, SessionId
from prompts.loader import load_prompts
from rag.answering.prompt import AnswerSettings, Assignment, build_prompt
from rag.dialogue import DialogueMemory
from rag.execution.search_tool import passages_payload
from rag.records import Exchange, Question
from tests.fakes.rag import make_passage, make_question, rank

TALK = ("погода", "отпуск", "ремонт кухни", "рецепт борща", "расписание электричек", "курс валют", "выбор велосипеда")
SHORT = "Понял, записал."
LONG = "Вот что об этом говорится в документах, по порядку и со всеми подробностями, какие там есть. " * 60
FACTS = [
    ("Запомни: PID mcs777", "Какой PID?", "mcs777"),
    ("Мой поставщик бумаги — фирма Бланко", "Кто у меня поставщик бумаги?", "Бланко"),
    ("Our cluster is called osprey-7", "What is our cluster called?", "osprey-7"),
]
MATERIALS = rank(
    *(make_passage(f"Пункт {number}. " + "Условия поставки. " * 60, number=number) for number in range(20))
)
DISTANCES = (1, 2, 3, 5, 8, 13, 14, 15, 16, 17, 20, 25, 30)  # exchanges between the fact and the question


def talk(number: int, answer: str) -> Exchange:
    about = TALK[number % len(TALK)]
    return Exchange(question=f"Расскажи про {about}, часть {number}", answer=f"{number}. {answer}")


@pytest.mark.parametrize("answer", [SHORT, LONG], ids=["short", "long"])
@pytest.mark.parametrize("pairs", [15, 3])
async def test_a_fact_that_was_said_is_in_the_prompt_of_the_question(
    postgres_transport: Transport, answer: str, pairs: int
) -> None:
    """With a whole prompt of passages beside it; as the setting DIALOGUE_PAIRS has it, and with a short window."""
    base = await PeopleStore(postgres_transport).open_base(ChatId(7), thread=None, member=make_question("?").user_id)
    memory = DialogueMemory(DialogueStore(postgres_transport), RussianEnglishAnalyzer(), None, pairs=pairs)
    asker = replace(make_question("?"), base_id=base, session_id=SessionId(str(uuid4())))
    for said, _, _ in FACTS:
        await memory.keep(asker, Exchange(question=said, answer=answer))
    missed: list[tuple[int, str]] = []
    for distance in range(1, max(DISTANCES) + 1):
        if distance in DISTANCES:
            missed += [
                (distance, fact) for _, asked, fact in FACTS if fact not in await told(memory, asker, asked, pairs)
            ]
        await memory.keep(asker, talk(distance, answer))
    assert missed == []


async def told(memory: DialogueMemory, asker: Question, asked: str, pairs: int) -> str:
    """The whole prompt of the question."""
    dialogue = await memory.recollect(replace(asker, text=asked))
    assignment = Assignment(question=asked, facts=passages_payload(MATERIALS, asked=asked), dialogue=dialogue)
    settings = AnswerSettings(language="ru", general_knowledge=True, window_pairs=pairs, prompt_tokens=12_000)
    prompt = build_prompt(assignment, prompts=load_prompts(), settings=settings, today=date(2026, 5, 12))
    return "\n".join(message.content for message in prompt.messages)
