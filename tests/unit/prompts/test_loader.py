"""Prompt files and their placeholders."""

from dataclasses import replace

import pytest

from prompts.loader import PromptError, Template, load_prompts

FILLED = {"today": "2026-01-01", "question": "Что в {today}? {unknown}"}


def test_the_packaged_prompts_load() -> None:
    prompts = load_prompts()

    assert set(prompts.languages) == {"ru", "en", "auto"}
    assert set(prompts.outside) == {True, False}


@pytest.mark.parametrize("text", ["{today} {question} {mood}", "{question}"])
def test_a_prompt_has_the_placeholders_that_the_program_fills(text: str) -> None:
    with pytest.raises(PromptError, match=r"mood|today"):
        Template("t", text, frozenset(FILLED))


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


def test_the_version_follows_the_content() -> None:
    prompts = load_prompts()
    assert replace(prompts, support=f"{prompts.support}\nMore.").version != prompts.version == load_prompts().version
