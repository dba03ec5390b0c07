"""What the worker and the listening process say to each other: one line of JSON each.

In: records. Out: bytes, and back. The worker trusts nothing that comes from the process, because strangers' files are
decoded there: whatever is not of the right shape raises ValueError. No code is ever loaded (no pickle).
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Self

from ingestion.ports import Utterance


@dataclass(frozen=True, kw_only=True)
class Opening:
    """The first line to the process: the model to load, and its limits."""

    model: str  # a folder of this machine, or a name that faster-whisper knows
    models_folder: str  # where models that have a name are kept
    threads: int  # 0: one a core
    memory_bytes: int
    piece_s: float  # of a recording, heard in one go

    def to_line(self) -> bytes:
        """One line of JSON."""
        return _line(asdict(self))

    @classmethod
    def from_line(cls, line: bytes) -> Self:
        """The inverse; the line comes from our own process."""
        return cls(**json.loads(line))


@dataclass(frozen=True, kw_only=True)
class Hear:
    """A piece of a recording to hear; where it ends is for the process to find (a silence)."""

    path: str
    from_s: float
    language: str | None  # None: find out
    limit_s: float  # a longer recording is refused

    def to_line(self) -> bytes:
        """One line of JSON."""
        return _line(asdict(self))

    @classmethod
    def from_line(cls, line: bytes) -> Self:
        """The inverse; the line comes from our own process."""
        return cls(**json.loads(line))


@dataclass(frozen=True, kw_only=True)
class Ready:
    """The model is loaded."""


@dataclass(frozen=True, kw_only=True)
class Length:
    """What the container says of the recording, before anything of it is heard."""

    total_s: float
    has_picture: bool
    title: str | None


@dataclass(frozen=True, kw_only=True)
class Said:
    """A stretch of speech, told as soon as it was heard."""

    utterance: Utterance


@dataclass(frozen=True, kw_only=True)
class PieceEnd:
    """The piece was heard to its end."""

    until_s: float
    is_last: bool
    language: str | None  # None when nothing was said


@dataclass(frozen=True, kw_only=True)
class Trouble:
    """Why it cannot go on: a reason of ours, and the library's message for the log."""

    kind: str  # one of the TROUBLE_* below
    detail: str


TROUBLE_MODEL = "model"  # it cannot be loaded
TROUBLE_DAMAGED = "damaged"
TROUBLE_SOUNDLESS = "soundless"
TROUBLE_LONG = "long"
TROUBLE_MEMORY = "memory"

Message = Ready | Length | Said | PieceEnd | Trouble


def encode_message(message: Message) -> bytes:
    """One line of JSON: `{"kind": …, its fields}`."""
    fields = asdict(message.utterance) if isinstance(message, Said) else asdict(message)
    return _line({"message": type(message).__name__, **fields})


def decode_message(line: bytes) -> Message:
    """The inverse. Raises ValueError."""
    try:
        fields = json.loads(line)
        return _READERS[fields["message"]](fields)
    except (KeyError, TypeError, RecursionError, OverflowError) as error:
        raise ValueError("not a message of ours") from error


def _line(fields: Mapping[str, object]) -> bytes:
    # Escapes keep lone surrogates, which file names may hold, and every line ASCII.
    return json.dumps(fields, ensure_ascii=True, allow_nan=False).encode() + b"\n"


Fields = Mapping[str, object]

_READERS: Mapping[str, Callable[[Fields], Message]] = {
    "Ready": lambda fields: Ready(),
    "Length": lambda fields: Length(
        total_s=_number(fields["total_s"]),
        has_picture=fields["has_picture"] is True,
        title=_optional_text(fields["title"]),
    ),
    "Said": lambda fields: Said(
        utterance=Utterance(
            start_s=_number(fields["start_s"]), end_s=_number(fields["end_s"]), text=_text(fields["text"])
        )
    ),
    "PieceEnd": lambda fields: PieceEnd(
        until_s=_number(fields["until_s"]),
        is_last=fields["is_last"] is True,
        language=_optional_text(fields["language"]),
    ),
    "Trouble": lambda fields: Trouble(kind=_text(fields["kind"]), detail=_text(fields["detail"])),
}


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
        raise ValueError("a number of seconds was expected")
    return float(value)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("a text was expected")
    return value.replace("\0", "").encode("utf-8", errors="replace").decode()  # what PostgreSQL can hold


def _optional_text(value: object) -> str | None:
    return None if value is None else _text(value)
