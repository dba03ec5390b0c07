"""What code adds to an answer that a model has written: how many items were left out."""

import pytest

from prompts.loader import load_prompts
from rag.answering.answer import AnswerWriter
from rag.answering.plain import Draft
from rag.answering.prompt import AnswerSettings, Assignment
from rag.execution.facts import Fact, FactKind, FactsPayload
from rag.planning.plan import Limits, RenderStyle
from rag.ports import ModelAway
from tests.fakes.rag import ScriptedModel, make_passage, rank

SETTINGS = AnswerSettings(language="ru", general_knowledge=True, window_pairs=15, prompt_tokens=8000)
COUNT = Fact(kind=FactKind.VALUE, text="Documents that fit: 23.")
LONG = "[+] " + "Диск создаётся за пару минут [2]. " * 40
LIST = "[+] В базе есть:\n\n- Один [2]\n- Два [3]\n- Три [4]"


async def drafts_of(model: ScriptedModel, *, left_out: int = 0, skip: int = 0, count: Fact = COUNT) -> list[Draft]:
    documents = [Fact(kind=FactKind.DOCUMENT, text=name, title=name) for name in ("Один", "Два", "Три")]
    assignment = Assignment(
        question="Что в базе?",
        facts=FactsPayload(facts=(count, *documents), coverage=1.0, left_out=left_out),
        style=RenderStyle.BULLETS,
        limits=Limits(max_items=3, skip=skip),
    )
    writer = AnswerWriter(model, load_prompts(), SETTINGS)
    return [draft async for draft in writer.write(assignment)]


async def written(reply: str, *, left_out: int, skip: int = 0) -> str:
    return (await drafts_of(ScriptedModel(reply), left_out=left_out, skip=skip))[-1].text


async def test_a_list_that_is_not_whole_says_how_many_are_left() -> None:
    assert (await written(LIST, left_out=20)).endswith("ещё 20 из 23 (по запросу могу вывести)")


async def test_the_items_of_earlier_answers_count_into_the_whole() -> None:
    assert (await written(LIST, left_out=17, skip=3)).endswith("ещё 17 из 23 (по запросу могу вывести)")


async def test_a_count_of_the_model_that_is_wrong_gives_way() -> None:
    text = await written(f"{LIST}\n\nещё 19 из 23 (по запросу могу вывести)", left_out=20)
    assert text.endswith("- Три\n\nещё 20 из 23 (по запросу могу вывести)")


async def test_a_count_of_the_model_that_is_right_stands_alone() -> None:
    assert (await written(f"{LIST}\n\nещё 20 (по запросу могу вывести)", left_out=20)).count("ещё") == 1


async def test_an_answer_that_is_no_list_of_the_facts_speaks_of_no_remainder() -> None:
    assert await written("[+] Больше всего договоров [2].", left_out=20) == "Больше всего договоров."


async def test_a_whole_list_speaks_of_no_remainder() -> None:
    assert "ещё" not in await written(LIST, left_out=0)


async def test_a_list_that_the_renderer_writes_says_how_many_are_left() -> None:
    drafts = await drafts_of(ScriptedModel("", error=ModelAway("away")), left_out=20)
    assert drafts[-1].text.endswith("- Три\n\nещё 20 из 23 (по запросу могу вывести)")


async def test_what_the_rows_come_to_is_no_row_among_those_that_are_left() -> None:
    total = Fact(kind=FactKind.VALUE, text="Всего (документ): 23", title="документ")
    drafts = await drafts_of(ScriptedModel(LIST), left_out=20, count=total)
    assert drafts[-1].text.endswith("- Три\n\nещё 20 из 23 (по запросу могу вывести)")


@pytest.mark.parametrize(("again", "answer"), [("[-] Здравствуйте!", "Здравствуйте!"), ("", "")])
@pytest.mark.parametrize("reply", ["", "[-]"])
async def test_an_empty_answer_that_nothing_can_stand_for_is_asked_for_once_more(
    reply: str, again: str, answer: str
) -> None:
    model = ScriptedModel(reply, again=again)
    asked = Assignment(question="Привет!", searched=False)
    last = [draft async for draft in AnswerWriter(model, load_prompts(), SETTINGS).write(asked)][-1]
    assert (last.text, last.done, len(model.asked)) == (answer, True, 2)
    assert all(message.content for message in model.asked[1])


async def test_a_long_answer_is_not_looked_at_piece_by_piece() -> None:
    drafts = await drafts_of(ScriptedModel(LONG))
    assert 20 < len(drafts) < len(LONG) / 5 / 2
    assert drafts[-1].text == "Диск создаётся за пару минут. " * 39 + "Диск создаётся за пару минут."


async def test_an_answer_that_breaks_off_keeps_what_was_not_looked_at_yet() -> None:
    drafts = await drafts_of(ScriptedModel(LONG, error=ModelAway("broken")))
    assert drafts[-1].cut
    assert drafts[-1].text.count("Диск") == 40


async def test_below_an_answer_that_breaks_off_stand_the_passages_that_may_hold_the_rest() -> None:
    passages = rank(make_passage("Диск создают за час.", number=1), make_passage("Диск удаляют за 5 минут.", number=2))
    facts = tuple(Fact(kind=FactKind.PASSAGE, text=each.passage.text, title="Диски", passage=each) for each in passages)
    asked = Assignment(question="Что с диском?", facts=FactsPayload(facts=facts, coverage=1.0))
    model = ScriptedModel("[+] Диск создают за час [1]. А удаля", error=ModelAway("broken"))

    cut = [draft async for draft in AnswerWriter(model, load_prompts(), SETTINGS).write(asked)][-1]

    assert cut.text == "Диск создают за час. А удаля"
    assert "Диск создают за час." in cut.passages
    assert [cited.quote for cited in cut.citations] == ["Диск создают за час."]


async def test_below_general_knowledge_that_breaks_off_stands_nothing() -> None:
    drafts = await drafts_of(ScriptedModel("[0] Столица Франции Пар", error=ModelAway("broken")))
    assert drafts[-1].cut
    assert not drafts[-1].passages
