"""Which handler an event belongs to, what it answers, and whether the person may do it.

In: events, the state that the middlewares read, a document. Out: yes or no, and for a button its message or document.
In a private chat everything is the person's own; what a group has collected, whoever sent it and administrators change.

Questions of the bot that the person's next message answers (a new name, a part of a name to search for) have a kind
(`about`) and a subject: `ask` puts one, `answers` is the filter of its handler. The question is stored for some minutes
per chat and person. The person's next update takes it (`bot.dispatcher`): words answer it; a command, a button, a file
or a forwarded message cancels it and does what it does anyway. The keyboard with the modes stays where it is: only a
group, where nobody is heard without a reply, gets Telegram's reply panel.
"""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from inspect import signature
from typing import get_args

from aiogram import Bot, F, Router
from aiogram.enums import ChatMemberStatus, ContentType
from aiogram.exceptions import TelegramAPIError
from aiogram.types import CallbackQuery, ForceReply, Message, ResultChatMemberUnion

from bot.keyboards import BEFORE_BASE, NEVER_MIND, rows, worded
from bot.services import Refusal, Talk
from bot.telegram import take_away
from domain.bases import ListedBase, Role
from domain.documents import DocumentCard
from domain.ids import ChatId, DocumentId, UserId
from domain.people import Mode, PendingQuestion

# Content that people send. All else («Анна закрепила сообщение») is a service message and is not answered.
SENT_BY_PEOPLE = frozenset({
    ContentType.TEXT, ContentType.DOCUMENT, ContentType.PHOTO, ContentType.VIDEO, ContentType.VIDEO_NOTE,
    ContentType.ANIMATION, ContentType.AUDIO, ContentType.VOICE, ContentType.STICKER, ContentType.LOCATION,
    ContentType.VENUE, ContentType.CONTACT, ContentType.POLL, ContentType.DICE, ContentType.STORY,
    ContentType.PAID_MEDIA, ContentType.CHECKLIST, ContentType.LIVE_PHOTO, ContentType.RICH_MESSAGE, ContentType.GAME,
    ContentType.GIVEAWAY,
})  # fmt: skip


def in_mode(mode: Mode | None) -> Callable[[Message, Talk], bool]:
    """Matches messages of people while this mode is on."""

    def matches(message: Message, talk: Talk) -> bool:
        return talk.state.mode == mode and message.content_type in SENT_BY_PEOPLE

    return matches


def names_mode(modes: Mapping[str, Mode]) -> Callable[[Message | CallbackQuery], bool | dict[str, Mode]]:
    """Matches presses of a mode button; `modes` maps texts or callback data to modes. The handler gets `mode`."""

    def matches(event: Message | CallbackQuery) -> bool | dict[str, Mode]:
        said = event.text if isinstance(event, Message) else event.data
        mode = modes.get((said or "").partition(BEFORE_BASE)[0])
        return {"mode": mode} if mode else False

    return matches


def own_words(message: Message) -> bool:
    """Whether it is said to the bot: a caption or a forwarded message is never a command or a button's label."""
    return message.text is not None and message.forward_origin is None


def is_command(message: Message) -> bool:
    """Matches whatever the person writes that looks like a command; known commands were handled before."""
    return own_words(message) and (message.text or "").startswith("/")


def has_message(query: CallbackQuery) -> bool:
    """Matches buttons whose message Telegram still delivers."""
    return isinstance(query.message, Message)


def register_pressed(router: Router, *handlers: Callable[..., Awaitable[None]], anywhere: bool = False) -> None:
    """Register handlers of buttons, each for the types of `callback_data` that it takes. With `anywhere` they need no
    message and work under those that Telegram does not deliver any more, too."""
    for handler in handlers:
        taken = signature(handler).parameters["callback_data"].annotation
        for kind in get_args(taken) or (taken,):
            router.callback_query.register(handler, kind.filter(), *(() if anywhere else (has_message,)))


async def may_tidy(talk: Talk) -> bool:
    """Whether everything there is the person's own, or they are an administrator of the group."""
    return talk.place.is_private or await is_administrator(talk.bot, talk.place.chat, talk.person)


async def is_administrator(bot: Bot, group: ChatId, person: UserId) -> bool:
    """Of a group; False when Telegram does not answer, as deleting cannot be undone."""
    with suppress(TelegramAPIError):
        member = await bot.get_chat_member(group, person)
        return member.status in (ChatMemberStatus.CREATOR, ChatMemberStatus.ADMINISTRATOR)
    return False


async def is_in_group(bot: Bot, group: ChatId, person: UserId) -> bool:
    """Whether the person is in a group; False when Telegram does not answer, or the bot was taken out of it."""
    with suppress(TelegramAPIError):
        return is_inside(await bot.get_chat_member(group, person))
    return False


def is_inside(member: ResultChatMemberUnion) -> bool:
    """Whether somebody is in a group, as Telegram tells it; who is restricted may have left."""
    return member.status not in (ChatMemberStatus.LEFT, ChatMemberStatus.KICKED) and getattr(member, "is_member", True)


async def may_change(talk: Talk, card: DocumentCard) -> bool:
    """Whether the person may delete, rename, replace or cancel a document: whoever sent it, and administrators."""
    return card.sent_by == talk.person or await may_tidy(talk)


async def writable_bases(talk: Talk) -> list[ListedBase]:
    bases = await talk.stores.bases.all(talk.state.user_id)
    return [each for each in bases if each.role in (Role.OWNER, Role.WRITER)]


async def document_of(talk: Talk, document: str) -> DocumentCard:
    """The document of a button. Raises Refusal where it is gone."""
    card = await talk.stores.library.card(talk.base_id, DocumentId(document))
    if card is None:
        raise Refusal("document-gone")
    return card


async def changeable(talk: Talk, document: str) -> DocumentCard:
    """The same. Raises Refusal where this person may not change it."""
    card = await document_of(talk, document)
    if not await may_change(talk, card):
        raise Refusal("only-sender-or-administrators")
    return card


def register(router: Router) -> None:
    """«Отмена» under a question of the bot."""
    router.callback_query.register(cancel, F.data == NEVER_MIND, has_message)


async def ask(talk: Talk, html: str, *, about: str, subject: str = "") -> None:
    """Ask the person for a text; the handler registered with `answers(about)` gets it together with `subject`."""
    await expect(talk, about=about, subject=subject)
    person = f'<a href="tg://user?id={talk.person}">\u2060</a>'  # the panel opens for them alone (`selective`)
    panel = ForceReply(selective=True, input_field_placeholder=talk.words.plain("write-here"))
    await talk.bot.send_message(
        talk.place.chat,
        html if talk.place.is_private else person + html,
        message_thread_id=talk.place.thread,
        reply_markup=rows([worded(talk.words, "no", NEVER_MIND)]) if talk.place.is_private else panel,
    )


async def expect(talk: Talk, *, about: str, subject: str = "") -> None:
    """Take the person's next words as the answer to a question that is shown already."""
    question, place = PendingQuestion(about=about, subject=subject), talk.place
    await talk.stores.people.put_question(
        place.chat, thread=place.thread, person=talk.person, question=question, seconds=15 * 60
    )


def answers(about: str) -> Callable[[Message, Talk], bool | dict[str, str]]:
    """A filter for answers to questions about `about`; the handler gets the question's subject as `subject`."""

    def matches(message: Message, talk: Talk) -> bool | dict[str, str]:
        is_answer = talk.asked and talk.asked.about == about and own_words(message) and not is_command(message)
        return {"subject": talk.asked.subject} if talk.asked and is_answer else False

    return matches


async def cancel(talk: Talk) -> None:
    """«Отмена»: any press has cancelled the question already; this one takes it off the screen, too."""
    await talk.acknowledge("cancelled")
    await take_away(talk.message)
