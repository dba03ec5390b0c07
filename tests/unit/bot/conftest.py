"""Logs of the bot are kept from the terminal; a test that looks at them names the fixture."""

from collections.abc import Iterator

import pytest
import structlog
from structlog.typing import EventDict


@pytest.fixture(autouse=True)
def logged() -> Iterator[list[EventDict]]:
    """Events logged during the test."""
    with structlog.testing.capture_logs() as events:
        yield events
