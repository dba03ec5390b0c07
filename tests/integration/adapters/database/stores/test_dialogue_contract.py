"""The window of a dialogue: `rag.ports.DialogueStore`, which is `insert_and_trim_pairs`."""

import asyncio

import pytest

from adapters.database.stores import Stores
from adapters.database.stores.dialogue import DialogueStore
from adapters.database.stores.people import PeopleStore
from adapters.database.transport import Transport
from domain.ids import BaseId, ChatId, SessionId, UserId
from rag.records import Exchange
from tests.integration.adapters.database.stores.material import (
    ANNA,
    keep_exchange,
    open_base,
    window_of,
)

BORIS = UserId(202)
SESSION = SessionId("5f0c1c5e-0000-4000-8000-000000000001")
OTHER = SessionId("5f0c1c5e-0000-4000-8000-000000000002")
KEEP = 30  # messages, seed 1 section 4.2


def said(turn: int) -> Exchange:
    return Exchange(question=f"Вопрос {turn}", answer=f"Ответ {turn}")


async def keep(store: DialogueStore, base: BaseId, exchange: Exchange, session: SessionId = SESSION) -> int:
    return await keep_exchange(store, ANNA, session, base, exchange, keep=KEEP)


async def say(stores: Stores, *turns: int, session: SessionId = SESSION) -> None:
    base = await open_base(stores)
    for turn in turns:
        await keep(stores.dialogue, base, said(turn), session)


async def window(store: DialogueStore, pairs: int = 15, *, session: SessionId = SESSION) -> list[Exchange]:
    return await window_of(store, ANNA, session, pairs=pairs)


async def test_a_new_dialogue_is_empty(stores: Stores) -> None:
    assert await window(stores.dialogue) == []


async def test_the_window_is_in_the_order_of_the_talk(stores: Stores) -> None:
    await say(stores, 1, 2, 3)
    assert await window(stores.dialogue) == [said(1), said(2), said(3)]


async def test_the_window_gives_the_last_exchanges_that_are_asked_for(stores: Stores) -> None:
    await say(stores, 1, 2, 3)
    assert await window(stores.dialogue, 2) == [said(2), said(3)]


async def test_no_more_than_thirty_messages_stay_in_the_window(stores: Stores) -> None:
    await say(stores, *range(18))
    assert await window(stores.dialogue, 100) == [said(turn) for turn in range(3, 18)]


async def test_dialogues_do_not_mix(stores: Stores) -> None:
    await say(stores, *range(16))
    await say(stores, 100, session=OTHER)
    assert await window(stores.dialogue, session=OTHER) == [said(100)]


async def test_exchanges_that_end_at_once_stay_whole(stores: Stores) -> None:
    await asyncio.gather(*(say(stores, turn) for turn in range(20)))
    kept = await window(stores.dialogue, 100)
    assert len(kept) == KEEP // 2
    assert set(kept) <= {said(turn) for turn in range(20)}


async def test_texts_that_the_database_cannot_hold_are_mended(transport: Transport) -> None:
    base = await PeopleStore(transport).open_base(ChatId(ANNA), thread=None, member=ANNA)
    dialogue = DialogueStore(transport)
    broken = Exchange(question="ноль\x00", answer="половина \ud83d")
    await keep(dialogue, base, broken)
    assert await window(dialogue, 1) == [Exchange(question="ноль\ufffd", answer="половина \ufffd")]


async def test_what_leaves_the_window_is_in_the_archive(transport: Transport) -> None:
    base = await PeopleStore(transport).open_base(ChatId(ANNA), thread=None, member=ANNA)
    dialogue = DialogueStore(transport)
    for turn in range(17):
        await keep(dialogue, base, said(turn))
    (row,) = await transport.call(
        "insert_and_trim_pairs", p_user=ANNA, p_session=SESSION, p_base=base, p_question="?", p_answer="!"
    )
    assert (row["kept"], row["archived"]) == (KEEP, 2)
    assert (await PeopleStore(transport).clean_chat(ANNA)).messages == 2 * 18


async def test_an_old_exchange_like_the_question_is_recalled(stores: Stores) -> None:
    base = await open_base(stores)
    await keep(stores.dialogue, base, Exchange(question="как зовут кота", answer="кота зовут барсик"))
    await say(stores, *range(20))
    remembered = await stores.dialogue.recollect(ANNA, SESSION, pairs=15, terms=("кота", "вопрос"), recalled=1)
    assert [exchange.answer for exchange in remembered.recalled] == ["кота зовут барсик"]
    assert len(remembered.window) == 15


async def test_nothing_is_recalled_from_another_dialogue_or_another_person(stores: Stores) -> None:
    base = await open_base(stores)
    await keep(stores.dialogue, base, Exchange(question="кота", answer="барсик"))
    await say(stores, *range(20))
    for user, session in ((BORIS, SESSION), (ANNA, OTHER)):
        remembered = await stores.dialogue.recollect(user, session, pairs=15, terms=("кота",), recalled=2)
        assert not remembered


async def test_what_has_left_the_window_waits_for_its_summary(stores: Stores) -> None:
    await say(stores, *range(18))
    pending = await stores.dialogue.unsummarised(ANNA, SESSION, limit=2)
    assert (pending.summary, pending.exchanges) == ("", (said(0), said(1)))
    assert await stores.dialogue.save_summary(ANNA, SESSION, summary="Начало разговора.", up_to=pending.up_to)
    rest = await stores.dialogue.unsummarised(ANNA, SESSION, limit=10)
    assert (rest.summary, rest.exchanges) == ("Начало разговора.", (said(2),))
    assert (await stores.dialogue.recollect(ANNA, SESSION, pairs=1, terms=(), recalled=0)).summary == rest.summary


async def test_an_older_summary_does_not_replace_a_later_one(stores: Stores) -> None:
    await say(stores, *range(18))
    first = await stores.dialogue.unsummarised(ANNA, SESSION, limit=1)
    whole = await stores.dialogue.unsummarised(ANNA, SESSION, limit=9)
    assert await stores.dialogue.save_summary(ANNA, SESSION, summary="всё", up_to=whole.up_to)
    assert not await stores.dialogue.save_summary(ANNA, SESSION, summary="часть", up_to=first.up_to)


@pytest.mark.over_rest
async def test_a_summary_of_an_erased_dialogue_is_not_kept(stores: Stores) -> None:
    await say(stores, *range(18))
    pending = await stores.dialogue.unsummarised(ANNA, SESSION, limit=9)
    await stores.people.clean_chat(ANNA)
    assert not await stores.dialogue.save_summary(ANNA, SESSION, summary="тайна", up_to=pending.up_to)


@pytest.mark.over_rest
async def test_dialogues_are_listed_by_their_first_question_and_gone_on_with(stores: Stores) -> None:
    base = await open_base(stores)
    await stores.people.state(ANNA, base=base, language="ru")
    await say(stores, *range(18))
    await say(stores, 100, session=OTHER)
    listed = await stores.dialogue.sessions(ANNA, base=base, limit=5)
    assert [(each.id, each.title, each.exchanges) for each in listed] == [
        (OTHER, "Вопрос 100", 1),
        (SESSION, "Вопрос 0", 18),
    ]
    assert await stores.dialogue.resume(ANNA, SESSION)
    assert (await stores.people.state(ANNA, base=await open_base(stores), language="ru")).session_id == SESSION


async def test_nobody_goes_on_with_the_dialogue_of_another(stores: Stores) -> None:
    await stores.people.state(BORIS, base=await open_base(stores), language="ru")
    await say(stores, 1)
    assert not await stores.dialogue.resume(BORIS, SESSION)
    assert await stores.dialogue.sessions(BORIS, base=await open_base(stores), limit=5) == []
