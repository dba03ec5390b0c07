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


CONTRACT = "Document: Договор аренды (file)\nAuthor: Иван Иванов\nText:\nДоговор аренды склада. Срок пять лет."
LETTER = "Document: Письмо (note)\nAuthor: Олег Петров\nSent by: Анна Седова\nText:\nСклад сдаётся с марта."
ACT = "Document: Акт (file)\nText:\nАкт приёмки склада. Составил: Ковальский. Проверено."


def other(answer: str, *facts: str, question: str = "Кто составил?", cited: tuple[int, ...] = (1,)) -> list[str]:
    evidence = Evidence(question=question, facts=facts or (CONTRACT, LETTER, ACT), cited=cited)
    return [remark for remark in remarks_on(answer, evidence, from_base=True) if "another author" in remark]


@pytest.mark.parametrize(
    ("answer", "cited"),
    [
        ("Договор составил Петров.", (1,)),
        ("Договор составила Анна Седова.", (1,)),
        ("Договор составлен Петровым.", (1,)),
        ("Автор договора — Петров.", (1,)),
        ("Автор: Олег Петров.", (1,)),
        ("Письмо прислал Иванов.", (2,)),
        ("Письмо написано Иваном Ивановым.", (2,)),
        ("Акт составил Иванов.", (3,)),
        ("Акт подготовила Анна.", (3,)),
        ("Договор и акт подготовил Петров.", (1, 3)),
    ],
)
def test_an_author_of_another_document_is_told(answer: str, cited: tuple[int, ...]) -> None:
    assert other(answer, cited=cited) != []


@pytest.mark.parametrize(
    ("answer", "cited"),
    [
        ("Договор составил Иванов.", (1,)),
        ("Договор составлен Иваном Ивановым.", (1,)),
        ("Письмо написал Петров, прислала Анна Седова.", (2,)),
        ("Письмо отправлено Седовой.", (2,)),
        ("Договор составил Иванов, а письмо написал Петров.", (1, 2)),
        ("Договор составил Петров.", (2,)),
        ("Договор составил Петров.", ()),
        ("Акт составлен Ковальским.", (3,)),
        ("Срок составил пять лет.", (1,)),
        ("Договор подготовил юрист.", (1,)),
    ],
)
def test_an_author_whom_the_sources_name_passes(answer: str, cited: tuple[int, ...]) -> None:
    assert other(answer, cited=cited) == []


def test_what_else_may_tell_who_wrote_it_is_believed() -> None:
    same = CONTRACT.replace("Договор аренды склада.", "Утвердил О. Петров.")
    statement = "Statement about: Договор аренды\nDocument: Записка (file)\nText:\nПетров готовил договор."
    told = "Document: Записка (file)\nText:\nДоговор составил Петров."
    anonymous = "Document: Договор аренды (file)\nText:\nДоговор аренды склада."
    assert other("Договор составил Петров.", CONTRACT, same) == []
    assert other("Договор составил Петров.", CONTRACT, statement) == []
    assert other("Договор составил Петров.", CONTRACT, told) == []
    assert other("Договор составил Петров.", anonymous, LETTER) == []
    assert other("Договор составил Петров.", question="Какой договор составил Петров?") == []
    assert other("Договор составил Петров.", CONTRACT.replace("Иван Иванов", "John Smith"), LETTER) == []
