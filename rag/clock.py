"""Today's date for prompts and filters.

In: nothing. Out: a date. Stages take it as an argument, so that a test can choose the day.
"""

from datetime import UTC, date, datetime


def today_utc() -> date:
    """The day in UTC: people of one base live in several time zones, and a bot does not know theirs."""
    return datetime.now(UTC).date()
