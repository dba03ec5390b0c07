"""A person who has had enough in the middle of an answer."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

import pytest

from prompts.loader import load_prompts
from rag.answering.answer import AnswerWriter
from rag.answering.plain import Draft
from rag.answering.prompt import AnswerSettings, Assignment
from rag.execution.facts import Fact, FactKind, FactsPayload
from rag.records import AnswerKind, ChatMessage
from tests.fakes.rag import ScriptedModel, make_passage, rank

SETTINGS = AnswerSettings(language="ru", general_knowledge=True, window_pairs=15, prompt_tokens=8000)
PASSAGES = rank(make_passage("Диск создаётся за 5 минут.", number=1), make_passage("Диск удаляют за час.", number=2))
FACTS = tuple(Fact(kind=FactKind.PASSAGE, text=each.passage.text, title="Диски", passage=each) for each in PASSAGES)
ASSIGNMENT = Assignment(
    question="Как создать диск?", facts=FactsPayload(facts=FACTS, coverage=1.0), hidden_ids=("project:alor-broker",)
)
LONG = "[+] " + "Диск создаётся за 5 минут [1]. " * 40


@dataclass
class SilentModel(ScriptedModel):
    """Says `reply` to the first question, and nothing more, for ever: then the person has enough."""

    stop: asyncio.Event = field(default_factory=asyncio.Event)

    async def stream(self, messages: Sequence[ChatMessage]) -> AsyncIterator[str]:
        if self.asked or not self.reply:
            self.stop.set()
            await asyncio.Event().wait()
        async for piece in super().stream(messages):
            yield piece


@dataclass
class StalledModel(ScriptedModel):
    """Says `reply`, and then nothing more: then the person has enough."""

    stop: asyncio.Event = field(default_factory=asyncio.Event)

    async def stream(self, messages: Sequence[ChatMessage]) -> AsyncIterator[str]:
        async for piece in super().stream(messages):
            yield piece
        self.stop.set()
        await asyncio.Event().wait()


async def stopped(model: ScriptedModel, stop: asyncio.Event, *, after: int = 0) -> Draft:
    """The last draft, when the signal came with draft number `after`, or from elsewhere."""
    seen = list[Draft]()
    async for draft in AnswerWriter(model, load_prompts(), SETTINGS).write(ASSIGNMENT, stop):
        seen.append(draft)
        if len(seen) == after:
            stop.set()
    return seen[-1]


async def test_a_list_of_references_is_no_part_of_what_was_stopped() -> None:
    model = StalledModel("[+] Диск создаётся за 5 минут [1].\n\n[1] – Договор.pdf\n[2] – Дого")
    draft = await stopped(model, model.stop)
    assert (draft.text, len(draft.citations)) == ("Диск создаётся за 5 минут.", 1)


async def test_what_was_written_stays_with_the_sources_of_what_was_said() -> None:
    model = ScriptedModel(LONG)
    draft = await stopped(model, asyncio.Event(), after=12)
    assert (draft.done, draft.stopped, draft.cut) == (True, True, False)
    assert draft.text
    assert LONG.replace(" [1]", "").removeprefix("[+] ").startswith(draft.text)
    assert [citation.chunk_id for citation in draft.citations] == [1]
    assert model.said < len(LONG) / 2


async def test_before_the_first_words_what_was_found_is_the_answer() -> None:
    model = SilentModel()
    draft = await stopped(model, model.stop)
    assert (draft.kind, draft.stopped) == (AnswerKind.QUOTES, True)
    assert "Диск создаётся за 5 минут." in draft.text


async def test_an_answer_that_did_not_pass_its_check_does_not_stay() -> None:
    model = SilentModel("[+] Диск создаётся за 5 × 2 = 77 минут [1].")
    draft = await stopped(model, model.stop)
    assert (draft.kind, draft.stopped) == (AnswerKind.QUOTES, True)
    assert "77" not in draft.text
    assert draft.remarks


@pytest.mark.parametrize(
    "answer",
    [
        "Два диска: 5 × 2 = 15 минут [1]. Ещё можно",
        "Диск создаётся за 5 минут [1]. Это project:alor-broker, и его",
        "Диск создаётся за 5 минут [1]. Диск «хранится в трёх зонах сразу», и ещё",
        "Диск создаётся за 5 минут [1]. Рекомендуется уточнить у Дмитрия. Ещё",
    ],
)
async def test_a_beginning_that_may_not_be_shown_gives_way_to_what_was_found(answer: str) -> None:
    model = StalledModel(f"[+] {answer} ")
    draft = await stopped(model, model.stop)
    assert (draft.kind, draft.stopped) == (AnswerKind.QUOTES, True)
    assert "Диск создаётся за 5 минут." in draft.text


@pytest.mark.parametrize(
    "answer",
    [
        "Диск создаётся за 5 минут [1]. Два диска: 5 × 2 =",
        "Диск создаётся за 5 минут [1]. Два диска: 5 × 2 = 1",
        "Диск создаётся за 5 минут [1]. Два диска: 5 × 12 мин.",
        "Диск создаётся за 5 минут [1]. В правилах сказано: «Диск удаляют за",
        "Диск создаётся за 5 минут [1]. А удаляют его за 1",
        "**Создание:** диск создаётся за 5 минут [1].",
        'Диск создаётся за 5 минут [1]:\n\n```python\nsize = 77\nprint("disk is ready for all users")\n',
    ],
)
async def test_a_beginning_is_not_blamed_for_its_missing_end(answer: str) -> None:
    model = StalledModel(f"[+] {answer} ")
    draft = await stopped(model, model.stop)
    assert (draft.kind, draft.stopped, draft.remarks) == (AnswerKind.FROM_BASE, True, ())
    assert [citation.chunk_id for citation in draft.citations] == [1]


async def test_below_a_beginning_without_marks_stands_what_was_found() -> None:
    model = StalledModel("[+] Удаляют диск за час времени. ")
    draft = await stopped(model, model.stop)
    assert (draft.text, draft.stopped, draft.used) == ("Удаляют диск за час времени.", True, ())
    assert [citation.quote in draft.passages for citation in draft.citations] == [True]
