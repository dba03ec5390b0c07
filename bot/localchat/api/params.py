"""Parameters of one Bot API call, from a query string, JSON, a form or multipart, as the live service accepts them.

In: the request. Out: `Params` with typed getters; a value of the wrong type is `Refused`.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from aiohttp import web

from bot.localchat.checks import Refused, bad


@dataclass(frozen=True, kw_only=True)
class Params:
    """Values by name, and the uploaded files by the name of their form field."""

    values: Mapping[str, object]
    uploads: Mapping[str, web.FileField] = field(default_factory=dict)

    def text(self, name: str) -> str | None:
        """The value as text; None when it was not given."""
        value = self.values.get(name)
        return None if value is None else str(value)

    def flag(self, name: str) -> bool:
        return str(self.values.get(name, "")).lower() in ("true", "1", "yes")

    def whole(self, name: str, default: int = 0) -> int:
        """An integer; `default` when it was not given or is empty."""
        value = self.values.get(name)
        try:
            return default if value in (None, "") else int(str(value))
        except ValueError:
            raise bad(f'invalid parameter "{name}": expected an Integer') from None

    def json(self, name: str) -> object:
        """Decoded JSON; None when it was not given or is empty."""
        value = self.values.get(name)
        if not isinstance(value, str):
            return value
        if not value.strip():
            return None
        try:
            return json.loads(value)
        except ValueError:
            raise bad(f"can't parse {name.replace('_', ' ')} JSON object") from None

    def record(self, name: str) -> Mapping[str, object] | None:
        """A decoded JSON object; None when it was not given."""
        value = self.json(name)
        if value is None or isinstance(value, dict):
            return value
        raise bad(f"object expected as {name.replace('_', ' ')}")

    def upload(self, name: str) -> web.FileField | None:
        """The file of a parameter: uploaded in its own field, or referenced with attach://."""
        if name in self.uploads:
            return self.uploads[name]
        return self.uploads.get((self.text(name) or "").removeprefix("attach://"))


async def read_params(request: web.Request) -> Params:
    """All parameters of the request; the body overrides the query string."""
    values: dict[str, object] = dict(request.query)
    uploads: dict[str, web.FileField] = {}
    if request.content_type == "application/json":
        values.update(await _json_body(request))
    elif request.can_read_body:
        for name, value in (await request.post()).items():
            if isinstance(value, web.FileField):
                uploads[name] = value
            else:
                values[name] = value.decode() if isinstance(value, bytes | bytearray) else value
    return Params(values=values, uploads=uploads)


async def _json_body(request: web.Request) -> Mapping[str, object]:
    try:
        body = json.loads(await request.text() or "{}")
    except ValueError:
        raise bad("can't parse JSON object") from None
    if not isinstance(body, dict):
        raise Refused("Bad Request: expected an Object")
    return body
