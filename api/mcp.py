"""MCP over streamable HTTP, stateless: the tools `search`, `fetch`, `ask` and `add` for one base, or, with a token that
opens all of a person's, for the one that the argument `base` names.

In: a JSON-RPC message, a token with it. Out: its result as JSON. No session is kept, so any process may answer any
request; `initialize` of clients before 2026-07-28 is answered, too. What the tools give are data of the person's
documents.
"""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from importlib.metadata import version
from typing import Literal

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from api.access import AnyCaller, Language, Services
from api.bases import DocumentUuid, Search, Strict, Text, callers, found_by, names_of, of_base
from api.chat import Turns, TurnsOfApp, sources_of
from api.documents import NewDocument, added, content_of
from api.problems import Problem
from api.services import ApiServices
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
    services: ApiServices
    turns: Turns
    language: str


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A tool: what a client is told of it, and what it does."""

    about: str
    arguments: type[BaseModel]
    run: Callable[[Context, Mapping[str, JsonValue]], Awaitable[dict[str, JsonValue]]]
    writes: bool = False


@router.post("/mcp", response_model=None, responses={202: {"description": "A notification was taken"}})
async def receive(call: Call, caller: AnyCaller, services: Services, turns: TurnsOfApp, language: Language) -> Response:
    """Answers one message."""
    if call.id is None:
        return Response(status_code=HTTPStatus.ACCEPTED)
    context = Context(caller=caller, services=services, turns=turns, language=language)
    try:
        result = await _answer(call, context)
    except ValidationError:
        return _failed(call, WRONG_PARAMETERS, "Invalid params")
    if result is None:
        return _failed(call, UNKNOWN_METHOD, "Method not found")
    return JSONResponse({"jsonrpc": "2.0", "id": call.id, "result": result})


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
        opened = await callers(context.caller, context.services) if context.caller.opens_all else []
        tools = [_told(name, tool, names_of(opened)) for name, tool in _usable(context).items()]
        return {**_NOT_CACHED, "tools": tools}
    return await _called(ToolCall.model_validate(call.params), context) if call.method == "tools/call" else None


async def _called(asked: ToolCall, context: Context) -> dict[str, JsonValue]:
    """What went wrong inside a tool, or with the base that `base` names, is a result, so that the model can read it."""
    tool = _usable(context).get(asked.name)
    if tool is None:
        return _result({"error": f"there is no tool {asked.name}"}, is_error=True)
    arguments = dict(asked.arguments)
    try:
        if context.caller.opens_all and (base := arguments.pop("base", None)) is not None:
            context = replace(context, caller=await of_base(context.caller, context.services, str(base)))
        if tool.writes and context.caller.is_read_only:
            raise Problem(HTTPStatus.FORBIDDEN)
        return _result(await tool.run(context, arguments))
    except ValidationError as error:
        return _result({"error": "; ".join(each["msg"] for each in error.errors())}, is_error=True)
    except Problem as problem:
        return _result({"error": context.services.say(context.language, problem.key)}, is_error=True)


def _usable(context: Context) -> dict[str, Tool]:
    """The tools that the token may use."""
    return {name: tool for name, tool in TOOLS.items() if not (tool.writes and context.caller.is_read_only)}


async def _search(context: Context, arguments: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    found = await found_by(Search.model_validate(arguments), context.caller, context.services)
    return {
        "results": [
            {
                "id": passage.document_id,
                "title": passage.title,
                "text": passage.text,
                "url": passage.locator.url or passage.url or f"urn:uuid:{passage.document_id}",
            }
            for passage in (each.passage for each in found)
        ]
    }


async def _fetch(context: Context, arguments: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    document = Fetch.model_validate(arguments).id
    content = await content_of(context.services, context.caller.base, document)
    return {"id": content.id, "title": content.title, "text": content.text, "url": f"urn:uuid:{content.id}"}


async def _ask(context: Context, arguments: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    question = Ask.model_validate(arguments).question
    turn = await context.turns.begin(context.caller, question, context.language, dialogue=())  # the client keeps it
    answer = await turn.answer()
    sources: JsonValue = [source.model_dump(mode="json") for source in sources_of(answer)]
    return {"answer": turn.worded(answer), "sources": sources}


async def _add(context: Context, arguments: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    source = NewDocument.model_validate(arguments).source()
    return {"id": (await added(context.services, context.caller, source, context.language)).id}


TOOLS: Mapping[str, Tool] = {
    "search": Tool(about="Passages of the documents that may answer a query.", arguments=Search, run=_search),
    "fetch": Tool(about="The whole text of a document.", arguments=Fetch, run=_fetch),
    "ask": Tool(about="Answers a question from the documents, with sources.", arguments=Ask, run=_ask),
    "add": Tool(
        about="Adds a text, or the page behind an address, to the documents.",
        arguments=NewDocument,
        run=_add,
        writes=True,
    ),
}


def _told(name: str, tool: Tool, bases: Sequence[str]) -> JsonValue:
    schema = tool.arguments.model_json_schema()
    if bases:
        about = f"In which base; without it in {bases[0]}."
        schema["properties"]["base"] = {"type": "string", "enum": [*bases], "description": about}
    return {"name": name, "description": tool.about, "inputSchema": schema}


def _result(value: dict[str, JsonValue], *, is_error: bool = False) -> dict[str, JsonValue]:
    text = json.dumps(value, ensure_ascii=False)
    return {
        **_COMPLETE,
        "content": [{"type": "text", "text": text}],
        "structuredContent": value,
        "isError": is_error,
    }


def _failed(call: Call, code: int, message: str) -> JSONResponse:
    return JSONResponse({"jsonrpc": "2.0", "id": call.id, "error": {"code": code, "message": message}})
