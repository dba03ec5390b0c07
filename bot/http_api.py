"""The HTTP API's services, made of the parts. Part of the composition root (`bot.app`).

In: the parts, the texts, API_HOST and API_PORT. Out: the address of the API while a context is open. `api` knows
nothing of this package; what it says to people comes from the locales through `say` and `worded`.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime

from adapters.webhooks import new_secret
from api.access import ApiServices
from api.app import build_api, serving
from bot.app import MEGABYTE, Parts
from bot.replies.answers import in_words
from bot.replies.names import failure_sentence
from bot.services import day_bounds
from bot.texts import Texts
from domain.people import Caller
from ingestion.fetch.guard import AddressGuard
from rag.addresses import defanged
from rag.records import Answer


@asynccontextmanager
async def served_api(parts: Parts, texts: Texts, *, port: int, wake: Callable[[], None]) -> AsyncIterator[str]:
    """Raises OSError when the port is taken."""
    async with serving(build_api(_services(parts, texts, wake)), host=parts.settings.api.host, port=port) as address:
        yield address


def _services(parts: Parts, texts: Texts, wake: Callable[[], None]) -> ApiServices:
    parts = parts.for_people()
    settings, stores = parts.settings, parts.stores
    guard = AddressGuard(allow_hosts=settings.worker.fetch_allow_hosts)

    token_cost = settings.api.daily_cost or None

    async def token_spent_until(caller: Caller) -> datetime | None:
        if token_cost is None:
            return None
        return (await stores.library.spent_in_a_day(caller.payer, cost=token_cost, token=caller.token)).until

    def worded(answer: Answer, language: str) -> str:
        words = texts.for_language(language)
        said = in_words(answer, words)
        text = "\n\n".join(filter(None, (said.text, said.passages)))
        nothing = words.plain("answer-nothing" if answer.searched else "answer-unsearched")
        return defanged(text, answer.addresses) or nothing

    return ApiServices(
        stores=stores,
        storage=parts.kept_files,
        file_bytes=settings.worker.file_mb * MEGABYTE,
        bytes_per_day=settings.api.upload_mb * MEGABYTE,
        kept_bytes=settings.api.kept_mb * MEGABYTE,
        new_secret=new_secret,
        check_address=guard.check_url,
        passages=parts.retrieval(),
        conversation=parts.conversation(),
        frugal_conversation=parts.frugal_conversation(),
        bounds_of=lambda caller: replace(day_bounds(settings, caller.payer), token_cost=token_cost),
        token_spent_until=token_spent_until,
        turn_ended=parts.measures.turn_ended,
        worded=worded,
        say=lambda language, key: texts.for_language(language).plain(key),
        failure=lambda card, language: failure_sentence(card, texts.for_language(language), plain=True),
        wake=wake,
        default_language=settings.answer.interface_language,
        requests_per_minute=settings.api.requests_per_minute,
    )
