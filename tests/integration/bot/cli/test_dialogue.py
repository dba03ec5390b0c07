"""`baza ask` without a question: a dialogue, a line a question."""

import io
import sys
from pathlib import Path

import pytest

from bot.cli.content import add_to_base, ask_base
from bot.settings import Settings


async def test_each_line_is_a_question_of_one_dialogue(
    database_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings.read({"DATABASE_URL": database_url, "BAZA_HOME": str(tmp_path), "OCR": "off"})
    note = tmp_path / "Отпуск.txt"
    note.write_text("Отпуск длится двадцать восемь дней.\n\nОбед начинается в полдень.", encoding="utf-8")
    await add_to_base(settings, [str(note)], base_name="default", as_json=False)
    monkeypatch.setattr(sys, "stdin", io.StringIO("Сколько длится отпуск?\n\nКогда обед?\n"))
    assert await ask_base(settings, None, base_name="default", as_json=True) == 0
    answers = capsys.readouterr().out.splitlines()[-2:]
    assert "двадцать восемь дней" in answers[0]
    assert "в полдень" in answers[1]
