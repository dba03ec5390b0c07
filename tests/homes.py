"""Data folders for tests that start Baza as a user does.

Out: a fixture. pytest's own temporary folder is closed to the account that runs root's PostgreSQL, which would then
keep its cluster in /var/lib/baza, where nobody cleans up after a test.
"""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

__all__ = ["fresh_home"]


@pytest.fixture
def fresh_home() -> Iterator[Path]:
    """A folder that does not exist yet, in one that everybody may enter; gone afterwards."""
    around = Path(tempfile.mkdtemp(prefix="baza-home-"))
    around.chmod(0o711)
    yield around / "home"
    shutil.rmtree(around)
