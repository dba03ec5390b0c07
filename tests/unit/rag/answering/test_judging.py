"""What the support check does to an answer: it stays, is written again, loses a statement, or gives way."""

from dataclasses import replace
from itertools import pairwise

import pytest

from prompts.loader import load_prompts
from rag.answering.answer import NO_MARKS, AnswerWriter
from rag.answering.grounding import SupportCheck
from rag.answering.plain import Draft
from rag.answering.prompt import AnswerSettings, Assignment
from rag.execution.facts import FactKind, FactsPayload
from rag.execution.search_tool import passages_payload
from rag.ports import Dialogue, ModelAway
from rag.records import AnswerKind, Exchange
from tests.fakes.checking import Checker
from tests.fakes.rag import ScriptedModel, make_passage, rank

SETTINGS = AnswerSettings(language="ru", general_knowledge=True, window_pairs=15, prompt_tokens=8000)
FOUND = passages_payload(
    rank(make_passage("Срок оплаты 14 дней.", number=1), make_passage("Штраф 0,1 % в день.", number=2)), asked="x"
)
BOTH = "[+] Срок оплаты 14 дней [1]. Штраф 40 % в день [2]."
WRONG = {"40 %": "!Штраф 0,1 %."}


async def answered(
    model: ScriptedModel, checker: Checker | None, *, facts: FactsPayload = FOUND, dialogue: Dialogue | None = None
) -> list[Draft]:
    check = SupportCheck(checker, load_prompts()) if checker else None
    asked = Assignment(question="Какие условия?", facts=facts, dialogue=dialogue or Dialogue())
    return [draft async for draft in AnswerWriter(model, load_prompts(), SETTINGS, check=check).write(asked)]


async def test_an_answer_that_is_supported_stays_with_the_words_that_carry_it() -> None:
    checker = Checker()
    drafts = await answered(ScriptedModel(BOTH), checker)
    assert drafts[-1].text == "Срок оплаты 14 дней. Штраф 40 % в день."
    assert [cited.quote for cited in drafts[-1].citations] == ["Срок оплаты 14 дней.", "Штраф 0,1 % в день."]
    assert (drafts[-1].check.outcome, drafts[-1].check.statements, drafts[-1].check.failed) == ("checked", 2, 0)
    assert len(checker.asked) == 1


async def test_a_statement_that_fails_is_written_once_more_with_what_is_wrong_and_why() -> None:
    model = ScriptedModel(BOTH, again="[+] Срок оплаты 14 дней [1]. Штраф 0,1 % в день [2].")
    checker = Checker(refused=WRONG)
    drafts = await answered(model, checker)
    assert drafts[-1].text == "Срок оплаты 14 дней. Штраф 0,1 % в день."
    assert (drafts[-1].check.failed, drafts[-1].check.withdrawn, len(checker.asked)) == (1, 0, 2)
    told = model.asked[1][-1].content
    assert "The materials say otherwise than «Штраф 40 % в день.». Штраф 0,1 %." in told
    assert "There it says: «Штраф 0,1 % в день.»" in told
    assert "Срок оплаты" not in told


@pytest.mark.parametrize("again", [BOTH, "", "[+] 2 × 2 = 5 [1]."])
async def test_what_fails_again_leaves_the_text_and_is_counted(again: str) -> None:
    drafts = await answered(ScriptedModel(BOTH, again=again), Checker(refused=WRONG))
    assert drafts[-1].text == "Срок оплаты 14 дней."
    assert [cited.quote for cited in drafts[-1].citations] == ["Срок оплаты 14 дней."]
    assert drafts[-1].check.withdrawn == 1


async def test_where_nothing_is_left_the_passages_are_the_answer() -> None:
    drafts = await answered(ScriptedModel("[+] Штраф 40 % [2]."), Checker(refused=WRONG))
    assert (drafts[-1].kind, drafts[-1].text) == (AnswerKind.QUOTES, "**Штраф 0,1 % в день.**")


@pytest.mark.parametrize("checker", [Checker(error=ModelAway("x")), Checker(replies=['{"statements": []}'])])
async def test_without_a_judgement_the_rules_alone_count_and_it_is_told(checker: Checker) -> None:
    drafts = await answered(ScriptedModel(BOTH), checker)
    assert drafts[-1].text == "Срок оплаты 14 дней. Штраф 40 % в день."
    assert drafts[-1].check.outcome in ("away", "unreadable")


async def test_the_text_that_grows_is_changed_at_most_once() -> None:
    drafts = await answered(ScriptedModel(BOTH), Checker(refused=WRONG))
    *grown, last = [draft.text for draft in drafts]
    assert all(after.startswith(before) for before, after in pairwise(grown))
    assert grown[-1] == "Срок оплаты 14 дней. Штраф 40 % в день."
    assert last == "Срок оплаты 14 дней."


async def test_a_statement_without_a_mark_is_held_against_all_cited_facts_and_names_the_one_that_carries_it() -> None:
    reply = (
        '{"statements": [{"statement": 1, "evidence": [{"source": 1, "words": "14 дней"}], "verdict": "supported"},'
        '{"statement": 2, "evidence": [{"source": 1, "words": "оплаты 14 дней"}], "verdict": "supported"}]}'
    )
    checker = Checker(replies=[reply])
    drafts = await answered(ScriptedModel("[+] Срок 14 дней [1]. Это срок оплаты."), checker)
    assert "2. Это срок оплаты." in checker.asked[0][-1].content
    assert [cited.quote for cited in drafts[-1].citations] == ["оплаты 14 дней"]


DIALOGUE = Dialogue(window=(Exchange(question="Меня зовут Вера", answer="Приятно познакомиться."),))


@pytest.mark.parametrize(("said", "text"), [("Вера", "Вас зовут Вера."), ("Нина", "")])
async def test_an_answer_from_the_dialogue_is_held_against_the_dialogue(said: str, text: str) -> None:
    checker = Checker(refused={"Нина": "!Вера"})
    model = ScriptedModel(f"[-] Вас зовут {said}.")
    drafts = await answered(model, checker, facts=FactsPayload(), dialogue=DIALOGUE)
    assert drafts[-1].text == text
    assert "Меня зовут Вера" in checker.asked[0][-1].content


async def test_a_conversation_that_facts_carry_is_from_the_base() -> None:
    drafts = await answered(ScriptedModel("[-] Срок оплаты 14 дней."), Checker())
    assert (drafts[-1].kind, [cited.quote for cited in drafts[-1].citations]) == (
        AnswerKind.FROM_BASE,
        ["Срок оплаты 14 дней."],
    )


async def test_what_nobody_sees_leaves_the_answer_before_it_is_shown_or_checked() -> None:
    checker = Checker(refused=WRONG)
    model = ScriptedModel(
        "[+] Срок\u202e оплаты 14\u200b дней [1]. Штраф 40 % в день [2].", again="[+] Срок\u200b 14 дней [1]."
    )
    drafts = await answered(model, checker)
    told = [drafts[0].text, drafts[-1].text, *(messages[-1].content for messages in checker.asked)]
    assert not any(sign in text for text in told for sign in "\u202e\u200b")


async def test_a_row_that_comes_from_two_documents_is_held_against_both() -> None:
    rows = [replace(fact, kind=FactKind.VALUE, item="договор 0: 14/2024") for fact in FOUND.facts]
    checker = Checker()
    await answered(ScriptedModel("[+] Штраф 0,1 %, срок 14 дней [2]."), checker, facts=FactsPayload(facts=tuple(rows)))
    assert "Срок оплаты 14 дней." in checker.asked[0][-1].content


@pytest.mark.parametrize("sign", ["[+] ", ""])
async def test_an_answer_without_marks_is_held_against_the_best_facts_and_names_those_that_carry_it(sign: str) -> None:
    drafts = await answered(ScriptedModel(f"{sign}Штраф 0,1 % в день."), Checker())
    assert (drafts[-1].kind, len(drafts[-1].citations)) == (AnswerKind.FROM_BASE, 1)


async def test_without_sign_and_marks_what_no_fact_says_is_general_knowledge() -> None:
    model = ScriptedModel("Земля круглая.")
    drafts = await answered(model, Checker(refused={"Земля": "?"}))
    assert (drafts[-1].kind, drafts[-1].text, len(model.asked)) == (AnswerKind.GENERAL, "Земля круглая.", 1)


async def test_what_a_fact_contradicts_is_no_general_knowledge() -> None:
    drafts = await answered(ScriptedModel("Штраф 40 % в день."), Checker(refused=WRONG))
    assert (drafts[-1].kind, "40" in drafts[-1].text) == (AnswerKind.QUOTES, False)


@pytest.mark.parametrize(
    ("again", "kind"), [("[+] Срок 14 дней [1].", AnswerKind.FROM_BASE), ("[+] Срок 14 дней.", AnswerKind.QUOTES)]
)
async def test_without_a_check_an_answer_that_claims_to_be_from_the_base_needs_marks(
    again: str, kind: AnswerKind
) -> None:
    model = ScriptedModel("[+] Срок оплаты 14 дней.", again=again)
    drafts = await answered(model, None)
    assert (drafts[-1].kind, NO_MARKS in model.asked[1][-1].content) == (kind, True)


@pytest.mark.parametrize("reply", ["[0] Земля круглая.", "[-] Здравствуйте!"])
async def test_general_knowledge_and_a_greeting_are_not_checked(reply: str) -> None:
    checker = Checker()
    drafts = await answered(ScriptedModel(reply), checker, facts=FactsPayload())
    assert (drafts[-1].check.outcome, checker.asked) == ("unneeded", [])
