"""Turns a spoken question into text.

In: the id of a voice message's file. Out: what is said in it. The speech model is the one used for documents; the
recording itself is not kept.
"""

from pathlib import Path

from ingestion.errors import FailureCode, SourceError
from ingestion.ports import TelegramFiles, Transcriber
from ingestion.scratch import document_folder

QUESTION_BYTES = 20 * 2**20  # what Telegram hands to bots at most
NAME = "question"


class SpokenQuestions:
    """Transcribes questions. Any number may be asked concurrently; the model takes them one at a time."""

    def __init__(self, files: TelegramFiles, transcriber: Transcriber, *, scratch: Path) -> None:
        self._files = files
        self._transcriber = transcriber
        self._scratch = scratch

    async def hear(self, file_id: str) -> str:
        """What is said. Raises SourceError (FILE_WITHOUT_SPEECH, file gone, damaged, too long), ServiceError (service
        away)."""
        with document_folder(self._scratch) as folder:
            path = folder / NAME
            await self._files.download(file_id, path, limit_bytes=QUESTION_BYTES)
            transcript = await self._transcriber.transcribe(path, name=NAME, heard=_ignore)
        text = " ".join(utterance.text.strip() for utterance in transcript.utterances).strip()
        if not text:
            raise SourceError(FailureCode.FILE_WITHOUT_SPEECH, name=NAME)
        return text


async def _ignore(done_s: float, total_s: float) -> None:
    """A question is short: its progress is not shown."""
