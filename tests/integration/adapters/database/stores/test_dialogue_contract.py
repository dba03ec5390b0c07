"""The window of a dialogue: `rag.ports.DialogueStore`, which is `insert_and_trim_pairs`."""

import asyncio

from adapters.database.stores.dialogue import DialogueStore
from adapters.database.stores.people import PeopleStore
from adapters.database.transport import Transport
from domain.ids import ChatId, SessionId
from rag.records import Exchange
from tests.integration.adapters.database.stores.material import ANNA, Stores, open_base

SESSION = SessionId("5f0c1c5e-0000-4000-8000-000000000001")
KEEP = 30  # messages, seed 1 section 4.2


def said(turn: int) -> Exchange:
    return Exchange(question=f"Вопрос {turn}", answer=f"Ответ {turn}")


async def say(stores: Stores, *turns: int, session: SessionId = SESSION) -> None:
    base = await open_base(stores)
    for turn in turns:
        await stores.dialogue.append(ANNA, session, base=base, exchange=said(turn), keep=KEEP)


async def test_a_new_dialogue_is_empty(stores: Stores) -> None:
    assert await stores.dialogue.window(ANNA, SESSION, pairs=15) == []


async def test_the_window_is_in_the_order_of_the_talk(stores: Stores) -> None:
    await say(stores, 1, 2, 3)
    assert await stores.dialogue.window(ANNA, SESSION, pairs=15) == [said(1), said(2), said(3)]


async def test_the_window_gives_the_last_exchanges_that_are_asked_for(stores: Stores) -> None:
    await say(stores, 1, 2, 3)
    assert await stores.dialogue.window(ANNA, SESSION, pairs=2) == [said(2), said(3)]


async def test_no_more_than_thirty_messages_stay_in_the_window(stores: Stores) -> None:
    await say(stores, *range(18))
    assert await stores.dialogue.window(ANNA, SESSION, pairs=100) == [said(turn) for turn in range(3, 18)]


async def test_dialogues_do_not_mix(stores: Stores) -> None:
    other = SessionId("5f0c1c5e-0000-4000-8000-000000000002")
    await say(stores, *range(16))
    await say(stores, 100, session=other)
    assert await stores.dialogue.window(ANNA, other, pairs=15) == [said(100)]


async def test_exchanges_that_end_at_once_stay_whole(stores: Stores) -> None:
    await asyncio.gather(*(say(stores, turn) for turn in range(20)))
    window = await stores.dialogue.window(ANNA, SESSION, pairs=100)
    assert len(window) == KEEP // 2
    assert set(window) <= {said(turn) for turn in range(20)}


async def test_texts_that_the_database_cannot_hold_are_mended(transport: Transport) -> None:
    base = await PeopleStore(transport).open_base(ChatId(ANNA), thread=None, member=ANNA)
    dialogue = DialogueStore(transport)
    broken = Exchange(question="ноль\x00", answer="половина \ud83d")
    await dialogue.append(ANNA, SESSION, base=base, exchange=broken, keep=KEEP)
    assert await dialogue.window(ANNA, SESSION, pairs=1) == [Exchange(question="ноль\ufffd", answer="половина \ufffd")]


async def test_what_leaves_the_window_is_in_the_archive(transport: Transport) -> None:
    base = await PeopleStore(transport).open_base(ChatId(ANNA), thread=None, member=ANNA)
    dialogue = DialogueStore(transport)
    for turn in range(17):
        await dialogue.append(ANNA, SESSION, base=base, exchange=said(turn), keep=KEEP)
    (row,) = await transport.call(
        "insert_and_trim_pairs", p_user=ANNA, p_session=SESSION, p_base=base, p_question="?", p_answer="!"
    )
    assert (row["kept"], row["archived"]) == (KEEP, 2)
    assert (await PeopleStore(transport).clean_chat(ANNA)).messages == 2 * 18
