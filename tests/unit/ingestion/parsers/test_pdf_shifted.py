"""Pages whose fonts decode to other letters are told from pages that only look odd."""

import pytest

from ingestion.parsers.pdf_text import is_shifted

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
