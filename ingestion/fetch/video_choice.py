"""Chooses what to fetch of a video from its host's metadata: captions, else sound, else the reason for neither.

In: yt-dlp's description of a video (a JSON object whose fields each host fills differently) and its error messages.
Out: records and reasons. Pure; it fetches nothing.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from ingestion.errors import FailureCode

READABLE = ("vtt", "srt")  # caption formats that we can read
PREFERRED = ("ru", "en")  # manual captions in these are preferred to the spoken language
AUTHORS = ("channel", "uploader", "creator")
ON_THE_AIR = frozenset({"is_live", "is_upcoming", "post_live"})

Info = Mapping[str, Any]
"""yt-dlp's `info_dict`."""


@dataclass(frozen=True, kw_only=True)
class Captions:
    """One caption track that a host offers."""

    language: str  # the host's code: ru, ru-RU, en-orig
    is_automatic: bool  # by speech recognition


@dataclass(frozen=True, kw_only=True)
class Video:
    """What the host says of a video before anything is fetched."""

    title: str
    author: str | None
    published_at: datetime | None
    duration_s: float | None
    is_on_air: bool
    captions: Captions | None  # the best readable track


class Trouble(StrEnum):
    """Why a host gives no video."""

    GONE = "gone"
    LIVE = "live"
    AWAY = "away"  # it may answer later
    REFUSED = "refused"


CODES = {
    Trouble.GONE: FailureCode.VIDEO_UNAVAILABLE,
    Trouble.LIVE: FailureCode.VIDEO_LIVE,
    Trouble.REFUSED: FailureCode.VIDEO_REFUSED,
}

_TROUBLES = (
    (Trouble.REFUSED, r"closed to videos"),  # by `video_guard`
    (Trouble.REFUSED, r"not a bot|captcha|HTTP Error (403|429)|rate.?limit|your country|geo.?restrict"),
    (Trouble.LIVE, r"live event will begin|premieres? (in|will)|(is|has) not yet (started|begun)|is offline"),
    (Trouble.GONE, r"private|removed|deleted|members.only|available to this channel|does not exist|no longer"),
    (Trouble.GONE, r"video (is )?(not |un)available|HTTP Error (401|404|410)|account .*terminated"),
    (Trouble.GONE, r"log.?in|password|sign in to confirm your age"),
    (Trouble.AWAY, r"HTTP Error 5\d\d|timed? ?out|unable to connect|connection|name resolution|TransportError"),
)
"""Tried in this order; the words are those of yt-dlp's extractors."""


def read_info(info: Info) -> Video:
    """The fields that we need from the host's metadata."""
    return Video(
        title=" ".join(str(info.get("title") or info.get("id") or "").split()),
        author=next((str(info[field]) for field in AUTHORS if info.get(field)), None),
        published_at=_published_at(info),
        duration_s=_seconds(info.get("duration")),
        is_on_air=bool(info.get("is_live")) or info.get("live_status") in ON_THE_AIR,
        captions=choose_captions(info),
    )


def choose_captions(info: Info) -> Captions | None:
    """Manual captions in Russian, English or the spoken language; else automatic ones; else any manual ones.

    Machine translations are never taken: they are neither what was said nor what somebody wrote.
    """
    manual = _readable(info.get("subtitles"))
    automatic = _readable(info.get("automatic_captions"))
    spoken = str(info.get("language") or "").split("-")[0].lower()
    for language in dict.fromkeys((*PREFERRED, spoken)):
        if key := _in_language(manual, language):
            return Captions(language=key, is_automatic=False)
    if key := _as_heard(automatic, spoken):
        return Captions(language=key, is_automatic=True)
    return Captions(language=manual[0], is_automatic=False) if manual else None


def classify_trouble(message: str) -> Trouble:
    """The reason behind an error message; unknown messages count as a refusal."""
    for trouble, pattern in _TROUBLES:
        if re.search(pattern, message, re.IGNORECASE):
            return trouble
    return Trouble.REFUSED


def _readable(offered: object) -> Sequence[str]:
    """Languages that come in a readable format; this excludes live chats."""
    if not isinstance(offered, Mapping):
        return ()
    return [
        str(language)
        for language, formats in offered.items()
        if isinstance(formats, list) and any(form.get("ext") in READABLE for form in formats)
    ]


def _in_language(keys: Sequence[str], language: str) -> str | None:
    return next((key for key in keys if language and key.lower().split("-")[0] == language), None)


def _as_heard(keys: Sequence[str], spoken: str) -> str | None:
    """The original track: YouTube marks it among a hundred translations; other hosts have only one."""
    original = next((key for key in keys if key.endswith("-orig")), None)
    return original or _in_language(keys, spoken) or (keys[0] if len(keys) == 1 else None)


def _published_at(info: Info) -> datetime | None:
    timestamp = _seconds(info.get("timestamp") or info.get("release_timestamp"))
    try:
        if timestamp is not None:
            return datetime.fromtimestamp(timestamp, tz=UTC)
        return datetime.strptime(str(info.get("upload_date")), "%Y%m%d").replace(tzinfo=UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _seconds(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 else None
