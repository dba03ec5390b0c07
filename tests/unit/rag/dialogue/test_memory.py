"""What a turn remembers, and what is remembered of it."""

import asyncio
from collections.abc import Sequence

from prompts.loader import load_prompts
from rag.dialogue.memory import DialogueMemory
from rag.dialogue.summary import EVERY_PAIRS, Summariser
from rag.records import ChatMessage, Exchange
from tests.fakes.rag import LowerWords, RememberedDialogue, ScriptedModel, make_question

ASKED = make_question("Какой срок?")


async def test_an_exchange_is_kept_and_remembered() -> None:
    memory = DialogueMemory(RememberedDialogue(), LowerWords(), None, pairs=15)
    said = Exchange(question=ASKED.text, answer="14 дней.")
    await memory.keep(ASKED, said)
    assert (await memory.recollect(ASKED)).window == (said,)


async def test_a_turn_without_an_answer_leaves_nothing() -> None:
    store = RememberedDialogue()
    await DialogueMemory(store, LowerWords(), None, pairs=15).keep(ASKED, Exchange(question="?", answer=""))
    assert store.exchanges == []


async def test_what_was_asked_before_is_expected_without_a_look() -> None:
    memory = DialogueMemory(RememberedDialogue(window_error=ConnectionError()), LowerWords(), None, pairs=15)
    assert memory.expected(ASKED) == ""
    await memory.keep(ASKED, Exchange(question=ASKED.text, answer="14 дней."))
    assert memory.expected(ASKED) == ASKED.text


async def test_without_a_window_nothing_is_expected() -> None:
    memory = DialogueMemory(RememberedDialogue(), LowerWords(), None, pairs=0)
    await memory.keep(ASKED, Exchange(question=ASKED.text, answer="14 дней."))
    assert memory.expected(ASKED) == ""


async def test_without_a_window_nothing_is_read() -> None:
    store = RememberedDialogue([Exchange(question="а", answer="б")], window_error=ConnectionError())
    assert not await DialogueMemory(store, LowerWords(), None, pairs=0).recollect(ASKED)


class Pondering(ScriptedModel):
    """A model that never comes to an end."""

    async def complete(self, messages: Sequence[ChatMessage]) -> str:
        self.asked.append(tuple(messages))
        await asyncio.Event().wait()
        return ""


async def test_nobody_waits_for_a_summary() -> None:
    store, model = RememberedDialogue(), Pondering()
    memory = DialogueMemory(store, LowerWords(), Summariser(store, model, load_prompts()), pairs=15)
    async with asyncio.timeout(60):
        for number in range(15 + EVERY_PAIRS):
            await memory.keep(ASKED, Exchange(question=f"вопрос {number}", answer="ответ"))
            await asyncio.sleep(0)
        assert len((await memory.recollect(ASKED)).window) == 15
    assert len(model.asked) == 1


async def test_a_summary_follows_when_enough_has_left_the_window() -> None:
    store = RememberedDialogue()
    summariser = Summariser(store, ScriptedModel("кратко"), load_prompts())
    memory = DialogueMemory(store, LowerWords(), summariser, pairs=15)
    for number in range(15 + EVERY_PAIRS):
        await memory.keep(ASKED, Exchange(question=f"вопрос {number}", answer="ответ"))
        await summariser.settled()
    assert (await memory.recollect(ASKED)).summary == "кратко"
