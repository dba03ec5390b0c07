"""Speech into text by faster-whisper, in a process of its own, and what the worker and this process say to each other.

In: recordings on disk. Out: `ingestion.ports.Transcript`. `transcriber` is what the worker holds, `listener` what runs
in the other process. The worker trusts nothing that comes from there, because strangers' files are decoded there.
"""

from dataclasses import dataclass

from ingestion.errors import FailureCode
from ingestion.ports import Utterance
from sandbox.records import from_line


@dataclass(frozen=True, kw_only=True)
class Opening:
    """The first record to the process: the model to load."""

    model: str  # a folder of this machine
    threads: int  # 0: one a core
    piece_s: float  # of a recording, heard in one go


@dataclass(frozen=True, kw_only=True)
class Hear:
    """A piece of a recording to hear; where it ends is for the process to find (a silence). The open file comes with
    the record: the process opens none itself."""

    recording: str  # the same for all pieces of one recording
    from_s: float
    language: str | None  # None: find out
    limit_s: float  # a longer recording is refused


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
class PieceEnd:
    until_s: float
    is_last: bool
    language: str | None  # None when nothing was said


@dataclass(frozen=True, kw_only=True)
class Trouble:
    """Why it cannot go on, and the library's message for the log."""

    code: FailureCode | None  # None: the model cannot be loaded
    detail: str


OF_RECORDINGS = frozenset(
    {
        FailureCode.FILE_DAMAGED,
        FailureCode.FILE_WITHOUT_SPEECH,  # also a video without sound
        FailureCode.FILE_TOO_LONG,
        FailureCode.FILE_TOO_HEAVY,
    }
)
Message = Ready | Length | Utterance | PieceEnd | Trouble
"""An utterance is told as soon as it was heard."""


def read_message(line: bytes) -> Message:
    """Raises ValueError, also for seconds before the beginning, and for a reason that is not the recording's."""
    message: Message = from_line(line, Ready, Length, Utterance, PieceEnd, Trouble)
    match message:
        case Length(total_s=seconds) | PieceEnd(until_s=seconds) | Utterance(start_s=seconds):
            if seconds < 0:
                raise ValueError("a second before the beginning")
        case Trouble(code=code) if code is not None and code not in OF_RECORDINGS:
            raise ValueError("a reason of the recording was expected")
    return message
