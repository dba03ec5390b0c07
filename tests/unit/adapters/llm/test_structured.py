"""Reading records out of what models say, and what they are asked."""

import json
from enum import StrEnum
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field

from adapters.llm.structured import Rung, describe_problems, instruction, read_record, response_format, strict_schema


class Tone(StrEnum):
    CALM = "calm"
    LOUD = "loud"


class Part(BaseModel):
    name: str
    default: int = 3  # a field with the name of a keyword of JSON Schema


class Plan(BaseModel):
    steps: list[Part]
    tone: Tone = Tone.CALM
    note: str | None = Field(None, max_length=20)


GOOD = '{"steps": [{"name": "поиск", "default": 1}], "tone": "loud", "note": null}'


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"```json\n{GOOD}\n```",  # a code fence
        f"Вот план:\n{GOOD}\nНадеюсь, это поможет!",  # prose around it
        f"<think>maybe {{}} or {{'a': 1}}</think>{GOOD}",  # thoughts left in
        GOOD.replace("null}", "null,}"),  # a comma too many
        GOOD.replace('"', "'"),  # the wrong quotes
        GOOD.removesuffix("}"),  # cut short
    ],
)
def test_a_record_is_read_however_it_is_wrapped(text: str) -> None:
    plan = read_record(text, Plan)
    assert (plan.steps[0].name, plan.tone, plan.note) == ("поиск", Tone.LOUD, None)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{" * 3_000,
        "{" * 1_000_000,
        '{"a": ' * 1_000,
        "Не знаю.",
        "[]",
        "{}",
        "{",
        '{"steps": 1}',
        '{"other": true}',
    ],
)
def test_what_is_no_record_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_record(text, Plan)


def test_problems_name_the_field_and_do_not_quote() -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        read_record('{"steps": [{"name": 5}]}', Plan)
    assert describe_problems(caught.value) == "- steps.0.name: Input should be a valid string"


class Look(BaseModel):
    tool: Literal["look"]


class Reach(BaseModel):
    tool: Literal["reach"]


class Calls(BaseModel):
    calls: list[Annotated[Look | Reach, Field(discriminator="tool")]]


def test_strict_schemas_know_choices_by_their_only_name() -> None:
    schema = json.dumps(strict_schema(Calls))
    assert '"anyOf"' in schema
    assert "oneOf" not in schema
    assert "discriminator" not in schema


def test_an_unknown_choice_is_one_problem_that_names_the_others() -> None:
    with pytest.raises(ValueError, match="calls") as error:
        read_record('{"calls": [{"tool": "shell"}]}', Calls)
    (line,) = describe_problems(error.value).splitlines()
    assert "'shell'" in line
    assert "'look', 'reach'" in line


def test_strict_schemas_close_every_object() -> None:
    schema = strict_schema(Plan)
    part = schema["$defs"]["Part"]  # type: ignore[index] # JSON, known by construction
    assert part["required"] == ["name", "default"]
    assert part["additionalProperties"] is False
    assert schema["required"] == ["steps", "tone", "note"]


def test_strict_schemas_have_no_defaults() -> None:
    properties = strict_schema(Plan)["properties"]
    assert isinstance(properties, dict)
    assert all("default" not in field for field in properties.values())


def test_each_rung_asks_in_its_way() -> None:
    kinds = [wanted and wanted["type"] for wanted in (response_format(rung, Plan) for rung in Rung)]
    assert kinds == ["json_schema", "json_object", None]


def test_the_instruction_holds_the_schema() -> None:
    assert '"steps"' in instruction(Plan).content
