"""Sums that an answer shows."""

import time

import pytest

from prompts.loader import load_prompts
from rag.answering.answer import AnswerWriter
from rag.answering.prompt import AnswerSettings, Assignment
from rag.answering.sums import wrong_sums
from rag.execution.facts import Fact, FactKind, FactsPayload
from tests.fakes.rag import ScriptedModel, make_passage, rank


@pytest.mark.parametrize(
    "answer",
    [
        "За год 185 000 × 12 = 2 320 000 рублей.",
        "990 × 12 = 11 808 руб.",
        "Всего: 120 руб. + 80 руб. = 210 руб.",
        "**2 500 ₽ × 3 = 7 000 ₽**",
        "100 ÷ 8 ≈ 15",
        "20 × 5 = 100, 100 − 15 = 75",
        "2 x 3 = 7",
        "2 кг + 500 кг = 2 500 кг",
        "12 мес. × 890 руб. + 600 руб. = 11 380 руб.",
        "Плата за год (185 000 × 12 = 2 320 000 руб.) растёт",
        "2 + 3 × 4 = 20",
        "С декабря 16 200 рублей в месяц, за год выйдет 16 200 × 12 = 184 400 рублей.",
        "Лампы стоят 12 × 890 + 600 = 11 380 рублей по счёту от 5 ноября.",
        "По счёту от 05.11.2026, до 10:30: 12 × 890 + 600 = 11 380 рублей.",
    ],
)
def test_a_sum_that_does_not_come_out_is_named(answer: str) -> None:
    assert wrong_sums(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "За год 185 000 × 12 = 2 220 000 рублей.",
        "990 × 12 = 11 880 руб. в год — это выгоднее",
        "185 000 × 0,1 % = 185 руб.",
        "0,1 % × 30 дней = 3 %",
        "100 ÷ 3 = 33,33",
        "100 / 3 ≈ 33",
        "90 мин × 2 = 3 ч",
        "(2 + 3) × 4 = 20",
        "Плата за год (185 000 × 12 = 2 220 000 руб.) растёт",
        "(2 + 3) × 4 + 1 = 21",
        "3 шт. по 100 × 2 = 600",
        "185 000 + 10 % = 203 500",
        "20 марта + 14 дней = 3 апреля",
        "12:30 + 45 минут = 13:15",
        "10–12 дней × 5 = 50–60 дней",
        "1 EUR = 90 ₽",
        "1,5 млн × 2 = 3 млн",
        "x = 5, y = 2",
        "2 × (3 + 4) = 14",
        "2 + 3 × 4 = 14",
        "5 ÷ 0 = 0",
        "2 кг + 500 г = 2 500 г",
        "3 месяца + 2 недели = 104 дня",
        "5 000 ₽ + 10 $ = 5 900 ₽",
        "1.200 × 2 = 2.400",
        "1,200 × 3 + 500 = 4,100",
        "const LIMIT: u32 = 60 * 60 * 3",
        "В коде `2 + 2 = 5`:\n```\n2 × 2 = 5\n```",
        "",
    ],
)
def test_what_comes_out_or_cannot_be_told_is_left_alone(answer: str) -> None:
    assert not wrong_sums(answer)


@pytest.mark.parametrize("piece", ["1 + ", "1×", "123 ", " ", "1 шт + "])
def test_a_model_that_goes_round_in_circles_holds_nothing_up(piece: str) -> None:
    begun = time.process_time()
    wrong_sums(f"{piece * (30_000 // len(piece))}x = 5")
    assert time.process_time() - begun < 1


async def test_an_answer_with_a_wrong_sum_is_written_once_more() -> None:
    passages = rank(make_passage("Арендная плата 185 000 рублей в месяц."))
    facts = tuple(
        Fact(kind=FactKind.PASSAGE, text=each.passage.text, title="Договор", passage=each) for each in passages
    )
    asked = Assignment(question="Сколько за год?", facts=FactsPayload(facts=facts, coverage=1.0))
    settings = AnswerSettings(language="ru", general_knowledge=True, window_pairs=15, prompt_tokens=8000)
    model = ScriptedModel("[+] 185 000 × 12 = 2 320 000 рублей [1].", again="[+] 185 000 × 12 = 2 220 000 рублей [1].")

    drafts = [draft async for draft in AnswerWriter(model, load_prompts(), settings).write(asked)]

    assert drafts[-1].text == "185 000 × 12 = 2 220 000 рублей."
