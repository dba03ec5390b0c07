"""The stores under test. Out: `stores`, the same over both transports."""

import pytest

from adapters.database.stores import Stores
from adapters.database.transport import Transport


@pytest.fixture
def stores(transport: Transport) -> Stores:
    """All stores, empty."""
    return Stores(transport)
