"""The process that runs yt-dlp for one link and ends, and what it and the worker say to each other.

In: one record, `Wanted`. Out: `Message` records, the last one `Got` or `Refused`; the process handles untrusted data,
so the worker checks them once more (`read_message`). Captions are fetched before sound, and never pictures. The process
is confined before (`sandbox.forkserver`): it writes to one folder, and instead of sockets it has the connections that
the worker opens for it (`LentSocket`). No cookies, no configuration files, no plugins, no updates.
"""

import logging
import os
import re
import socket
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from io import BufferedReader
from pathlib import Path
from typing import Any

from domain.documents import Medium
from ingestion.errors import FailureCode
from ingestion.records import About
from sandbox.confinement import Layer
from sandbox.records import LINE_BYTES, from_line, to_line

READABLE = ("vtt", "srt")  # caption formats that we can read
PREFERRED = ("ru", "en")  # manual captions in these are preferred to the spoken language
MANUAL, AUTOMATIC = "writesubtitles", "writeautomaticsub"  # yt-dlp's options; automatic: by speech recognition
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


@dataclass(frozen=True, kw_only=True)
class Wanted:
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
    """The name of the file in the folder, and the host's metadata of the video."""

    file: str
    about: About


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
    """Raises ValueError, also for a name that is none in the folder."""
    message: Message = from_line(line, Connect, Fetched, Got, Refused)
    if isinstance(message, Got) and ("/" in message.file or message.file in ("", ".", "..")):
        raise ValueError("a name in the folder was expected")
    return message


_TROUBLES = (
    (FailureCode.VIDEO_REFUSED, r"closed to videos"),  # by `video`
    (FailureCode.VIDEO_REFUSED, r"not a bot|captcha|HTTP Error (403|429)|rate.?limit|your country|geo.?restrict"),
    (FailureCode.VIDEO_LIVE, r"live event will begin|premieres? (in|will)|(is|has) not yet (started|begun)|is offline"),
    (
        FailureCode.VIDEO_UNAVAILABLE,
        r"private|removed|deleted|members.only|available to this channel|does not exist|no longer"
        r"|video (is )?(not |un)available|HTTP Error (401|404|410)|account .*terminated"
        r"|log.?in|password|sign in to confirm your age",
    ),
    (None, r"HTTP Error 5\d\d|timed? ?out|unable to connect|connection|name resolution|TransportError"),
)
"""Why a host gives no video (None: it may answer later), tried in this order; the words are those of yt-dlp's
extractors."""


def read_info(info: Info) -> About:
    """What the host says of the video."""
    duration_s, day = info.get("duration"), None
    with suppress(ValueError):
        day = datetime.strptime(str(info.get("upload_date")), "%Y%m%d").replace(tzinfo=UTC)
    return About(
        title=" ".join(str(info.get("title") or info.get("id") or "").split()) or None,
        author=next((str(info[field]) for field in AUTHORS if info.get(field)), None),
        published_at=day,
        medium=Medium.VIDEO,
        duration_s=float(duration_s) if isinstance(duration_s, int | float) and duration_s >= 0 else None,
    )


def choose_captions(info: Info) -> tuple[str, str] | None:
    """yt-dlp's option and the host's code of the language (ru, ru-RU, en-orig): manual captions in Russian, English or
    the spoken language; else automatic ones; else any manual ones. Machine translations are never taken: they are
    neither what was said nor what somebody wrote."""
    manual, automatic = _readable(info.get("subtitles")), _readable(info.get("automatic_captions"))
    spoken = str(info.get("language") or "").split("-")[0].lower()
    for language in (*PREFERRED, spoken):
        if key := _in_language(manual, language):
            return MANUAL, key
    # YouTube marks the original track among a hundred translations; other hosts have only one.
    original = next((key for key in automatic if key.endswith("-orig")), None) or _in_language(automatic, spoken)
    if original or len(automatic) == 1:
        return AUTOMATIC, original or automatic[0]
    return (MANUAL, manual[0]) if manual else None


def classify_trouble(message: str) -> FailureCode | None:
    """The reason behind an error message; unknown messages count as a refusal."""
    found = (code for code, pattern in _TROUBLES if re.search(pattern, message, re.IGNORECASE))
    return next(found, FailureCode.VIDEO_REFUSED)


def _readable(offered: object) -> Sequence[str]:
    """Languages that come in a readable format; this excludes live chats."""
    tracks = offered.items() if isinstance(offered, Mapping) else ()
    return [
        str(language)
        for language, formats in tracks
        if isinstance(formats, list) and any(form.get("ext") in READABLE for form in formats)
    ]


def _in_language(keys: Sequence[str], language: str) -> str | None:
    return next((key for key in keys if language and key.lower().split("-")[0] == language), None)


class _TooLarge(Exception):
    """The sound has more bytes than the limit."""


@dataclass
class VideoFetch:
    """One link, from its metadata to a file or a reason."""

    wanted: Wanted
    connection: socket.socket
    _about: About = field(default_factory=About)

    def run(self) -> Message:
        """Fetch captions or sound. Returns the last message."""
        from yt_dlp.utils import YoutubeDLError  # takes a second; after the process was limited

        try:
            with self._yt_dlp() as downloader:
                info = downloader.extract_info(self.wanted.url, download=False)
                while info and info.get("entries"):
                    info = next(iter(info["entries"]), None)
            self._about = read_info(info or {})
            return self._fetch(info or {})
        except _TooLarge:
            return self._refuse(FailureCode.FILE_TOO_LARGE, "sound")
        except (YoutubeDLError, OSError) as error:
            return self._refuse(classify_trouble(str(error)), str(error))

    def _fetch(self, info: Info) -> Message:
        from yt_dlp.utils import YoutubeDLError

        if info.get("is_live") or info.get("live_status") in ON_THE_AIR:
            return self._refuse(FailureCode.VIDEO_LIVE)
        file, captions = None, choose_captions(info)
        if captions is not None:
            # Hosts list captions and do not deliver them to suspected robots.
            with suppress(YoutubeDLError, OSError):
                formats, (option, language) = "/".join(READABLE), captions
                wanted = {option: True, "subtitleslangs": [language], "subtitlesformat": formats}
                file = self._download(info, skip_download=True, **wanted)
        if not file:
            if not self.wanted.may_listen:
                return self._refuse(FailureCode.FILE_NEEDS_HEARING, "no captions")
            if (self._about.duration_s or 0) > self.wanted.limit_s:
                return self._refuse(FailureCode.FILE_TOO_LONG, f"{self._about.duration_s} s")
            limits = {"max_filesize": self.wanted.size_bytes, "progress_hooks": [self._report]}
            file = self._download(info, ignore_no_formats_error=False, **limits)
        return Got(file=file, about=self._about) if file else self._refuse(FailureCode.FILE_TOO_LARGE, "sound")

    def _download(self, info: Info, **options: object) -> str | None:
        """The name of the file that was written."""
        with self._yt_dlp(**options) as downloader:
            downloader.process_ie_result(dict(info), download=True)
        written = sorted(Path(self.wanted.folder).glob(f"{NAME}.*"))
        return next((path.name for path in written if path.stat().st_size), None)

    def _yt_dlp(self, **options: object) -> Any:
        from yt_dlp import YoutubeDL
        from yt_dlp.globals import plugin_dirs

        plugin_dirs.value = []  # before the first YoutubeDL, which would load plugins from the person's folders
        is_test_host = any(self.wanted.url.startswith(f"http://{host}/") for host in self.wanted.allow_hosts)
        return YoutubeDL(
            {
                "allowed_extractors": [*EXTRACTORS, *(ANY_PAGE if is_test_host else ())],
                "quiet": True,
                "noprogress": True,
                "logger": logging.Logger("yt-dlp", logging.CRITICAL + 1),  # silent: messages quote pages
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
                "outtmpl": {"default": f"{self.wanted.folder}/{NAME}.%(ext)s"},
                "nopart": True,
                "js_runtimes": {"deno": {}},
                **options,
            }
        )

    def _report(self, status: Info) -> None:
        done = int(status.get("downloaded_bytes") or 0)
        if done > self.wanted.size_bytes:
            raise _TooLarge
        total = int(status.get("total_bytes") or status.get("total_bytes_estimate") or 0)
        self.connection.sendall(to_line(Fetched(done_bytes=done, total_bytes=total)))

    def _refuse(self, code: FailureCode | None, detail: str = "") -> Refused:
        return Refused(code=code, title=self._about.title or "", detail=detail[:DETAIL_CHARACTERS])


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
    socket.getaddrinfo = lambda host, port, *_, **__: [(socket.AF_INET, socket.SOCK_STREAM, 0, "", (host, port))]
    for name in UNLENT:
        sys.modules[name] = None  # type: ignore[assignment] # Python's convention for a module not to be imported


def serve(connection: socket.socket, stream: BufferedReader, _layers: frozenset[Layer]) -> None:
    """See `sandbox.forkserver.Serve`."""
    wanted = from_line(stream.readline(LINE_BYTES), Wanted)
    os.chdir(wanted.folder)
    os.environ["DENO_DIR"] = f"{wanted.folder}/deno"  # without a place for its cache it does not start
    lend_sockets(connection)
    connection.sendall(to_line(VideoFetch(wanted, connection).run()))
