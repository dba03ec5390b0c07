"""How far a reading goes, by the words of the question; idioms with the same words mean nothing of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prompts.breadth import load_breadth
from rag.planning.plain_planner import Breadth, Reach

RULE = Breadth(load_breadth())


@pytest.mark.parametrize(
    "question",
    [
        "Сколько договоров заключено с Ромашкой?",
        "Перечисли всех поставщиков и суммы",
        "Сравни тарифы трёх провайдеров",
        "Что изменилось между редакциями?",
        "Всё, что сказано о неустойке",
        "Какие сроки в каждом договоре?",
        "Есть ли договор, где ни один срок не указан?",
        "How many contracts mention a penalty?",
        "List all deadlines",
        "Compare the two offers",
        "What has changed since March?",
        "is there a penalty in every contract",
        "сколько дней отпуска у каждого сотрудника",
    ],
)
def test_a_question_of_all_documents_reaches_all(question: str) -> None:
    assert RULE.reach(question) is Reach.ALL


@pytest.mark.parametrize("question", ["Сколько дней на оплату по договору 5?", "How much is the deposit?"])
def test_a_measure_of_one_thing_reaches_all_only_where_documents_are_read_anyway(question: str) -> None:
    assert RULE.reach(question) is Reach.THOROUGH


@pytest.mark.parametrize(
    "question",
    [
        "Почему сорвались сроки?",
        "Всё равно не понимаю, почему отказали",
        "Почему договор всё же расторгли?",
        "Он всё-таки подписан?",
        "Он все ещё действует?",
        "Это сравнительно новый договор?",
        "Всем привет! Кто подписал акт?",
        "Is it not valid at all?",
        "What is the overall idea of the report?",
        "After all, why was it refused?",
        "That’s all it says?",
        "What is this memo all about?",
        "Что сказано в договоре «Всё включено»?",
        'Who wrote "All about bees"?',
        "Насколько вырос спрос?",
        "Какие условия в целом?",
        "",
    ],
)
def test_other_questions_and_idioms_stop_when_it_is_enough(question: str) -> None:
    assert RULE.reach(question) is Reach.ENOUGH


def test_of_two_wordings_the_farther_one_counts() -> None:
    assert RULE.reach("а всех?", "Какие сроки?") is Reach.ALL


@pytest.mark.parametrize(
    "question", ["а сколько всего?", "И сколько их?", "перечисли их все", "What about all of them?"]
)
def test_a_question_that_leans_on_the_dialogue_is_known_by_its_beginning_or_its_pronoun(question: str) -> None:
    assert RULE.leans(question)


@pytest.mark.parametrize(
    "question", ["Сколько договоров?", "Перечисли всех сотрудников, их должности и оклады", "Анна"]
)
def test_a_question_that_names_its_subject_does_not_lean(question: str) -> None:
    assert not RULE.leans(question)


@pytest.mark.parametrize(
    ("question", "subject"),
    [
        ("Перечисли все акты", "акты"),
        ("Сколько договоров заключено с Ромашкой?", "договоров заключено с ромашкой"),
        ("List all deadlines", "deadlines"),
        ("Сколько документов говорят о штрафе?", "о штрафе"),
        ("How many files mention the deposit?", "the deposit"),
        ("Перечисли все документы", "Перечисли все документы"),
        ("Сравни всё", "Сравни всё"),
    ],
)
def test_what_is_asked_of_is_left_without_the_words_that_say_how_much(question: str, subject: str) -> None:
    assert RULE.subject(question) == subject


@given(st.text(max_size=200))
def test_any_text_has_a_reach(text: str) -> None:
    assert RULE.reach(text, text.upper()) in Reach
    assert RULE.leans(text) in (True, False)
