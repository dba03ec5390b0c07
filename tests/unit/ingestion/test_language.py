"""Languages that people send, from a sentence or two."""

import pytest

from ingestion.language import detect_language, language_of
from ingestion.parsers.outline import Outline
from ingestion.records import Block, BlockKind
from ingestion.spool import HELD_UNPRESSED_BYTES

SENTENCES = [
    ("Это обычный текст о том, как работает база знаний и что в ней можно найти.", "ru"),
    ("Це звичайний текст про те, як працює база знань і що в ній можна знайти.", "uk"),
    ("Гэта звычайны тэкст пра тое, як працуе база ведаў і што ў ёй можна знайсці.", "be"),
    ("This is an ordinary text about how the base works and what is in it.", "en"),
    ("Das ist ein gewöhnlicher Text über die Basis und was in ihr zu finden ist.", "de"),
    ("C'est un texte ordinaire sur la base et ce que l'on peut trouver dans les documents.", "fr"),
    ("Este es un texto sobre la base y lo que se puede encontrar en los documentos.", "es"),
    ("これは普通の文章です。", "ja"),
    ("这是一个普通的句子。", "zh"),
    ("זה טקסט רגיל", "he"),
    ("Иванов, Петров, Сидоров", "ru"),  # no frequent word: the most probable of the script
    ("12 345 — 67 %", None),
    ("", None),
    ("Lorem ipsum dolor sit amet consectetur adipiscing elit sed eiusmod tempor incididunt", None),
]


@pytest.mark.parametrize(("text", "language"), SENTENCES)
def test_language_is_recognised(text: str, language: str | None) -> None:
    assert detect_language(text) == language


def test_most_of_the_text_decides() -> None:
    assert (
        detect_language("Команда git clone и ключ --depth нужны для того, чтобы скачать не всё. " * 5 + "the end")
        == "ru"
    )


def test_a_long_text_is_judged_by_samples_of_it() -> None:
    assert detect_language("Это текст на русском языке, и в нём много слов. " * 20_000) == "ru"


def test_a_short_russian_text_is_not_taken_for_ukrainian() -> None:
    assert detect_language("Офис стоит 100 рублей в месяц, оплата до пятого числа.") == "ru"
    assert detect_language("Вхід до будинку з двору, за рогом.") == "uk"


def test_a_long_document_is_judged_by_blocks_from_all_over_it() -> None:
    outline = Outline()
    for number in range(HELD_UNPRESSED_BYTES // 4000 + 2):
        outline.add(BlockKind.PARAGRAPH, f"{number} " + "это было не для того и не из этого " * 120)
    blocks = outline.finish()
    assert not isinstance(blocks, tuple)
    assert language_of(blocks) == "ru"


def test_code_speaks_no_language() -> None:
    code = Block(kind=BlockKind.CODE, text="for it in the list: if it is not that, return the one")
    assert language_of((code, Block(kind=BlockKind.PARAGRAPH, text="Это пример"))) == "ru"
