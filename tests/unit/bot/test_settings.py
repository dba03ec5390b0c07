"""Settings: defaults, sentences about wrong values, and that `.env.example` explains each one."""

import re
from itertools import pairwise
from pathlib import Path

import pytest

from bot.settings import Settings, SettingsError, sections

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / ".env.example"


@pytest.mark.parametrize("token", ["secret", "98765", ":abc", "12:a b"])
def test_a_token_that_cannot_be_one_is_named_and_not_shown(token: str) -> None:
    with pytest.raises(SettingsError, match="BOT_TOKEN") as caught:
        Settings.read({"BOT_TOKEN": token})
    assert token not in str(caught.value)


def test_an_overlap_as_large_as_a_passage_is_refused_at_the_start() -> None:
    with pytest.raises(SettingsError, match="CHUNK_OVERLAP_TOKENS"):
        Settings.read({"CHUNK_TOKENS": "100", "CHUNK_OVERLAP_TOKENS": "100"})


def test_nothing_set_is_a_whole_configuration() -> None:
    settings = Settings.read({})

    assert settings.telegram.token is None
    assert settings.jina.api_key is None
    assert not settings.model.configured
    assert settings.home.is_absolute()


def test_a_variable_set_to_nothing_counts_as_not_set() -> None:
    assert Settings.read({"BOT_TOKEN": " ", "JINA_CONCURRENCY": ""}) == Settings.read({})


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("JINA_CONCURRENCY", "0"),
        ("LOG_LEVEL", "LOUD"),
        ("LLM_BASE_URL", "localhost:8080"),  # an address without its scheme
        ("ALLOWED_USERS", "1, anna"),
        ("GENERAL_KNOWLEDGE", "perhaps"),
        ("MAX_FILE_MB", "many"),
    ],
)
def test_a_wrong_value_is_named_in_one_sentence(variable: str, value: str) -> None:
    with pytest.raises(SettingsError) as caught:
        Settings.read({variable: value})

    assert str(caught.value).startswith(f"{variable}: should be")
    assert "\n" not in str(caught.value)


def test_all_wrong_values_are_named_together() -> None:
    with pytest.raises(SettingsError) as caught:
        Settings.read({"JINA_CONCURRENCY": "0", "LOG_LEVEL": "LOUD"})

    assert len(str(caught.value).splitlines()) == 2


def test_bounds_are_named_as_they_are_set() -> None:
    assert Settings.read({}).bounds.named == ()
    some = Settings.read({"PERSON_DAILY_COST": "0.2", "BASE_PASSAGES": "1500000", "PERSON_DAILY_QUESTIONS": "0"})
    assert some.bounds.named == ("PERSON_DAILY_COST=0.2", "BASE_PASSAGES=1500000")


def test_a_webhook_needs_its_secret() -> None:
    with pytest.raises(SettingsError, match="WEBHOOK_SECRET"):
        Settings.read({"WEBHOOK_URL": "https://baza.example.org"})


def test_half_a_supabase_is_refused() -> None:
    with pytest.raises(SettingsError, match="SUPABASE_SERVICE_KEY: is missing"):
        Settings.read({"SUPABASE_URL": "https://project.supabase.co"})


def test_a_secret_does_not_show_itself() -> None:
    assert "12:ab" not in repr(Settings.read({"BOT_TOKEN": "12:ab"}))


def test_the_example_explains_every_setting_and_no_other() -> None:
    explained = set(re.findall(r"^#([A-Z_]+)=", EXAMPLE.read_text(encoding="utf-8"), re.MULTILINE))
    known = {
        field.alias for section in sections().values() for field in section.model_fields.values() if field.alias
    } | {"BAZA_HOME"}

    assert explained == known


def test_the_example_shows_the_defaults() -> None:
    shown = dict(re.findall(r"^#([A-Z_]+)=(.+)$", EXAMPLE.read_text(encoding="utf-8"), re.MULTILINE))
    secrets_and_samples = {
        "BOT_TOKEN", "ALLOWED_USERS", "ADMIN_USERS", "WEBHOOK_URL", "TELEGRAM_API_URL", "DATABASE_URL", "SUPABASE_URL",
    }  # fmt: skip
    defaults = {name: value for name, value in shown.items() if name not in secrets_and_samples}

    told, silent = Settings.read(defaults), Settings.read({})

    assert told.model_copy(update={"model": silent.model}) == silent
    assert told.model.answer_model == silent.model.answer_model


def test_every_setting_has_a_sentence_and_stands_in_the_docs() -> None:
    lines = EXAMPLE.read_text(encoding="utf-8").splitlines()
    page = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    for above, line in pairwise(lines):
        if found := re.match(r"#([A-Z_]+)=", line):
            assert re.match(r"# \S", above), f"{found[1]} is not explained"
            assert f"| `{found[1]}` |" in page
            assert above.removeprefix("# ") in page
