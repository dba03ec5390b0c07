"""A process that tells webhooks, for `test_webhooks` to kill.

In: the address of a database, and the host and port that may be told though they lie inside. Out: requests; its log on
standard error.
"""

import asyncio
import logging
import sys

from adapters import webhooks
from adapters.database.postgres import open_postgres
from adapters.database.stores.intake import WebhookStore
from ingestion.fetch.guard import AddressGuard


async def main(url: str, allowed: str) -> None:
    """Until it is killed."""
    guard = AddressGuard(allow_hosts=frozenset({allowed}))
    async with open_postgres(url, pool_size=2, timeout_s=30) as transport:
        await webhooks.tell_webhooks(WebhookStore(transport), guard, asyncio.Event(), every_s=0.1)


if __name__ == "__main__":
    logging.basicConfig(level=logging.DEBUG)
    webhooks.HOLD_S = 1.0
    asyncio.run(main(sys.argv[1], sys.argv[2]))
