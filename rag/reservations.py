"""What one question may spend: asked for before a model is, held while it is answered, given back with what it took.

In: whose day it counts in, and the bounds. Out: a `Reservation`, from the database, where asking and counting are one
step, so that a hundred questions at one moment do not pass a bound together.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

import structlog

from domain.ending import end
from domain.errors import DatabaseTrouble
from domain.ids import BaseId, UserId
from rag.metering import TurnMetrics

LEASE_S = 60.0
log = structlog.get_logger()


class Refused(StrEnum):
    """Why no model may be asked now; the values are those of SQL's `reserve_question`."""

    TOKEN_SPENT = "token_spent"  # noqa: S105 - of API_DAILY_COST
    SPENT = "spent"  # the bounds of the person: it is answered without a model
    BUSY = "busy"  # what is being answered may take what is left: worth asking again in seconds


@dataclass(frozen=True, kw_only=True)
class DayBounds:
    """Of 24 hours; None: no bound."""

    questions: int | None = None
    cost: float | None = None  # US dollars
    token_cost: float | None = None  # US dollars, by one token

    def __bool__(self) -> bool:
        """Whether anything is bounded."""
        return any((self.questions, self.cost, self.token_cost))


@dataclass(frozen=True, kw_only=True)
class Reservation:
    """What one question may spend, or why it may not."""

    id: str | None = None  # None: nothing bounds it, or it was refused
    cost: float = 0.0  # US dollars that are held for it; 0 where nobody knows what a question costs
    refused: Refused | None = None
    until: datetime | None = None  # it is refused


class Reservations(Protocol):
    """Where it is counted. Raises DatabaseAway."""

    async def reserve_question(self, user: UserId, asker: UserId, *, bounds: DayBounds, lease_s: float) -> Reservation:
        """For one more question of `user` (a person, a group, a token) in the day of `asker`; ended by `save_turn`."""

    async def renew_reservation(self, reservation: str, *, lease_s: float) -> None:
        """It is still being answered."""

    async def save_turn(
        self,
        user: UserId,
        base: BaseId,
        turn: TurnMetrics,
        *,
        asker: UserId | None = None,
        reservation: str | None = None,
    ) -> None:
        """Store the duration and cost of a turn, and free what was reserved for it; `asker` is the person where `user`
        is a group."""


async def await_reservation(reservations: Reservations, user: UserId, asker: UserId, bounds: DayBounds) -> Reservation:
    """For one question. It waits while others of the same day may take what is left."""
    while bounds:
        found = await reservations.reserve_question(user, asker, bounds=bounds, lease_s=LEASE_S)
        if found.refused is not Refused.BUSY:
            return found
        await asyncio.sleep(0.5)
    return Reservation()


@asynccontextmanager
async def holding(reservations: Reservations, reservation: Reservation) -> AsyncIterator[None]:
    """Renews the lease while the block runs."""
    if reservation.id is None:
        yield
        return

    async def renew(reservation_id: str) -> None:
        while True:
            await asyncio.sleep(20.0)
            try:
                await reservations.renew_reservation(reservation_id, lease_s=LEASE_S)
            except DatabaseTrouble as trouble:
                log.warning("reservation.not_renewed", reason=trouble.reason)

    renewing = asyncio.create_task(renew(reservation.id))
    try:
        yield
    finally:
        await end(renewing)
