"""Text in the encodings that people still have on their disks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.parsers.encodings import decode_text

RUSSIAN = "Договор поставки № 15 от 3 марта: стороны договорились о нижеследующем.\nПокупатель обязуется принять товар."
CAPITALS = "ПРИКАЗ О НАЗНАЧЕНИИ ОТВЕТСТВЕННОГО ЗА ПОЖАРНУЮ БЕЗОПАСНОСТЬ В ПОМЕЩЕНИЯХ ОРГАНИЗАЦИИ"
MIXED = "Настройка nginx: откройте файл /etc/nginx/nginx.conf и добавьте строку worker_processes auto;"
ENGLISH = "The parties have agreed as follows: nothing is to be delivered before payment."
WITHOUT_NUMERO = ("cp866", "koi8-r", "mac-cyrillic", "iso8859-5", "cp1251")
WIDE = ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be", "utf-8", "utf-8-sig")


@pytest.mark.parametrize("encoding", WITHOUT_NUMERO)
@pytest.mark.parametrize("text", [RUSSIAN.replace("№", "N"), CAPITALS, MIXED])
def test_old_russian_encodings_are_recognised(text: str, encoding: str) -> None:
    assert decode_text(text.encode(encoding)) == text


@pytest.mark.parametrize("encoding", WIDE)
@pytest.mark.parametrize("text", [RUSSIAN, ENGLISH])
def test_unicode_encodings_are_recognised_with_and_without_mark(text: str, encoding: str) -> None:
    assert decode_text(text.encode(encoding)) == text


@pytest.mark.parametrize("text", ["Le café était fermé à cause de l'été, où les élèves étaient déjà partis."])
def test_western_text_is_not_taken_for_cyrillic(text: str) -> None:
    assert decode_text((text * 3).encode("cp1252")) == text * 3


def test_utf8_that_was_cut_in_a_character_stays_utf8() -> None:
    assert decode_text(RUSSIAN.encode()[:-2]).startswith(RUSSIAN[:-3])


def test_line_ends_become_one_kind_and_nul_goes() -> None:
    assert decode_text(b"a\r\nb\rc\0d") == "a\nb\ncd"


@pytest.mark.parametrize(
    "text",
    [
        "не верят в законность правительства",
        "использует сокращённую инициализацию полей",
        "Января 1943 года. Утверждалось",
        "один — два — три года назад",
        "Привет, как дела?",
        "купить: хлеб, молоко",
        "ДОГОВОР",
        "СЧЁТ-ФАКТУРА",
        "Ёлка",
    ],
)
def test_a_short_text_of_windows_keeps_its_letters(text: str) -> None:
    assert decode_text(text.encode("cp1251")) == text


def test_a_word_alone_is_recognised_in_utf16() -> None:
    assert decode_text("Привет".encode("utf-16-le")) == "Привет"


@given(st.binary(max_size=400))
def test_any_bytes_become_text(data: bytes) -> None:
    assert "\0" not in decode_text(data)
