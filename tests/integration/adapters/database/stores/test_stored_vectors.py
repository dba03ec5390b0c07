"""What stands in the database of the vectors that a worker has sent.

In: passages with vectors of their own, one without. Out: the rows, over both transports.
"""

import json

import numpy as np
import pytest

from adapters.database.payloads import DIMENSIONS
from adapters.database.stores import Stores
from domain.ids import UserId
from tests.integration.adapters.database.stores.material import ask, claim_new, indexed, open_base, parsed

STORED = "select embedding::text from documents_chunks order by ordinal"


@pytest.mark.over_rest
async def test_each_passage_has_its_own_vector_padded_or_none(stores: Stores, database_url: str) -> None:
    held = await claim_new(stores, await open_base(stores, UserId(1)))
    vectors: list[list[float]] = [[0.1, -0.25, 1 / 3], [], [float(np.float32(0.7))] * DIMENSIONS]
    await stores.work.store_blocks(held, parsed=parsed("раз"), chunks=4)
    chunks = [indexed(ordinal, "раз", vector=vector) for ordinal, vector in enumerate(vectors)]
    await stores.work.add_chunks(held, chunks=chunks)
    await stores.work.publish(held, chunks=4, last=[indexed(3, "два", vector=[])])
    first, none, whole, last = (row[0] for row in ask(database_url, STORED))
    assert json.loads(str(first)) == pytest.approx([*vectors[0], *[0] * (DIMENSIONS - 3)], rel=0.001)
    assert json.loads(str(whole)) == pytest.approx(vectors[2], rel=0.001)
    assert (none, last) == (None, None)
