"""Who is in the local chat and where they talk.

In: nothing. Out: one bot, two people, a private chat of each and a group. Data only.
"""

from dataclasses import dataclass
from typing import Literal

BOT_ID = 7_000_000_001
BOT_USERNAME = "baza_local_bot"


@dataclass(frozen=True, kw_only=True)
class Account:
    """A person or the bot."""

    user_id: int
    first_name: str
    username: str | None = None
    is_bot: bool = False


@dataclass(frozen=True, kw_only=True)
class Room:
    """A chat with its people (the bot is in each)."""

    chat_id: int
    kind: Literal["private", "supergroup"]
    title: str
    people: tuple[int, ...]


BOT = Account(user_id=BOT_ID, first_name="База", username=BOT_USERNAME, is_bot=True)
PEOPLE = (
    Account(user_id=1001, first_name="Вы", username="you_local"),
    Account(user_id=1002, first_name="Анна", username="anna_local"),
)
ROOMS = (
    Room(chat_id=1001, kind="private", title="База", people=(1001,)),
    Room(chat_id=-1_002_000_000_001, kind="supergroup", title="Группа", people=(1001, 1002)),
)

ACCOUNTS = {account.user_id: account for account in (BOT, *PEOPLE)}
ROOM_BY_ID = {room.chat_id: room for room in ROOMS}
