"""What a single page or file asks of robots: the meta elements of its markup, the X-Robots-Tag of its answer.

In: the values as they were sent. Out: `RobotTags`. A robot that is not named in a value is meant by it when the value
names nobody; wishes that are not about following or keeping (`noarchive`, `max-snippet`) change nothing here.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

ROBOT = "Baza"  # as robots.txt, headers and pages may name us
ROBOT_NAMES = frozenset({"robots", ROBOT.lower()})  # in meta elements: everybody, and us

_NO_FOLLOW = frozenset({"nofollow", "none"})
_NO_INDEX = frozenset({"noindex", "none"})
_SEPARATORS = re.compile(r"[\s,]+")
_NAMED = re.compile(r"\s*([a-z][\w-]*)\s*:", re.IGNORECASE)
_WITH_VALUES = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})
"""Wishes that are written with a colon, as the names of robots are."""


@dataclass(frozen=True, kw_only=True)
class RobotTags:
    """May its links be followed, may it be kept."""

    follow: bool = True
    index: bool = True

    def __and__(self, other: "RobotTags") -> "RobotTags":
        """What both allow."""
        return RobotTags(follow=self.follow and other.follow, index=self.index and other.index)


def read_tag(content: str) -> RobotTags:
    """`noindex, nofollow` -> neither."""
    wishes = frozenset(_SEPARATORS.split(content.lower()))
    return RobotTags(follow=wishes.isdisjoint(_NO_FOLLOW), index=wishes.isdisjoint(_NO_INDEX))


def read_headers(values: Iterable[str]) -> RobotTags:
    """All X-Robots-Tag headers of one answer; `otherbot: noindex` is not meant for us."""
    tags = RobotTags()
    for value in values:
        named = _NAMED.match(value)
        robot = named.group(1).lower() if named else ""
        if not named or robot in _WITH_VALUES:
            tags &= read_tag(value)
        elif robot in ROBOT_NAMES:
            tags &= read_tag(value[named.end() :])
    return tags
