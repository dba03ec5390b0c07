"""Tables under answers, over both transports: theirs alone, and gone with the documents they speak of."""

import pytest

from adapters.database.stores import Stores
from domain.documents import SourcedTable
from tests.integration.adapters.database.stores.material import ANNA, open_base, publish

TABLE = SourcedTable(title="Договоры", columns=("Договор", "Источник"), rows=(("Аренда", "а.pdf, стр. 1"),))


async def test_a_table_is_kept_for_its_base(stores: Stores) -> None:
    base = await open_base(stores)
    number = await stores.library.save_table(ANNA, base, TABLE)
    assert await stores.library.read_table(base, number) == TABLE


@pytest.mark.over_rest
async def test_another_base_does_not_have_it(stores: Stores) -> None:
    base = await open_base(stores)
    number = await stores.library.save_table(ANNA, base, TABLE)
    other = await stores.people.open_named_base("other")
    assert await stores.library.read_table(other, number) is None


async def test_it_goes_when_a_document_of_the_base_is_deleted(stores: Stores) -> None:
    base = await open_base(stores)
    document = await publish(stores, base, "Аренда")
    number = await stores.library.save_table(ANNA, base, TABLE)
    assert await stores.library.delete(base, document)
    assert await stores.library.read_table(base, number) is None


async def test_it_goes_when_the_base_is_cleaned(stores: Stores) -> None:
    base = await open_base(stores)
    await publish(stores, base, "Аренда")
    number = await stores.library.save_table(ANNA, base, TABLE)
    await stores.library.clean_base(base)
    assert await stores.library.read_table(base, number) is None
