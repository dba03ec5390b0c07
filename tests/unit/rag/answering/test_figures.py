"""Figures of an answer against what it was written from."""

import time

import pytest

from rag.answering.postcheck import Evidence, remarks_on

POINTS = "10. Сдать отчёт.\n11. Получить справку.\nСрок ответа 30 дней."


def remarks(said: str, answer: str, *, facts: int = 1) -> tuple[str, ...]:
    evidence = Evidence(question="?", facts=(said, *("другое",) * (facts - 1)), today="2026-11-22")
    return remarks_on(answer, evidence, from_base=True)


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("Встреча в 16:45.", "Встреча без четверти пять."),
        ("Встреча без четверти пять.", "Встреча в 16:45."),
        ("Начало в 16:40.", "Начало без двадцати пять."),
        ("Начало в 16 ч 20 мин.", "Начало в двадцать минут пятого."),
        ("Train at 4:30 pm.", "It leaves at half past four."),
        ("Обед в полдень.", "Обед в 12:00."),
        ("Было 100, стало 200.", "Стало вдвое больше."),
        ("Было 5 млн, стало 15 млн.", "Выросло втрое, то есть в 3 раза."),
        ("Цена выросла в 2 раза.", "Цена удвоилась."),
        ("Принимать дважды в день.", "Take it twice a day."),
        ("Скидка 50 %.", "Платить нужно половину цены."),
        ("Нельзя.", "Я сто раз говорил: нельзя."),
        ("Отпуск полгода.", "Отпуск 6 месяцев."),
        ("08.00 Подъём, 08.30 завтрак.", "Завтрак в 8:30."),
        ("Штраф по ст. 12 ч. 3 КоАП.", "Штраф по ст. 12 ч. 3 КоАП."),
        ("Сразу платят часть 500 рублей.", "Сразу — 500 рублей."),
        ("Раздел 5 % скидки.", "Скидка 5 %."),
        ("Цена\n990. Тариф годовой.", "Цена 990 ₽."),
        ("30 минут.", "Нужно полчаса."),
        ("Бюджет полмиллиона.", "Бюджет 500 тыс. руб."),
        ("Бюджет 500 000 руб.", "Бюджет полмиллиона рублей."),
        ("Приём длится час.", "Приём длится 1 час."),
        ("Начало в 20:00.", "Начало в 8 часов вечера."),
        ("Open 9 am to 6 pm.", "Открыто с 9:00 до 18:00."),
        ("The bus leaves at 12:15 a.m.", "Автобус уходит в 0:15."),
        (
            "Станок 65 000 рублей, их 4. Стол 21 500 рублей, их 2.",
            "4 × 65 000 = 260 000 рублей.\n2 × 21 500 = 43 000 рублей.\nВсего 260 000 + 43 000 = 303 000 рублей.",
        ),
        ("Поливать через день.", "Поливать раз в 2 дня."),
        ("Доставка бесплатная, оплата полностью вперёд.", "Доставка 0 руб., предоплата 100 %."),
    ],
)
def test_a_figure_in_other_words_is_known(said: str, answer: str) -> None:
    assert remarks(said, answer) == ()


@pytest.mark.parametrize(
    ("said", "answer", "strange"),
    [
        ("Встреча в 16:45.", "Встреча в половине пятого.", "половине пятого"),
        ("Train at 16:45.", "It leaves at half past four.", "half past four"),
        ("Open until 6 pm.", "Открыто до 19:00.", "19"),
        ("Open until 6 am.", "Открыто до 18:00.", "18"),
        ("Стол 21 500 рублей.", "Всего 260 000 + 43 000 = 303 000 рублей.", "260 000"),
        ("Стоимость 100 и 130.", "Стало вдвое дороже.", "вдвое"),
        ("Дорого.", "Цена выросла в 3 раза.", "в 3 раза"),
        ("Цена 100.", "Скидка половина цены.", "половина цены"),
        ("Цена 100.", "It costs twice as much.", "twice"),
        ("Срок 3 месяца.", "Срок полгода.", "полгода"),
        ("Это важно.", "Выросло в сто раз.", "в сто раз"),
    ],
)
def test_a_figure_in_words_that_nothing_bears_out_is_strange(said: str, answer: str, strange: str) -> None:
    (remark,) = remarks(said, answer)
    assert strange in remark


@pytest.mark.parametrize("answer", ["Завтрак в 20:30.", "Завтрак с 18:30 до 8:30.", "Завтрак в 8:40."])
def test_another_time_in_digits_is_strange(answer: str) -> None:
    assert remarks("08.00 Подъём, 08.30 завтрак.", answer) != ()


def test_a_wrong_ratio_of_two_amounts_is_strange_among_many_numbers() -> None:
    said = "Эфиопия 2 400 ₽, Бразилия 1 200 ₽. " + " ".join(f"{number} г." for number in range(1001, 1100, 3))
    assert remarks(said, "Эфиопия дороже втрое: 2 400 ₽ против 1 200 ₽.") != ()
    assert remarks(said, "Эфиопия дороже вдвое: 2 400 ₽ против 1 200 ₽.") == ()


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        (POINTS, "Ответят за 10-11 дней."),
        (POINTS, "Ответят за десять дней."),
        ("Пеня по п. 10 договора.", "Пеня 10 %."),
        ("Section: Правила > 10. Оплата\nText:\nПлатить вовремя.", "Платить за 10 дней."),
        ("Page: 12\nText:\nПлатить вовремя.", "Платить за 12 дней."),
        ("Платить вовремя, с мая.", "Платить за 5 дней."),
        ("Платить вовремя.", "Платить за 22 дня."),  # today's day
    ],
)
def test_the_number_of_a_place_is_no_amount(said: str, answer: str) -> None:
    assert remarks(said, answer, facts=30) != ()


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        (POINTS, "Пункт 10 говорит об отчёте, пункт 11 о справке."),
        (POINTS, "Ответят за 30 дней."),
        ("10.2. Срок 14 дней.", "По п. 10.2 срок 14 дней."),
        ("Page: 7-8\nText:\nтекст", "Это на страницах 7 и 8."),
        ("Date: 2024-05-12\nText:\nтекст", "Письмо от 12 мая 2024 года."),
        ("В 2-м классе тихо.", "Во 2-м классе тихо."),
        ("Вывоз 1) днём; 2) ночью.", "Вариантов два."),
        ("Открыто: сб и вс", "Открыто два дня: суббота и воскресенье."),
    ],
)
def test_places_counts_and_years_may_be_named(said: str, answer: str) -> None:
    assert remarks(said, answer) == ()


def test_so_many_materials_may_be_counted_but_are_no_amount() -> None:
    assert remarks("текст", "Нашлось 12 договоров.", facts=12) == ()
    assert remarks("текст", "Срок 12 дней.", facts=12) != ()


def test_a_channel_or_sender_may_be_named_and_quoted() -> None:
    said = "Document: Пост (note)\nAuthor: Приют 24 для кошек и собак, Анна\nText:\nНужен корм."
    assert remarks(said, "Написала Анна из канала «Приют 24 для кошек и собак».") == ()


@pytest.mark.parametrize("piece", ["в 2 раза 50 руб 70 руб, ", "вдвое 50 руб ", "без четверти пять ", "в 2,5 раза 5 "])
def test_claims_without_end_take_linear_time(piece: str) -> None:
    begun = time.process_time()
    remarks("1000 руб. и 500 руб.", piece * 500)  # quadratic cost took 7 s
    assert time.process_time() - begun < 1
