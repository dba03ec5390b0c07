"""What a model wrote, with its sign and marks read and taken out."""

from itertools import pairwise
from time import thread_time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rag.answering.marks import read
from rag.records import AnswerKind

BASE, GENERAL, TALK = AnswerKind.FROM_BASE, AnswerKind.GENERAL, AnswerKind.CONVERSATION


@pytest.mark.parametrize(
    ("raw", "kind", "text", "used"),
    [
        ("[+] Срок 14 дней [2].", BASE, "Срок 14 дней.", (2,)),
        ("[0] Столица Турции — Анкара.", GENERAL, "Столица Турции — Анкара.", ()),
        ("[-] Здравствуйте!", TALK, "Здравствуйте!", ()),
        ("[—] Здравствуйте!", TALK, "Здравствуйте!", ()),  # a dash that the model made typographic
        ("**[0]** Анкара.", GENERAL, "Анкара.", ()),
        ("[+]\nСрок 14 дней [1].", BASE, "Срок 14 дней.", (1,)),
        ("Срок 14 дней [1].", BASE, "Срок 14 дней.", (1,)),  # no sign: a mark says enough
        ("Срок 14 дней.", None, "Срок 14 дней.", ()),
        ("[-] Есть два договора [1] [2]. Какой?", BASE, "Есть два договора. Какой?", (1, 2)),
        ("[0] Анкара [1].", GENERAL, "Анкара.", (1,)),  # the label was shown; it stays
        ("<think>[1] hm</think>\n[0] Анкара.", GENERAL, "Анкара.", ()),
    ],
)
def test_the_sign_tells_the_kind(raw: str, kind: AnswerKind | None, text: str, used: tuple[int, ...]) -> None:
    reading = read(raw, passages=5, complete=True)

    assert (reading.kind, reading.text, reading.used) == (kind, text, used)


@pytest.mark.parametrize(
    ("raw", "text", "used"),
    [
        ("[+] A [2, 5]; b [1].", "A; b.", (2, 5, 1)),
        ("[+] A [1-3].", "A.", (1, 2, 3)),
        ("[+] A [1][2].", "A.", (1, 2)),
        ("[+] A [1], [2] и [3].", "A.", (1, 2, 3)),
        ("[+] A ([1]) b.", "A b.", (1,)),
        ("[+] A **[1]** b.", "A b.", (1,)),
        ("[+] A [[4]] b [^2].", "A b.", (4, 2)),
        ("[+] A 【1†source】.", "A.", (1,)),
        ("[+] A [9].", "A.", ()),  # five passages were given
        ("[+] A [1, 9].", "A.", (1,)),
        ("[+] - [1] пункт\n- второй [2]", "- пункт\n- второй", (1, 2)),
        ("[+] A.\n[1]\nB.", "A.\nB.", (1,)),
        ("[+] | 5 % [1] | 6 % [2] |", "| 5 % | 6 % |", (1, 2)),
        ("[+] **Срок 5 дней [1]**", "**Срок 5 дней**", (1,)),
        ("[+] В 2024 [2024] году [1].", "В 2024 [2024] году.", (1,)),
        ("[+] A [1].\n\nИсточники: [1], [2]", "A.", (1,)),  # only what was used is a source
        ("[+] A [1].\n\n**Источники:**\n- [1]\n- [2]", "A.", (1,)),
        ("[+] A.\n\n## Источники\n- [1]\n- [2]", "A.", (1, 2)),
        ("[+] A.\n\nИсточники: [3] Заметка: Отпуск", "A.", (3,)),
        ("[+] A [1].\n\nSources:\n1. [2] note", "A.", (1,)),
        ("[+] A [1].\nИсточники:\n- бюджет", "A.\nИсточники:\n- бюджет", (1,)),  # no marks in it: a part of the answer
        ("[+] A [1]. [+] B [2].", "A. B.", (1, 2)),
        ("[+] A <material-0a1b number=1> b [1]</material-0a1b>.", "A  b.", (1,)),
    ],
)
def test_marks_leave_no_trace(raw: str, text: str, used: tuple[int, ...]) -> None:
    reading = read(raw, passages=5, complete=True)

    assert (reading.text, reading.used) == (text, used)


@pytest.mark.parametrize(
    "text",
    [
        "см. [сайт](https://example.org/a_(b)) и [1](https://example.org)",
        "возьмите `a[1]` из списка",
        "так:\n```python\nx = a[1]  # [2]\n```\nвсё",
        "~~~\na[1]\n~~~",
        "- так:\n  ```\n  a[1]\n  ```",
        "``a ` [1]``",
        "```\na[1]",  # cut before it was closed
        "- [ ] купить\n- [x] продать",
        "список [a, b]",
    ],
)
def test_code_links_and_other_brackets_stay(text: str) -> None:
    reading = read(f"[+] {text}", passages=5, complete=True)

    assert reading.text == text
    assert reading.used == ()


@pytest.mark.parametrize("raw", ["", "[", "[+", "  [0", "**", "<thi"])
def test_nothing_is_known_before_the_sign(raw: str) -> None:
    reading = read(raw, passages=5, complete=False)

    assert (reading.kind, reading.text) == (None, "")


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("[+] Срок [", "Срок"),
        ("[+] Срок [1", "Срок"),
        ("[+] Срок [1]", "Срок"),  # [1](https://…) is still possible
        ("[+] Срок [1](htt", "Срок"),
        ("[+] Срок [1],", "Срок"),  # [2] may follow
        ("[+] Срок (", "Срок"),
        ("[+] Код `a[1]", "Код"),
        ("[+] Срок [1]. Ш", "Срок. Ш"),
        ("[+] Так: [x] да", "Так: [x] да"),
        ("[+] A.\n\nИсточн", "A."),
        ("[+] A.\n\nИсточники:\n- [1] Зам", "A."),
    ],
)
def test_a_half_arrived_mark_is_held_back(raw: str, shown: str) -> None:
    assert read(raw, passages=5, complete=False).text == shown


_FRAGMENTS = """[1] [2,3] [9] [ ] ( ) ` ``` слово . , ** [a](b) x[1] Источники: Источ https://a.b и ~~~ | < > _ [-]"""
PIECES = st.lists(st.sampled_from([*_FRAGMENTS.split(), "\n", "\n\n", " ", "- ", "1. "]), max_size=14)


@given(PIECES, st.sampled_from(["[+] ", "[0] ", "[-] ", ""]))
@example(["a ", "`", " b ", "``", "c", "``", " [1]", " d ", "`"], "[+] ")
@example(["[1]", "\n", "Источники:", "1. "], "[+] ")
def test_what_was_shown_is_only_added_to(pieces: list[str], sign: str) -> None:
    raw = sign + "".join(pieces)
    shown = [read(raw[:end], passages=5, complete=False).text for end in range(len(raw) + 1)]

    for earlier, later in pairwise(shown):
        assert later.startswith(earlier)


@given(PIECES)
@example(["`", "[1]", "\n", "Источники:", "[", "`", "[1]"])
def test_no_mark_is_left(pieces: list[str]) -> None:
    text = read("[+] " + "".join(pieces), passages=5, complete=True).text

    assert read("[+] " + text, passages=5, complete=True).used == ()


@pytest.mark.parametrize(
    "raw",
    [
        "[+] " + "[1] " * 30 + "текст",  # marks at the start of a line that goes on
        "[+] Ответ.\nИсточники: " + "[1] а " * 30 + "\nЕщё строка.",  # a list of sources that turns out to be none
    ],
)
def test_a_row_of_marks_is_read_at_once(raw: str) -> None:
    started = thread_time()
    read(raw, passages=9, complete=True)
    assert thread_time() - started < 1  # each further mark used to double the time: thirty took hours


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("[+] Всего 7 200 руб. [1]. Это всё [1].", "Всего 7 200 руб. Это всё."),
        ("[+] Ждём… [1]... Да [1].", "Ждём…... Да."),
    ],
)
def test_a_mark_between_two_full_stops_takes_one_with_it(raw: str, text: str) -> None:
    assert read(raw, passages=1, complete=True).text == text


@pytest.mark.parametrize(
    "raw",
    [
        "[+] Штраф 0,1 % [материал 1].",
        "[+] Штраф 0,1 % [Material 1].",
        "[+] Штраф 0,1 % [№1].",
        "[+] Штраф 0,1 % [#1].",
        "[+] Штраф 0,1 % [[1]](#1).",
        "[+] Штраф 0,1 % [1](#source-1).",
        "[+]: Штраф 0,1 % [1].",
        "<|im_start|>[+] Штраф 0,1 % [1].<|im_end|>",
    ],
)
def test_marks_and_signs_as_models_write_them_are_never_shown(raw: str) -> None:
    reading = read(raw, passages=1, complete=True)
    assert (reading.kind, reading.text, reading.used) == (AnswerKind.FROM_BASE, "Штраф 0,1 %.", (1,))
    shown = [read(raw[:end], passages=1, complete=False).text for end in range(len(raw))]
    assert all("Штраф 0,1 %.".startswith(text) for text in shown)
