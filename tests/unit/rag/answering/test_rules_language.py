"""The language of an answer: running text in another one is told from names, commands and quotations."""

import pytest

from prompts.loader import load_prompts
from rag.answering.answer import AnswerWriter
from rag.answering.plain import Draft
from rag.answering.prompt import AnswerSettings, Assignment
from rag.answering.rules import in_another_language, other_script, wanted_language
from rag.execution.facts import Fact, FactKind, FactsPayload
from rag.ports import Dialogue
from rag.records import AnswerKind, Exchange
from tests.fakes.rag import ScriptedModel, make_passage, rank

IN_ENGLISH = "Payment is due within 14 days of the invoice, and it is not negotiable."
IN_RUSSIAN = "Оплатить нужно в течение 14 дней с даты счёта, и это не обсуждается."
RANKED = rank(make_passage(IN_RUSSIAN))
FACT = Fact(kind=FactKind.PASSAGE, text=IN_RUSSIAN, title="Договор", passage=RANKED[0])


@pytest.mark.parametrize(
    "answer",
    [
        "Yes.",
        "14 days",
        "- Python\n- FastAPI\n- Docker Compose\n- LangChain",
        "python, fastapi, postgres, redis, docker",
        "- The Rust Programming Language\n- War and Peace\n- The Art of War",
        "В книге сказано: «Ownership is a set of rules that govern how a Rust program manages memory».",
        "> Ownership is a set of rules that govern how a program manages memory.\n\nЭто определение.",
        "Выполните kubectl get pods --all-namespaces и docker compose up -d в папке /etc/app.",
        "https://example.com/the/terms-of-service/and/more, support@is-it.com",
        "Ошибка: permission denied for the user.",
        "SELECT id FROM deals WHERE sum > 100 AND state IS NOT NULL",
        "git commit -m fix && git push origin main, then open a pull request",
        "Запустите:\n\nfor i in range(10): print(i) if i is not None else pass\nlet x = 5; // this is not it",
    ],
)
def test_a_russian_answer_may_hold_names_commands_and_quotations(answer: str) -> None:
    assert in_another_language(answer, "ru") is None


@pytest.mark.parametrize(
    "answer",
    [
        IN_ENGLISH,
        "Hello! How can I help you today?",
        "- Create a disk in the console\n- Attach it to the VM\n- Format the disk",
        "По договору:\n\nThe supplier shall deliver the goods within 10 days, and the buyer pays for them.",
        "Le délai est de 14 jours et la pénalité est due dans les 10 jours.",
        "付款期限为十四天，逾期罚款每天千分之一。",
    ],
)
def test_running_text_in_another_language_is_no_russian_answer(answer: str) -> None:
    assert in_another_language(answer, "ru")


@pytest.mark.parametrize(
    "answer",
    [
        "Иванов Пётр Сергеевич",
        "The contract «Договор аренды офиса на улице Ленина» says 14 days.",
        "The documents are: Договор аренды офиса, Приказ о премировании, Акт сверки.",
        "- Иванов Пётр Сергеевич\n- Петров Иван Ильич\n- Сидорова Анна",
    ],
)
def test_an_english_answer_may_hold_russian_names(answer: str) -> None:
    assert in_another_language(answer, "en") is None


@pytest.mark.parametrize("answer", [IN_RUSSIAN, "Срок оплаты составляет 14 дней.", "Здравствуйте! Чем могу помочь?"])
def test_running_russian_is_no_english_answer(answer: str) -> None:
    assert in_another_language(answer, "en")


def test_headings_of_the_materials_are_names() -> None:
    answer = "Разделы:\n- What is ownership for\n- How to use references and borrowing\n- The slice type in the book"
    headings = "Section: What is ownership for > How to use references and borrowing\nThe slice type in the book"
    assert in_another_language(answer, "ru")
    assert in_another_language(answer, "ru", materials=headings) is None


@pytest.mark.parametrize(
    ("answer", "wanted"),
    [
        ("менеджер по оптовым продажам", "en"),
        ("Иванов Пётр Сергеевич, начальник отдела технического контроля.", "en"),
        ("г. Тверь, ул. Складская, 4.", "en"),
        ("Head of the sales department, regional manager", "ru"),
        ("10 Downing Street, City of Westminster, London", "ru"),
    ],
)
def test_posts_and_addresses_are_told_as_they_stand_in_the_materials(answer: str, wanted: str) -> None:
    material = f"Who is who. {answer} {IN_RUSSIAN} {IN_ENGLISH}"
    assert in_another_language(answer, wanted, materials=material) is None


@pytest.mark.parametrize(("answer", "wanted"), [(IN_RUSSIAN, "en"), (IN_ENGLISH, "ru")])
def test_a_sentence_of_the_materials_is_no_answer_in_another_language(answer: str, wanted: str) -> None:
    assert in_another_language(answer, wanted, materials=f"{IN_RUSSIAN}\n{IN_ENGLISH}")


def test_words_in_a_strange_script_must_stand_in_a_material() -> None:
    assert other_script("Штраф 罚款 в день", "Штраф в день")
    assert other_script("Штраф 罚款 в день", "罚款 — это штраф") is None
    assert other_script("Сумма xᵢ по 10ᵗʰ строке、 40 ㎡", "") is None  # these are signs, no words


@pytest.mark.parametrize(
    ("setting", "question", "wanted"),
    [
        ("ru", "What is the deadline?", "ru"),
        ("en", "Какой срок?", "en"),
        ("ru", "Переведи пункт 3 на английский", None),
        ("en", "Write a letter in Russian to the supplier", None),
        ("auto", "Какой срок у git rebase?", "ru"),
        ("auto", "What does пункт 3.2 say about the penalties?", "en"),
        ("auto", "Explain пункт 3.2", None),
        ("auto", "Summarize «Договор аренды»", None),
        ("auto", "ok", None),
        ("auto", "Quel est le délai ?", None),
    ],
)
def test_the_language_is_the_setting_s_or_the_question_s(setting: str, question: str, wanted: str | None) -> None:
    assert wanted_language(setting, question) == wanted


def test_a_text_of_nothing_but_one_letter_words_is_looked_at_in_no_time() -> None:
    assert in_another_language("a b " * 15_000, "ru")


async def written(
    reply: str,
    again: str = "",
    *,
    question: str = "Какой срок оплаты?",
    before: str = "",
    found: bool = True,
    fact: Fact = FACT,
) -> Draft:
    settings = AnswerSettings(language="ru", general_knowledge=True, window_pairs=15, prompt_tokens=8000)
    window = (Exchange(question=before, answer="Срок 14 дней."),) if before else ()
    assignment = Assignment(
        question=question,
        facts=FactsPayload(facts=(fact,), coverage=1.0) if found else FactsPayload(),
        searched=found,
        dialogue=Dialogue(window=window),
    )
    model = ScriptedModel(reply, again=again)
    return [draft async for draft in AnswerWriter(model, load_prompts(), settings).write(assignment)][-1]


async def test_an_answer_in_another_language_is_written_once_more() -> None:
    draft = await written(f"[+] {IN_ENGLISH} [1]", f"[+] {IN_RUSSIAN} [1]")
    assert (draft.text, draft.kind) == (IN_RUSSIAN, AnswerKind.FROM_BASE)
    assert "Russian" in draft.remarks[0]


async def test_the_renderer_answers_when_the_language_is_wrong_again() -> None:
    draft = await written(f"[+] {IN_ENGLISH} [1]", f"[+] {IN_ENGLISH} [1]")
    assert (draft.kind, "Оплатить" in draft.text) == (AnswerKind.QUOTES, True)


async def test_an_answer_in_another_language_is_worth_more_than_passages_in_it() -> None:
    passage = rank(make_passage(IN_ENGLISH))[0]
    fact = Fact(kind=FactKind.PASSAGE, text=IN_ENGLISH, title="Contract", passage=passage)
    draft = await written(f"[+] {IN_ENGLISH} [1]", f"[+] {IN_ENGLISH} [1]", fact=fact)
    assert (draft.kind, draft.text, draft.in_other_language) == (AnswerKind.FROM_BASE, IN_ENGLISH, True)
    assert draft.citations


async def test_a_conversation_keeps_its_words_when_there_is_nothing_else_to_say() -> None:
    draft = await written("[-] Hello! How can I help you?", "[-] Hi, I can help you with it.", found=False)
    assert (draft.text, draft.kind) == ("Hi, I can help you with it.", AnswerKind.CONVERSATION)


async def test_an_answer_stays_when_nobody_writes_it_again_and_nothing_was_found() -> None:
    draft = await written("[0] Rust is a language for the systems of today.", "", found=False)
    assert (draft.text, draft.kind) == ("Rust is a language for the systems of today.", AnswerKind.GENERAL)


@pytest.mark.parametrize(("question", "before"), [("Переведи на английский", ""), ("Короче", "Переведи на английский")])
async def test_a_translation_is_not_refused(question: str, before: str) -> None:
    draft = await written(f"[+] {IN_ENGLISH} [1]", question=question, before=before)
    assert (draft.text, draft.remarks) == (IN_ENGLISH, ())
