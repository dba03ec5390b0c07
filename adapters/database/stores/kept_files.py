"""The list of files that Baza keeps itself; their bytes are in a storage (`adapters.kept_files`).

In: what was uploaded. Out: under which name it is kept, and what has to be removed from the storage.
"""

from collections.abc import Sequence

from adapters.database import rows
from adapters.database.transport import Transport
from domain.ids import BaseId, FileId, UserId


class KeptFileStore:
    """Meets `api.services.FileList`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def keep(self, base: BaseId, *, sha256: str, size_bytes: int, most_bytes: int) -> FileId | None:
        """The name under which the content is to be stored now, kept for an hour unless a document takes it; None when
        the base would keep more than `most_bytes`."""
        found = await self._transport.call(
            "keep_file", p_base=base, p_hash=sha256, p_size_bytes=size_bytes, p_most_bytes=most_bytes
        )
        return FileId(rows.text(found[0], "id")) if found else None

    async def count_bytes(self, base: BaseId, token: UserId, size_bytes: int, *, per_day: int) -> int | None:
        """Counts what a token has uploaded; seconds to wait once it is more than `per_day` bytes today."""
        found = await self._transport.call(
            "count_bytes", p_base=base, p_token=token, p_bytes=size_bytes, p_per_day=per_day
        )
        return rows.integer_or_none(found[0], "wait_s") if found else None

    async def release(self, limit: int) -> list[tuple[BaseId, FileId]]:
        """Files that no document has; they are told again until they are forgotten."""
        found = await self._transport.call("release_files", p_limit=limit)
        return [(BaseId(rows.text(row, "base_id")), FileId(rows.text(row, "id"))) for row in found]

    async def forget(self, files: Sequence[FileId]) -> None:
        """They are gone from the storage."""
        await self._transport.call("forget_files", p_files=[*map(str, files)])

    async def forget_additions(self) -> None:
        """Removes the answers that were kept for a day under an Idempotency-Key."""
        await self._transport.call("forget_additions")
