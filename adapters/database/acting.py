"""The database as those who use Baza reach it: every call for a base says for whom.

In: calls of stores, and who acts (`domain.acting`). Out: the same calls with `p_person`, which the function checks
first (`require` in supabase/schemas/functions/bases.sql). Workers and the command line use the transport without this.
"""

from dataclasses import dataclass

from adapters.database.transport import Argument, Row, Transport
from domain.acting import acting_person


@dataclass(frozen=True)
class ActingTransport:
    """A transport for stores that act for somebody. A function that takes a base but no `p_person` cannot be called
    through it, so that a right that was forgotten shows at once."""

    transport: Transport

    async def call(self, function: str, *, timeout_s: float | None = None, **arguments: Argument) -> list[Row]:
        """Raises BaseClosed or BaseReadOnly where the person may not, and NobodyActs where there is none."""
        if "p_base" in arguments:
            arguments["p_person"] = acting_person()
        return await self.transport.call(function, timeout_s=timeout_s, **arguments)
