"""Why a document was not read, as a sentence.

In: a document's error code and parameters, as the database keeps them. Out: HTML from `locales/*/errors.ftl`.
Parameters that an older row lacks are filled, so that a sentence can always be shown.
"""

from collections.abc import Mapping
from datetime import datetime

from bot.replies.names import name_of, shortened
from bot.texts import Value, Words
from domain.documents import DocumentCard, SourceType, known_as
from domain.locator import JsonValue
from ingestion.errors import FailureCode

NAME_CHARACTERS = 80
SEARCH_SERVICES = frozenset({"jina", "embedder"})  # their names mean nothing to people


def failure_sentence(document: DocumentCard, words: Words, *, plain: bool = False) -> str:
    """The sentence for the document's error, or the one for INTERNAL when this version does not know the code.

    As HTML, or `plain` for a terminal.
    """
    code = document.error_code if document.error_code in _CODES else FailureCode.INTERNAL.value
    key = f"error-{code}"
    fill = words.plain if plain else words
    return fill(key, **{name: _value(name, document, words) for name in words.variables(key)})


def service_name(params: Mapping[str, JsonValue], words: Words) -> str:
    """The service that is away, in the person's words."""
    name = params.get("service")
    if not isinstance(name, str) or name.lower() in SEARCH_SERVICES:
        return words.plain("service-search")
    return words.plain("service-named", name=name)


_CODES = frozenset(code.value for code in FailureCode)


def _value(name: str, document: DocumentCard, words: Words) -> Value:
    given = document.error_params.get(name)
    if name == "service":
        return service_name(document.error_params, words)
    if name == "created_at":
        return moment_of(given) or document.created_at
    if name == "title":
        return _shown(_title(document))
    if isinstance(given, int | float):
        return given
    if given is None or given in ("", document.source_identifier):  # a voice message has no name of its own
        return _shown(name_of(document))
    return _shown(str(given))


def _title(document: DocumentCard) -> str:
    """The name of the document that was there first, as its own messages show it. Rows of earlier versions of Baza have
    only its title."""
    first = document.error_params
    title, identifier = str(first.get("title") or ""), first.get("source_identifier")
    if isinstance(identifier, str):
        title = known_as(SourceType(str(first["source_type"])), title, identifier)
    return title or name_of(document)


def moment_of(value: JsonValue) -> datetime | None:
    """What a failure names as its moment, if it does."""
    try:
        return datetime.fromisoformat(str(value))
    except ValueError:
        return None


def _shown(text: str) -> str:
    return shortened(text, NAME_CHARACTERS)
