"""One turn, from a question to its answer, with models that work and models that do not."""

import asyncio
import gc
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from itertools import pairwise

import pytest
from structlog.testing import capture_logs

from rag.ports import ModelNonsense, ModelRefused
from rag.records import (
    Answered,
    AnswerKind,
    ChatMessage,
    Exchange,
    TextGrew,
    TurnEvent,
)
from tests.fakes.rag import (
    RememberedDialogue,
    ScriptedModel,
    away,
    make_candidate,
    make_question,
)
from tests.fakes.turns import ASKED, FOUND, RIGHT, Turn
from tests.waiting import until


def shown(events: Sequence[TurnEvent]) -> list[TextGrew]:
    return [event for event in events if isinstance(event, TextGrew)]


async def test_the_answer_grows_and_ends_with_its_sources() -> None:
    events = await Turn(ScriptedModel("[+] Штраф 0,1 % в день [1]. Не больше 10 %.")).events()

    texts = [event.text for event in shown(events)]
    assert all(later.startswith(earlier) for earlier, later in pairwise(texts))
    assert isinstance(events[-1], Answered)
    answer = events[-1].answer
    assert (answer.kind, answer.text) == (AnswerKind.FROM_BASE, "Штраф 0,1 % в день. Не больше 10 %.")
    assert [citation.chunk_id for citation in answer.citations] == [1]
    assert answer.model == "scripted"


async def test_there_is_one_search_a_turn() -> None:
    turn = Turn(ScriptedModel("[+] Да [1]."))

    await turn.answer()

    assert len(turn.search.queries) == 1


async def test_the_exchange_is_kept_without_marks() -> None:
    turn = Turn(ScriptedModel("[+] Штраф 0,1 % [1]."))

    await turn.answer(f"  {ASKED}\u200b ")

    (kept,) = turn.dialogue.exchanges
    assert (kept.question, kept.answer) == (ASKED, "Штраф 0,1 %.")
    assert [(used["type"], used["chunk_id"]) for used in kept.context_used] == [("passage", 1)]
    assert [source["document_id"] for source in kept.sources] == ["doc"]
    assert turn.dialogue.kept == [30]


async def test_the_model_reads_rules_dialogue_and_materials_in_this_order() -> None:
    model = ScriptedModel("[-] Да.")
    turn = Turn(model, dialogue=RememberedDialogue([Exchange(question="раньше", answer="ответ")]))

    await turn.answer()

    messages = model.asked[0]
    assert [message.role for message in messages] == ["system", "user", "assistant", "user"]
    last = messages[-1].content
    assert last.index(FOUND[0].passage.text) < last.index("2026-05-12") < last.index(ASKED)


async def test_general_knowledge_has_no_sources() -> None:
    answer = await Turn(ScriptedModel("[0] Столица Турции — Анкара [1].")).answer()

    assert (answer.kind, answer.text, answer.citations) == (AnswerKind.GENERAL, "Столица Турции — Анкара.", ())


async def test_an_empty_base_is_answered_from_general_knowledge() -> None:
    answer = await Turn(ScriptedModel("[+] Анкара [1]."), found=()).answer()

    assert (answer.kind, answer.text, answer.citations) == (AnswerKind.GENERAL, "Анкара.", ())


async def test_where_general_knowledge_is_off_nothing_of_it_is_shown() -> None:
    model = ScriptedModel("[0] Столица Турции — Анкара, город на Анатолийском плоскогорье.")

    events = await Turn(model, general_knowledge=False).events()

    assert shown(events) == []
    assert isinstance(events[-1], Answered)
    assert (events[-1].answer.kind, events[-1].answer.text) == (AnswerKind.NOTHING, "")
    assert model.said < len(model.reply)  # the rest was not waited for


async def test_where_general_knowledge_is_off_a_claim_without_a_mark_is_not_shown() -> None:
    model = ScriptedModel("[+] Столица Турции — Анкара, крупный город на плоскогорье.")

    events = await Turn(model, general_knowledge=False).events()

    assert shown(events) == []
    assert isinstance(events[-1], Answered)
    assert "Анкара" not in events[-1].answer.text


async def test_where_general_knowledge_is_off_talk_and_answers_from_the_base_go_on() -> None:
    talk = await Turn(ScriptedModel("[-] Здравствуйте!"), general_knowledge=False).answer()
    answer = await Turn(ScriptedModel("[+] Штраф 0,1 % [1]."), general_knowledge=False).answer()

    assert (talk.kind, answer.kind) == (AnswerKind.CONVERSATION, AnswerKind.FROM_BASE)


async def test_without_a_model_the_passages_answer() -> None:
    answer = await Turn(None).answer()

    assert (answer.kind, answer.model) == (AnswerKind.QUOTES, None)
    assert FOUND[0].passage.text in answer.text
    assert [citation.chunk_id for citation in answer.citations] == [1]


async def test_without_a_model_what_merely_shares_a_word_is_not_quoted() -> None:
    rare = replace(make_candidate("за рекой", bm25=1.0), rarities=(1.0, 6.0, 0.5, 6.0)[: len(ASKED.split())])
    answer = await Turn(None, [rare]).answer()

    assert answer.kind is AnswerKind.NOTHING


async def test_nothing_found_and_no_model_is_nothing_and_leaves_no_trace() -> None:
    turn = Turn(None, found=())

    assert (await turn.answer()).kind is AnswerKind.NOTHING
    assert turn.dialogue.exchanges == []


async def test_a_model_that_is_away_leaves_the_quotes() -> None:
    events = await Turn(ScriptedModel("", error=away())).events()

    assert shown(events) == []
    assert isinstance(events[-1], Answered)
    assert events[-1].answer.kind is AnswerKind.QUOTES


async def test_a_model_that_leaves_before_anything_was_shown_leaves_the_quotes() -> None:
    assert (await Turn(ScriptedModel("[+", error=away())).answer()).kind is AnswerKind.QUOTES


async def test_a_model_that_leaves_in_mid_stream_leaves_what_was_shown_and_the_passages() -> None:
    turn = Turn(ScriptedModel("[+] Штраф составляет десятую", error=away()))
    events = await turn.events()

    assert isinstance(events[-1], Answered)
    answer = events[-1].answer
    assert (answer.cut, answer.kind, answer.text) == (True, AnswerKind.FROM_BASE, shown(events)[-1].text)
    assert [citation.chunk_id for citation in answer.citations] == [1]
    assert turn.dialogue.exchanges[0].answer == answer.text


async def test_a_refused_key_is_an_error_for_the_engineer_and_quotes_for_the_person() -> None:
    with capture_logs() as logs:
        answer = await Turn(ScriptedModel("", error=ModelRefused("402"))).answer()

    assert answer.kind is AnswerKind.QUOTES
    assert [entry["log_level"] for entry in logs if entry["event"] == "answer.model_failed"] == ["error"]


@pytest.mark.parametrize("model", [ScriptedModel("[+]"), ScriptedModel("", error=ModelNonsense("empty"))])
async def test_an_empty_answer_leaves_the_quotes(model: ScriptedModel) -> None:
    assert (await Turn(model).answer()).kind is AnswerKind.QUOTES


async def test_what_was_shown_is_kept_when_the_person_leaves() -> None:
    turn = Turn(ScriptedModel("[+] Штраф 0,1 % [1]. " + "И ещё много слов. " * 50))
    async with aclosing(turn.conversation.answer(make_question(ASKED))) as events:
        async for event in events:
            if isinstance(event, TextGrew):
                left_at = event.text
                break

    assert [exchange.answer for exchange in turn.dialogue.exchanges] == [left_at]


async def test_a_turn_that_is_cancelled_while_storing_is_stored() -> None:
    turn = Turn(ScriptedModel("[+] Штраф 0,1 % [1]."), dialogue=RememberedDialogue(append_seconds=0.02))
    task = asyncio.create_task(turn.answer())
    while not turn.dialogue.begun:
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait({task})
    await until(lambda: turn.dialogue.exchanges)

    assert task.cancelled()
    assert len(turn.dialogue.exchanges) == 1


async def test_an_exchange_that_cannot_be_stored_is_reported_after_the_answer() -> None:
    turn = Turn(ScriptedModel("[-] Да."), dialogue=RememberedDialogue(append_error=ConnectionError()))
    events = turn.conversation.answer(make_question(ASKED))
    while not isinstance(await anext(events), Answered):
        pass

    with pytest.raises(ConnectionError):
        await anext(events)


async def test_a_store_that_is_away_is_not_hidden() -> None:
    turn = Turn(ScriptedModel("[-] Да."))
    turn.search.error = ConnectionError()

    with pytest.raises(ConnectionError):
        await turn.answer()


async def test_a_store_that_is_away_on_both_ways_fails_once() -> None:
    forgotten: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: forgotten.append(context["message"]))
    turn = Turn(ScriptedModel("[-] Да."), dialogue=RememberedDialogue(window_error=ConnectionError()))
    turn.search.error = ConnectionError()

    with pytest.raises(ConnectionError):
        await turn.answer()
    gc.collect()
    assert forgotten == []  # no «Task exception was never retrieved»


async def test_texts_never_reach_the_log() -> None:
    with capture_logs() as logs:
        await Turn(ScriptedModel("[+] Штраф ноль одна [1].")).answer()
        await Turn(ScriptedModel("[+] Штраф ноль", error=away())).answer()

    assert logs
    assert not any(word in str(logs) for word in ("трафа", "Штраф", "просрочку"))


WRONG = "[+] Штраф 0,1 × 2 = 0,7 % в день [1]."


@dataclass
class TwoTries(ScriptedModel):
    """Streams one answer, and writes another when it is asked again."""

    again: str = ""

    async def complete(self, messages: Sequence[ChatMessage]) -> str:
        self.asked.append(tuple(messages))
        return self.again


async def test_an_answer_with_a_wrong_sum_is_withdrawn_and_written_again() -> None:
    model = TwoTries(WRONG, again=RIGHT)
    turn = Turn(model)
    answer = await turn.answer()

    assert (answer.kind, answer.text) == (AnswerKind.FROM_BASE, "Штраф 0,1 % в день.")
    assert "0,7" in model.asked[1][-1].content
    assert turn.dialogue.exchanges[0].answer == answer.text


@pytest.mark.parametrize("again", [WRONG, ""])
async def test_an_answer_that_fails_twice_gives_way_to_the_passages(again: str) -> None:
    answer = await Turn(TwoTries(WRONG, again=again)).answer()

    assert answer.kind is AnswerKind.QUOTES
    assert answer.trace is not None
    assert answer.trace["checks"]
