"""Lets aiogram be imported in a third of the time: its models are built when they are used.

In: an import of aiogram. Out: the same models. At the end of `aiogram.types` it asks pydantic to build all of its 400
models at once, which takes seconds and 100 MB; a bot uses some thirty. They are declared with `defer_build`: pydantic
builds each at its first use by calling its `model_rebuild`. Here that call learns which names the annotations mean.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, cast

from pydantic import BaseModel

_OURS = "aiogram."


@contextmanager
def built_when_used() -> Iterator[None]:
    """Import aiogram inside. Where it was imported before, nothing is left to do, and nothing happens.

    From then on `model_rebuild` of every aiogram model knows the namespace that aiogram gave for all of them.
    """
    original = BaseModel.__dict__["model_rebuild"]
    build = cast("Any", original).__func__
    names: dict[str, Any] = {}
    importing = True

    def model_rebuild(
        model: type[BaseModel], /, *, _types_namespace: Mapping[str, Any] | None = None, **options: Any
    ) -> bool | None:
        if not model.__module__.startswith(_OURS):
            return cast("bool | None", build(model, _types_namespace=_types_namespace, **options))
        if importing and _types_namespace:
            names.update(_types_namespace)
            return None
        return cast("bool | None", build(model, _types_namespace=_types_namespace or names, **options))

    BaseModel.model_rebuild = classmethod(model_rebuild)  # type: ignore[assignment,method-assign] # until it is imported
    try:
        yield
    finally:
        importing = False
        BaseModel.model_rebuild = original  # type: ignore[method-assign] # what it was
    if names:
        _keep(classmethod(model_rebuild))


def _keep(rebuild: "classmethod[BaseModel, ..., bool | None]") -> None:
    """For aiogram's own base classes alone."""
    from aiogram.methods import Response, TelegramMethod
    from aiogram.types import TelegramObject

    for base in (TelegramObject, TelegramMethod, Response):
        base.model_rebuild = rebuild  # type: ignore[assignment] # with the same parameters
