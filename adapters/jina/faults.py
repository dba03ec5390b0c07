"""What a call of Jina can end with, and its two translations: for ingestion and for a turn.

In: statuses and bodies of refusals. Out: `JinaFault`, then errors of `ingestion.errors` or `rag.errors`. No text of a
document gets into a message: providers quote what they were sent, so quoted parts are left out.
"""

import json
import re
from enum import StrEnum

import httpx

from ingestion.errors import FailureCode, ServiceError, WindowTooLarge
from rag.errors import ModelAway, ModelError, ModelNonsense, ModelRefused

SERVICE = "Jina"
LONGEST_DETAIL = 200  # characters

_REFUSALS = frozenset({401, 402, 403})  # a spent balance comes as 403 AUTHZ_INSUFFICIENT_BALANCE
_AWAY = frozenset({408, 425, 429})  # and every 5xx
_LENGTH_REFUSALS = frozenset({400, 413, 422})
# "Single text cannot exceed 8192 tokens. N tokens given.", "input length is larger than the largest allowed size 2048"
_TOO_LONG = re.compile(r"\d+ tokens|too long|cannot exceed|larger than the largest|maximum (?:context|length)", re.I)
_QUOTED = re.compile(r"\"[^\"]*\"?|(?<!\w)'[^']*'?|«[^»]*»?|“[^”]*”?|`[^`]*`?")


class Fate(StrEnum):
    """What can be done about a fault."""

    AWAY = "away"  # try again later
    REFUSED = "refused"  # the key or the balance: somebody has to mend it
    TOO_LONG = "too long"  # ask for less
    REJECTED = "rejected"  # the request itself is wrong, or the model's name
    NONSENSE = "nonsense"  # an answer that is not what was asked for


class JinaFault(Exception):
    """Jina did not do what it was asked."""

    def __init__(self, fate: Fate, detail: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(f"{fate}: {detail}")
        self.fate = fate
        self.detail = detail
        self.retry_after_s = retry_after_s


def fault_of(response: httpx.Response, *, retry_after_s: float | None) -> JinaFault:
    """The fault that a response other than 2xx tells of."""
    said = explain(response.content)
    detail = f"HTTP {response.status_code} {said}".strip()
    return JinaFault(_fate(response.status_code, said), detail, retry_after_s=retry_after_s)


def _fate(status: int, said: str) -> Fate:
    if status in _REFUSALS:
        return Fate.REFUSED
    if status in _AWAY or status >= 500:
        return Fate.AWAY
    if status in _LENGTH_REFUSALS and _TOO_LONG.search(said):
        return Fate.TOO_LONG
    return Fate.REJECTED


def explain(body: bytes) -> str:
    """What an error's body says, in one line: `code`, `detail` (a sentence or FastAPI's list) or `error.message`."""
    try:
        parsed = json.loads(body)
    except ValueError:
        return ""
    if not isinstance(parsed, dict):
        return ""
    error = parsed.get("error")
    message = error.get("message") if isinstance(error, dict) else error
    words = [_sentence(said) for said in (parsed.get("code"), parsed.get("detail"), message) if said]
    return _QUOTED.sub("…", " ".join(words))[:LONGEST_DETAIL]


def _sentence(said: object) -> str:
    """Of FastAPI's list only places and messages: its `input` is the text that was sent."""
    if isinstance(said, list):
        return "; ".join(_problem(problem) for problem in said if isinstance(problem, dict))
    return said if isinstance(said, str) else ""


def _problem(problem: dict[str, object]) -> str:
    place = problem.get("loc")
    path = ".".join(str(part) for part in place) if isinstance(place, list) else ""
    return f"{path}: {problem.get('msg', '')}"


def as_ingestion_error(fault: JinaFault) -> Exception:
    """WindowTooLarge, or a ServiceError: the document is kept and tried again."""
    if fault.fate is Fate.TOO_LONG:
        return WindowTooLarge(fault.detail)
    code = _FAILURE_CODES.get(fault.fate, FailureCode.SERVICE_AWAY)
    return ServiceError(code, retry_after_s=fault.retry_after_s, detail=fault.detail, service=SERVICE)


def as_model_error(fault: JinaFault) -> ModelError:
    """For a turn, which goes on without the model. A request that is wrong stays wrong until somebody mends it."""
    return _MODEL_ERRORS.get(fault.fate, ModelRefused)(f"{SERVICE}: {fault.detail}")


_FAILURE_CODES = {Fate.REFUSED: FailureCode.SERVICE_REFUSED, Fate.REJECTED: FailureCode.INTERNAL}
_MODEL_ERRORS: dict[Fate, type[ModelError]] = {Fate.AWAY: ModelAway, Fate.NONSENSE: ModelNonsense}
