"""Where sentences end; the texts mark each end with `| |`."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.chunking.sentences import SENTENIZE, razdel_sentences, split_sentences
from tests.unit.ingestion.chunking.documents import TEXTS

MARK = "| |"
MARKED = [
    "Привет!| |Как дела?",
    "Поэт А. С. Пушкин родился в 1799 г. в Москве.| |Он писал стихи.",
    "Это было в 2024 г.| |Она уехала.",  # razdel alone does not end the sentence here
    "Договор от 2023 г.| |«Ромашка» его подписала.",
    "Цена 3.5 тыс. руб. за шт. с НДС.| |См. рис. 2 на стр. 15.",
    "He paid 3.5 dollars.| |Then he left.",
    "«Куда ты?» — спросил он.| |Она молчала.",
    "3.2. Арендатор вносит плату.| |3.3. Срок — 5 дней.",
    "Глава 1. Начало.| |Здесь всё начинается.",
    "По п. 3.2. Договора платят вперёд.| |Далее по тексту.",
    "Оплата до 1 янв. 2024 г. включительно.| |Потом пени.",
    "«Куда ты? — спросил он. — Уже поздно».| |Она молчала.",
    "Он сказал: «Я приду. Ждите».| |И ушёл.",
    "— Привет! — сказал он. — Как дела?| |— Хорошо.",
    "See Fig. 2. It shows more.| |The end.",
    "Первый абзац «не закрыт.| |\n\nВторой» абзац.",
]


@pytest.mark.parametrize("marked", MARKED)
def test_sentences_end_where_a_reader_ends_them(marked: str) -> None:
    text = marked.replace(f"{MARK}\n", "\n").replace(MARK, " ")
    marked = re.sub(r"(?<=\| \|)\n+", "", marked)
    assert [text[start:end] for start, end in split_sentences(text)] == marked.split(MARK)


WORDS = (
    *(
        "слово",
        "Слово",
        "т",
        "е",
        "г",
        "2024",
        "А",
        "XX",
        "«",
        "»",
        ")",
        "(",
        "!",
        "?",
        "...",
        "…",
        ";",
        ":",
        ":)",
        "1",
    ),
    *("3.2", "ул", "Mr", "end", "End", "руб", "млн", "—", "-", "“", "”", '"', "рис", "см", "и", "др"),
)
GAPS = ("", " ", "  ", ". ", ".", "! ", "? ", "\n", ".\n\n", ", ", " . ")


@given(st.lists(st.builds(str.__add__, st.sampled_from(WORDS), st.sampled_from(GAPS)), max_size=12).map("".join))
def test_places_that_razdel_is_not_asked_about_are_those_that_its_rules_decide_alike(text: str) -> None:
    assert [text[start:end] for start, end in razdel_sentences(text)] == [
        each.text for each in SENTENIZE(text) if each.text
    ]


@given(TEXTS)
def test_spans_are_in_order_and_leave_out_only_whitespace(text: str) -> None:
    position = 0
    for start, end in split_sentences(text):
        assert position <= start < end
        assert not text[position:start].strip()
        position = end
    assert not text[position:].strip()


def test_an_endless_sentence_stays_whole() -> None:
    text = "Слово. " + "Слово " * 4_000
    assert split_sentences(text) == [(0, 6), (7, len(text) - 1)]


@pytest.mark.parametrize("text", ["т. е. и т. д. ", "1. ", "А. ", ". ", ") ", ":) ", "«Да. ", "Да.         "])
def test_signs_without_end_take_linear_time(text: str) -> None:
    started = time.process_time()
    split_sentences(text * (100_000 // len(text)))  # quadratic cost takes half a minute
    assert time.process_time() - started < 10


def test_a_quote_that_is_never_closed_does_not_swallow_the_text() -> None:
    text = "Он начал: «Это так. " + "Слово за словом. " * 100
    assert max(end - start for start, end in split_sentences(text)) < 600
