"""Who may delete what a group has collected.

In: the person of an update. Out: yes or no. In a private chat all documents are the person's own.
"""

from aiogram import Bot
from aiogram.enums import ChatMemberStatus
from aiogram.exceptions import TelegramAPIError

from bot.talk import Talk

_TIDY = frozenset({ChatMemberStatus.CREATOR, ChatMemberStatus.ADMINISTRATOR})


async def may_tidy(bot: Bot, talk: Talk) -> bool:
    """Whether the person is an administrator of the group; False when Telegram does not answer, as deleting cannot be
    undone."""
    if talk.place.is_private:
        return True
    try:
        member = await bot.get_chat_member(talk.place.chat, talk.person)
    except TelegramAPIError:
        return False
    return member.status in _TIDY
