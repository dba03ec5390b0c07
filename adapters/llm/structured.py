"""Getting a record out of a chat model, whatever its server can do: what to ask for, and how to read what comes.

In: a pydantic model and the answer's text. Out: fields of the request, messages to add, the record or ValueError. Pure
functions; `client` does the asking.
"""

import json
import re
from collections.abc import Mapping, Sequence
from enum import IntEnum
from functools import lru_cache
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from rag.records import ChatMessage

Schema = TypeVar("Schema", bound=BaseModel)
Json = dict[str, object]

# json_repair takes quadratic time over open brackets: 0.7 s for 10,000 of them, 67 s for 100,000. A plan has 1,000.
LONGEST_REPAIR = 10_000  # characters

_LEFT_OUT = ("default", "discriminator")  # strict mode knows neither, nor `oneOf`
_FOR_READERS = ("title", "description")  # names once more, docstrings: the prompts explain the fields
_THOUGHTS = re.compile(r"<think>.*?</think>", re.DOTALL)  # some servers leave a reasoning model's thoughts in the text
_INSTRUCTION = (
    "Answer with one JSON object that fits this JSON Schema, and with nothing else: no explanation, no code fence.\n"
)
RE_ASK = "That answer does not fit the JSON Schema:\n{problems}\nAnswer again with the corrected JSON object alone."


class Rung(IntEnum):
    """The ways to ask, best first."""

    JSON_SCHEMA = 0  # the server keeps the model to the schema
    JSON_OBJECT = 1  # the server keeps it to JSON; the schema is in the prompt
    PLAIN = 2  # only the prompt asks for it


def response_format(rung: Rung, schema: type[BaseModel]) -> Mapping[str, object] | None:
    """The request's `response_format`; None to send none."""
    if rung is Rung.JSON_SCHEMA:
        shape = strict_schema(schema)
        is_open = _is_open(shape)  # only strict mode asks for closed objects, and every call would pay for the words
        sent = _without(shape, ("additionalProperties",)) if is_open else shape
        named = {"name": schema.__name__, "strict": not is_open, "schema": sent}
        return {"type": "json_schema", "json_schema": named}
    return {"type": "json_object"} if rung is Rung.JSON_OBJECT else None


def instruction(schema: type[BaseModel]) -> ChatMessage:
    """The schema in words, where the server does not see it or the model does not keep to it."""
    shape = json.dumps(_without(schema.model_json_schema(), _FOR_READERS), ensure_ascii=False, separators=(",", ":"))
    return ChatMessage(role="user", content=_INSTRUCTION + shape)


@lru_cache(maxsize=32)  # an installation asks for a handful of types
def strict_schema(schema: type[BaseModel]) -> Json:
    """The schema as strict mode wants it: every object closed, every property required, no defaults.

    Made once for each type (pydantic takes milliseconds); nobody changes what is returned.
    """
    closed: Json = _without(schema.model_json_schema(), (*_FOR_READERS, *_LEFT_OUT), closed=True)
    return closed


def _without(node: Any, keywords: Sequence[str], *, closed: bool = False) -> Any:
    """A schema without these keywords; `properties` and `$defs` map names, which may be the same words, to schemas."""
    if isinstance(node, list):
        return [_without(item, keywords, closed=closed) for item in node]
    if not isinstance(node, dict):
        return node
    kept: dict[Any, object] = {}
    for key, value in node.items():
        if key in ("properties", "$defs"):
            kept[key] = {name: _without(each, keywords, closed=closed) for name, each in value.items()}
        elif key not in keywords:
            kept["anyOf" if closed and key == "oneOf" else key] = _without(value, keywords, closed=closed)
    if closed and "properties" in node:
        kept |= {"required": list(node["properties"]), "additionalProperties": False}
    return kept


def _is_open(node: object) -> bool:
    """Whether an object in the schema may hold anything; strict mode refuses such a schema."""
    if isinstance(node, list):
        return any(map(_is_open, node))
    if not isinstance(node, dict):
        return False
    return (node.get("type") == "object" and "properties" not in node) or any(map(_is_open, node.values()))


def read_record(text: str, schema: type[Schema]) -> Schema:
    """The record in an answer, also out of prose, code fences and slightly broken JSON. Raises ValueError."""
    answer = _THOUGHTS.sub("", text).strip()
    start = answer.find("{")
    if start < 0:
        raise ValueError("there is no JSON object in it")
    found = _parse_object(answer[start:])
    if not isinstance(found, dict) or not found:  # an empty object would pass for a record of defaults
        raise ValueError("there is no JSON object in it")
    return schema.model_validate_json(json.dumps(found))


def _parse_object(text: str) -> object:
    """The JSON value that `text` begins with, whatever follows it; repaired when it is broken."""
    import json_repair  # only models that answer badly need it

    try:
        try:
            return json.JSONDecoder().raw_decode(text)[0]
        except json.JSONDecodeError:
            if len(text) > LONGEST_REPAIR:
                raise ValueError("it is broken and too long to be mended") from None
            return json_repair.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def describe_problems(error: ValueError) -> str:
    """What was wrong, a line each, in words that a model can act on."""
    if not isinstance(error, ValidationError):
        return f"- {error}"
    problems = error.errors(include_url=False, include_input=False, include_context=False)
    return "\n".join(f"- {'.'.join(map(str, problem['loc'])) or 'object'}: {problem['msg']}" for problem in problems)
