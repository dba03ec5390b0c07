"""Reads what a page or file asks of robots: the meta elements of its markup and its X-Robots-Tag headers.

In: the values as sent. Out: `RobotTags`. A value that names no robot applies to all. Directives that do not concern
following or indexing (`noarchive`, `max-snippet`) are ignored.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

ROBOT = "Baza"  # our name in robots.txt, headers and pages
ROBOT_NAMES = frozenset({"robots", ROBOT.lower()})  # in meta elements: all robots, and us

_NO_FOLLOW = frozenset({"nofollow", "none"})
_NO_INDEX = frozenset({"noindex", "none"})
_SEPARATORS = re.compile(r"[\s,]+")
_NAMED = re.compile(r"\s*([a-z][\w-]*)\s*:", re.IGNORECASE)
_WITH_VALUES = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})
"""Directives written with a colon, like the names of robots."""


@dataclass(frozen=True, kw_only=True)
class RobotTags:
    """Whether links may be followed, and whether the page may be kept."""

    follow: bool = True
    index: bool = True

    def __and__(self, other: "RobotTags") -> "RobotTags":
        """Allows what both allow."""
        return RobotTags(follow=self.follow and other.follow, index=self.index and other.index)


def read_tag(content: str) -> RobotTags:
    """`noindex, nofollow` allows neither."""
    wishes = frozenset(_SEPARATORS.split(content.lower()))
    return RobotTags(follow=wishes.isdisjoint(_NO_FOLLOW), index=wishes.isdisjoint(_NO_INDEX))


def read_headers(values: Iterable[str]) -> RobotTags:
    """All X-Robots-Tag headers of one response; `otherbot: noindex` does not apply to us."""
    tags = RobotTags()
    for value in values:
        named = _NAMED.match(value)
        robot = named.group(1).lower() if named else ""
        if not named or robot in _WITH_VALUES:
            tags &= read_tag(value)
        elif robot in ROBOT_NAMES:
            tags &= read_tag(value[named.end() :])
    return tags
