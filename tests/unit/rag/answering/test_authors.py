"""Who is said to have written or sent something."""

import pytest

from rag.answering.postcheck import Evidence, remarks_on

NOTE = "Document: Цены (note)\nAuthor: {author}\nSent by: {sender}\nText:\nКолумбия хороша. С уважением, П. Гордеев."


def remarks(answer: str, *, author: str = "Нина Громова", sender: str = "Борис", question: str = "Кто?") -> list[str]:
    fact = NOTE.format(author=author, sender=sender)
    evidence = Evidence(question=question, facts=(fact,), today="2026-11-22")
    return [remark for remark in remarks_on(answer, evidence, from_base=True) if "Nobody of this name" in remark]


@pytest.mark.parametrize(
    ("answer", "name"),
    [
        ("Написал Иванов.", "Иванов"),
        ("Это прислала Анна Седова.", "Анна Седова"),
        ("Автор — Иван Петров.", "Иван Петров"),
        ("Автор заметки: Сергей.", "Сергей"),
        ("Олег Сидоров написал это.", "Олег Сидоров"),
        ("Цены прислал вчера Борис, а нам переслал Игорь.", "Игорь"),
    ],
)
def test_a_name_that_stands_nowhere_is_told(answer: str, name: str) -> None:
    (remark,) = remarks(answer)
    assert f": {name}." in remark


def test_so_is_one_in_english() -> None:
    assert remarks("It was written by John Smith.", author="Tom Reed", sender="Ann") != []
    assert remarks("It was written by Tom Reed.", author="Tom Reed", sender="Ann") == []


@pytest.mark.parametrize(
    "answer",
    [
        "Написала Нина.",
        "Это написала Нина Андреевна Громова, а прислал Борис.",
        "Автор — Громова.",
        "Написал Гордеев.",
        "Клиент написал.",
        "Опубликовал Минфин.",
        "Прислал Договор.",
        "Кто написал, не указано.",
        "Нину Громову поддержал Иванов.",
    ],
)
def test_names_of_the_materials_and_what_is_no_persons_name_pass(answer: str) -> None:
    assert remarks(answer) == []


def test_a_name_of_the_question_passes() -> None:
    assert remarks("Написал Иванов.", question="Что писал Иванов?") == []


def test_a_name_in_another_alphabet_cannot_be_compared() -> None:
    assert remarks("Написал Том Рыдин.", author="Tom Rydin", sender="") == []


def test_where_no_author_is_known_nothing_is_said() -> None:
    evidence = Evidence(question="Кто?", facts=("Document: x (file)\nText:\nПоэма.",))
    assert remarks_on("Поэму написал Пушкин.", evidence, from_base=True) == ()
