"""Only OpenRouter gets what only OpenRouter understands."""

import pytest

from adapters.llm.providers import extra_headers, extra_schema_fields


@pytest.mark.parametrize("url", ["https://openrouter.ai/api/v1", "https://eu.OpenRouter.ai/api/v1"])
def test_openrouter_gets_a_title_and_must_keep_to_the_schema(url: str) -> None:
    assert extra_headers(url) == {"X-OpenRouter-Title": "Baza"}
    assert extra_schema_fields(url) == {"provider": {"require_parameters": True}}


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1:11434/v1", "https://api.openai.com/v1", "https://notopenrouter.ai", "http://x/openrouter.ai"],
)
def test_other_servers_get_nothing_more(url: str) -> None:
    assert not extra_headers(url)
    assert not extra_schema_fields(url)
