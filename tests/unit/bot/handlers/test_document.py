"""Buttons of what was kept: a whole section, reading anew, staying."""

from datetime import timedelta

from domain.documents import DocumentStatus, SourceType
from domain.people import Mode
from tests.fakes.bot import Person
from tests.fakes.stores import Sent

PAGE = "https://example.org/rules"


async def with_a_link() -> tuple[Person, Sent]:
    """Somebody who has just sent one, with a message of the bot to press buttons under."""
    anna = Person()
    await anna.choose(Mode.DOCUMENTS)
    await anna.say(PAGE)
    await anna.say("/help")
    (document,) = anna.stores.library.sent.values()
    return anna, document


async def test_a_section_is_taken_once_and_a_second_press_says_so() -> None:
    anna, document = await with_a_link()
    await anna.press(f"sect:{document.id}")
    begun = anna.popup.params["text"]
    await anna.press(f"sect:{document.id}")
    assert (begun[:6], anna.popup.params["text"][:11]) == ("Читаю ", "Этот раздел")
    sites = [row for row in anna.stores.library.sent.values() if row.source.type is SourceType.SITE]
    assert [site.source.identifier for site in sites] == [PAGE]


async def test_a_page_that_could_not_be_read_is_tried_anew() -> None:
    anna, document = await with_a_link()
    document.status = DocumentStatus.FAILED
    await anna.press(f"fresh:{document.id}")
    assert anna.popup.params["text"] == "Читаю заново."
    (again,) = anna.stores.library.sent.values()
    assert (again.id, again.source.identifier, again.status) == (document.id, PAGE, DocumentStatus.QUEUED)


async def test_a_choice_is_heard_once_and_a_second_press_says_so() -> None:
    anna, document = await with_a_link()
    document.status = DocumentStatus.CHOOSING
    said = []
    for _ in range(2):
        await anna.press(f"ver:{document.id}:skip")
        said.append(anna.popup.params["text"])
    assert said == ["Хорошо, сделаю так.", "Это уже решено."]
    assert document.status is DocumentStatus.CANCELLED


async def with_a_link_for_a_day() -> tuple[Person, Sent]:
    anna, document = await with_a_link()
    document.expires_at = document.created_at + timedelta(days=1)
    document.status = DocumentStatus.READY
    return anna, document


async def test_what_leaves_can_be_kept_under_its_receipt() -> None:
    anna, document = await with_a_link_for_a_day()
    shown = len(anna.session.said)
    await anna.press(f"stay:{document.id}:")
    assert (document.expires_at, anna.popup.params["text"]) == (None, "Оставил в базе.")
    assert len(anna.session.said) == shown, "the live message changes through the notice loop"


async def test_its_card_changes_at_once() -> None:
    anna, document = await with_a_link_for_a_day()
    await anna.press(f"doc:{document.id}:0")
    assert "Останется до" in anna.last.text
    await anna.press(anna.last.buttons["Оставить в базе"])
    assert document.expires_at is None
    assert "Останется" not in anna.last.text
    assert "Оставить в базе" not in anna.last.buttons


async def test_all_of_a_batch_can_be_kept() -> None:
    anna, document = await with_a_link_for_a_day()
    await anna.press(f"stayall:{document.batch_id}")
    assert (document.expires_at, anna.popup.params["text"]) == (None, "Оставил в базе.")


async def test_what_has_left_already_cannot_be_kept() -> None:
    anna, document = await with_a_link_for_a_day()
    anna.stores.library.sent.clear()
    await anna.press(f"stay:{document.id}:")
    assert anna.popup.params["text"] == "Этого документа в базе нет."
    await anna.press(f"stayall:{document.batch_id}")
    assert anna.popup.params["text"] == "Этих документов в базе уже нет."


async def test_the_section_of_a_page_that_leaves_leaves_too() -> None:
    anna, document = await with_a_link_for_a_day()
    await anna.press(f"sect:{document.id}")
    (site,) = [row for row in anna.stores.library.sent.values() if row.source.type is SourceType.SITE]
    assert site.expires_at is not None


async def test_what_was_sent_by_mistake_is_taken_back_at_once() -> None:
    anna, document = await with_a_link()
    await anna.press(f"back:{document.id}")
    assert anna.popup.params["text"] == "Убрал"
    assert not anna.stores.library.sent
