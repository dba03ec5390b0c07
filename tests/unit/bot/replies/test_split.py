"""Long answers are cut where a reader would pause, and keep their formatting."""

import pytest

from bot.replies.rich import BOLD, render_markdown, rich, split_rich, to_html, utf16_length


@pytest.mark.parametrize(
    ("marked", "limit"),
    [
        ("Первый абзац тут.\n\n| |Второй.", 20),  # between paragraphs
        ("Первая строка\n| |вторая", 16),  # between lines
        ("Раз два. | |Три четыре пять", 16),  # between sentences
        ("одно слово | |другое", 13),  # between words
        ("неразрывно| |еслово", 10),  # nowhere better
    ],
)
def test_the_cut_is_at_the_best_border(marked: str, limit: int) -> None:
    expected = [piece.strip() for piece in marked.split("| |")]
    assert [piece.text for piece in split_rich(rich(marked.replace("| |", "")), limit)] == expected


def test_formatting_is_open_again_in_the_next_piece() -> None:
    pieces = split_rich(rich("первое второе", BOLD), 8)
    assert [to_html(piece) for piece in pieces] == ["<b>первое</b>", "<b>второе</b>"]


def test_an_emoji_of_two_units_is_never_cut() -> None:
    pieces = split_rich(rich("😀" * 10), 5)
    assert [piece.text for piece in pieces] == ["😀😀"] * 5


def test_a_code_block_is_a_code_block_in_every_piece() -> None:
    source = "```py\n" + "\n".join(f"line_{number} = {number}" for number in range(900)) + "\n```"
    pieces = split_rich(render_markdown(source))
    assert len(pieces) > 2
    assert all(to_html(piece).startswith('<pre><code class="language-py">line_') for piece in pieces)


def test_short_text_is_one_piece() -> None:
    assert len(split_rich(rich("x" * 4096))) == 1
    assert len(split_rich(rich("x" * 4097))) == 2


def test_length_is_counted_in_utf16_units() -> None:
    assert utf16_length("а😀") == 3
