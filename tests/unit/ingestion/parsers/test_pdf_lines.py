"""Paragraphs of documents that are longer than what is held of them."""

from collections.abc import Iterator

import pytest

from ingestion.parsers.pdf import SPOOLED
from ingestion.parsers.pdf_layout import STRETCH_PAGES, Paragraph, build_paragraphs
from ingestion.parsers.pdf_lines import PageLine, is_readable, is_shifted, mend_encoding, plain_lines
from ingestion.spool import HELD_UNPRESSED_BYTES, Spool, Spooled

PAGES = 5 * STRETCH_PAGES + 1
FULL = "Длинная строка посреди страницы, которая тянется до края северо-"

ENGLISH = (
    "The franchisor is a limited company. It was formed in the state of Delaware, and its offices are in the city. "
    "This document tells you what the franchise is, what it costs and for how long you are bound by it. "
) * 2
RUSSIAN = (
    "Арендатор вносит плату не позднее пятого числа, если стороны не договорились об ином. За просрочку он платит пеню "
    "от суммы долга, но не более того, что указано в договоре для таких случаев. Это условие действует и после срока. "
) * 2
CODE = "def parse(path: Path, *, name: str) -> Document: return Document(title=name, blocks=tuple(read(path))) " * 5
NUMBERS = "\n".join(f"{year} {year * 17} {year * 31:,} (1,204) 17.5 % — 0.00" for year in range(2001, 2021))
FINNISH = (
    "Vuokralainen maksaa vuokran kuukauden viidenteen päivään mennessä. Viivästyneestä maksusta peritään korkoa "
    "korkolain mukaisesti, elleivät osapuolet toisin sovi kirjallisesti. "
) * 4


def _pages(count: int) -> Iterator[list[PageLine]]:
    for page in range(count):
        yield plain_lines(["Общий заголовок", f"Это содержание страницы {page}.", f"{page + 1}"])


def _texts(pages: Iterator[list[PageLine]]) -> list[str]:
    return [paragraph.text for paragraph in build_paragraphs(pages)]


def test_a_header_of_a_long_document_stays_on_its_first_page_only() -> None:
    assert sum("Общий заголовок" in text for text in _texts(_pages(PAGES))) == 1


def test_every_page_of_a_long_document_is_there_without_its_number() -> None:
    texts = [text.removeprefix("Общий заголовок ") for text in _texts(_pages(PAGES))]
    assert texts == [f"Это содержание страницы {page}." for page in range(PAGES)]


def test_paragraphs_know_their_pages_in_a_long_document() -> None:
    pages = [paragraph.page for paragraph in build_paragraphs(_pages(PAGES)) if "содержание" in paragraph.text]
    assert pages == list(range(1, PAGES + 1))


def test_paragraphs_come_before_the_last_page_was_read() -> None:
    read = 0

    def counted() -> Iterator[list[PageLine]]:
        nonlocal read
        for page in _pages(PAGES):
            read += 1
            yield page

    next(build_paragraphs(counted()))
    assert read <= 2 * STRETCH_PAGES


def test_a_hyphen_is_kept_as_the_pages_around_write_the_word() -> None:
    pages = [plain_lines(["северо-запад"]), *([plain_lines(["Что-то."])] * STRETCH_PAGES), plain_lines([FULL, "запад"])]
    assert _texts(iter(pages))[-1].endswith("северо-запад")


def test_many_paragraphs_come_back_from_their_compression() -> None:
    paragraphs = [
        Paragraph(
            text=f"{page} \ud800 " + "слово " * 1000, page=page, last_page=page + 1, size=11.04, bold=True, lines=3
        )
        for page in range(HELD_UNPRESSED_BYTES // 5000)
    ]
    spool = Spool(None, SPOOLED)
    for paragraph in paragraphs:
        spool.append(paragraph)
    gathered = spool.finish()
    assert isinstance(gathered, Spooled)
    assert list(gathered) == paragraphs


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Арендатор вносит плату не позднее пятого числа каждого месяца.",
        "ПРОТОКОЛ № 12 ОТ 03.06.2026",
        "Артикул 4607-XK/19, DN-50, ГОСТ Р 1.5-2012, цена 1 200,00 ₽",
        "使用説明書をお読みください。保証書付き",
        "اقرأ التعليمات قبل استخدام الجهاز لأول مرة",
        "for (int i = 0; i < maxSize; i++) { userList.add(newUser); }",
        "XkQ7",  # too little to judge
    ],
)
def test_what_people_write_is_readable(text: str) -> None:
    assert is_readable(text)


@pytest.mark.parametrize(
    "text",
    [
        "\uf041\uf042\uf043 \uf044\uf045\uf046",  # private use: a font without a map
        "\x01\x02\x03\x04 \x05\x06",
        "\ufffd" * 40,
        "3HQaQt SURVWrHGN QDczWeHFK RGrUAbQ",  # codes of glyphs, 29 off
    ],
)
def test_what_fonts_without_a_map_yield_is_not(text: str) -> None:
    assert not is_readable(text)


def test_cyrillic_that_calls_itself_latin_is_mended() -> None:
    lines = mend_encoding(plain_lines(["Äîãîâîð àðåíäû ¸ìêîñòè,", "12 øò."]))
    assert [line.text for line in lines] == ["Договор аренды ёмкости,", "12 шт."]


@pytest.mark.parametrize("text", ["Élève à l'école où l'été", "Þórður á Íslandi", "12 345", "Привет", ""])
def test_other_text_stays_as_it_is(text: str) -> None:
    assert mend_encoding(plain_lines([text])) == plain_lines([text])


def _moved(text: str, distance: int) -> str:
    """Blanks stay: they come from the layout of the page."""
    return "".join(letter if letter.isspace() else chr(max(33, ord(letter) + distance)) for letter in text)


@pytest.mark.parametrize("distance", [-29, -31, -1, 1, 3, 29, 0x3B0])
def test_moved_letters_are_told(distance: int) -> None:
    assert is_shifted(_moved(ENGLISH, distance))


@pytest.mark.parametrize("distance", [-0x3CF, -0x3B0, -1, 1, 848])
def test_cyrillic_that_is_moved_to_other_letters_is_told(distance: int) -> None:
    assert is_shifted(_moved(RUSSIAN, distance))


@pytest.mark.parametrize("text", [ENGLISH, RUSSIAN, CODE, NUMBERS, FINNISH, "Hello world " * 200, ""])
def test_other_pages_are_left_alone(text: str) -> None:
    assert not is_shifted(text)
