"""Questions of the bot that the person's next message answers: a new name, a part of a name to search for.

In: a question with its kind (`about`) and its subject. Out: the question as a message, and a filter for the answer. A
handler of a new kind takes three lines:

    await ask(bot, services, talk, talk.words("rename-question"), about="name", subject=card.id)  # a button's handler
    router.message.register(rename, answers("name"))  # its router comes before those of the modes in `bot.dispatcher`
    async def rename(message: Message, subject: str, ...) -> None: ...  # gets the words, and what they are about

The question is stored for some minutes per chat and person, so it survives a restart, a dismissed reply panel and
clients that know none. The person's next update takes it (`bot.middlewares`): words answer it; a command, a
button, a file or a forwarded message cancels it and does what it does anyway. The keyboard with the modes stays where
it is: only a group, where nobody is heard without a reply, gets Telegram's reply panel.
"""

from collections.abc import Callable

from aiogram import Bot, F, Router
from aiogram.types import CallbackQuery, ForceReply, Message

from bot.handlers.filters import has_message, is_command, own_words
from bot.keyboards import NEVER_MIND, button, rows
from bot.replies.sending import NO_PREVIEW, acknowledge, take_away
from bot.services import Services, Talk
from domain.people import PendingQuestion

WAITS_S = 15 * 60
_MARK = "\u2060"  # takes no room in the text


def build_router() -> Router:
    """«Отмена» under a question of the bot."""
    router = Router(name="asking")
    router.callback_query.register(cancel, F.data == NEVER_MIND, has_message)
    return router


async def ask(bot: Bot, services: Services, talk: Talk, html: str, *, about: str, subject: str = "") -> None:
    """Ask the person for a text; the handler registered with `answers(about)` gets it together with `subject`."""
    await expect(services, talk, about=about, subject=subject)
    person = f'<a href="tg://user?id={talk.person}">{_MARK}</a>'  # the panel opens for them alone (`selective`)
    panel = ForceReply(selective=True, input_field_placeholder=talk.words.plain("write-here"))
    await bot.send_message(
        talk.place.chat,
        html if talk.place.is_private else person + html,
        message_thread_id=talk.place.thread,
        link_preview_options=NO_PREVIEW,
        reply_markup=rows([button(talk.words.plain("button-no"), NEVER_MIND)]) if talk.place.is_private else panel,
    )


async def expect(services: Services, talk: Talk, *, about: str, subject: str = "") -> None:
    """Take the person's next words as the answer to a question that is shown already."""
    question = PendingQuestion(about=about, subject=subject)
    await services.people.put_question(
        talk.place.chat, thread=talk.place.thread, person=talk.person, question=question, seconds=WAITS_S
    )


def answers(about: str) -> Callable[[Message, Talk], bool | dict[str, str]]:
    """A filter for answers to questions about `about`; the handler gets the question's subject as `subject`."""

    def matches(message: Message, talk: Talk) -> bool | dict[str, str]:
        if talk.asked is None or talk.asked.about != about:
            return False
        return {"subject": talk.asked.subject} if own_words(message) and not is_command(message) else False

    return matches


async def cancel(query: CallbackQuery, shown: Message, talk: Talk) -> None:
    """«Отмена»: any press has cancelled the question already; this one takes it off the screen, too."""
    await acknowledge(query, talk.words.plain("cancelled"))
    await take_away(shown)
