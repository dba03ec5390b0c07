"""Subtitles of people and of machines: every line once, with its seconds."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.locator import Locator
from ingestion.parsers.registry import parse_file
from ingestion.parsers.subtitles import PARAGRAPH_S, PAUSE_S, to_paragraphs
from ingestion.ports import Utterance
from ingestion.records import Document
from tests.fakes.speech import said
from tests.unit.ingestion.chunking.documents import chunk_document

steps = st.tuples(st.floats(0, 4), st.floats(0.1, 70), st.sampled_from(["слово", "конец.", "да?", "  "]))
ROLLING = """WEBVTT
Kind: captions
Language: ru

00:00:00.160 --> 00:00:02.389 align:start position:0%
{blank}
всем<00:00:00.400><c> привет</c><00:00:00.800><c> сегодня</c>

00:00:02.389 --> 00:00:02.399 align:start position:0%
всем привет сегодня
{blank}

00:00:02.399 --> 00:00:04.630 align:start position:0%
всем привет сегодня
мы<00:00:02.639><c> поговорим</c>

00:00:04.630 --> 00:00:04.640 align:start position:0%
мы поговорим
{blank}

00:00:09.000 --> 00:00:11.000 align:start position:0%
мы поговорим
о<00:00:09.900><c> базах</c>
""".replace("{blank}", " ")


def _parse(text: str, folder: Path, name: str = "a.srt", *, media_type: str | None = None) -> Document:
    path = folder / "file"
    path.write_text(text, encoding="utf-8")
    return parse_file(path, name=name, media_type=media_type)


def _places(document: Document) -> list[tuple[str, float | None, float | None]]:
    return [(block.text, block.locator.start_s, block.locator.end_s) for block in document.blocks]


def test_lines_come_with_their_seconds(tmp_path: Path) -> None:
    text = "1\n00:00:01,000 --> 00:00:02,500\nПривет!\nКак дела?\n\n2\n01:00:03,5 --> 01:00:04,000\nХорошо.\n"
    document = _parse(text, tmp_path)
    assert _places(document) == [("Привет! Как дела?", 1.0, 2.5), ("Хорошо.", 3603.5, 3604.0)]
    assert document.duration_s == 3604.0


def test_rolling_captions_say_each_line_once(tmp_path: Path) -> None:
    document = _parse(ROLLING, tmp_path, "a.vtt")
    assert _places(document) == [("всем привет сегодня мы поговорим", 0.16, 4.64), ("о базах", 9.0, 11.0)]
    assert document.language == "ru"


def test_people_may_repeat_themselves(tmp_path: Path) -> None:
    lines = ["Да.", "Да.", "Нет.", "Почему?", "Потому.", "Ясно.", "Ну."]
    cues = [f"{n}\n00:00:0{n},000 --> 00:00:0{n},900\n{line}\n" for n, line in enumerate(lines)]
    (block,) = _parse("\n".join(cues), tmp_path).blocks
    assert block.text == " ".join(lines)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("<i>Тихо</i> {\\an8}&amp; ясно", "Тихо & ясно"),
        ("<v.loud Анна>Да.</v>", "Анна: Да."),
        ("<c.yellow.bg_blue>Цвет</c>", "Цвет"),
        ("3 < 5, но 7 > 6", "3 < 5, но 7 > 6"),
    ],
)
def test_marks_are_no_words(line: str, text: str, tmp_path: Path) -> None:
    document = _parse(f"WEBVTT\n\n00:01.000 --> 00:02.000\n{line}\n", tmp_path, "a.vtt")
    assert [block.text for block in document.blocks] == [text]


def test_notes_and_styles_are_no_words(tmp_path: Path) -> None:
    text = "WEBVTT\n\nNOTE переводил Пётр\n\nSTYLE\n::cue {}\n\nx1\n00:01.000 --> 00:02.000\nСлово.\n\nNOTE конец\n"
    assert [block.text for block in _parse(text, tmp_path, "a.vtt").blocks] == ["Слово."]


def test_careless_files_are_read_too(tmp_path: Path) -> None:
    text = "1\n00:00:01,000 --> 00:00:02,000\nРаз\n2\n00:00:02,000 --> 00:00:03,000\nдва\n\nтри\n"
    assert [block.text for block in _parse(text, tmp_path).blocks] == ["Раз два три"]


def test_captions_of_a_host_are_known_by_their_type(tmp_path: Path) -> None:
    document = _parse("WEBVTT\n\n00:01.000 --> 00:02.000\nСлово.\n", tmp_path, "Лекция", media_type="text/vtt")
    assert _places(document) == [("Слово.", 1.0, 2.0)]


def test_a_file_without_times_is_text(tmp_path: Path) -> None:
    document = _parse("Просто текст.\n\nИ ещё.", tmp_path)
    assert [block.text for block in document.blocks] == ["Просто текст.", "И ещё."]


def _utterances(moves: list[tuple[float, float, str]]) -> list[Utterance]:
    """Pauses and lengths, one after the other."""
    now, utterances = 0.0, []
    for pause_s, length_s, text in moves:
        start_s = now + pause_s
        now = start_s + length_s
        utterances.append(Utterance(start_s=start_s, end_s=now, text=text))
    return utterances


@given(moves=st.lists(steps, max_size=30))
def test_every_word_stands_once_and_in_its_time(moves: list[tuple[float, float, str]]) -> None:
    utterances = _utterances(moves)
    blocks = to_paragraphs(utterances)
    words = [word for utterance in utterances for word in utterance.text.split()]
    assert [word for block in blocks for word in block.text.split()] == words
    spoken = [utterance for utterance in utterances if utterance.text.strip()]
    assert [block.locator.start_s for block in blocks[:1]] == [utterance.start_s for utterance in spoken[:1]]
    assert [block.locator.end_s for block in blocks[-1:]] == [utterance.end_s for utterance in spoken[-1:]]


@given(moves=st.lists(steps, max_size=30))
def test_paragraphs_are_short_unless_one_utterance_is_long(moves: list[tuple[float, float, str]]) -> None:
    longest_s = max((length_s for _, length_s, _ in moves), default=0.0)
    for block in to_paragraphs(_utterances(moves)):
        start_s, end_s = block.locator.start_s, block.locator.end_s
        assert start_s is not None
        assert end_s is not None
        assert end_s - start_s <= max(PARAGRAPH_S, longest_s) + 1e-6


def test_a_pause_begins_a_paragraph() -> None:
    blocks = to_paragraphs(said((0, 2, "Первое."), (2.5, 4, "Ещё."), (4 + PAUSE_S + 0.1, 8, "Второе.")))
    assert [block.text for block in blocks] == ["Первое. Ещё.", "Второе."]
    assert blocks[0].locator == Locator(start_s=0, end_s=4)


def test_a_long_paragraph_ends_with_a_sentence() -> None:
    blocks = to_paragraphs(said((0, 20, "Раз."), (20, 40, "Два."), (40, 55, "начало"), (55, 70, "конец.")))
    assert [block.text for block in blocks] == ["Раз. Два.", "начало конец."]


def test_passages_know_their_seconds_after_chunking() -> None:
    lines = said(
        *((second, second + 10, f"Предложение номер {second} про базы данных.") for second in range(0, 600, 10))
    )
    document = Document(title="Лекция", blocks=to_paragraphs(lines))
    chunks = chunk_document(document, chunk_tokens=100, overlap_tokens=20)
    assert len(chunks) > 3
    for chunk in chunks:
        start_s, end_s = chunk.locator.start_s, chunk.locator.end_s
        numbers = [int(word) for word in chunk.text.split() if word.isdecimal()]
        assert start_s is not None
        assert end_s is not None
        assert start_s <= min(numbers) < max(numbers) < end_s <= max(numbers) + PARAGRAPH_S
