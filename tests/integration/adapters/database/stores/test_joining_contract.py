"""A long text that Telegram cut into messages is one note."""

import asyncio

import pytest

from adapters.database.stores import Stores
from domain.documents import SourceType
from domain.ids import BaseId, ChatId, MessageId, UserId
from ingestion.records import Batch, EnqueuedDocument, Source
from tests.integration.adapters.database.stores.material import ANNA, claim, open_base

HOLD_S = 3600
LONG = "слово " * 680 + "конец"


def part(base: BaseId, message: int, text: str, *, user: UserId = ANNA, chat: int = ANNA) -> Batch:
    source = Source(type=SourceType.NOTE, identifier=text[:20], title=text[:20], text=text)
    return Batch(base_id=base, user_id=user, chat_id=ChatId(chat), message_id=MessageId(message), sources=(source,))


async def send_first(stores: Stores, base: BaseId, text: str = LONG) -> EnqueuedDocument:
    (first,) = await stores.intake.enqueue(part(base, 5, text), hold_s=HOLD_S)
    return first


async def joined_text(stores: Stores, before: str, after: str) -> str:
    base = await open_base(stores)
    first = await send_first(stores, base, before)
    assert await stores.intake.join(part(base, 6, after)) is not None
    return (await claim(stores, first.id)).source.text or ""


@pytest.mark.over_rest
async def test_the_second_part_becomes_part_of_the_first(stores: Stores) -> None:
    base = await open_base(stores)
    first = await send_first(stores, base)
    second = await stores.intake.join(part(base, 6, "и ещё"))
    assert second is not None
    assert (second.id, second.created) == (first.id, True)
    claimed = await claim(stores)
    assert (claimed.id, claimed.source.title, claimed.source.text) == (first.id, LONG[:20], f"{LONG} и ещё")


async def test_a_third_part_goes_on_with_the_second(stores: Stores) -> None:
    base = await open_base(stores)
    first = await send_first(stores, base)
    for message, text in ((6, "два"), (8, "три")):  # something of somebody else may come between
        assert await stores.intake.join(part(base, message, text), hold_s=HOLD_S) is not None
    assert (await claim(stores, first.id)).source.text == f"{LONG} два три"


async def test_the_same_part_again_changes_nothing(stores: Stores) -> None:
    base = await open_base(stores)
    first = await send_first(stores, base)
    ends = [await stores.intake.join(part(base, 6, "два"), hold_s=HOLD_S) for _ in range(2)]
    assert [(end.id, end.created) for end in ends if end] == [(first.id, True), (first.id, False)]
    (again,) = await stores.intake.enqueue(part(base, 5, LONG), hold_s=HOLD_S)
    assert (again.id, again.created) == (first.id, False)
    claimed = await claim(stores, first.id)
    assert claimed.source.text == f"{LONG} два"
    assert await stores.intake.join(part(base, 6, "два")) == EnqueuedDocument(
        id=first.id, source=part(base, 6, "два").sources[0], created=False
    )


async def test_the_same_part_twice_at_once_is_joined_once(stores: Stores) -> None:
    base = await open_base(stores)
    first = await send_first(stores, base)
    await asyncio.gather(*(stores.intake.join(part(base, 6, "два"), hold_s=HOLD_S) for _ in range(4)))
    assert (await claim(stores, first.id)).source.text == f"{LONG} два"


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"message": 8}, id="another message long after"),
        pytest.param({"message": 4}, id="a message before"),
        pytest.param({"user": UserId(202)}, id="somebody else"),
        pytest.param({"chat": 303}, id="another chat"),
    ],
)
async def test_what_does_not_go_on_with_it_is_not_joined(stores: Stores, change: dict[str, int]) -> None:
    base = await open_base(stores)
    await send_first(stores, base)
    message, user = change.get("message", 6), UserId(change.get("user", ANNA))
    assert await stores.intake.join(part(base, message, "и ещё", user=user, chat=change.get("chat", ANNA))) is None


async def test_nothing_is_joined_to_what_is_held_no_longer(stores: Stores) -> None:
    base = await open_base(stores)
    await stores.intake.enqueue(part(base, 5, LONG))
    assert await stores.intake.join(part(base, 6, "и ещё")) is None


async def test_nothing_is_joined_to_what_is_being_read(stores: Stores) -> None:
    base = await open_base(stores)
    await claim(stores, (await send_first(stores, base)).id)
    assert await stores.intake.join(part(base, 6, "и ещё")) is None


async def test_nothing_is_joined_across_bases(stores: Stores) -> None:
    await send_first(stores, await open_base(stores))
    assert await stores.intake.join(part(await open_base(stores, UserId(202)), 6, "и ещё")) is None


@pytest.mark.parametrize(
    ("before", "after", "whole"),
    [
        pytest.param("а" * 4096, "бв", "а" * 4096 + "бв", id="inside a word"),
        pytest.param("𝐚" * 2047 + "б", "вг", "𝐚" * 2047 + "бвг", id="a pair of units is not cut"),
        pytest.param("Он сказал,", "что придёт.", "Он сказал, что придёт.", id="at a blank"),
        pytest.param("Он пришёл.", "Она ушла.", "Он пришёл.\nOна ушла.".replace("O", "О"), id="at a sentence"),
        pytest.param("Список дел", "- купить хлеб", "Список дел\n- купить хлеб", id="at a line"),
    ],
)
async def test_the_cut_is_mended_without_inventing_a_blank(stores: Stores, before: str, after: str, whole: str) -> None:
    assert await joined_text(stores, before, after) == whole
