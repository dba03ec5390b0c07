"""How long a service asks to be left alone.

In: the value of a `Retry-After` header (RFC 9110, 10.2.3). Out: seconds. It waits for nothing itself.
"""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


def retry_after_s(value: str | None, *, now: datetime) -> float | None:
    """Seconds from `now`, never negative: a number, or an HTTP date; None when there is none or it is unreadable."""
    if not value:
        return None
    if value.strip().isdecimal():
        return float(value)
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    return max(0.0, (moment.replace(tzinfo=moment.tzinfo or UTC) - now).total_seconds())
