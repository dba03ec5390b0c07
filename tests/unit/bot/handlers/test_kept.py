"""Buttons of what was kept: a whole section, reading anew."""

from domain.documents import DocumentStatus, SourceType
from domain.people import Mode
from ingestion.errors import FailureCode
from ingestion.records import Failure
from tests.fakes.bot import Person
from tests.fakes.stores.tables import DocumentRow

PAGE = "https://example.org/rules"


async def with_a_link() -> tuple[Person, DocumentRow]:
    """Somebody who has just sent one, with a message of the bot to press buttons under."""
    anna = Person()
    await anna.choose(Mode.DOCUMENTS)
    await anna.say(PAGE)
    await anna.say("/help")
    (document,) = anna.stores.tables.documents.values()
    return anna, document


async def test_a_section_is_taken_once_and_a_second_press_says_so() -> None:
    anna, document = await with_a_link()
    await anna.press(f"sect:{document.id}")
    begun = anna.popup.params["text"]
    await anna.press(f"sect:{document.id}")
    assert (begun[:6], anna.popup.params["text"][:11]) == ("Читаю ", "Этот раздел")
    sites = [row for row in anna.stores.tables.documents.values() if row.source.type is SourceType.SITE]
    assert [site.identifier for site in sites] == [PAGE]


async def test_a_page_that_could_not_be_read_is_tried_anew() -> None:
    anna, document = await with_a_link()
    document.finish(DocumentStatus.FAILED, Failure(code=FailureCode.PAGE_STATUS.value))
    await anna.press(f"fresh:{document.id}")
    assert anna.popup.params["text"] == "Читаю заново."
    (again,) = anna.stores.tables.documents.values()
    assert (again.id, again.identifier, again.status) == (document.id, PAGE, DocumentStatus.QUEUED)
