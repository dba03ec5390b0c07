"""The commands that fill and read a base."""

import pytest

from bot.cli.content import ask_base
from bot.cli.errors import CommandError
from bot.settings import Settings


@pytest.mark.parametrize("question", ["", "  \n", "\u200b \ufeff"])
async def test_an_empty_question_is_refused_before_anything_is_opened(question: str) -> None:
    with pytest.raises(CommandError, match="The question is empty"):
        await ask_base(Settings.read({}), question, base_name="default", as_json=True)
