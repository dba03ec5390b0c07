"""Imports aiogram in a third of the time: its models are built at their first use.

In: an import of aiogram. Out: the same models. The end of `aiogram.types` makes pydantic build all 400 models at once,
which takes seconds and 100 MB; a bot uses about thirty. The models are declared with `defer_build`, so pydantic builds
each at its first use by calling its `model_rebuild`. This module gives that call the namespace of the annotations.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, cast

from pydantic import BaseModel

_OURS = "aiogram."


@contextmanager
def built_when_used() -> Iterator[None]:
    """Import aiogram inside this context. It has no effect when aiogram was imported before.

    Afterwards `model_rebuild` of every aiogram model uses the namespace that aiogram passed for all of them.
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
    """Install `rebuild` on aiogram's own base classes only."""
    from aiogram.methods import Response, TelegramMethod
    from aiogram.types import TelegramObject

    for base in (TelegramObject, TelegramMethod, Response):
        base.model_rebuild = rebuild  # type: ignore[assignment] # with the same parameters
