"""The same over both transports, as the stores call: nothing of another base comes back, and nothing of it changes.

What a call does stays done here. Functions that change nothing come first, so that they meet all that the bases hold.
"""

import itertools
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from adapters.database.transport import Transport
from tests.integration.canaries.catalog import Catalog
from tests.integration.canaries.hiding import CARELESS, Canary, Content, hide, some_bases

FEW = settings(
    max_examples=1,  # of functions asked one by one: hundreds of calls
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


ENDS_CALLER = "forget_person"  # asked in `test_functions`, which undoes each call


@dataclass(frozen=True, kw_only=True)
class Stranger:
    """Asks over a transport for what is another's, with a filter and without one."""

    transport: Transport
    catalog: Catalog
    crossed: set[str] = field(default_factory=set)

    async def ask(self, caller: Canary, canary: Canary) -> None:
        """Every function of the stores, by all that the caller has and all that is known of the canary."""
        before = self.catalog.contents(canary)
        for name in filter((self.catalog.of_stores - {ENDS_CALLER}).__contains__, self.catalog.functions):
            if await self._is_told(name, caller, canary) or self.catalog.contents(canary) != before:
                self.crossed.add(name)
                before = self.catalog.contents(canary)

    async def _is_told(self, name: str, caller: Canary, canary: Canary) -> bool:
        for filtered in (True, False):
            for arguments in self.catalog.calls(name, caller, canary, filtered=filtered):
                if canary.is_told_by(await self.transport.call(name, timeout_s=None, **arguments)):
                    return True
        return False


@pytest.mark.over_rest
@pytest.mark.usefixtures("every_base_is_large")
@FEW
@given(bases=some_bases)
async def test_no_call_crosses_between_bases_with_segments(
    catalog: Catalog, transport: Transport, bases: list[Content]
) -> None:
    canaries = await hide(transport, bases)
    stranger = Stranger(transport=transport, catalog=catalog)
    for canary, caller in itertools.permutations(canaries, 2):
        await stranger.ask(caller, canary)
    assert stranger.crossed == set()


async def test_a_careless_new_function_is_found_out(catalog: Catalog, transport: Transport) -> None:
    catalog.connection.execute(CARELESS)  # before anything is called: PostgREST looks once at what there is
    canary, caller = await hide(transport, [[[["слово"]]], [[["слово"]]]])
    stranger = Stranger(transport=transport, catalog=Catalog.read(catalog.connection))
    await stranger.ask(caller, canary)
    assert stranger.crossed == {"title_of", "forget", "said"}
