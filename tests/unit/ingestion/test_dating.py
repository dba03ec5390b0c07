import calendar
import time
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.documents import SourceType
from ingestion.dating import EARLIEST, LINE_CHARACTERS, TOP_CHARACTERS, own_day, own_moment
from ingestion.records import Block, BlockKind, Document, Source

TODAY = date(2026, 11, 21)
DAY = date(2024, 3, 12)
RUSSIAN = (
    *("января", "февраля", "марта", "апреля", "мая", "июня"),
    *("июля", "августа", "сентября", "октября", "ноября", "декабря"),
)
days = st.dates(min_value=EARLIEST, max_value=TODAY)


def dated(text: str, name: str = "x.txt", kind: BlockKind = BlockKind.PARAGRAPH) -> date | None:
    blocks = [Block(kind=kind, text=each) for each in text.split("\n\n")]
    return own_day(name, blocks, today=TODAY)


@pytest.mark.parametrize(
    "text",
    [
        "Договор № 7/2025\n\nг. Москва, 12 марта 2024 г.\n\n1. Стороны. Срок до 31.12.2025.",
        "Договор № 5 от 12.03.2024",
        "Приказ от «12» марта 2024 г. № 5 об отпусках",
        "Казань, 12 марта 2024 года",
        "March 12, 2024\n\nDear Anna,",
        "Moscow, March 12th, 2024",
        "от 12.03.2024 № 5",
        "Исх. № 45/1 от 12.03.2024 на № 3 от 01.02.2024",
        "# Заметки\n\n2024-03-12",
        "**Дата:** 12.03.24",
        "Date: 12 March 2024",
        "Дата составления: 12.03.2024 Номер: 5",
        "Supply Agreement dated March 12, 2024",
        "Протокол совещания 12.03.2024",
        "Счёт на оплату № 5 от 12 мар. 2024 г.",
        "Прайс-лист с 12 марта 2024 года",
        "Письмо от ООО «Ромашка» от 12 марта 2024 г.",
        "Акт\n\n12/03/2024\n\n2024.03.12",
        "ПАО «Гранит»\nИсх. 771 от 12 марта 2024 г.",
        "ПРОЕКТ. Редакция от 12.03.2024\n\nДоговор № 8\n\nг. Москва, «___» апреля 2024 г.",
        "Копия верна. Договор № 5 от 12.03.2024",
        "Накладная 55/1 от 12.03.2024 г.",
        "Редакция: от 12.03.2024 г.",
        "Our Ref: GH-771, 12 March 2024",
        "Draft of March 12, 2024",
    ],
)
def test_a_document_bears_its_day_where_documents_do(text: str) -> None:
    assert dated(text) == DAY


@pytest.mark.parametrize(
    "text",
    [
        "Мы встретились 12 марта 2024 года и решили.",
        "Договор № 7 от 12.03.2024 продлили до 2027 года",
        "Акт к договору № 7 от 12.03.2024",
        "По приказу 5 от 12.03.2024",
        "Ваше письмо и приказ 5 от 12.03.2024",
        "Получено письмо от 12.03.2024.",
        "Исх. 771 от 12.03.2024 отозвано",
        "Вчера пришло письмо. Приказ 5 от 12.03.2024",
        "ОГРН 1027739850962 от 12.03.2024",
        "Приложение к приказу от 12.03.2024",
        "В соответствии с Федеральным законом № 44-ФЗ (в редакции от 12.03.2024) приказываю",
        "Отчёт за период с 01.03.2024 по 31.03.2024",
        "Договор № 5 действует до 12.03.2024",
        "Приказ об отпуске с 12.03.2024",
        "Дата рождения: 12.03.1994",
        "На № 3 от 01.02.2024",
        "Версия 1.02.24",
        "03/04/2024",
        "31.02.2024",
        "12.03.2030",
        "12.03.1945",
    ],
)
def test_a_day_that_is_anothers_or_told_or_impossible_is_none(text: str) -> None:
    assert dated(text) is None


@pytest.mark.parametrize(
    "text",
    ["12.03.2024\n\n13.03.2024", "Договор № 1 от 12.03.2024\n\nДоговор № 2 от 13.03.2024"],
)
def test_days_that_differ_are_none(text: str) -> None:
    assert dated(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "Положение о премиях от 01.02.2020 (в ред. от 12.03.2024)",
        "Приказ № 12 о скидках\n\nот 01.02.2020 (в редакции от 12.03.2024)",
        "Положение о премиях\n\nот 01.02.2020 № 3\n\n(в ред. приказов от 01.02.2021 № 3, от 12.03.2024 № 8)",
        "Terms of use\n\nDate: February 1, 2020\n\nLast updated: March 12, 2024",
        "Прайс-лист от 01.02.2020\n\nОбновлено 12.03.2024",
    ],
)
def test_the_newest_edition_beats_the_first_issue(text: str) -> None:
    assert dated(text) == DAY


def test_the_edition_of_a_law_that_a_line_goes_on_with_does_not_beat_the_title() -> None:
    assert dated("Приказ от 12.03.2024\n\nпо закону\nот 06.10.2003 № 131-ФЗ (в редакции от 02.10.2025)") == DAY


def test_what_stands_below_the_top_is_no_day_of_the_document() -> None:
    assert dated("слово " * TOP_CHARACTERS + "\n\n12.03.2024") is None
    assert dated("12.03.2024", kind=BlockKind.CODE) is None


def test_a_letterhead_may_be_a_table_but_a_tables_rows_tell_of_days() -> None:
    assert dated("| 12.03.2024 | № 5 |\n| --- | --- |", kind=BlockKind.TABLE) == DAY
    assert dated("| Дата | Сумма |\n| --- | --- |\n| 12.03.2024 | 5 |", kind=BlockKind.TABLE) is None


@pytest.mark.parametrize(
    ("name", "day"),
    [
        ("Отчёт 2024-03.pdf", None),
        ("Отчёт за март 2024.pdf", None),
        ("March 2024 minutes.docx", None),
        ("Договор от 12.03.2024.docx", DAY),
        ("2024-03-12 протокол.md", DAY),
        ("IMG_20240312_101010.jpg", DAY),
        ("report_12-31-2024.pdf", date(2024, 12, 31)),
        ("report_01-02-2024.pdf", None),
        ("Отчёт 2023.pdf", None),
        ("Договор 7-2025.txt", None),
        ("ГОСТ 7.32-2017.pdf", None),
        ("1706.03762.pdf", None),
        ("2024-01-01 по 2024-03-31.xlsx", None),
    ],
)
def test_a_name_may_say_the_day(name: str, day: date | None) -> None:
    assert dated("Текст без дат.", name) == day


def test_the_text_goes_before_the_name() -> None:
    assert dated("Дата: 12.03.2024", "Отчёт 2025-01-15.pdf") == DAY


def test_a_name_serves_where_the_text_names_several_days() -> None:
    assert dated("01.02.2024\n\n02.02.2024", "2024-03-12.txt") == DAY


@given(days, st.sampled_from(["Договор № 3 от {}", "{}", "г. Тверь, {}", "Дата: {}", "от {} № 7"]), st.integers(0, 4))
def test_every_day_is_read_in_every_form(day: date, where: str, form: int) -> None:
    russian, english = RUSSIAN[day.month - 1], calendar.month_name[day.month]
    forms = (
        day.isoformat(),
        f"{day:%d.%m.%Y}",
        f"{day.day} {russian} {day.year} г.",
        f"«{day:%d}» {russian} {day.year} года",
        f"{english} {day.day}, {day.year}",
    )
    assert dated(where.format(forms[form])) == day


@given(days, st.integers(1, 2000))
def test_a_sentence_that_mentions_a_day_gives_none(day: date, price: int) -> None:
    assert dated(f"Оплату в {price} рублей ждём {day:%d.%m.%Y} на счёт поставщика.") is None


@given(st.text(max_size=300), st.text(max_size=40))
def test_any_text_gives_a_possible_day_or_none(text: str, name: str) -> None:
    found = dated(text, name)
    assert found is None or EARLIEST <= found <= TODAY


def test_a_day_has_come_where_it_begins_first() -> None:
    there = datetime.now(timezone(timedelta(hours=14))).date()
    parsed = Document(title="x", blocks=(Block(kind=BlockKind.PARAGRAPH, text=f"Дата: {there:%d.%m.%Y}"),))
    source = Source(type=SourceType.NOTE, identifier="x", title="x")
    assert own_moment(parsed, source) == datetime(there.year, there.month, there.day, tzinfo=UTC)


SLOW = ("(", "№ ", "1", "в ред. ", "от ", "Акт ", "1.1.", "г. А", "\xa0", "\u2003\t", "Аб-", "Аб ")


@given(st.sampled_from(("Акт 01.01.2030 ", "г. Москва", "обновлено")), st.sampled_from(SLOW), st.integers(1, 800))
def test_a_line_made_to_be_slow_is_read_at_once(begin: str, piece: str, times: int) -> None:
    begun = time.process_time()
    dated(f"{begin}{piece * times}x 01.01.2030")
    dated(f"{begin}{piece * (LINE_CHARACTERS // len(piece) - 15)}x 01.01.2030")
    assert time.process_time() - begun < 1
