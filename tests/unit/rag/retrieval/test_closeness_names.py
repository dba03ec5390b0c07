"""Which document is called exactly what the question says."""

import re
from dataclasses import replace

import pytest

from domain.documents import SourceType
from domain.ids import DocumentId
from rag.records import DocumentMatch, RankedPassage
from rag.retrieval.closeness import lower_half_named, widened_to_names
from rag.retrieval.search import is_called
from tests.fakes.rag import make_passage

LEMMAS = {"вектором": "вектор", "анны": "анна", "соколовой": "соколова"}
WORD = re.compile(r"\w+")


def lemmas(word: str) -> tuple[str, ...]:
    """The analyzer of this page."""
    return (LEMMAS.get(word.lower(), word.lower()),)


def document(number: int, opening: str, *, score: float = 1.0) -> RankedPassage:
    """A later passage of it."""
    passage = make_passage("Неустойка 1 %.", number=number, document=f"d{number}", title=f"scan_{number}.txt")
    return RankedPassage(passage=replace(passage, opening=opening, ordinal=number), score=score)


@pytest.mark.parametrize(
    ("openings", "asked"),
    [
        (("АО «Вектор-Строй» и Заказчик", "ООО «Вектор» и Заказчик"), ("вектор",)),
        (("Vector Systems Inc. and Buyer", "Vector Inc. and Buyer"), ("vector",)),
        (("РЕЗЮМЕ Соколова Мария Почта", "РЕЗЮМЕ Соколова Анна Почта"), ("соколова", "анна")),
        (("Резюме Орлова Анна. Коллега", "РЕЗЮМЕ Соколова Анна Почта"), ("соколова", "анна")),
        (("Акт сдачи, принял анна", "Акт: Анна"), ("анна",)),
        (("Vector Media and Buyer", "Vector Corporation and Buyer"), ("vector",)),
        (("ООО «Вектор» и Заказчик", "ООО «Вектор 2» и Заказчик"), ("вектор", "2")),
    ],
    ids=["part of a compound", "part of a name", "namesake", "family", "mention", "legal form", "longer name"],
)
def test_the_document_of_the_whole_name_comes_first(openings: tuple[str, str], asked: tuple[str, ...]) -> None:
    ranked = [document(1, openings[0], score=1.0), document(2, openings[1], score=0.95)]
    given = {each.passage.chunk_id: (1.0,) * len(asked) for each in ranked}
    lowered = lower_half_named(ranked, dict.fromkeys(asked, 2.0), given, terms_of=lemmas)
    assert [each.passage.chunk_id for each in lowered] == [2, 1]


@pytest.mark.parametrize("given", [{}, {1: (0.0,), 2: (0.0,)}], ids=["notes", "nothing from documents"])
def test_what_no_document_has_given_changes_nothing(given: dict[int, tuple[float, ...]]) -> None:
    ranked = [document(1, "АО «Вектор-Строй»"), document(2, "ООО «Вектор»", score=0.9)]
    shares = {each.passage.chunk_id: given.get(each.passage.chunk_id, ()) for each in ranked}
    assert lower_half_named(ranked, {"вектор": 2.0}, shares, terms_of=lemmas) == ranked


@pytest.mark.parametrize(
    ("opening", "shares"),
    [
        ("ООО «Вектор» и Заказчик", (0.0, 1.0, 1.0)),  # the preamble says «ООО» of it, and no clause does
        ("Вектор. Наше ООО", (0.0, 0.0, 1.0)),
        ("Заказчик и Вектор ООО", (0.0, 1.0, 1.0)),  # "July 9" is "9 July"
    ],
)
def test_what_stands_beside_a_name_belongs_to_it(opening: str, shares: tuple[float, ...]) -> None:
    found = document(1, opening)
    asked, given = ("срок", "ооо", "вектор"), {found.passage.chunk_id: (0.0, 0.0, 1.0)}
    named = widened_to_names(
        [found], asked, given, terms_of=lambda text: [lemmas(word)[0] for word in WORD.findall(text)]
    )
    assert named == {found.passage.chunk_id: shares}


def test_the_parts_of_a_number_that_names_the_document_are_of_the_name() -> None:
    found = document(1, "Протокол")
    named = widened_to_names(
        [found], ("бюджет", "162", "№162"), {found.passage.chunk_id: (0.0, 0.3, 1.0)}, terms_of=lambda _: ["a", "b"]
    )
    assert named == {found.passage.chunk_id: (0.0, 1.0, 1.0)}


@pytest.mark.parametrize(
    ("opening", "name", "is_one"),
    [
        ("ДОГОВОР ПОСТАВКИ № 5", "scan.pdf", True),
        ("ООО «Ромашка»\nИНН 770\nДоговор поставки", "scan.pdf", True),  # below a letterhead
        ("Рамочный договор поставки", "scan.pdf", True),
        ("Поставщик и Покупатель", "Ромашка договор поставки.pdf", True),
        ("Основание: договор поставки", "scan.pdf", False),
        ("Приложение к договор поставки", "scan.pdf", False),
        ("договор о поставке", "scan.pdf", False),
    ],
)
def test_a_document_is_of_the_kind_that_it_begins_with(opening: str, name: str, is_one: bool) -> None:
    told = DocumentMatch(
        id=DocumentId("d"), title=name, file_name=name, source_type=SourceType.FILE, published_at=None, pages=None,
        passages=1, score=0.0, opening=opening,
    )  # fmt: skip
    assert is_called(told, "договор поставки", terms_of=lambda text: WORD.findall(text.lower())) is is_one
