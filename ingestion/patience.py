"""How long a document waits for a service, and when it is given up.

In: a ServiceError and the number of this attempt. Out: seconds until the next, or None to give up. Pure; chance comes
in as an argument.
"""

from ingestion.errors import FailureCode, ServiceError

LONGEST_S = 3600.0
REFUSED_S = 600.0  # a key or a balance is mended by a person, not by asking often
JITTER = 0.2  # so that documents which failed together do not all come back together

_PAGE_ATTEMPTS = 3  # somebody is watching, and a site that is down now is mostly down for long
_ATTEMPTS = {
    FailureCode.PAGE_NOT_FOUND_HOST: _PAGE_ATTEMPTS,
    FailureCode.PAGE_UNREACHABLE: _PAGE_ATTEMPTS,
    FailureCode.PAGE_STATUS: _PAGE_ATTEMPTS,
    FailureCode.PAGE_TOO_SLOW: _PAGE_ATTEMPTS,
}


def next_attempt_in_s(
    error: ServiceError, *, attempt: int, attempts: int, backoff_s: float, chance: float
) -> float | None:
    """Seconds until attempt `attempt + 1`; None when this was the last. `chance` is a number from 0 to 1."""
    if attempt >= min(attempts, _ATTEMPTS.get(error.code, attempts)):
        return None
    if error.retry_after_s is not None:
        return min(error.retry_after_s, LONGEST_S) * (1 + JITTER * chance)  # never sooner than asked for
    first_s = max(backoff_s, REFUSED_S) if error.code is FailureCode.SERVICE_REFUSED else backoff_s
    # 2 ** 30 is beyond an hour from any start; higher powers would only overflow.
    return min(first_s * 2.0 ** min(attempt - 1, 30), LONGEST_S) * (1 + JITTER * (2 * chance - 1))
