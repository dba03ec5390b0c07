"""Mode База: puts what people send into the base. It generates no answer.

In: messages of people. Out: a batch in the queue before the handler returns; `bot.notices` is woken and shows its live
message. A greeting or a question is not kept before a button says so. The buttons «Добавить в базу», «Сохранить» and
«Только прочитать сейчас» are handled here, too; the other buttons for stored documents are in `kept`.
"""

from dataclasses import replace

from aiogram import F, Router
from aiogram.types import CallbackQuery, Message

from bot.handlers.filters import has_message, in_mode
from bot.handlers.received import Received, batch_of, original_of, receive
from bot.keyboards import ANSWER, BUTTON_CHARACTERS, KEEP, ONLY_READ, button, rows
from bot.replies.bases import AddTo, name_of_base
from bot.replies.names import shortened
from bot.replies.sending import take_away
from bot.services import Services, Talk
from domain.bases import Role
from domain.documents import SourceType
from domain.people import Mode
from ingestion.records import Batch, Source

_MB = 2**20
NEARLY_FULL_UNITS = 2000
"""UTF-16 units: clients cut a text over 4,096 units earlier, at an empty line or at the end of a line or sentence."""
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
    if is_talk(received, talk.services):
        answer, save = (button(talk.words.plain(f"button-{what}"), data) for what, data in _TALK)
        await talk.reply(talk.words("question-or-note"), rows([answer, save]))
        return
    await take(talk, received)


_TALK = (("answer-it", ANSWER), ("save-it", KEEP))


def is_talk(received: Received, services: Services) -> bool:
    """Whether the message is said to Baza rather than sent for keeping: a greeting, «ок», or a short question."""
    said = received.own_text.strip()
    is_question = said.endswith("?") and len(said) <= SHORT_QUESTION_CHARACTERS and "\n" not in said
    only_words = all(source.type is SourceType.NOTE for source in received.sources)
    return bool(said) and only_words and (is_question or services.small_talk.kind(said) is not None)


async def take(talk: Talk, received: Received, *, ttl_s: int | None = None) -> None:
    """Put the sources into the queue, or say why they cannot be kept; the words under a refused file are."""
    message = received.message
    if talk.state.role is Role.READER:
        await _offer_others(talk, message)
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


async def _offer_others(talk: Talk, message: Message) -> None:
    """The open base may only be read: the bases that the message can go into instead."""
    bases = await talk.stores.bases.all(talk.state.user_id)
    own = [
        [button(shortened(name_of_base(each, talk.words), BUTTON_CHARACTERS * 2), AddTo(base=each.id))]
        for each in bases
        if each.role in (Role.OWNER, Role.WRITER)
    ]
    name = talk.state.base_name or talk.state.base_owner or ""
    await talk.reply(talk.words("base-only-read", name=name), rows(*own), to=message)


async def keep_original(talk: Talk) -> None:
    """«Добавить в базу», «Сохранить» and «Только прочитать сейчас», whose document is removed after a day, under the
    bot's question about a message: store the message that the question replies to."""
    only_read = isinstance(talk.event, CallbackQuery) and talk.event.data == ONLY_READ
    await take(talk, receive(await original_of(talk), talk.words), ttl_s=DAY_S if only_read else None)
    await take_away(talk.message)


async def _enqueue(talk: Talk, batch: Batch, *, may_go_on: bool) -> None:
    """Enqueue the batch. A note that fills its message may continue in the next one, so it is held for a moment; a
    note that continues an earlier one is joined to it."""
    note = batch.sources[0] if len(batch.sources) == 1 and batch.sources[0].type is SourceType.NOTE else None
    hold_s = HOLD_S if note and _units(note) >= NEARLY_FULL_UNITS else 0
    if not may_go_on or batch.ttl_s is not None:  # temporary and permanent notes are never joined
        note, hold_s = None, 0
    if note and await talk.stores.intake.join(batch, hold_s=hold_s):
        return
    await talk.stores.intake.enqueue(batch, hold_s=hold_s or _until_captioned_s(batch))


def _until_captioned_s(batch: Batch) -> int:
    """How long a file of an album waits for the caption. One file of the album brings it (with documents often the last
    one), and every file is stored with it when its reading begins."""
    return ALBUM_S if batch.media_group and not any(source.text for source in batch.sources) else 0


def _units(note: Source) -> int:
    return len((note.text or "").encode("utf-16-le", errors="surrogatepass")) // 2


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
