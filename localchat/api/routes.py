"""The route of the Bot API: /bot<token>/<method>. In: any HTTP call of a client. Out: the envelope with `ok`.

Method names are case-insensitive, as on the live service. Only this module turns refusals into JSON for the bot.
"""

import hmac

from aiohttp import web

from localchat.api import media, messages, profile, updates
from localchat.api.call import Call, Method, read_params
from localchat.checks import Refused
from localchat.exchange import Exchange

_FAMILIES = (messages.METHODS, media.METHODS, updates.METHODS, profile.METHODS)
METHODS: dict[str, Method] = {name.lower(): method for family in _FAMILIES for name, method in family.items()}


class BotApi:
    """One bot's API over an exchange."""

    def __init__(self, exchange: Exchange, token: str) -> None:
        self._exchange = exchange
        self._token = token

    def routes(self) -> list[web.RouteDef]:
        return [
            web.route("*", "/bot{token:[^/]+}/{method}", self._answer),
            web.get("/file/bot{token:[^/]+}/{path:.+}", media.file_route(self._exchange, self._token)),
        ]

    async def _answer(self, request: web.Request) -> web.Response:
        try:
            result = await self._carry_out(request)
        except Refused as refusal:
            return _refusal(refusal)
        except web.HTTPRequestEntityTooLarge:
            return _refusal(Refused("Request Entity Too Large", code=413))
        return web.json_response({"ok": True, "result": result})

    async def _carry_out(self, request: web.Request) -> object:
        if not hmac.compare_digest(request.match_info["token"].encode(), self._token.encode()):
            raise Refused("Unauthorized", code=401)
        name = request.match_info["method"].lower()
        method = METHODS.get(name)
        if method is None:
            raise Refused("Not Found", code=404)
        return await method(Call(params=await read_params(request), exchange=self._exchange))


def _refusal(refusal: Refused) -> web.Response:
    body: dict[str, object] = {"ok": False, "error_code": refusal.code, "description": refusal.description}
    if refusal.retry_after is not None:
        body["parameters"] = {"retry_after": refusal.retry_after}
    return web.json_response(body, status=refusal.code)
