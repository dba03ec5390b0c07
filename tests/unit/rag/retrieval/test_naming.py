"""Which document is called exactly what the question says."""

from dataclasses import replace

import pytest

from rag.records import RankedPassage
from rag.retrieval.naming import lower_half_named
from tests.fakes.rag import make_passage

LEMMAS = {"вектором": "вектор", "анны": "анна", "соколовой": "соколова"}


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
    ],
    ids=["a part of a compound", "a part of a name", "a namesake", "another family", "a mention"],
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
