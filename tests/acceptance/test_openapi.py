"""The API keeps to what its OpenAPI says, whatever is sent (schemathesis), and says what is away."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from hypothesis import HealthCheck, Phase, given
from hypothesis import settings as hypothesis_settings

from bot.settings import Settings
from tests.acceptance.conftest import Start
from tests.acceptance.test_api import fill, token_for
from tests.ports import free_port

if TYPE_CHECKING:
    from schemathesis import Case
    from schemathesis.schemas import APIOperation, BaseSchema

BY_MEANING = (
    "POST /rags/{base}/documents",
    "PUT /rags/{base}/documents/{document}",
    "POST /rags/{base}/webhooks",
    "POST /v1/chat/completions",
)
"""They refuse, beyond what a schema can say, addresses that are none and forms or questions without content."""

CASES = 12  # of each endpoint
SLOW = hypothesis_settings(
    max_examples=CASES,
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)


def check_endpoints(schema: "BaseSchema", address: str, token: str, base: str) -> list[str]:
    """What the endpoints do against their description."""
    from schemathesis.core.result import Ok

    found = [each.ok() for each in schema.get_all_operations() if isinstance(each, Ok)]
    assert len(found) > 15
    return [problem for operation in found for problem in problems_of(operation, address, token, base)]


def problems_of(operation: "APIOperation[Any, Any, Any, Any]", address: str, token: str, base: str) -> list[str]:
    """Those of one endpoint, in words."""
    from schemathesis.specs.openapi.checks import positive_data_acceptance

    wrong: list[str] = []
    headers = {"Authorization": f"Bearer {token}"}
    excluded: list[Any] = [positive_data_acceptance] if operation.label in BY_MEANING else []

    @SLOW
    @given(case=operation.as_strategy())
    def check(case: "Case[Any]") -> None:
        if "base" in case.path_parameters:
            case.path_parameters["base"] = base
        response = case.call(base_url=address, headers=headers)
        try:
            case.validate_response(response, headers=headers, excluded_checks=excluded)
        except (AssertionError, BaseExceptionGroup) as error:
            wrong.extend(f"{operation.label}: {part}" for part in getattr(error, "exceptions", [error]))

    check()
    return wrong


@pytest.mark.filterwarnings("ignore:Do not use the `random` module")  # the server does, in this process
async def test_every_endpoint_keeps_to_its_description(
    start: Start, settings: Settings, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    import schemathesis  # here and not above: a second for every process that collects

    await fill(settings, tmp_path)
    token, base = await token_for(settings, capsys, "work")
    port = free_port()
    async with start(API_PORT=str(port), API_REQUESTS_PER_MINUTE="1000000"):
        address = f"http://127.0.0.1:{port}"
        async with httpx.AsyncClient() as client:
            described = (await client.get(f"{address}/openapi.json")).json()
        schema = schemathesis.openapi.from_dict(described)
        assert await asyncio.to_thread(check_endpoints, schema, address, token, base) == []
