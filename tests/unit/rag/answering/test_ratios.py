"""How many times as much."""

from decimal import Decimal

import pytest

from rag.answering.ratios import is_belied, is_borne_out, ratios, ratios_said


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("стало вдвое больше", "2"),
        ("цена удвоилась", "2"),
        ("в полтора раза дешевле", "1.5"),
        ("в 2,5 раза", "2.5"),
        ("в сто раз", "100"),
        ("скидка половина стоимости", "2"),
        ("twice as much", "2"),
        ("three times faster", "3"),
        ("half of the price", "2"),
    ],
)
def test_a_claim_is_read(text: str, value: str) -> None:
    (ratio,) = ratios(text)
    assert ratio.value == Decimal(value)


@pytest.mark.parametrize(
    "text",
    ["первая половина мая", "половина договоров", "рано утром", "несколько раз", "три раза в день", "five times a day"],
)
def test_what_compares_no_amounts_is_none(text: str) -> None:
    assert list(ratios(text)) == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2x faster", 2),
        ("рост 300 %", 3),
        ("дважды в день", 2),
        ("двукратный рост", 2),
        ("скидка 50 %", 2),
        ("на 100 процентов больше", 2),
        ("5-кратный", 5),
        ("оплата пополам", 2),
        ("аванс и остаток 50/50", 2),
        ("двумя равными частями", 2),
    ],
)
def test_what_is_said_otherwise_is_the_same(text: str, value: int) -> None:
    assert Decimal(value) in ratios_said(text)


def test_numbers_bear_a_ratio_out_and_a_rough_one_more_roughly() -> None:
    (exact,), (rough,) = ratios("вдвое больше"), ratios("почти в два раза больше")
    near = {Decimal(98), Decimal(200)}
    far = {Decimal(100), Decimal(170)}
    assert (is_borne_out(exact, near), is_borne_out(exact, far), is_borne_out(rough, far)) == (True, False, True)
    assert not is_borne_out(exact, set())


@pytest.mark.parametrize(
    ("claim", "told", "belied"),
    [
        ("втрое дороже", (2400, 1200), True),
        ("вдвое дороже", (2400, 1200), False),
        ("вдвое дороже", (2400, 700), False),  # than what costs 1 200
        ("почти вдвое дороже", (2000, 1200), False),
        ("втрое дороже", (2400,), False),
        ("втрое дороже", (), False),
    ],
)
def test_amounts_told_beside_a_ratio_may_belie_it(claim: str, told: tuple[int, ...], *, belied: bool) -> None:
    (ratio,) = ratios(claim)
    known = {Decimal(1200), Decimal(2400)}
    assert is_belied(ratio, told=[Decimal(each) for each in told], known=known) == belied
