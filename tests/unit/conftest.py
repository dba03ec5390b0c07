"""Unit tests never open a connection: a socket to anywhere is an error."""

import pytest
from pytest_socket import disable_socket


@pytest.fixture(autouse=True)
def _no_network() -> None:
    """Unix sockets stay allowed: the event loop itself needs a pair of them."""
    disable_socket(allow_unix_socket=True)
