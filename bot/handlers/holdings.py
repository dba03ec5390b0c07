"""Whether a base has anything to answer from yet.

In: a base. Out: what it lacks. The wording is in the locales; `modes` and `answering` choose the text.
"""

from enum import StrEnum

from bot.services import Services
from domain.ids import BaseId

NEWEST = 8  # how many of the newest documents are checked for one that is still being read


class Lack(StrEnum):
    """Why nothing can be found in a base."""

    EMPTY = "empty"
    READING = "reading"  # the first documents have come, and none of them can be searched yet


async def lack_of(services: Services, base: BaseId) -> Lack | None:
    """None when the base has searchable documents. Raises DatabaseAway."""
    if await services.passages.holds_documents(base):
        return None
    newest = await services.library.documents(base, limit=NEWEST)
    return Lack.EMPTY if all(card.status.is_final for card in newest) else Lack.READING
