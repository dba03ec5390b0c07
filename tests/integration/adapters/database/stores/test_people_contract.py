"""Bases, modes and dialogues of people: `PeopleStore`."""

import asyncio

import pytest

from adapters.database.stores import Stores
from domain.ids import ChatId, ThreadId, UserId
from domain.people import Mode, PendingQuestion
from rag.records import Exchange
from tests.integration.adapters.database.stores.material import (
    ANNA,
    keep_exchange,
    open_base,
    publish,
    window_of,
)

GROUP = ChatId(-100500)


async def test_a_private_chat_has_one_base(stores: Stores) -> None:
    assert await open_base(stores) == await open_base(stores)


async def test_two_people_have_two_bases(stores: Stores) -> None:
    assert await open_base(stores) != await open_base(stores, UserId(202))


@pytest.mark.parametrize("chat", [GROUP, ChatId(ANNA)])
async def test_each_topic_has_a_base_of_its_own(stores: Stores, chat: ChatId) -> None:
    threads = (None, ThreadId(1), ThreadId(2))
    bases = [await stores.people.open_base(chat, thread=thread, member=ANNA) for thread in threads]
    assert len(set(bases)) == len(threads)


async def test_a_base_that_is_opened_by_many_at_once_is_one(stores: Stores) -> None:
    assert len(set(await asyncio.gather(*(open_base(stores) for _ in range(6))))) == 1


async def test_a_named_base_that_is_opened_by_many_at_once_is_one(stores: Stores) -> None:
    opened = await asyncio.gather(*(stores.people.open_named_base("заметки") for _ in range(6)))
    assert len(set(opened)) == 1
    assert await stores.people.open_named_base("другая") not in opened


@pytest.mark.over_rest
async def test_named_bases_are_told_when_something_is_in_them_the_one_asked_for_first(stores: Stores) -> None:
    for name in ("архив", "заметки"):
        await publish(stores, await stores.people.open_named_base(name), "слова")
    await stores.people.open_named_base("пустая")
    assert await stores.people.named_bases("заметки") == ["заметки", "архив"]
    assert await stores.people.named_bases("замтеки") == ["архив", "заметки"]


async def test_a_new_state_has_no_mode(stores: Stores) -> None:
    base = await open_base(stores)
    state = await stores.people.state(ANNA, base=base, language="en")
    assert (state.user_id, state.mode, state.base_id, state.language) == (ANNA, None, base, "en")


async def test_a_state_stays_as_it_was_made(stores: Stores) -> None:
    base = await open_base(stores)
    made = await stores.people.state(ANNA, base=base, language="en")
    assert await stores.people.state(ANNA, base=base, language="ru") == made


async def test_states_that_are_read_at_once_are_one(stores: Stores) -> None:
    base = await open_base(stores)
    read = await asyncio.gather(*(stores.people.state(ANNA, base=base, language="ru") for _ in range(6)))
    assert len({state.session_id for state in read}) == 1


async def test_a_mode_is_kept_until_the_reset(stores: Stores) -> None:
    base = await open_base(stores)
    await stores.people.set_mode(ANNA, Mode.DOCUMENTS)
    assert (await stores.people.state(ANNA, base=base, language="ru")).mode is Mode.DOCUMENTS
    await stores.people.set_mode(ANNA, None)
    assert (await stores.people.state(ANNA, base=base, language="ru")).mode is None


async def test_a_mode_can_be_set_for_somebody_new(stores: Stores) -> None:
    state = await stores.people.set_mode(ANNA, Mode.CHAT)
    assert (state.mode, state.base_id) == (Mode.CHAT, await open_base(stores))


async def test_a_mode_changes_nothing_else(stores: Stores) -> None:
    base = await open_base(stores)
    before = await stores.people.state(ANNA, base=base, language="en")
    after = await stores.people.set_mode(ANNA, Mode.CHAT)
    assert (after.session_id, after.base_id, after.language) == (before.session_id, before.base_id, before.language)


async def test_a_language_is_kept(stores: Stores) -> None:
    await stores.people.set_language(ANNA, "en")
    assert (await stores.people.set_mode(ANNA, Mode.CHAT)).language == "en"


@pytest.mark.over_rest
async def test_a_new_dialogue_keeps_the_mode_and_the_old_words(stores: Stores) -> None:
    base = await open_base(stores)
    old = await stores.people.set_mode(ANNA, Mode.CHAT)
    said = Exchange(question="Где ключи?", answer="На столе.")
    await keep_exchange(stores.dialogue, ANNA, old.session_id, base, said, keep=30)
    new = await stores.people.new_session(ANNA)
    assert (new.mode, new.session_id != old.session_id) == (Mode.CHAT, True)
    assert await window_of(stores.dialogue, ANNA, new.session_id) == []
    assert await window_of(stores.dialogue, ANNA, old.session_id) == [said]


async def test_a_clean_chat_forgets_window_and_archive_and_begins_anew(stores: Stores) -> None:
    base = await open_base(stores)
    state = await stores.people.set_mode(ANNA, Mode.CHAT)
    for turn in range(3):
        said = Exchange(question=f"Вопрос {turn}", answer=f"Ответ {turn}")
        await keep_exchange(stores.dialogue, ANNA, state.session_id, base, said, keep=4)
    assert (await stores.people.clean_chat(ANNA)).messages == 6
    fresh = await stores.people.state(ANNA, base=base, language="ru")
    assert (fresh.mode, fresh.session_id != state.session_id) == (Mode.CHAT, True)
    assert await window_of(stores.dialogue, ANNA, state.session_id) == []
    assert (await stores.people.clean_chat(ANNA)).messages == 0


async def test_a_clean_chat_leaves_the_words_of_others(stores: Stores) -> None:
    boris = UserId(202)
    state = await stores.people.set_mode(boris, Mode.CHAT)
    said = Exchange(question="Где ключи?", answer="На столе.")
    await keep_exchange(stores.dialogue, boris, state.session_id, state.base_id, said, keep=30)
    await stores.people.clean_chat(ANNA)
    assert await window_of(stores.dialogue, boris, state.session_id) == [said]


@pytest.mark.over_rest
async def test_a_question_of_the_bot_is_given_to_one_update_of_the_person_and_to_its_replay(stores: Stores) -> None:
    people, name = stores.people, PendingQuestion(about="name", subject="1")

    async def put(seconds: int = 60) -> None:
        await people.put_question(GROUP, thread=None, person=ANNA, question=name, seconds=seconds)

    async def take(update: int, person: UserId = ANNA, thread: ThreadId | None = None) -> PendingQuestion | None:
        return await people.take_question(GROUP, thread=thread, person=person, update=update)

    await put()
    assert await take(1, person=UserId(202)) is None
    assert await take(1, thread=ThreadId(1)) is None
    assert [await take(2), await take(3), await take(2)] == [name, None, name]
    await put()
    assert await take(4) == name
    await put(seconds=0)
    assert await take(5) is None


async def test_a_person_asks_of_one_document_of_the_base_until_it_is_taken_off(stores: Stores) -> None:
    base, other = await open_base(stores), await open_base(stores, UserId(202))
    mine, theirs = await publish(stores, base, "моё"), await publish(stores, other, "чужое")
    await stores.people.state(ANNA, base=base, language="ru")
    limits = [await stores.people.set_only(ANNA, base=base, document=each) for each in (mine, None, theirs)]
    assert [state.only for state in limits] == [mine, None, None]
