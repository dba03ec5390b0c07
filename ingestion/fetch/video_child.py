"""The process that runs yt-dlp for one link and ends, and what it and the worker say to each other.

In: one record, `Wanted`. Out: `Message` records, the last one `Got` or `Refused`; the process handles untrusted data,
so the worker checks them once more (`read_message`). What to fetch is chosen from yt-dlp's description (a JSON object
whose fields each host fills differently) and its error messages: captions before sound, never pictures. The process is
confined before (`sandbox.forkserver`): it writes to one folder, and instead of sockets it has the connections that the
worker opens for it (`LentSocket`). No cookies, no configuration files, no plugins, no updates; only the extractors of
known hosts.
"""

import os
import re
import socket
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from io import BufferedReader
from pathlib import Path
from typing import Any

from ingestion.errors import FailureCode
from sandbox.confinement import Layer
from sandbox.records import LINE_BYTES, from_line, to_line

READABLE = ("vtt", "srt")  # caption formats that we can read
PREFERRED = ("ru", "en")  # manual captions in these are preferred to the spoken language
AUTHORS = ("channel", "uploader", "creator")
ON_THE_AIR = frozenset({"is_live", "is_upcoming", "post_live"})
Info = Mapping[str, Any]
"""yt-dlp's `info_dict`."""
EXTRACTORS = (
    *("youtube", "vimeo", "rutube", "rutube:embed", "vk", "odnoklassniki", "dzen\\.ru"),
    *("twitch:vod", "twitch:clips"),
)
"""yt-dlp's names for the hosts of `urls`; without playlists, channels and its generic reader of any page."""
ANY_PAGE = ("generic", "html5")  # for test hosts
NAME = "video"  # of the written file
DETAIL_CHARACTERS = 500
SOCKET_S = 20

UNLENT = ("curl_cffi",)  # yt-dlp would use it if installed, but libcurl opens sockets of its own

Options = dict[str, Any]  # yt-dlp's own


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What to fetch, and within which limits."""

    url: str
    folder: str
    may_listen: bool  # False: captions only, because nothing here can transcribe
    limit_s: float  # longer sound is not fetched
    size_bytes: int
    allow_hosts: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Fetched:
    """Progress of the download of the sound."""

    done_bytes: int
    total_bytes: int  # 0 while unknown


@dataclass(frozen=True, kw_only=True)
class Got:
    """The file in the folder, and the host's metadata of the video."""

    file: str
    title: str
    author: str | None
    published_at: str | None  # ISO 8601
    duration_s: float | None


@dataclass(frozen=True, kw_only=True)
class Refused:
    """Why there is no file: a FailureCode, or None when the host may answer later."""

    code: FailureCode | None
    title: str
    detail: str


@dataclass(frozen=True, kw_only=True)
class Connect:
    """The process wants a connection; it has no sockets of its own."""

    host: str
    port: int


@dataclass(frozen=True, kw_only=True)
class Connected:
    """The answer; an open connection goes with it as a descriptor, unless there is a trouble."""

    trouble: str = ""


Message = Connect | Fetched | Got | Refused


def read_message(line: bytes) -> Message:
    """Raises ValueError, also for a name that is none in the folder, and for a day that is none."""
    message: Message = from_line(line, Connect, Fetched, Got, Refused)
    match message:
        case Got(file=file, published_at=published_at):
            if "/" in file or file in ("", ".", ".."):
                raise ValueError("a name in the folder was expected")
            if published_at is not None:
                datetime.fromisoformat(published_at)
        case Fetched(done_bytes=done, total_bytes=total) if done < 0 or total < 0:
            raise ValueError("a number of bytes was expected")
    return message


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
    (Trouble.REFUSED, r"closed to videos"),  # by `video`
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


class _TooLarge(Exception):
    """The sound has more bytes than the limit."""


class _Silent:
    """A logger that drops everything: messages quote pages."""

    def debug(self, message: str) -> None: ...
    def info(self, message: str) -> None: ...
    def warning(self, message: str) -> None: ...
    def error(self, message: str) -> None: ...


class VideoFetch:
    """One link, from its metadata to a file or a reason."""

    def __init__(self, wanted: Wanted, connection: socket.socket) -> None:
        self._wanted = wanted
        self._connection = connection
        self._folder = Path(wanted.folder)

    def run(self) -> Message:
        """Fetch captions or sound. Returns the last message."""
        from yt_dlp.utils import YoutubeDLError  # takes a second; after the process was limited

        video: Video | None = None
        try:
            info = self._describe()
            video = read_info(info)
            return self._fetch(info, video)
        except _TooLarge:
            return self._refuse(FailureCode.FILE_TOO_LARGE, video, "sound")
        except (YoutubeDLError, OSError) as error:
            trouble = classify_trouble(str(error))
            return self._refuse(CODES.get(trouble), video, f"{trouble.value}: {error}")

    def _describe(self) -> dict[str, Any]:
        with _yt_dlp(self._options()) as downloader:
            info = downloader.extract_info(self._wanted.url, download=False)
            while info and info.get("entries"):
                info = next(iter(info["entries"]), None)
        return info or {}

    def _fetch(self, info: dict[str, Any], video: Video) -> Message:
        if video.is_on_air:
            return self._refuse(CODES[Trouble.LIVE], video, "")
        if video.captions is not None and self._fetch_captions(info, video.captions):
            return self._got(video)
        if not self._wanted.may_listen:
            return self._refuse(FailureCode.FILE_NEEDS_HEARING, video, "no captions")
        if (video.duration_s or 0) > self._wanted.limit_s:
            return self._refuse(FailureCode.FILE_TOO_LONG, video, f"{video.duration_s} s")
        self._download(info, self._sound_options())
        return self._got(video) if self._file() else self._refuse(FailureCode.FILE_TOO_LARGE, video, "sound")

    def _fetch_captions(self, info: dict[str, Any], captions: Captions) -> bool:
        """False when the host lists captions but does not deliver them, as hosts do to suspected robots."""
        from yt_dlp.utils import YoutubeDLError

        try:
            self._download(info, self._caption_options(captions))
        except (YoutubeDLError, OSError):
            return False
        return self._file() is not None

    def _download(self, info: dict[str, Any], options: Options) -> None:
        with _yt_dlp({**self._options(), **options}) as downloader:
            downloader.process_ie_result(dict(info), download=True)

    def _options(self) -> Options:
        allowed = [*EXTRACTORS, *ANY_PAGE] if self._is_test_host() else list(EXTRACTORS)
        return {
            "allowed_extractors": allowed,
            "quiet": True,
            "noprogress": True,
            "logger": _Silent(),
            "proxy": "",
            "cachedir": False,
            "noplaylist": True,
            "playlist_items": "1",
            "socket_timeout": SOCKET_S,
            "retries": 2,
            "extractor_retries": 1,
            "fixup": "never",  # needs ffmpeg
            "hls_prefer_native": True,
            "format": "bestaudio/best",
            "format_sort": ["lang", "+size", "+br"],  # the smallest one in the spoken language
            "ignore_no_formats_error": True,  # there may still be captions
            "outtmpl": {"default": str(self._folder / f"{NAME}.%(ext)s")},
            "nopart": True,
            "js_runtimes": {"deno": {}},
        }

    def _caption_options(self, captions: Captions) -> Options:
        return {
            "skip_download": True,
            "writesubtitles": not captions.is_automatic,
            "writeautomaticsub": captions.is_automatic,
            "subtitleslangs": [captions.language],
            "subtitlesformat": "vtt/srt",
        }

    def _sound_options(self) -> Options:
        return {
            "ignore_no_formats_error": False,
            "max_filesize": self._wanted.size_bytes,
            "progress_hooks": [self._report],
        }

    def _report(self, status: Mapping[str, Any]) -> None:
        done = int(status.get("downloaded_bytes") or 0)
        if done > self._wanted.size_bytes:
            raise _TooLarge
        total = int(status.get("total_bytes") or status.get("total_bytes_estimate") or 0)
        self._connection.sendall(to_line(Fetched(done_bytes=done, total_bytes=total)))

    def _is_test_host(self) -> bool:
        return any(self._wanted.url.startswith(f"http://{host}/") for host in self._wanted.allow_hosts)

    def _file(self) -> str | None:
        return next((path.name for path in sorted(self._folder.glob(f"{NAME}.*")) if path.stat().st_size), None)

    def _got(self, video: Video) -> Got:
        return Got(
            file=self._file() or "",
            title=video.title,
            author=video.author,
            published_at=video.published_at.isoformat() if video.published_at else None,
            duration_s=video.duration_s,
        )

    def _refuse(self, code: FailureCode | None, video: Video | None, detail: str) -> Refused:
        title = video.title if video else ""
        return Refused(code=code, title=title, detail=detail[:DETAIL_CHARACTERS])


class LentSocket(socket.socket):
    """Nothing until it is connected, then a TCP connection that the worker has opened."""

    worker: socket.socket
    _patience_s: float | None = None

    def __init__(self, family: int = -1, type: int = -1, proto: int = -1, fileno: int | None = None) -> None:
        self._io_refs, self._closed = 0, False
        if fileno is not None:
            super().__init__(family, type, proto, fileno)

    def connect(self, address: Any) -> None:
        """Ask the worker, who looks the name up and checks where it leads. Raises OSError."""
        self.worker.sendall(to_line(Connect(host=str(address[0]), port=int(address[1]))))
        line, descriptors, _, _ = socket.recv_fds(self.worker, LINE_BYTES, 1)
        if trouble := from_line(line, Connected).trouble:
            raise OSError(trouble)
        super().__init__(fileno=descriptors[0])
        self.settimeout(self._patience_s)

    def settimeout(self, value: float | None) -> None:
        """Clients set it before they connect, too."""
        self._patience_s = value
        if self.fileno() >= 0:
            super().settimeout(value)

    def setsockopt(self, *options: Any) -> None:
        """What clients ask for before they connect; it is for speed only."""


def lend_sockets(worker: socket.socket) -> None:
    """From now on connections are asked of the worker, by the host's name."""
    LentSocket.worker = worker
    socket.socket = LentSocket  # type: ignore[misc] # libraries of Python make theirs by this name
    socket.getaddrinfo = _unresolved  # type: ignore[assignment]
    for name in UNLENT:
        sys.modules[name] = None  # type: ignore[assignment] # Python's convention for a module not to be imported


def _unresolved(host: str, port: int, *_: object, **__: object) -> list[tuple[object, ...]]:
    return [(socket.AF_INET, socket.SOCK_STREAM, 0, "", (host, port))]


@contextmanager
def _yt_dlp(options: Options) -> Iterator[Any]:
    from yt_dlp import YoutubeDL
    from yt_dlp.globals import plugin_dirs

    plugin_dirs.value = []  # before the first YoutubeDL, which would load plugins from the person's folders
    with YoutubeDL(options) as downloader:
        yield downloader


def serve(connection: socket.socket, stream: BufferedReader, _layers: frozenset[Layer]) -> None:
    """See `sandbox.forkserver.Serve`."""
    wanted = from_line(stream.readline(LINE_BYTES), Wanted)
    os.chdir(wanted.folder)
    os.environ["DENO_DIR"] = f"{wanted.folder}/deno"  # without a place for its cache it does not start
    lend_sockets(connection)
    connection.sendall(to_line(VideoFetch(wanted, connection).run()))
