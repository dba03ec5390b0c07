"""Who is talking, in which mode, and what they were asked.

In: rows of `user_state` and `pending_questions`. Out: frozen records. It does not know Telegram.
"""

from dataclasses import dataclass
from enum import StrEnum

from domain.bases import Role
from domain.ids import BaseId, ChatId, DocumentId, SessionId, ThreadId, UserId


class Mode(StrEnum):
    """The two modes of seed 1, §4.1; the values are the ones its `user_state.current_mode` holds."""

    CHAT = "chat"
    DOCUMENTS = "documents"


@dataclass(frozen=True, kw_only=True)
class UserState:
    """The state of one person or one group (then `user_id` is the group's chat id), in one topic of the chat."""

    user_id: UserId
    mode: Mode | None  # None until a mode was chosen, and after a reset
    session_id: SessionId  # the current dialogue
    base_id: BaseId  # the active base
    language: str  # ru or en: the language of the interface
    only: DocumentId | None = None  # questions are asked of this document alone
    thread: ThreadId | None = None  # the topic; None: the chat has none, or it is outside of them
    role: Role | None = Role.OWNER  # in the base; None: it was closed to them meanwhile
    base_name: str | None = None  # None: the first base of the chat, which nobody has named
    base_group: ChatId | None = None  # whose base it is
    base_owner: str | None = None  # None: it is their own


@dataclass(frozen=True, kw_only=True)
class PendingQuestion:
    """What the bot has asked a person and waits to be told."""

    about: str  # the kind of question, for instance "name"
    subject: str = ""  # what it is about, for instance a document's id
