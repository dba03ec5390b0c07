"""A tool as a plan sees it: its name, a text for the planner, and arguments that are read tolerantly.

In: arguments as a model wrote them. Out: typed and frozen ones, or `ToolMisused`, which says what does not fit. What
runs a tool is `rag.execution.tools`.
"""

import typing
from abc import ABC
from collections.abc import Mapping
from contextlib import suppress
from functools import reduce
from inspect import cleandoc
from typing import Any, ClassVar, Generic, TypeVar

from annotated_types import Ge, Le, MaxLen
from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError, model_validator
from pydantic.fields import FieldInfo


class Tolerant(BaseModel):
    """Frozen. What is plain is put right: numbers out of bounds are clamped, texts and lists cut, a single value where
    a list belongs becomes a list of one, null and empty ones count as not given, and unknown fields are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    @model_validator(mode="before")
    @classmethod
    def _fit(cls, raw: object) -> object:
        if not isinstance(raw, Mapping):
            return raw
        fields = cls.model_fields
        known = {name: _fitted(value, fields[name]) for name, value in raw.items() if name in fields}
        return {name: value for name, value in known.items() if value is not None}


class ToolArguments(Tolerant):
    """Those of one tool. It has `document` or `documents`; plans confuse them."""

    @model_validator(mode="before")
    @classmethod
    def _put_right(cls, raw: object) -> object:
        if not isinstance(raw, Mapping):
            return raw
        others = {"document": "documents", "documents": "document"}
        return {**{others[name]: raw[name] for name in others.keys() & raw.keys() - cls.model_fields.keys()}, **raw}


Arguments = TypeVar("Arguments", bound=ToolArguments)


def _fitted(value: object, field: FieldInfo) -> object:
    kinds = (field.annotation, *typing.get_args(field.annotation))
    holds_list = any(typing.get_origin(each) is tuple for each in kinds)
    if value is None or (isinstance(value, str | list | tuple) and not value):
        return None
    if holds_list:
        value = [each for each in (value if isinstance(value, list | tuple) else [value]) if each not in (None, "")]
    elif isinstance(value, list | tuple):
        value = ", ".join(map(str, value))
    if field.annotation in (int, float) and isinstance(value, str | float):
        with suppress(ValueError, OverflowError):  # no number, or an endless one: pydantic refuses it
            value = round(float(value)) if field.annotation is int else float(value)
    return reduce(_bounded, field.metadata, value)


def _bounded(value: object, bound: object) -> object:
    if isinstance(bound, MaxLen) and isinstance(value, str | list | tuple):
        return value[: bound.max_length]
    if isinstance(bound, Ge) and isinstance(value, int | float):
        return max(value, typing.cast("float", bound.ge))
    if isinstance(bound, Le) and isinstance(value, int | float):
        return min(value, typing.cast("float", bound.le))
    return value


class ToolMisused(Exception):
    """The arguments do not fit the tool; the message says why, for the planner's second try."""


class PlannedTool(ABC, Generic[Arguments]):
    """The docstring of a subclass is what the planner reads of it."""

    name: ClassVar[str]
    is_slow: ClassVar[bool] = False  # so slow that the person has to see its progress and be able to stop it
    is_offered: ClassVar[bool] = True  # to the planner; other tools are for emergency plans only
    arguments: type[Arguments]

    @property
    def about(self) -> str:
        """The tool's text for the planner."""
        return cleandoc(type(self).__doc__ or "")

    def read(self, raw: Mapping[str, JsonValue]) -> Arguments:
        """The validated arguments. Raises ToolMisused."""
        try:
            return self.arguments.model_validate(raw)
        except ValidationError as error:
            problems = error.errors(include_url=False, include_input=False, include_context=False)
            lines = [f"{self.name}.{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in problems]
            raise ToolMisused("; ".join(lines)) from error


AnyTool = PlannedTool[Any]  # tools of one set take different arguments; each reads its own
