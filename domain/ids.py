"""Identifiers, each a type of its own, so that a chat id cannot pass for a user id.

In: nothing. Out: NewTypes over int (Telegram's and the chunk's numbers) and str (UUIDs as text).
"""

from typing import NewType

UserId = NewType("UserId", int)
"""A Telegram user; in a group, where mode and dialogue belong to everybody, the group's chat id (always negative)."""
ChatId = NewType("ChatId", int)
ThreadId = NewType("ThreadId", int)
MessageId = NewType("MessageId", int)
BaseId = NewType("BaseId", str)
BatchId = NewType("BatchId", str)
DocumentId = NewType("DocumentId", str)
ChunkId = NewType("ChunkId", int)
SessionId = NewType("SessionId", str)
LeaseId = NewType("LeaseId", str)
FileId = NewType("FileId", str)
"""A file that Baza keeps itself, because no Telegram does."""
