"""The last look at an answer: what may not be shown, and what is fine."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.answering.postcheck import Evidence, remarks_on

FACTS = (
    "Штраф за просрочку составляет 0,1 % от суммы за каждый день, но не больше 10 %.",
    "Срок оплаты тридцать дней. Договор от 12.05.2024.",
)
EVIDENCE = Evidence(
    question="Какой штраф?",
    facts=FACTS,
    earlier_answers=(
        "Срок оплаты тридцать дней с даты счёта, а договор подписан 12 мая 2024 года в двух экземплярах.",
    ),
    ids=("project:alor-broker",),
    today="2026-05-12",
)


def remarks(answer: str, *, from_base: bool = True) -> tuple[str, ...]:
    return remarks_on(answer, EVIDENCE, from_base=from_base)


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
        ("Штраф 0,2 % за день.", "0,2"),
        ("Срок 45 дней.", "45"),
        ("Срок сорок пять дней.", "сорок пять"),
        ("Штраф двадцать процентов.", "двадцать"),
        ("На 64,5 минуты: 90 − 25,5 = 64,5.", "25,5"),
        ("Штраф ещё 45 руб. за каждый день", "45"),
        ("Договор от 13.05.2024.", "13.05.2024"),
        ("Сказано: «Штраф отменяется по соглашению сторон».", "quotation"),
        ("Штраф 0,1 % (confidence: 0.9).", "confidence"),
        ("Штраф 0,1 %.\n[1] – Договор.pdf", "references"),
        ("Это проект project:alor-broker.", "internal id"),
        ("Документ 3f2504e0-4f89-11d3-9a0c-0305e82c3301.", "internal id"),
        ("Штраф 0,1 %. Рекомендуется уточнить у Дмитрия.", "Leave out"),
        ("Штраф 0,1 %. Конкретных упоминаний о пенях не найдено.", "Leave out"),
        ("Согласно предоставленным материалам, штраф 0,1 %. Не больше 10 %.", "Leave out"),
        ("Я нашёл это через pgvector.", "built"),
        (EVIDENCE.earlier_answers[0], "word for word"),
    ],
)
def test_what_must_not_be_shown_is_named(answer: str, about: str) -> None:
    assert any(about in remark for remark in remarks(answer))


def test_general_knowledge_may_have_numbers_of_its_own() -> None:
    assert remarks("Земля старше 4,5 млрд лет.", from_base=False) == ()


def test_an_answer_about_the_world_may_name_software() -> None:
    assert remarks("Известные СУБД: PostgreSQL, MySQL и Oracle.", from_base=False) == ()


def test_what_the_program_says_of_its_own_software_is_withheld() -> None:
    assert remarks("Я ищу по pgvector и чанкам.", from_base=False) != ()


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("Телефон +7 843 555-01-17.", "Телефон: +7 (843) 555-01-17."),
        ("Телефон +7 (843) 555-01-17.", "Телефон: +7 843 555-01-17."),
        ("Бюджет 250 тыс. руб.", "Бюджет 250 000 руб."),
        ("Бюджет 250 000 руб.", "Бюджет 250 тыс. руб."),
        ("Паспорт действует до 03.2029.", "До марта 2029 года."),
        ("Подписан 12 мая 2024 года.", "Подписан 12.05.2024."),
        ("It costs 6 900 rubles.", "It costs 6,900 rubles."),
        ("Скидка двадцать процентов.", "Скидка 20 %."),
        ("Скидка 20 %.", "Скидка двадцать процентов."),
        ("Сто двадцать тысяч рублей.", "120 000 рублей."),
        ("Оплата в течение 14 дней.", "Оплата через две недели."),
        ("Гарантия 18 месяцев.", "Гарантия полтора года."),
    ],
)
def test_a_number_may_be_written_differently(said: str, answer: str) -> None:
    assert remarks_on(answer, Evidence(question="", facts=(said,)), from_base=True) == ()


def test_machinery_that_the_documents_speak_of_is_no_secret() -> None:
    evidence = Evidence(question="Где применял pgvector?", facts=("pgvector в AI-Portfolio",))
    assert remarks_on("pgvector применён в AI-Portfolio.", evidence, from_base=True) == ()


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
