"""The same name with other content: what the person is asked, and what becomes of the two."""

import unicodedata
from dataclasses import replace

import pytest

from adapters.database.stores import Stores
from domain.documents import Choice, DocumentStatus, SourceType
from domain.ids import BaseId, ChatId, DocumentId, UserId
from ingestion.records import Batch, Source
from tests.integration.adapters.database.stores.material import (
    ANNA,
    batch_of,
    card_of,
    claim,
    claim_source,
    file,
    find,
    hash_of,
    indexed,
    note,
    open_base,
    parsed,
    publish,
    read,
    read_source,
)

PLAN = file("План.docx")
PAGE = Source(type=SourceType.LINK, identifier="https://site.example/rules")


async def ask(stores: Stores, base: BaseId, *texts: str) -> tuple[DocumentId, DocumentId]:
    """A ready plan with the words «старый план», and a new one that waits for the person's choice."""
    old, _ = await read_source(stores, base, PLAN, "старый план")
    new, end = await read_source(stores, base, PLAN, *(texts or ("новый план",)))
    assert end == old
    return old, new


async def choose(stores: Stores, base: BaseId, document: DocumentId, choice: Choice, *texts: str) -> DocumentStatus:
    """Answer, and have the document read when it is to be read."""
    assert await stores.library.choose(base, document, choice)
    if choice is not Choice.SKIP:
        await read(stores, await claim(stores, document), *(texts or ("новый план",)))
    return (await card_of(stores, base, document)).status


async def test_other_content_under_a_known_name_is_asked_about(stores: Stores) -> None:
    base = await open_base(stores)
    old, new = await ask(stores, base)
    card = await card_of(stores, base, new)
    assert (card.status, card.error_params["document_id"]) == (DocumentStatus.CHOOSING, old)
    held = await stores.library.count(base)
    assert (held.documents, held.choosing, held.waiting, held.others) == (1, 1, 0, 1)
    assert {"title", "created_at"} <= set(card.error_params)
    assert list(await find(stores, base, "план")) == ["старый план"]
    assert await stores.text.blocks(base, new) == ()
    assert await stores.work.claim(worker="a worker", lease_s=60) == []


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("ПЛАН.DOCX", id="letters"),
        pytest.param(unicodedata.normalize("NFD", "Отчёт й.docx"), id="composition"),
    ],
)
async def test_names_are_compared_as_people_read_them(stores: Stores, name: str) -> None:
    base = await open_base(stores)
    for known in ("План.docx", "отчёт й.docx"):
        await read_source(stores, base, file(known), known)
    _, end = await read_source(stores, base, file(name), "новый")
    assert end is not None


@pytest.mark.parametrize("source", [note("План.docx"), file("План 2.docx"), PAGE])
async def test_another_name_or_kind_is_not_asked_about(stores: Stores, source: Source) -> None:
    base = await open_base(stores)
    await read_source(stores, base, PLAN, "старый план")
    _, end = await read_source(stores, base, source, "новый план")
    assert end is None


async def test_what_has_a_title_for_want_of_a_name_is_not_asked_about(stores: Stores) -> None:
    base = await open_base(stores)
    voice = replace(file("AwACAgI"), title="Голосовое от 3 июня")
    await read_source(stores, base, voice, "первое")
    _, end = await read_source(stores, base, voice, "второе")
    assert end is None


async def test_a_name_of_another_base_is_not_asked_about(stores: Stores) -> None:
    await read_source(stores, await open_base(stores), PLAN, "старый план")
    _, end = await read_source(stores, await open_base(stores, UserId(202)), PLAN, "новый план")
    assert end is None


@pytest.mark.over_rest
async def test_the_new_one_takes_the_old_ones_place(stores: Stores) -> None:
    base = await open_base(stores)
    old, new = await ask(stores, base)
    assert await choose(stores, base, new, Choice.REPLACE) is DocumentStatus.READY
    assert list(await find(stores, base, "план")) == ["новый план"]
    assert [card.id for card in await stores.library.documents(base, limit=9)] == [new]
    versions = await stores.library.versions(base, new)
    assert [(card.id, card.version, card.status) for card in versions] == [
        (new, 2, DocumentStatus.READY),
        (old, 1, DocumentStatus.SUPERSEDED),
    ]


async def test_the_text_of_an_earlier_version_is_kept(stores: Stores) -> None:
    base = await open_base(stores)
    old, new = await ask(stores, base)
    await choose(stores, base, new, Choice.REPLACE)
    assert [block.text for block in await stores.text.blocks(base, old)] == ["старый план"]


async def test_the_old_one_is_found_until_the_new_one_is_read(stores: Stores) -> None:
    base = await open_base(stores)
    _, new = await ask(stores, base)
    await stores.library.choose(base, new, Choice.REPLACE)
    held = await claim(stores, new)
    await stores.work.record_content(held, content_hash=hash_of("новый план"))
    await stores.work.store_blocks(held, parsed=parsed("новый план"), chunks=9)
    await stores.work.add_chunks(held, chunks=[indexed(0, "новый план")])
    assert list(await find(stores, base, "план")) == ["старый план"]


async def test_what_was_deleted_meanwhile_is_not_missed(stores: Stores) -> None:
    base = await open_base(stores)
    old, new = await ask(stores, base)
    await stores.library.delete(base, old)
    assert await choose(stores, base, new, Choice.REPLACE) is DocumentStatus.READY
    assert (await card_of(stores, base, new)).version == 1


async def test_two_answers_to_replace_make_two_versions(stores: Stores) -> None:
    base = await open_base(stores)
    _, second = await ask(stores, base)
    third, _ = await read_source(stores, base, PLAN, "третий план")
    await choose(stores, base, second, Choice.REPLACE)
    await choose(stores, base, third, Choice.REPLACE, "третий план")
    assert list(await find(stores, base, "план")) == ["третий план"]
    assert [card.version for card in await stores.library.versions(base, third)] == [3, 2, 1]


async def test_both_are_kept_under_names_of_their_own(stores: Stores) -> None:
    base = await open_base(stores)
    _, second = await ask(stores, base)
    third, _ = await read_source(stores, base, PLAN, "третий план")
    await choose(stores, base, second, Choice.KEEP_BOTH)
    await choose(stores, base, third, Choice.KEEP_BOTH, "третий план")
    cards = await stores.library.documents(base, limit=9)
    assert [card.source_identifier for card in cards] == ["План (3).docx", "План (2).docx", "План.docx"]
    assert [card.title for card in cards][:2] == ["План (3).docx", "План (2).docx"]
    assert len(await find(stores, base, "план")) == 3


async def test_a_skipped_one_leaves_everything_as_it_was(stores: Stores) -> None:
    base = await open_base(stores)
    _, new = await ask(stores, base)
    assert await choose(stores, base, new, Choice.SKIP) is DocumentStatus.CANCELLED
    assert (await card_of(stores, base, new)).error_code == "skipped"
    assert list(await find(stores, base, "план")) == ["старый план"]


async def test_a_question_is_answered_once(stores: Stores) -> None:
    base = await open_base(stores)
    _, new = await ask(stores, base)
    assert await stores.library.choose(base, new, Choice.SKIP)
    assert not await stores.library.choose(base, new, Choice.REPLACE)


async def test_a_question_may_be_cancelled(stores: Stores) -> None:
    base = await open_base(stores)
    _, new = await ask(stores, base)
    assert await stores.library.cancel(base, new)
    assert not await stores.library.choose(base, new, Choice.REPLACE)


async def test_an_answered_one_is_a_first_attempt_again(stores: Stores) -> None:
    base = await open_base(stores)
    _, new = await ask(stores, base)
    await stores.library.choose(base, new, Choice.REPLACE)
    assert (await claim(stores, new)).attempt == 1


async def test_of_two_namesakes_read_at_once_the_second_is_asked_about(stores: Stores) -> None:
    base = await open_base(stores)
    first, second = [await claim_source(stores, base, PLAN) for _ in range(2)]
    for held, words in ((first, "один"), (second, "два")):
        assert await stores.work.record_content(held, content_hash=hash_of(words)) is None
        await stores.work.store_blocks(held, parsed=parsed(words), chunks=1)
    await stores.work.publish(first, chunks=1, last=[indexed(0, "один")])
    end = await stores.work.publish(second, chunks=1, last=[indexed(0, "два")])
    assert end == first.id
    assert list(await find(stores, base, "один два")) == ["один"]
    assert await choose(stores, base, second.id, Choice.REPLACE, "два") is DocumentStatus.READY
    assert list(await find(stores, base, "один два")) == ["два"]


async def test_a_file_of_this_machine_takes_its_earlier_place_unasked(stores: Stores) -> None:
    base = await open_base(stores)
    path = Source(type=SourceType.PATH, identifier="/home/anna/План.docx")
    await read_source(stores, base, path, "старый план")
    new, end = await read_source(stores, base, path, "новый план")
    assert end is None
    assert list(await find(stores, base, "план")) == ["новый план"]
    assert (await card_of(stores, base, new)).version == 2


async def test_two_readings_of_one_path_at_once_end_as_two_versions(stores: Stores) -> None:
    base = await open_base(stores)
    path = Source(type=SourceType.PATH, identifier="/home/anna/План.docx")
    held = [await claim_source(stores, base, path) for _ in range(2)]
    for number, document in enumerate(held):
        await stores.work.record_content(document, content_hash=hash_of(str(number)))
    for number, document in enumerate(held):
        await stores.work.publish(document, chunks=1, last=[indexed(0, f"план {number}")])
    assert list(await find(stores, base, "план")) == ["план 1"]


def asked_by(base: BaseId) -> Batch:
    return Batch(base_id=base, user_id=ANNA, chat_id=ChatId(ANNA), sources=())


async def test_a_link_is_read_anew_as_its_next_version(stores: Stores) -> None:
    base = await open_base(stores)
    old, _ = await read_source(stores, base, PAGE, "старые правила")
    again = await stores.intake.refresh(asked_by(base), old)
    assert again is not None
    assert (again.created, again.source.identifier) == (True, PAGE.identifier)
    await read(stores, await claim(stores, again.id), "новые правила")
    assert list(await find(stores, base, "правила")) == ["новые правила"]
    assert (await card_of(stores, base, again.id)).version == 2
    (notice,) = await stores.notices.due(limit=9, hold_s=0)
    assert [card.id for card in notice.documents] == [again.id]


async def test_a_link_that_has_not_changed_says_so(stores: Stores) -> None:
    base = await open_base(stores)
    old, _ = await read_source(stores, base, PAGE, "правила")
    again = await stores.intake.refresh(asked_by(base), old)
    assert again is not None
    await read(stores, await claim(stores, again.id), "правила")
    card = await card_of(stores, base, again.id)
    assert (card.status, card.error_params["document_id"]) == (DocumentStatus.DUPLICATE, old)
    assert card.error_params["unchanged"] is True
    assert list(await find(stores, base, "правила")) == ["правила"]


async def test_the_same_wish_twice_is_one_reading(stores: Stores) -> None:
    base = await open_base(stores)
    old, _ = await read_source(stores, base, PAGE, "правила")
    first, second = [await stores.intake.refresh(asked_by(base), old) for _ in range(2)]
    assert first is not None
    assert second is not None
    assert (first.id, first.created, second.created) == (second.id, True, False)


async def test_a_note_and_what_nobody_wants_cannot_be_read_anew(stores: Stores) -> None:
    base = await open_base(stores)
    written = await publish(stores, base, "слова")
    unwanted = await claim_source(stores, base, PAGE)
    await stores.library.cancel(base, unwanted.id)
    for document in (written, unwanted.id):
        assert await stores.intake.refresh(asked_by(base), document) is None


async def test_a_failed_refreshment_leaves_the_old_version(stores: Stores) -> None:
    base = await open_base(stores)
    old, _ = await read_source(stores, base, PAGE, "правила")
    again = await stores.intake.refresh(asked_by(base), old)
    assert again is not None
    await stores.library.cancel(base, again.id)
    assert list(await find(stores, base, "правила")) == ["правила"]
    for document in (again.id, old):
        assert await stores.intake.refresh(asked_by(base), document) is not None


async def test_a_document_is_deleted_with_its_earlier_versions(stores: Stores) -> None:
    base = await open_base(stores)
    old, new = await ask(stores, base)
    await choose(stores, base, new, Choice.REPLACE)
    assert await stores.library.delete(base, new)
    assert await stores.library.card(base, old) is None
    assert await stores.library.versions(base, new) == []


async def test_a_button_of_an_earlier_version_leads_to_the_current_one(stores: Stores) -> None:
    base = await open_base(stores)
    old, new = await ask(stores, base)
    await choose(stores, base, new, Choice.REPLACE)
    assert await stores.library.card(base, old) == await stores.library.card(base, new)


async def test_an_earlier_version_alone_may_be_deleted(stores: Stores) -> None:
    base = await open_base(stores)
    old, new = await ask(stores, base)
    await choose(stores, base, new, Choice.REPLACE)
    assert await stores.library.delete(base, old)
    assert [card.id for card in await stores.library.versions(base, new)] == [new]
    assert list(await find(stores, base, "план")) == ["новый план"]


async def test_a_new_name_is_kept_by_later_versions(stores: Stores) -> None:
    base = await open_base(stores)
    old, _ = await read_source(stores, base, PAGE, "старые правила")
    assert await stores.library.rename(base, old, "Правила банка", terms={})
    again = await stores.intake.refresh(batch_of(base), old)
    assert again is not None
    await read(stores, await claim(stores, again.id), "новые правила")
    assert (await card_of(stores, base, again.id)).title == "Правила банка"


async def test_a_renamed_file_is_found_and_asked_about_by_its_new_name(stores: Stores) -> None:
    base = await open_base(stores)
    old, _ = await read_source(stores, base, PLAN, "старый план")
    assert await stores.library.rename(base, old, "Смета.docx", terms={})
    assert (await find(stores, base, "план"))["старый план"].passage.source_identifier == "Смета.docx"
    assert (await read_source(stores, base, PLAN, "новый план"))[1] is None
    assert (await read_source(stores, base, file("Смета.docx"), "третий план"))[1] == old


@pytest.mark.over_rest
async def test_nothing_is_renamed_that_is_not_there(stores: Stores) -> None:
    base = await open_base(stores)
    document = await publish(stores, base, "слова")
    await stores.library.delete(base, document)
    assert not await stores.library.rename(base, document, "Имя", terms={})
