"""«От» and «до», "before" and "after" of an answer."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.answering.postcheck import Evidence, remarks_on


def remarks(said: str, answer: str, question: str = "?") -> list[str]:
    other = "Document: y (file)\nText:\nОплата за 10 дней."
    evidence = Evidence(question=question, facts=(f"Document: x (file)\nText:\n{said}", other))
    return [remark for remark in remarks_on(answer, evidence, from_base=True) if "the other way round" in remark]


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("Рассмотрение заявки занимает от 10 дней.", "Рассмотрение заявки занимает до 10 дней."),
        ("Срок поставки от 14 дней.", "Срок поставки — не более 14 дней."),
        ("Скидка действует при заказе от 50 000 руб.", "Скидка действует при заказе до 50 000 рублей."),
        ("Офис работает до 18:00.", "Офис работает после 18:00."),
        ("Отчёт сдаётся до 15 марта.", "Отчёт сдаётся после 15 марта."),
        ("Сдать отчёт нужно не позднее 15 марта.", "Сдать отчёт нужно не ранее 15 марта."),
        ("Уведомить следует не позднее чем за 30 дней.", "Уведомить следует не ранее чем за 30 дней."),
        ("Оплата не позднее чем через 5 дней.", "Оплата не ранее чем через 5 дней."),
        ("При просрочке свыше 30 дней начисляется пеня.", "При просрочке до 30 дней начисляется пеня."),
        ("Вход с 18 лет.", "Вход до 18 лет."),
        ("Оплата до 10 числа каждого месяца.", "Оплата после 10 числа каждого месяца."),
        ("Скидка действует, если заказ от 6 000 ₽.", "Скидка действует, если заказ до 6 000 ₽."),
        ("Delivery takes from 10 days.", "Delivery takes up to 10 days."),
        ("Orders over $500 ship free.", "Orders under $500 ship free."),
        ("Applications are accepted until 5 May.", "Applications are accepted after 5 May."),
    ],
)
def test_a_limit_exchanged_for_its_opposite_is_told(said: str, answer: str) -> None:
    assert remarks(said, answer) != []
    assert remarks(answer, said) != []


def test_a_bare_limit_is_of_what_was_asked() -> None:
    assert remarks("Заезд после 14:00.", "До 14:00.", question="Когда заезд?") != []
    assert remarks("Заезд после 14:00.", "До 14:00.", question="Когда завтрак?") == []


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("Доставка бесплатна при заказе от 3 000 руб.", "До 3 000 руб. доставка платная."),
        ("Доставка бесплатна от 3 000 руб., иначе стоит 300 руб.", "До 3 000 руб. доставка стоит 300 руб."),
        (
            "Доставка стоит 300 руб. При заказе от 3 000 руб. — бесплатно.",
            "При заказе до 3 000 руб. доставка стоит 300 руб.",
        ),
        ("Скидка 5 % при заказе от 10 шт.", "При заказе до 10 шт. скидки нет."),
        ("Дети до 7 лет проходят бесплатно, взрослые — за 500 руб.", "С 7 лет — за 500 руб."),
        ("Срок рассмотрения — от 10 до 20 дней.", "Срок рассмотрения до 20 дней, от 10 дней."),
        ("Срок — до 10 дней.", "Срок — не более 10 дней."),
        ("Уведомить следует не позднее чем за 30 дней.", "Уведомить следует не менее чем за 30 дней."),
        ("Уведомить следует не позднее 30 дней до выезда.", "Уведомить следует не менее чем за 30 дней до выезда."),
        ("Сдать отчёт до 15 марта.", "После 15 марта сдать отчёт нельзя."),
        ("Пеня 5 % от 10 000 руб.", "Пеня до 10 000 руб. — 5 %."),
        ("Договор от 10 мая.", "Договор до 10 мая."),
        ("Старше 18 лет — полный тариф.", "До 18 лет — льготный."),
        ("Расходы свыше 5 000 руб. согласует директор.", "До 5 000 руб. директор не согласует."),
        ("Тариф до 100 ГБ — 500 руб., свыше 100 ГБ — 900 руб.", "От 100 ГБ тариф 900 руб."),
        ("Аванс от 10 %, пеня от 10 руб.", "Аванс до 10 рабочих дней."),
        ("Заказы от 6 000 ₽ доставляем бесплатно.", "Если заказ до 6 000 ₽, доставка платная."),
        ("Поставка занимает до 21 дня.", "Поставка, занимающая более 21 дня, считается просроченной."),
        ("Orders over $50 ship free.", "If orders are under $50, you pay for them."),
        ("С 2020 года офис находится в Казани.", "До 2020 года офис находился в другом городе."),
    ],
)
def test_what_holds_on_the_other_side_and_the_same_limit_pass(said: str, answer: str) -> None:
    assert remarks(said, answer) == []


def test_an_answer_that_tells_both_sides_passes() -> None:
    assert (
        remarks("Тариф действует от 3 000 руб.", "Тариф действует от 3 000 руб. Тариф не действует до 3 000 руб.") == []
    )


_WORDS = ("от", "до", "после", "не позднее чем за", "свыше", "с", "не менее", "under", "from")
_CLAIM = st.builds(
    "{} {} {} {}".format,
    st.sampled_from(("Срок", "Доставка", "Скидка при заказе", "Delivery")),
    st.sampled_from(_WORDS),
    st.integers(1, 20),
    st.sampled_from(("дней", "руб.", "мая", "человек", "days")),
)


@given(st.lists(_CLAIM, min_size=1, max_size=5), st.data())
def test_a_limit_of_the_materials_is_never_told(claims: list[str], data: st.DataObject) -> None:
    answer = data.draw(st.sampled_from(claims))
    assert remarks(".\n".join(claims), f"{answer}.") == []


def test_limits_without_end_take_linear_time() -> None:
    start = time.process_time()
    remarks("Срок от 10 дней. " * 5_000, "Срок до 10 дней. " * 500)
    remarks("от " * 20_000, "до 10 " * 2_000)
    assert time.process_time() - start < 5
