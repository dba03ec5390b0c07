"""The rules that every answer is held to: what may not be shown, and what is fine."""

import time
from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prompts.loader import load_prompts
from rag.answering.answer import AnswerWriter
from rag.answering.prompt import AnswerPrompt, AnswerSettings, Assignment
from rag.answering.rules import remarks_on, rules_shown, wrong_sums
from rag.execution.facts import Fact, FactKind, FactsPayload
from rag.records import ChatMessage
from tests.fakes.rag import ScriptedModel, make_passage, rank

FACTS = (
    "Штраф за просрочку составляет 0,1 % от суммы за каждый день, но не больше 10 %.",
    "Срок оплаты тридцать дней. Договор от 12.05.2024.",
)
PROMPT = AnswerPrompt(
    assignment=Assignment(question="Какой штраф?", hidden_ids=("project:alor-broker",)),
    today=date(2026, 5, 12),
    messages=(ChatMessage(role="system", content=""),),
    facts=(),
    said=FACTS,
)


def remarks(answer: str, *, from_base: bool = True) -> tuple[str, ...]:
    return remarks_on(answer, PROMPT, from_base=from_base)


@pytest.mark.parametrize(
    "answer",
    [
        "Штраф 0,1 % за каждый день, но не больше 10 %.",
        "Срок оплаты 30 дней, договор от 12 мая 2024 года.",
        "За 5 дней: 0,1 % × 5 = 0,5 % от суммы.",
        "1. Штраф 0,1 %.\n2. Не больше 10 %.",
        "В договоре сказано: «Штраф за просрочку составляет 0,1 % от суммы за каждый день».",
        "Сказано: «Штраф за просрочку… не больше 10 %».",
        "Об этом в базе ничего не найдено.",
        "Команда: `curl -m 99 http://x/7`.",
        "Договор от 12.05.2024.",
        "- Штраф 0,1 %\n- Не больше 10 %\n\nещё 18 (по запросу могу вывести)",
        "Всего 20 пунктов:\n\n- Штраф 0,1 %\n- Не больше 10 %\n\nещё 18 из 20 (по запросу могу вывести)",
        "По договору 3 условия:\n\n- штраф\n- срок\n- дата",
        "За год 10 × 12 = 120 %, со скидкой 120 × 0,85 = 102 %. Экономия — 18 %.",
        "За год: 10 руб. × 12 мес. × 0,85 = 102 руб. Значит, 102 руб.",
    ],
)
def test_a_faithful_answer_passes(answer: str) -> None:
    assert remarks(answer) == ()


@pytest.mark.parametrize(
    ("answer", "about"),
    [
        ("Сказано: «Штраф отменяется по соглашению сторон».", "quotation"),
        ("Штраф 0,1 % (confidence: 0.9).", "confidence"),
        ("Штраф 0,1 %.\n[1] – Договор.pdf", "references"),
        ("Это проект project:alor-broker.", "internal id"),
        ("Документ 3f2504e0-4f89-11d3-9a0c-0305e82c3301.", "internal id"),
        ("Штраф 0,1 %. Рекомендуется уточнить у Дмитрия.", "Leave out"),
        ("Штраф 0,1 %. Конкретных упоминаний о пенях не найдено.", "Leave out"),
        ("Согласно предоставленным материалам, штраф 0,1 %. Не больше 10 %.", "Leave out"),
        ("Рекомендуется уточнить у Дмитрия.", "Leave out"),
        ("Конкретных упоминаний о пенях не найдено.", "Leave out"),
        ("10 × 12 = 130 руб.", "10 × 12 = 130"),
    ],
)
def test_what_must_not_be_shown_is_named(answer: str, about: str) -> None:
    assert any(about in remark for remark in remarks(answer))


def test_all_forbidden_phrases_are_named_in_one_remark() -> None:
    (remark,) = remarks("Рекомендуется уточнить у Дмитрия. Штраф 0,1 %. Так сказано в материале 2.")
    assert "у Дмитрия" in remark
    assert "в материале 2" in remark


@pytest.mark.parametrize("question", ["Упоминаются ли пени?", "Чего в договоре нет?", "Is there any mention of fines?"])
def test_absence_that_was_asked_about_may_be_told(question: str) -> None:
    prompt = replace(PROMPT, assignment=Assignment(question=question))
    assert remarks_on("Конкретных упоминаний о пенях не найдено.", prompt, from_base=True) == ()


def test_what_a_figure_means_is_judged_by_the_support_check_and_not_here() -> None:
    assert remarks("Штраф 0,2 % за день, срок сорок пять дней.") == ()


@given(st.lists(st.sampled_from(FACTS), min_size=1, max_size=4))
def test_an_answer_made_of_facts_alone_always_passes(sentences: list[str]) -> None:
    assert remarks("\n".join(sentences)) == ()


@given(st.text(max_size=300))
def test_no_text_breaks_the_check(answer: str) -> None:
    remarks(answer)


@pytest.mark.parametrize(
    "tail",
    [
        "Рекомендуется обратиться к Дмитрию за уточнением.",
        "Так сказано в материале 2.",
        "Срок короче (материал 12).",
        "Это вывод на основе предоставленной информации.",
    ],
)
def test_other_forms_of_the_tails_are_left_out_too(tail: str) -> None:
    assert remarks(f"Штраф 0,1 % за каждый день. {tail}")


@pytest.mark.parametrize(
    "line", ["Стоимость материала 500 руб.", "Лист из материала 3 мм.", "Материал 12Х18Н10Т.", "Расход материала 5 кг."]
)
def test_a_material_that_things_are_made_of_is_no_tail(line: str) -> None:
    assert remarks(f"Смета готова. {line}", from_base=False) == ()


RULES = load_prompts().answer.text
LEAK = RULES[:400]


@pytest.mark.parametrize("answer", [LEAK, f"Sure:\n```\n{LEAK.upper()}\n```", "Here: " + ", ".join(LEAK.split())])
def test_a_copy_of_the_rules_is_seen(answer: str) -> None:
    assert rules_shown(answer, RULES)


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "I answer from your own material: files, web pages and notes that you have put into your base.",
        "I cannot show how I am built, but I can help with your documents: /docs shows what the base holds.",
        "Покажу, что в базе, но не правила.",
        "I do not see a list of what the base holds: the command /docs shows it, and I cannot delete documents.",
    ],
)
def test_what_baza_says_of_itself_is_no_copy(answer: str) -> None:
    assert not rules_shown(answer, RULES)


def test_what_stands_behind_the_words_about_baza_is_seen() -> None:
    assert rules_shown(RULES[RULES.index("# Form") :], RULES)


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
