"""How long a document waits for a service, and when it is given up.

In: a ServiceError and the number of this attempt. Out: seconds until the next attempt, or None to give up. Pure;
randomness comes in as an argument.
"""

from ingestion.errors import FailureCode, ServiceError

LONGEST_S = 3600.0
REFUSED_S = 600.0  # a wrong key or an empty balance waits for a person; asking often does not help
JITTER = 0.2  # spreads the retries of documents that failed together

_PAGE_ATTEMPTS = 3  # the person is watching, and a site that is down now mostly stays down for long
_ATTEMPTS = {
    FailureCode.PAGE_NOT_FOUND_HOST: _PAGE_ATTEMPTS,
    FailureCode.PAGE_UNREACHABLE: _PAGE_ATTEMPTS,
    FailureCode.PAGE_STATUS: _PAGE_ATTEMPTS,
    FailureCode.PAGE_TOO_SLOW: _PAGE_ATTEMPTS,
}


def next_attempt_in_s(
    error: ServiceError, *, attempt: int, attempts: int, backoff_s: float, chance: float
) -> float | None:
    """Seconds until attempt `attempt + 1`; None when this was the last. `chance` is a random number from 0 to 1."""
    if attempt >= min(attempts, _ATTEMPTS.get(error.code, attempts)):
        return None
    if error.retry_after_s is not None:
        return min(error.retry_after_s, LONGEST_S) * (1 + JITTER * chance)  # never sooner than the service asked for
    first_s = max(backoff_s, REFUSED_S) if error.code is FailureCode.SERVICE_REFUSED else backoff_s
    # With 2 ** 30 any first pause exceeds an hour; higher powers would only overflow.
    return min(first_s * 2.0 ** min(attempt - 1, 30), LONGEST_S) * (1 + JITTER * (2 * chance - 1))
