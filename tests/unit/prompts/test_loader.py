"""Prompt files and their placeholders."""

import shutil
from importlib.resources import files
from pathlib import Path

import pytest

from prompts.loader import PromptError, Template, load_prompts

FILLED = {"today": "2026-01-01", "question": "Что в {today}? {unknown}"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the real prompts that a test may spoil."""
    with_prompts = tmp_path / "prompts"
    shutil.copytree(str(files("prompts")), with_prompts)
    return with_prompts


def test_the_packaged_prompts_load() -> None:
    prompts = load_prompts()

    assert set(prompts.languages) == {"ru", "en", "auto"}
    assert set(prompts.outside) == {True, False}


def test_a_placeholder_without_a_field_fails_at_load(folder: Path) -> None:
    (folder / "question_alone.md").write_text("{today} {question} {mood}")

    with pytest.raises(PromptError, match=r"question_alone\.md.*mood"):
        load_prompts(folder)


def test_a_field_without_a_placeholder_fails_at_load(folder: Path) -> None:
    (folder / "question_alone.md").write_text("{question}")

    with pytest.raises(PromptError, match="today"):
        load_prompts(folder)


def test_a_missing_file_is_named(folder: Path) -> None:
    (folder / "rules" / "language_en.md").unlink()

    with pytest.raises(PromptError, match=r"language_en\.md"):
        load_prompts(folder)


def test_what_is_filled_in_is_not_a_template() -> None:
    template = Template("t", "{today}: {question}", frozenset(FILLED))

    assert template.fill(**FILLED) == "2026-01-01: Что в {today}? {unknown}"


def test_a_prompt_is_filled_whole_and_with_nothing_else() -> None:
    template = Template("t", "{today}: {question}", frozenset(FILLED))

    with pytest.raises(PromptError, match="filled with mood, today"):
        template.fill(today="2026-01-01", mood="good")


def test_other_braces_stay() -> None:
    template = Template("t", '{"a": {}} {today}{question}', frozenset(FILLED))

    assert template.fill(**FILLED).startswith('{"a": {}} 2026')


def test_the_version_follows_the_content(folder: Path) -> None:
    before = load_prompts(folder).version
    (folder / "answer.md").write_text((folder / "answer.md").read_text() + "\nMore.")

    assert load_prompts(folder).version != before
