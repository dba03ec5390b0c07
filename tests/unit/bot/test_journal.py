"""The log: where things happened, and nothing that people wrote."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from bot.journal import configure_logging
from domain.errors import DatabaseAway

SECRET = "паспорт 4509 123456"


@pytest.fixture
def log_file(tmp_path: Path) -> Iterator[Path]:
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    configure_logging(tmp_path, level="INFO", style="text", destination="file")
    yield tmp_path / "baza.log"
    for handler in root.handlers:
        handler.close()
    root.handlers, root.level = before, level
    structlog.reset_defaults()


def _break(cause: Exception, trouble: Exception) -> None:
    try:
        try:
            raise cause
        except Exception as error:
            raise trouble from error
    except Exception:
        structlog.get_logger().exception("document_broke", document="d-1")


def test_the_messages_of_foreign_exceptions_are_left_out(log_file: Path) -> None:
    _break(ValueError(SECRET), DatabaseAway("add_chunks: no answer in 30 s"))
    written = log_file.read_text(encoding="utf-8")
    assert SECRET not in written
    assert "ValueError" in written


def test_our_own_exceptions_say_what_they_have_to_say(log_file: Path) -> None:
    _break(ValueError(SECRET), DatabaseAway("add_chunks: no answer in 30 s"))
    assert "domain.errors.DatabaseAway: add_chunks: no answer in 30 s" in log_file.read_text(encoding="utf-8")


def test_the_place_is_named(log_file: Path) -> None:
    _break(KeyError(SECRET), RuntimeError(SECRET))
    assert "in _break" in log_file.read_text(encoding="utf-8")


def test_a_library_that_logs_an_exception_is_treated_alike(log_file: Path) -> None:
    try:
        raise ValueError(SECRET)
    except ValueError:
        logging.getLogger("aiohttp.server").exception("Error handling request")
    written = log_file.read_text(encoding="utf-8")
    assert "Error handling request" in written
    assert SECRET not in written
