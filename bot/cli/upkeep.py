"""`baza doctor`, `baza migrate`, `baza page` and `baza token`.

In: settings; the name of a base. Out: a table (service, state, what to do) or JSON; exit code 1 when something that is
configured does not work. Each check makes one small real call. The only change made is migrating an old schema, as at
any start. A token of the HTTP API is printed once, when it is made; only its hash is stored.
"""

import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import datetime
from functools import partial
from typing import Literal, NamedTuple

from adapters.database.embedded import EmbeddedDatabaseError
from adapters.database.migrate import MigrationError, altered_migrations, migrate
from adapters.database.postgres import open_postgres
from adapters.database.stores.people import PeopleStore, TokenStore
from adapters.database.stores.search import SearchStore
from adapters.database.transport import DatabaseAway, DatabaseError
from adapters.local.layout import LocalModelError
from bot.app import Parts, open_parts, open_transport, postgres_url
from bot.cli.content import words_of
from bot.cli.output import Bar, CommandError, print_json, print_line, sentence
from bot.home import LOCALCHAT
from bot.models import describe_recognition, try_speech
from bot.settings import Settings
from bot.texts import Words
from domain.documents import SourceType
from domain.ids import BaseId, ChunkId, DocumentId, UserId
from domain.locator import Locator
from domain.people import new_token, token_hash
from ingestion.errors import IngestionError
from localchat.server import page_url
from rag.ports import ModelError
from rag.records import ChatMessage, Passage
from sandbox.pool import probe_layers

FREE_BYTES = 2**30  # with less than a gigabyte free the embedded database soon cannot write

_PASSAGE = Passage(
    chunk_id=ChunkId(0),
    document_id=DocumentId(""),
    ordinal=0,
    title="",
    source_type=SourceType.NOTE,
    source_identifier="",
    text="Это проверка.",
    locator=Locator(),
)
"""Something to rerank: without a passage the service would not be called at all."""


class Finding(NamedTuple):
    """A line of the table."""

    service: str
    state: Literal["works", "missing", "fails"]  # missing: not configured; Baza works without it
    advice: str


async def apply_migrations(settings: Settings) -> int:
    """`baza migrate`: migrates the schema and builds the search structures of large bases. Exit code 1 when a migration
    was applied with another text. Raises CommandError for a Supabase project, MigrationError, DatabaseAway."""
    words = words_of(settings)
    if settings.database.supabase_url and not settings.database.url:
        raise CommandError(
            "Supabase migrates by its CLI: run `supabase db push`, or set DATABASE_URL for `baza migrate`."
        )
    async with postgres_url(settings) as url:
        with Bar(0, words.plain("cli-migrating")) as shown:
            applied = await migrate(url, told=shown.reach)
        async with open_postgres(url, pool_size=1, timeout_s=settings.database.timeout_s) as transport:
            await SearchStore(transport).ensure_index()
    count = len(applied.migrations)
    print_line(words.plain("cli-migrated", count=count, functions=", ".join(applied.functions) or "none"))
    if applied.altered:
        print_line(words.plain("doctor-altered", versions=", ".join(applied.altered)))
    return int(bool(applied.altered))


async def examine(settings: Settings, *, as_json: bool) -> int:
    """`baza doctor`."""
    findings = [finding async for finding in _findings(settings, words_of(settings))]
    if as_json:
        print_json([finding._asdict() for finding in findings])
    else:
        for finding in findings:
            print_line(f"{finding.service:<12} {finding.state:<8} {finding.advice}")
    return int(any(finding.state == "fails" for finding in findings))


async def _findings(settings: Settings, words: Words) -> AsyncIterator[Finding]:
    folder = next(folder for folder in (settings.home, *settings.home.parents) if folder.exists())
    free = shutil.disk_usage(folder).free
    yield Finding("data", "works" if free > FREE_BYTES else "fails", f"{settings.home} · {free / 2**30:.1f} GB")
    layers = await probe_layers()  # that confine the processes that read strangers' files
    held, lacking = (", ".join(name for name, holds in layers.items() if holds is wanted) for wanted in (True, False))
    if lacking:
        advice = words.plain("doctor-sandbox-lacks", held=held or "—", lacking=lacking)
        yield Finding("sandbox", "missing", advice)
    else:
        yield Finding("sandbox", "works", words.plain("doctor-sandbox-holds", held=held))
    recognition = describe_recognition(settings)
    yield Finding("pictures", "works" if recognition else "missing", recognition or words.plain("missing-recognition"))
    speech, listen = settings.speech.model, partial(try_speech, settings)
    yield await _tried("speech", speech or "", listen if speech else None, words.plain("missing-speech"))
    async for finding in _telegram(settings, words):
        yield finding
    try:
        async with open_parts(settings) as parts:
            async for finding in _opened(parts, words):
                yield finding
    except (DatabaseAway, DatabaseError, EmbeddedDatabaseError, MigrationError) as trouble:
        yield Finding("database", "fails", sentence(trouble))
    except LocalModelError as trouble:  # no part is opened then, so the remaining checks are left out
        yield Finding("local model", "fails", sentence(trouble))


async def _telegram(settings: Settings, words: Words) -> AsyncIterator[Finding]:
    """The bot, who may use it, and what strangers may cost."""
    telegram, bounds = settings.telegram, settings.bounds.named
    if telegram.token is None:
        yield Finding("telegram", "missing", words.plain("missing-token"))
        return
    from aiogram.exceptions import TelegramAPIError  # takes seconds to import; only installations with a bot need it

    from bot.telegram import open_bot

    async with open_bot(telegram.token.get_secret_value(), telegram.api_url) as bot:
        try:
            me = await bot.get_me(request_timeout=15)
            yield Finding("telegram", "works", f"@{me.username}")
        except TelegramAPIError as error:
            yield Finding("telegram", "fails", words.plain("doctor-telegram", reason=error.message))
    if not telegram.allowed_users and not bounds:
        yield Finding("access", "missing", words.plain("cli-open-unbounded"))
        return
    allowed = len(telegram.allowed_users)
    who = f"ALLOWED_USERS: {allowed}" if allowed else words.plain("cli-open-to-all")
    yield Finding("access", "works", " · ".join([who, *bounds]))


async def _opened(parts: Parts, words: Words) -> AsyncIterator[Finding]:
    """The database and the models."""
    settings, reranker, model = parts.settings, parts.reranker, parts.model
    async with open_transport(settings) as transport:
        altered = ", ".join(await altered_migrations(transport))
    if altered:
        yield Finding("database", "fails", words.plain("doctor-altered", versions=altered))
    else:
        kind = "PostgreSQL" if settings.database.url else "PostgreSQL, BAZA_HOME"
        kind = "Supabase" if settings.database.supabase_url else kind
        yield Finding("database", "works", words.plain("doctor-database", kind=kind))
    embed = partial(parts.embedder.embed_query, "проверка")
    embeds = settings.jina.api_key is not None or settings.local.embedding_model is not None
    yield await _tried("embedder", parts.embedder.model, embed if embeds else None, words.plain("missing-jina"))
    name = settings.local.reranker_model if settings.jina.api_key is None else settings.jina.reranker_model
    rerank = partial(reranker.rerank, "проверка", [_PASSAGE], top_n=1) if reranker else None
    yield await _tried("reranker", name or "", rerank, words.plain("missing-reranker"))
    question = ChatMessage(role="user", content="Ответь одним словом: да")
    answer = partial(model.complete, [question]) if model else None
    yield await _tried("model", model.name if model else "", answer, words.plain("missing-model"))


async def _tried(service: str, name: str, call: Callable[[], Awaitable[object]] | None, lacking: str) -> Finding:
    """A model by a call of it; without one it is `lacking`."""
    if call is None:
        return Finding(service, "missing", lacking)
    try:
        await call()
    except (ModelError, IngestionError) as error:
        reason = error.detail if isinstance(error, IngestionError) else error
        return Finding(service, "fails", f"{name}: {reason}")
    return Finding(service, "works", name)


def show_page(settings: Settings) -> None:
    """Print the address of the local chat. Raises CommandError where there is none, or it changes with each start."""
    if settings.telegram.token:
        raise CommandError("BOT_TOKEN is set, so Baza is in Telegram: there is no local chat.")
    if not settings.localchat.port:
        raise CommandError("LOCALCHAT_PORT=0 takes another port at each start; see what `baza run` printed.")
    print_line(page_url(settings.home / LOCALCHAT, settings.localchat.port))


async def add_token(settings: Settings, *, base_name: str, is_read_only: bool, days: int | None, as_json: bool) -> int:
    """`baza token add`; the base is made when it is not there yet."""
    token = new_token()
    async with _open_tokens(settings, base_name) as (tokens, base):
        number = await tokens.add(base, token_hash(token), is_read_only=is_read_only, days=days)
    if as_json:
        print_json({"token": token, "id": number, "base": base})
        return 0
    print_line(words_of(settings).plain("cli-token", token=token, id=str(number), base=base))
    return 0


async def list_tokens(settings: Settings, *, base_name: str, as_json: bool) -> int:
    """`baza token list`."""
    async with _open_tokens(settings, base_name) as (tokens, base):
        found = await tokens.all(base)
    if as_json:
        print_json(
            [
                {
                    "id": token.id,
                    "base": base,
                    "read_only": token.is_read_only,
                    "created_at": token.created_at.isoformat(),
                    "expires_at": _iso(token.expires_at),
                    "used_at": _iso(token.used_at),
                }
                for token in found
            ]
        )
        return 0
    for token in found:
        rights = "read" if token.is_read_only else "read and write"
        print_line(f"{token.id}  {rights}  {_iso(token.expires_at) or '-'}  {_iso(token.used_at) or '-'}")
    return 0


async def revoke_token(settings: Settings, token: int, *, base_name: str) -> int:
    """`baza token revoke`. Raises CommandError when the base has no such token."""
    async with _open_tokens(settings, base_name) as (tokens, base):
        if not await tokens.revoke(base, UserId(token)):
            raise CommandError(f"The base {base_name!r} has no token {token}. `baza token list` lists its tokens.")
    return 0


@asynccontextmanager
async def _open_tokens(settings: Settings, name: str) -> AsyncIterator[tuple[TokenStore, BaseId]]:
    async with open_transport(settings) as transport:
        yield TokenStore(transport), await PeopleStore(transport).open_named_base(name)


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None
