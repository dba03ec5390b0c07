"""How far a reading goes, by the words of the question; idioms with the same words mean nothing of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes.planning import BREADTH as RULE


@pytest.mark.parametrize(
    "question",
    [
        "Какие сроки по всем документам?",
        "Перечисли неустойки из всех документов",
        "В каких документах упоминается аренда?",
        "Сколько документов говорят о штрафе?",
        "Is there a penalty in every document?",
        "How many documents mention a penalty?",
    ],
)
def test_a_question_may_name_all_documents(question: str) -> None:
    assert RULE.names_all_documents(question)
    assert not RULE.names_nothing_else(question)


@pytest.mark.parametrize(
    "question",
    [
        "сколько сливок в раф",
        "чем отличается String от &str",
        "Сколько мешков за карьеру было у Джареда Аллена?",
        "Всё, что сказано о неустойке",
        "Что сказано в договоре «Во всех документах»?",
        "How many points did they score?",
        "",
    ],
)
def test_a_plain_question_is_about_no_documents(question: str) -> None:
    assert not RULE.names_all_documents(question)


@pytest.mark.parametrize("question", ["По всем документам", "In all documents"])
def test_the_subject_may_stand_in_the_question_before(question: str) -> None:
    assert RULE.names_nothing_else(question)


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
        ("По всем документам", "По всем документам"),
    ],
)
def test_what_is_asked_of_is_left_without_the_words_that_say_how_much(question: str, subject: str) -> None:
    assert RULE.subject(question) == subject


@given(st.text(max_size=200))
def test_any_text_can_be_asked(text: str) -> None:
    assert RULE.names_all_documents(text) in (True, False)
    assert RULE.leans(text) in (True, False)


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Сколько у меня договоров поставки?", "договоров поставки"),
        ("сколько договоров у нас есть", "договоров"),
        ("Сколько всего счетов в базе?", "счетов"),
        ("How many contracts do I have?", "contracts"),
        ("Сколько дней на поставку?", ""),
        ("Сколько у меня?", ""),
        ("Какие у меня договоры?", ""),
    ],
)
def test_a_question_counts_the_documents_that_it_names(question: str, kind: str) -> None:
    assert RULE.counted(question) == kind
