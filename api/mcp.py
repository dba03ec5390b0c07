"""MCP over streamable HTTP, stateless: the tools `search`, `fetch`, `ask` and `add` for one base, or, with a token that
opens all of a person's, for the one that the argument `base` names.

In: a JSON-RPC message, a token with it. Out: its result as JSON. No session is kept, so any process may answer any
request; `initialize` of clients before 2026-07-28 is answered, too. What the tools give are data of the person's
documents.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from importlib.metadata import version
from typing import Literal, NamedTuple

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from api.access import AnyCaller, Language
from api.bases import DocumentUuid, Search, Strict, Text, callers, names_of, of_base, search
from api.chat import Turns, TurnsOfApp, sources_of
from api.documents import NewDocument, added, show_content
from api.problems import Problem
from domain.people import Caller

VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")  # with `initialize`; the first for unknown ones
STATELESS_VERSION = "2026-07-28"  # with `server/discover`; every request says its version
UNKNOWN_METHOD, WRONG_PARAMETERS = -32601, -32602  # JSON-RPC 2.0, section 5.1
ABOUT = "A person's own documents: `ask` answers with sources, `search` and `fetch` give the texts themselves."

_COMPLETE: dict[str, JsonValue] = {"resultType": "complete"}
_NOT_CACHED: dict[str, JsonValue] = {**_COMPLETE, "ttlMs": 0, "cacheScope": "private"}

router = APIRouter(tags=["MCP"])


class Call(BaseModel):
    """A JSON-RPC message; without an id it is a notification."""

    model_config = ConfigDict(extra="ignore")

    jsonrpc: Literal["2.0"]
    method: str
    id: int | str | None = None
    params: dict[str, JsonValue] = {}


class Fetch(Strict):
    """A document by its id, as `search` gives it."""

    id: DocumentUuid


class Ask(Strict):
    """A question in any language."""

    question: Text


class ToolCall(BaseModel):
    """The parameters of tools/call."""

    name: str
    arguments: dict[str, JsonValue] = {}


@dataclass(frozen=True, kw_only=True)
class Context:
    """Who calls, and what with."""

    caller: Caller
    turns: Turns
    language: str


Arguments = Search | Fetch | Ask | NewDocument


class Tool(NamedTuple):
    """What a client is told of a tool."""

    arguments: type[Arguments]
    about: str
    writes: bool = False


TOOLS: Mapping[str, Tool] = {
    "search": Tool(Search, "Passages of the documents that may answer a query."),
    "fetch": Tool(Fetch, "The whole text of a document."),
    "ask": Tool(Ask, "Answers a question from the documents, with sources."),
    "add": Tool(NewDocument, "Adds a text, or the page behind an address, to the documents.", writes=True),
}


@router.post("/mcp", response_model=None, responses={202: {"description": "A notification was taken"}})
async def receive(call: Call, caller: AnyCaller, turns: TurnsOfApp, language: Language) -> Response:
    """Answers one message."""
    if call.id is None:
        return Response(status_code=HTTPStatus.ACCEPTED)
    context = Context(caller=caller, turns=turns, language=language)
    said: dict[str, JsonValue] = {"error": {"code": UNKNOWN_METHOD, "message": "Method not found"}}
    try:
        if (result := await _answer(call, context)) is not None:
            said = {"result": result}
    except ValidationError:
        said = {"error": {"code": WRONG_PARAMETERS, "message": "Invalid params"}}
    return JSONResponse({"jsonrpc": "2.0", "id": call.id, **said})


async def _answer(call: Call, context: Context) -> dict[str, JsonValue] | None:
    """None for an unknown method."""
    about: dict[str, JsonValue] = {
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "baza", "version": version("baza")},
        "instructions": ABOUT,
    }
    if call.method == "initialize":
        asked = call.params.get("protocolVersion")
        return {**about, "protocolVersion": asked if asked in VERSIONS else VERSIONS[0]}
    if call.method == "server/discover":
        return {**about, **_NOT_CACHED, "supportedVersions": [STATELESS_VERSION, *VERSIONS]}
    if call.method == "ping":
        return {}
    if call.method == "tools/list":
        return {**_NOT_CACHED, "tools": await _told(context)}
    return await _called(ToolCall.model_validate(call.params), context) if call.method == "tools/call" else None


async def _called(asked: ToolCall, context: Context) -> dict[str, JsonValue]:
    """What went wrong inside a tool, or with the base that `base` names, is a result, so that the model can read it."""
    tool = _usable(context).get(asked.name)
    if tool is None:
        return _result({"error": f"there is no tool {asked.name}"}, is_error=True)
    arguments = dict(asked.arguments)
    try:
        if context.caller.opens_all and (base := arguments.pop("base", None)) is not None:
            context = replace(context, caller=await of_base(context.caller, context.turns.services, str(base)))
        if tool.writes and context.caller.is_read_only:
            raise Problem(HTTPStatus.FORBIDDEN)
        return _result(await _done(tool.arguments.model_validate(arguments), context))
    except ValidationError as error:
        return _result({"error": "; ".join(each["msg"] for each in error.errors())}, is_error=True)
    except Problem as problem:
        return _result({"error": context.turns.services.say(context.language, problem.key)}, is_error=True)


def _usable(context: Context) -> dict[str, Tool]:
    """The tools that the token may use."""
    return {name: tool for name, tool in TOOLS.items() if not (tool.writes and context.caller.is_read_only)}


async def _told(context: Context) -> list[JsonValue]:
    """The tools that the token may use; `base` is an argument where it opens several bases."""
    bases = names_of(await callers(context.caller, context.turns.services)) if context.caller.opens_all else []
    told: list[JsonValue] = []
    for name, tool in _usable(context).items():
        schema = tool.arguments.model_json_schema()
        if bases:
            about = f"In which base; without it in {bases[0]}."
            schema["properties"]["base"] = {"type": "string", "enum": [*bases], "description": about}
        told.append({"name": name, "description": tool.about, "inputSchema": schema})
    return told


async def _done(asked: Arguments, context: Context) -> dict[str, JsonValue]:
    """What the tool with these arguments gives."""
    caller, services = context.caller, context.turns.services
    match asked:
        case Search():
            found = await search(asked, caller, services)
            return {
                "results": [
                    {
                        "id": each.document_id,
                        "title": each.title,
                        "text": each.text,
                        "url": each.url or f"urn:uuid:{each.document_id}",
                    }
                    for each in found
                ]
            }
        case Fetch():
            content = await show_content(asked.id, caller, services)
            return {**content.model_dump(), "url": f"urn:uuid:{content.id}"}
        case Ask():  # the client keeps the dialogue
            turn = await context.turns.begin(caller, asked.question, context.language, dialogue=())
            answer = await turn.answer()
            sources: JsonValue = [source.model_dump(mode="json") for source in sources_of(answer)]
            return {"answer": turn.worded(answer), "sources": sources}
        case NewDocument():
            return {"id": (await added(services, caller, asked.source(), context.language)).id}


def _result(value: dict[str, JsonValue], *, is_error: bool = False) -> dict[str, JsonValue]:
    text = json.dumps(value, ensure_ascii=False)
    return {
        **_COMPLETE,
        "content": [{"type": "text", "text": text}],
        "structuredContent": value,
        "isError": is_error,
    }
