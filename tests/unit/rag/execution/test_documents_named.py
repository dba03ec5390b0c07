"""What a plan narrows a search by: names letter for letter, by likeness, or said to fit nothing."""

from datetime import date

import pytest
from pydantic import TypeAdapter, ValidationError

from domain.ids import DocumentId
from rag.execution.documents import Since, Until, documents_named, is_like
from tests.fakes.cards import ready
from tests.fakes.catalogue import Catalogue
from tests.fakes.rag import BASE

NAMES = ("Johnson & Johnson 2022", "AMERICANEXPRESS_2022_10K.pdf", "Договор аренды", "Прайс апрель")
SHELF = Catalogue(
    tuple(ready(id=DocumentId(f"id-{place}"), title=name, source_identifier=name) for place, name in enumerate(NAMES))
)
IDS = {name: card.id for name, card in zip(NAMES, SHELF.cards, strict=True)}


@pytest.mark.parametrize(
    ("name", "meant", "remark"),
    [
        ("аренд", ["Договор аренды"], ""),
        ("J&J", ["Johnson & Johnson 2022"], "No document is called «J&J»; those like it were searched: «Johnson"),
        ("АМЕРИКАНЭКСПРЕСС", ["AMERICANEXPRESS_2022_10K.pdf"], "those like it were searched"),
        ("апрельский прайс", ["Прайс апрель"], "those like it were searched"),
        ("Boeing", [], "No document is called «Boeing»; this limit was left out."),
    ],
)
async def test_a_name_is_taken_letter_for_letter_then_by_likeness(name: str, meant: list[str], remark: str) -> None:
    documents, remarks = await documents_named(SHELF, BASE, [name])
    assert documents == tuple(IDS[each] for each in meant)
    assert remark in "".join(remarks)
    assert bool(remark) is bool(remarks)


async def test_an_id_needs_no_look_at_the_names() -> None:
    id_ = "0198c2b1-7b1a-7e70-b2a8-0d5b6f1c2e3d"
    assert (await documents_named(Catalogue(), BASE, [id_]))[0] == (id_,)


@pytest.mark.parametrize(("name", "full"), [("лазурит", "Договор Ромашка"), ("", "Договор"), ("5", "Договор 17")])
def test_what_is_not_alike_is_not_taken(name: str, full: str) -> None:
    assert not is_like(name, full)


@pytest.mark.parametrize(
    ("given", "since", "until"),
    [
        ("2025-05-07", date(2025, 5, 7), date(2025, 5, 7)),
        ("2025-05", date(2025, 5, 1), date(2025, 5, 31)),
        ("2024", date(2024, 1, 1), date(2024, 12, 31)),
    ],
)
def test_a_month_and_a_year_are_whole(given: str, since: date, until: date) -> None:
    assert (TypeAdapter(Since).validate_python(given), TypeAdapter(Until).validate_python(given)) == (since, until)


@pytest.mark.parametrize("given", ["2025-13", "вчера", "0000"])
def test_what_is_no_day_is_refused(given: str) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(Since).validate_python(given)
