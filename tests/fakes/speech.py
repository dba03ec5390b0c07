"""A transcriber that has heard everything already.

In: a transcript, or the error to raise. Out: what it was asked.
"""

from collections.abc import Awaitable, Callable
from pathlib import Path

from ingestion.ports import Transcript, Utterance


class FakeTranscriber:
    """Says what it was given, telling of each utterance on the way."""

    def __init__(self, transcript: Transcript, *, error: Exception | None = None) -> None:
        self._transcript = transcript
        self._error = error
        self.asked: list[tuple[Path, str]] = []

    async def transcribe(
        self, path: Path, *, name: str, heard: Callable[[float, float], Awaitable[None]]
    ) -> Transcript:
        """The transcript, or the error."""
        self.asked.append((path, name))
        for utterance in self._transcript.utterances:
            await heard(utterance.end_s, self._transcript.duration_s)
        if self._error is not None:
            raise self._error
        return self._transcript


def said(*pieces: tuple[float, float, str]) -> tuple[Utterance, ...]:
    """(start, end, text) of each utterance."""
    return tuple(Utterance(start_s=start, end_s=end, text=text) for start, end, text in pieces)
