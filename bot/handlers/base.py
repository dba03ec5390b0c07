"""Mode База: puts what people send into the base. It generates no answer.

In: messages of people, and «Добавить в базу», «Сохранить» and «Только прочитать сейчас». Out: a batch in the queue
before the handler returns; `bot.notices` shows its live message. A greeting or a question is kept on request alone.
"""

from dataclasses import replace

from aiogram import F, Router
from aiogram.types import CallbackQuery

from bot.handlers.filters import has_message, in_mode
from bot.handlers.received import Received, batch_of, original_of, receive
from bot.keyboards import ANSWER, BUTTON_CHARACTERS, KEEP, ONLY_READ, button, rows
from bot.replies.bases import AddTo, name_of_base
from bot.replies.names import shortened
from bot.replies.rich import utf16_length
from bot.replies.sending import take_away
from bot.services import Talk
from domain.bases import Role
from domain.documents import SourceType
from domain.people import Mode
from ingestion.records import Batch

_MB = 2**20
NEARLY_FULL_UNITS = 2000  # UTF-16: clients cut a text over 4,096 earlier, where a paragraph, line or sentence ends
HOLD_S = 3  # the next part of a cut text arrives within this time
ALBUM_S = 1  # the other files of an album arrive within this time
DAY_S = 24 * 60 * 60  # lifetime of a temporary document («Только прочитать сейчас»)
SHORT_QUESTION_CHARACTERS = 200  # a longer text that ends with «?» is a letter or a list rather than a question


def build_router() -> Router:
    """Messages in mode База."""
    router = Router(name="base")
    router.message.register(keep, in_mode(Mode.DOCUMENTS))
    router.callback_query.register(keep_original, F.data.in_({KEEP, ONLY_READ}), has_message)
    return router


async def keep(talk: Talk) -> None:
    """Put what the message holds into the queue, or say why nothing of it can be kept."""
    received = receive(talk.message, talk.words)
    said = received.own_text.strip()
    is_question = said.endswith("?") and len(said) <= SHORT_QUESTION_CHARACTERS and "\n" not in said
    only_words = said and all(source.type is SourceType.NOTE for source in received.sources)
    if only_words and (is_question or talk.services.small_talk.kind(said) is not None):
        choices = (("answer-it", ANSWER), ("save-it", KEEP))
        line = [button(talk.words.plain(f"button-{what}"), data) for what, data in choices]
        await talk.reply(talk.words("question-or-note"), rows(line))
        return
    await take(talk, received)


async def take(talk: Talk, received: Received, *, ttl_s: int | None = None) -> None:
    """Put the sources into the queue, or say why they cannot be kept; the words under a refused file are."""
    message = received.message
    if talk.state.role is Role.READER:
        offered = [
            [button(shortened(name_of_base(each, talk.words), BUTTON_CHARACTERS * 2), AddTo(base=each.id))]
            for each in await talk.stores.bases.all(talk.state.user_id)
            if each.role in (Role.OWNER, Role.WRITER)
        ]
        name = talk.state.base_name or talk.state.base_owner or ""
        await talk.reply(talk.words("base-only-read", name=name), rows(*offered), to=message)
        return
    if refusal := refusal_of(talk, received):
        if received.written:
            await talk.stores.intake.enqueue(replace(batch_of(message, received.written, talk), ttl_s=ttl_s))
            talk.services.wake()
            refusal = f"{refusal} {talk.words('caption-taken')}"
        await talk.say(refusal)
        return
    is_typed = message.text is not None
    await _enqueue(talk, replace(batch_of(message, received.sources, talk), ttl_s=ttl_s), may_go_on=is_typed)
    talk.services.wake()


async def keep_original(talk: Talk) -> None:
    """Store the message that the bot's question replies to; with «Только прочитать сейчас» for a day."""
    only_read = isinstance(talk.event, CallbackQuery) and talk.event.data == ONLY_READ
    await take(talk, receive(await original_of(talk), talk.words), ttl_s=DAY_S if only_read else None)
    await take_away(talk.message)


async def _enqueue(talk: Talk, batch: Batch, *, may_go_on: bool) -> None:
    """Enqueue the batch. A note that fills its message may continue in the next one, so it is held for a moment; a
    note that continues an earlier one is joined to it."""
    hold_s, is_note = 0, len(batch.sources) == 1 and batch.sources[0].type is SourceType.NOTE
    if is_note and may_go_on and batch.ttl_s is None:  # temporary and permanent notes are never joined
        hold_s = HOLD_S if utf16_length(batch.sources[0].text or "") >= NEARLY_FULL_UNITS else 0
        if await talk.stores.intake.join(batch, hold_s=hold_s):
            return
    if batch.media_group and not any(source.text for source in batch.sources):
        hold_s = ALBUM_S  # for the caption, which one file of the album brings, with documents often the last one
    await talk.stores.intake.enqueue(batch, hold_s=hold_s)


def refusal_of(talk: Talk, received: Received) -> str | None:
    """Why the message's sources cannot be stored, in HTML; None when they can."""
    words, services = talk.words, talk.services
    if not received.sources:
        kind = received.unsupported
        return words("unsupported", kind=kind) if kind else words("nothing-to-keep")
    for source in received.sources:
        if (source.size_bytes or 0) > services.file_limit_mb * _MB:
            key = "file-too-large-for-telegram" if services.is_limited_by_telegram else "error-file-too-large"
            return words(key, name=source.title or source.identifier, limit_mb=services.file_limit_mb)
    return None
