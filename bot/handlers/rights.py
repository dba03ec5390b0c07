"""Who may change what a group has collected.

In: the person of an update, and the document. Out: yes or no. In a private chat everything is the person's own.
"""

from aiogram import Bot
from aiogram.enums import ChatMemberStatus
from aiogram.exceptions import TelegramAPIError
from aiogram.types import ResultChatMemberUnion

from bot.services import Talk
from domain.documents import DocumentCard
from domain.ids import ChatId, UserId

_OUTSIDE = frozenset({ChatMemberStatus.LEFT, ChatMemberStatus.KICKED})
_TIDY = frozenset({ChatMemberStatus.CREATOR, ChatMemberStatus.ADMINISTRATOR})


async def may_tidy(bot: Bot, talk: Talk) -> bool:
    """Whether the person is an administrator of the group; False when Telegram does not answer, as deleting cannot be
    undone."""
    if talk.place.is_private:
        return True
    return await is_administrator(bot, talk.place.chat, talk.person)


async def is_administrator(bot: Bot, group: ChatId, person: UserId) -> bool:
    """Of a group; False when Telegram does not answer."""
    try:
        member = await bot.get_chat_member(group, person)
    except TelegramAPIError:
        return False
    return member.status in _TIDY


async def is_in_group(bot: Bot, group: ChatId, person: UserId) -> bool:
    """Whether the person is in a group; False when Telegram does not answer, or the bot was taken out of it."""
    try:
        member = await bot.get_chat_member(group, person)
    except TelegramAPIError:
        return False
    return is_inside(member)


def is_inside(member: ResultChatMemberUnion) -> bool:
    """Whether somebody is in a group, as Telegram tells it; who is restricted may have left."""
    return member.status not in _OUTSIDE and getattr(member, "is_member", True)


async def may_change(bot: Bot, talk: Talk, card: DocumentCard) -> bool:
    """Whether the person may delete, rename, replace or cancel a document: whoever sent it, and administrators."""
    return card.sent_by == talk.person or await may_tidy(bot, talk)
