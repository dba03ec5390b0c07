"""The process that finds names, with its real models."""

import os
import signal

import pytest

from adapters.name_finder import ENTRY, NatashaFinder
from ingestion.entities.records import EntityType
from ingestion.errors import ServiceError
from tests.processes import confined

TEXT = (
    "Вчера Дмитрия Иванова приняли в компанию Aston в Казани.\n\n"
    "Вместе с Сергеем Королёвым он учился в Казанском федеральном университете."
)


async def test_names_come_in_the_first_case_with_their_places() -> None:
    async with NatashaFinder() as finder:
        found = {mention.of.name: mention for mention in await finder.find(TEXT)}

    assert {name: mention.of.type for name, mention in found.items()} == {
        "Дмитрий Иванов": EntityType.PERSON,
        "Aston": EntityType.ORGANIZATION,
        "Казань": EntityType.PLACE,
        "Сергей Королёв": EntityType.PERSON,
        "Казанский федеральный университет": EntityType.ORGANIZATION,
    }
    assert all(TEXT[mention.at :][:3].lower() == name[:3].lower() for name, mention in found.items())


async def test_a_process_that_dies_is_a_service_away_and_begins_anew() -> None:
    async with NatashaFinder() as finder:
        await finder.find(TEXT)
        (process,) = confined(ENTRY)
        os.kill(process, signal.SIGKILL)
        with pytest.raises(ServiceError):
            await finder.find(TEXT)
        assert await finder.find(TEXT)
