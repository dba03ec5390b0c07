"""Subtitles of people and of machines: every line once, with its seconds."""

from pathlib import Path

import pytest

from ingestion.parsers.registry import parse_file
from ingestion.records import Document

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
