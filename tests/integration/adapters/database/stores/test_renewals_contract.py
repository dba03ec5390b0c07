"""What comes of a document once more: read anew in vain, deleted meanwhile, sent twice, or one of an album."""

import pytest

from adapters.database.stores import Stores
from domain.documents import Choice, DocumentStatus, Lane, SourceType
from domain.ids import BaseId, DocumentId
from ingestion.intake import link_of
from ingestion.records import Failure, Source
from tests.integration.adapters.database.stores.material import (
    batch_of,
    card_of,
    claim,
    claim_source,
    file,
    find,
    open_base,
    read,
    read_source,
)
from tests.integration.adapters.database.stores.test_versions_contract import PAGE, PLAN, ask, asked_by

UNREACHABLE = Failure(code="page-unreachable", params={"status": 404})


async def refresh(stores: Stores, base: BaseId, document: DocumentId) -> DocumentId:
    """What reads it anew."""
    again = await stores.intake.refresh(asked_by(base), document)
    assert again is not None
    return again.id


async def refreshed_in_vain(stores: Stores, base: BaseId) -> tuple[DocumentId, DocumentId]:
    """A ready page, and its next version, which could not be read."""
    old, _ = await read_source(stores, base, PAGE, "правила")
    again = await refresh(stores, base, old)
    await stores.work.fail(await claim(stores, again), failure=UNREACHABLE)
    return old, again


async def listed(stores: Stores, base: BaseId) -> list[DocumentId]:
    """The documents of the library, as many as it counts."""
    cards = await stores.library.documents(base, limit=9)
    held = await stores.library.count(base)
    assert held.documents + held.waiting + held.failed == len(cards)
    return [card.id for card in cards]


async def test_what_could_not_be_refreshed_is_listed_once_and_says_why(stores: Stores) -> None:
    base = await open_base(stores)
    old, again = await refreshed_in_vain(stores, base)
    assert await listed(stores, base) == [old]
    for document in (old, again):
        card = await card_of(stores, base, document)
        assert (card.id, card.status) == (old, DocumentStatus.READY)
        assert card.next_failure is not None
        assert (card.next_failure.code, dict(card.next_failure.params)) == (UNREACHABLE.code, dict(UNREACHABLE.params))


async def test_what_could_not_be_refreshed_is_tried_again_as_it_is(stores: Stores) -> None:
    base = await open_base(stores)
    old, again = await refreshed_in_vain(stores, base)
    assert await refresh(stores, base, old) == again
    await read(stores, await claim(stores, again), "новые правила")
    assert await listed(stores, base) == [again]
    assert (await card_of(stores, base, again)).next_failure is None
    assert list(await find(stores, base, "правила")) == ["новые правила"]


async def test_a_failure_that_a_later_version_has_mended_is_forgotten(stores: Stores) -> None:
    base = await open_base(stores)
    await refreshed_in_vain(stores, base)
    new, _ = await read_source(stores, base, PAGE, "новые правила")
    assert await listed(stores, base) == [new]
    assert (await card_of(stores, base, new)).next_failure is None


async def test_what_could_not_be_refreshed_goes_with_its_document(stores: Stores) -> None:
    base = await open_base(stores)
    old, again = await refreshed_in_vain(stores, base)
    assert await stores.library.delete(base, old)
    assert await listed(stores, base) == []
    assert await stores.library.card(base, again) is None


async def test_a_page_that_is_read_anew_does_not_come_back_once_it_is_deleted(stores: Stores) -> None:
    base = await open_base(stores)
    old, _ = await read_source(stores, base, PAGE, "правила")
    again = await refresh(stores, base, old)
    assert await stores.library.delete(base, old)
    assert await stores.work.claim(worker="a worker", lease_s=60, only=[again]) == []
    assert await listed(stores, base) == []


async def test_a_file_that_was_sent_to_replace_another_stays_when_that_is_deleted(stores: Stores) -> None:
    base = await open_base(stores)
    old, new = await ask(stores, base)
    assert await stores.library.choose(base, new, Choice.REPLACE)
    assert await stores.library.delete(base, old)
    await read(stores, await claim(stores, new), "новый план")
    assert await listed(stores, base) == [new]


async def test_the_same_new_content_is_asked_about_once(stores: Stores) -> None:
    base = await open_base(stores)
    _, new = await ask(stores, base)
    twice, end = await read_source(stores, base, PLAN, "новый план")
    card = await card_of(stores, base, twice)
    assert (card.status, card.error_params["asked"]) == (DocumentStatus.DUPLICATE, True)
    assert (end, card.error_params["document_id"]) == (new, new)  # «Показать» opens what waits
    other, _ = await read_source(stores, base, PLAN, "ещё новее")
    assert (await card_of(stores, base, other)).status is DocumentStatus.CHOOSING


async def test_what_is_written_under_an_album_is_of_all_its_files(stores: Stores) -> None:
    base = await open_base(stores)
    names = ("photo-1", "photo-2", "photo-3")
    captions = ("Дача летом", None, "Крыша")
    for number, (name, caption) in enumerate(zip(names, captions, strict=True), start=1):
        photo = file(name, caption=caption)
        await stores.intake.enqueue(batch_of(base, photo, message=number, album="дача"))
    assert [(await claim(stores)).source.text for _ in names] == ["Дача летом", "Дача летом", "Крыша"]


async def test_what_is_written_under_an_album_outlives_the_file_that_brought_it(stores: Stores) -> None:
    base = await open_base(stores)
    for number, (name, caption) in enumerate((("битый.pdf", "Дача"), ("план.pdf", None)), start=1):
        await stores.intake.enqueue(batch_of(base, file(name, caption=caption), message=number, album="дача"))
    broken = await claim(stores)
    await stores.work.fail(broken, failure=Failure(code="file-damaged"))
    assert (await card_of(stores, base, broken.id)).status is DocumentStatus.FAILED
    assert (await claim(stores)).source.text == "Дача"


@pytest.mark.parametrize(
    "words",
    [
        Source(type=SourceType.NOTE, identifier="Дача", title="Дача", text="Дача"),
        Source(type=SourceType.LINK, identifier="https://site.example/dacha", text="Дача"),
    ],
    ids=["a note", "a link"],
)
async def test_words_whose_own_file_was_refused_are_of_the_other_files(stores: Stores, words: Source) -> None:
    base = await open_base(stores)
    for number, source in enumerate((file("план.pdf"), words, file("смета.pdf")), start=1):
        await stores.intake.enqueue(batch_of(base, source, message=number, album="дача"))
    assert [(await claim(stores)).source.text for _ in range(3)] == ["Дача", "Дача", "Дача"]


async def test_a_caption_of_one_message_is_not_of_another_file(stores: Stores) -> None:
    base = await open_base(stores)
    await stores.intake.enqueue(batch_of(base, file("а.pdf", caption="Дача"), file("б.pdf"), message=1))
    await claim(stores)
    assert (await claim(stores)).source.text is None
    assert (await claim_source(stores, base, file("в.pdf"))).source.text is None


async def test_what_is_written_under_a_known_file_is_kept_with_it(stores: Stores) -> None:
    base = await open_base(stores)
    first = file("Договор.pdf", caption="Аренда")
    old, _ = await read_source(stores, base, first, "пункт")
    again, stopped = await read_source(stores, base, file("копия.pdf", caption="Дача"), "пункт")
    assert stopped == old
    held = await claim(stores, again)
    assert (held.source.text, held.source.identifier) == ("Аренда\n\nДача", "Договор.pdf")
    assert (await read(stores, held, "пункт")) is None
    assert await listed(stores, base) == [again]
    card = await card_of(stores, base, old)
    assert (card.version, dict(card.error_params)) == (2, {"captioned": True})
    assert list(await find(stores, base, "пункт")) == ["пункт"]


async def test_what_was_read_in_a_known_file_is_there_for_its_next_version(stores: Stores) -> None:
    base = await open_base(stores)
    old = await claim_source(stores, base, file("Договор.pdf", caption="Аренда"))
    assert (old.is_known, await stores.work.known_reading(old)) == (False, None)
    await read(stores, old, "Аренда", "пункт")  # the words under it come first
    again, _ = await read_source(stores, base, file("копия.pdf", caption="Дача"), "Аренда", "пункт")
    held = await claim(stores, again)
    known = await stores.work.known_reading(held)
    assert held.is_known
    assert known is not None
    assert [(block.text, block.locator.page) for block in known.blocks] == [("пункт", 1)]
    assert (known.title, known.pages, known.pages_without_text, known.language) == ("Договор.pdf", 3, (2,), "ru")


async def test_what_takes_the_place_of_another_file_has_been_read_by_nobody(stores: Stores) -> None:
    base = await open_base(stores)
    _, new = await ask(stores, base)
    assert await stores.library.choose(base, new, Choice.REPLACE)
    assert await stores.work.known_reading(await claim(stores, new)) is None


async def test_a_link_that_came_as_a_file_is_known_as_a_link(stores: Stores) -> None:
    base = await open_base(stores)
    first, _ = await read_source(stores, base, PAGE, "правила")
    held = await claim_source(stores, base, file("Правила.url", caption="прочесть"))
    await stores.work.become_link(held, link=link_of(PAGE.identifier))
    again = await claim(stores, held.id)
    source = again.source
    assert (source.type, source.identifier, source.text) == (SourceType.LINK, PAGE.identifier, "прочесть")
    assert (source.file_id, source.title, again.attempt, again.is_known) == (None, None, 1, False)
    assert (await read(stores, again, "новые правила")) is None
    card = await card_of(stores, base, first)
    assert (card.id, card.version, card.source_type) == (held.id, 2, SourceType.LINK)
    assert await refresh(stores, base, held.id)


@pytest.mark.over_rest
async def test_what_is_written_under_a_link_that_came_as_a_file_is_kept_with_a_page_that_is_known(
    stores: Stores,
) -> None:
    base = await open_base(stores)
    await read_source(stores, base, PAGE, "правила")
    held = await claim_source(stores, base, file("Правила.url", caption="прочесть"))
    await stores.work.become_link(held, link=link_of(PAGE.identifier))
    assert (await read(stores, await claim(stores, held.id), "правила")) is not None
    again = await claim(stores, held.id)
    known = await stores.work.known_reading(again)
    assert known is not None
    assert [block.text for block in known.blocks] == ["правила"]
    assert (again.source.text, again.source.identifier, again.is_known) == ("прочесть", PAGE.identifier, True)
    assert (await read(stores, again, "правила")) is None
    assert await listed(stores, base) == [held.id]
    card = await card_of(stores, base, held.id)
    assert (card.version, dict(card.error_params)) == (2, {"captioned": True})
    plain, stopped = await read_source(stores, base, PAGE, "правила")
    assert stopped == held.id  # who sends the address alone changes nothing
    assert (await card_of(stores, base, plain)).status is DocumentStatus.DUPLICATE


async def test_a_link_that_came_as_a_file_waits_in_the_lane_of_what_it_leads_to(stores: Stores) -> None:
    base = await open_base(stores)
    held = await claim_source(stores, base, file("Лекция.url"))
    await stores.work.become_link(held, link=link_of("https://www.youtube.com/watch?v=x"))
    assert await stores.work.claim(worker="a worker", lease_s=60, lanes={Lane.QUICK: 1}) == []
    taken = await stores.work.claim(worker="a worker", lease_s=60, lanes={Lane.LONG: 1})
    assert [each.id for each in taken] == [held.id]


async def test_of_three_files_that_come_together_the_words_under_each_are_kept(stores: Stores) -> None:
    base = await open_base(stores)
    await read_source(stores, base, file("Договор.pdf", caption="Аренда"), "пункт")
    captions = ("Дача", "Крыша")
    late = [(await read_source(stores, base, file("копия.pdf", caption=caption), "пункт"))[0] for caption in captions]
    ends = [await read(stores, await claim(stores, document), "пункт") for document in late]
    assert ends == [None, late[0]]
    held = await claim(stores, late[1])
    assert held.source.text == "Аренда\n\nДача\n\nКрыша"
    assert (await read(stores, held, "пункт")) is None
    assert await listed(stores, base) == [late[1]]


async def test_the_same_words_under_a_known_file_are_no_news(stores: Stores) -> None:
    base = await open_base(stores)
    old, _ = await read_source(stores, base, file("Договор.pdf", caption="Аренда дачи"), "пункт")
    for caption in ("Аренда", None):
        twice, _ = await read_source(stores, base, file("копия.pdf", caption=caption), "пункт")
        assert (await card_of(stores, base, twice)).status is DocumentStatus.DUPLICATE
    assert await listed(stores, base) == [old]
