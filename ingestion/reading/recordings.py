"""Turns a recording into a document whose paragraphs have their start and end in seconds.

In: `FetchedFile` and the transcript of a `Transcriber`. Out: `Document`; progress is reported by the second. Of a video
only the sound is used. It transcribes nothing itself; `ingestion.speech` forms the paragraphs.
"""

from domain.documents import DocumentStatus, Medium
from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.titles import choose_title
from ingestion.ports import Transcriber
from ingestion.progress import Progress
from ingestion.records import Document, FetchedFile
from ingestion.speech import to_paragraphs


class RecordingReader:
    """Reads voice notes, audio and video."""

    def __init__(self, transcriber: Transcriber) -> None:
        self._transcriber = transcriber

    async def read_recording(self, file: FetchedFile, progress: Progress) -> Document:
        """The transcript as a document.

        Raises SourceError (FILE_WITHOUT_SPEECH, and the transcriber's), ServiceError, LeaseLost.
        """

        async def heard(done_s: float, total_s: float) -> None:
            await progress.report(DocumentStatus.LISTENING, done=round(done_s), total=round(total_s))

        await progress.report(DocumentStatus.LISTENING)
        transcript = await self._transcriber.transcribe(file.path, name=file.name, heard=heard)
        blocks = to_paragraphs(transcript.utterances)
        if not blocks:
            raise SourceError(FailureCode.FILE_WITHOUT_SPEECH, name=file.name)
        return Document(
            title=choose_title(transcript.title, (), name=file.name),
            blocks=blocks,
            language=transcript.language,
            medium=Medium.VIDEO if transcript.has_picture else Medium.AUDIO,
            duration_s=transcript.duration_s,
        )
