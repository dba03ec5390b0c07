"""Who the bot is talking with, as handlers get it.

In: what the middlewares found out. Out: one frozen record, which handlers get as `talk`. It holds no message content.
"""

from dataclasses import dataclass

from bot.replies.sending import Place
from bot.texts import Words
from domain.ids import BaseId, ThreadId, UserId
from domain.people import PendingQuestion, UserState

Room = tuple[UserId, ThreadId | None]
"""Where a dialogue is held: a person or a group, and the topic. Topics wait for no other."""


@dataclass(frozen=True, kw_only=True)
class Talk:
    """One person or group, for the time of one update."""

    person: UserId  # who sent the message or pressed the button
    state: UserState  # of the person, or of the group
    base_id: BaseId  # of the person, the group or the topic
    words: Words
    place: Place  # where answers go
    asked: PendingQuestion | None = None  # by the bot, before this update; see `bot.handlers.asking`

    @property
    def room(self) -> Room:
        """Where this dialogue is held."""
        return self.state.user_id, self.state.thread
