"""A document, or the reason why there is none, as JSON lines: how results leave the parsing process.

In: `Document` or `SourceError`. Out: bytes; and back. The reading side trusts nothing: whatever is not of the right
shape raises ValueError, and no code is ever loaded (no pickle).
"""

import json
from collections.abc import Mapping
from datetime import datetime

from domain.locator import JsonValue, Locator
from ingestion.errors import FailureCode, SourceError
from ingestion.records import Block, BlockKind, Document

FILE_FAILURES = "file-"
FAILURE_PARAMS = frozenset({"name", "seconds", "limit_mb"})  # of FailureCode.FILE_*

JsonObject = Mapping[str, JsonValue]


def encode_document(document: Document) -> bytes:
    """One line of JSON. Lone surrogates, which UTF-8 cannot carry, become question marks."""
    content: dict[str, JsonValue] = {
        "title": document.title,
        "blocks": [_block_to_json(block) for block in document.blocks],
        "pages": document.pages,
        "pages_without_text": list(document.pages_without_text),
        "language": document.language,
        "author": document.author,
        "published_at": document.published_at.isoformat() if document.published_at else None,
    }
    return _encode({"document": content})


def encode_failure(error: SourceError) -> bytes:
    """One line of JSON."""
    return _encode({"failure": {"code": error.code.value, "params": dict(error.params), "detail": error.detail}})


def decode_result(line: bytes) -> Document:
    """The document. Raises the SourceError that the line carries, or ValueError when it is neither."""
    try:
        message = _object(json.loads(line))
        if "failure" not in message:
            return _document_from_json(_object(message.get("document")))
        failure = _failure_from_json(_object(message["failure"]))
    except (RecursionError, OverflowError) as error:  # brackets without end, numbers without end
        raise ValueError("not a result of ours") from error
    raise failure


def _encode(message: JsonObject) -> bytes:
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", errors="replace") + b"\n"


def _block_to_json(block: Block) -> dict[str, JsonValue]:
    return {"kind": block.kind.value, "text": block.text, "locator": block.locator.to_json(), "level": block.level}


def _document_from_json(content: JsonObject) -> Document:
    published_at = _optional_text(content.get("published_at"))
    return Document(
        title=_text(content.get("title")),
        blocks=tuple(_block_from_json(_object(block)) for block in _list(content.get("blocks"))),
        pages=_optional_integer(content.get("pages")),
        pages_without_text=tuple(_integer(page) for page in _list(content.get("pages_without_text"))),
        language=_optional_text(content.get("language")),
        author=_optional_text(content.get("author")),
        published_at=datetime.fromisoformat(published_at) if published_at else None,
    )


def _block_from_json(block: JsonObject) -> Block:
    return Block(
        kind=BlockKind(_text(block.get("kind"))),
        text=_text(block.get("text")),
        locator=Locator.from_json(_object(block.get("locator"))),
        level=_optional_integer(block.get("level")),
    )


def _failure_from_json(failure: JsonObject) -> SourceError:
    code = FailureCode(_text(failure.get("code")))
    if not code.value.startswith(FILE_FAILURES):
        raise ValueError("a parser can only speak of its file")
    params = {key: value for key, value in _object(failure.get("params")).items() if key in FAILURE_PARAMS}
    return SourceError(code, detail=_text(failure.get("detail")), **params)


def _object(value: object) -> JsonObject:
    if not isinstance(value, dict):
        raise ValueError("an object was expected")
    return value


def _list(value: JsonValue) -> list[JsonValue]:
    if not isinstance(value, list):
        raise ValueError("a list was expected")
    return value


def _text(value: JsonValue) -> str:
    if not isinstance(value, str):
        raise ValueError("a text was expected")
    return value.replace("\0", "").encode("utf-8", errors="replace").decode()  # what PostgreSQL can hold


def _integer(value: JsonValue) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError("a whole number was expected")
    return value


def _optional_text(value: JsonValue) -> str | None:
    return None if value is None else _text(value)


def _optional_integer(value: JsonValue) -> int | None:
    return None if value is None else _integer(value)
