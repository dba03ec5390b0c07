"""Chooses the models of search, pictures and recordings. Part of the composition root (`bot.app`), which opens them.

In: settings, and what is installed on this machine. Out: an embedder and a reranker (Jina's with a key, else the local
ones that the settings name, else none) and the weights of their search; a `PictureReader` (tesseract, a vision model,
first one and then the other) or None; a `Transcriber` or None, and a video fetcher. Models are loaded at first use.
"""

import asyncio
import os
import wave
from collections.abc import Sequence
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Protocol

from adapters.tesseract import Tesseract, TesseractRecognizer, find_tesseract
from bot.measures import Measures
from bot.settings import Settings
from ingestion.fetch.guard import AddressGuard
from ingestion.fetch.video import VideoFetcher
from ingestion.parsers.markdown import parse_markdown
from ingestion.parsers.process import ParseProcess
from ingestion.ports import Embedder, Recognizer, Transcriber
from ingestion.reading.pictures import PictureReader
from ingestion.records import Vector, Window
from prompts.loader import load_prompts
from rag.ports import QueryEmbedder, Reranker

if TYPE_CHECKING:
    from adapters.llm.fallback import FallbackModel

NO_TEXT = "[no text]"  # as prompts/transcribe.md says
MEGABYTE = 2**20
READING_PATIENCE = 3.0  # a typical model takes 1-2 minutes for 4,000 tokens, and the answer is not streamed


class NoEmbedder:
    """Meets `ingestion.ports.Embedder` and `rag.ports.QueryEmbedder`."""

    model = "none"  # what passages without a vector are marked with
    window_tokens = 7500  # nothing limits it; the same as Jina's, so that progress is reported in similar steps

    async def embed_windows(self, windows: Sequence[Window]) -> list[list[Vector]]:
        """An empty vector for each of a window's own chunks."""
        return [[[] for _ in window.own] for window in windows]

    async def embed_query(self, text: str) -> list[float]:
        """Nothing to compare."""
        return []


class TextEmbedder(Embedder, QueryEmbedder, Protocol):
    """One model for passages and questions: vectors of different models cannot be compared."""


VECTOR_WEIGHT = 0.6
"""Of vector search; that of lexical search is the rest to 1. Sentences and names are weighed against both. Measured,
see benchmarks/README.md."""


async def open_search_models(settings: Settings, stack: AsyncExitStack) -> tuple[TextEmbedder, Reranker | None, float]:
    """The models that are configured, and the weight of vectors in a search. Raises LocalModelError for a local one
    that cannot be used."""
    jina = settings.jina
    if jina.api_key is None:  # in a thread: a model given by its name is downloaded, which may take minutes
        return await asyncio.to_thread(_open_local_models, settings)
    from adapters.jina import TIERS, JinaEmbedder, JinaReranker, open_jina

    client = await stack.enter_async_context(
        open_jina(
            base_url=jina.base_url,
            api_key=jina.api_key.get_secret_value(),
            timeout_s=jina.timeout_s,
            tier=TIERS[jina.tier],
            concurrency=jina.concurrency,
        )
    )
    embedder = JinaEmbedder(client, model=jina.embedding_model, million_cost=jina.million_cost)
    return embedder, JinaReranker(client, model=jina.reranker_model), VECTOR_WEIGHT


def _open_local_models(settings: Settings) -> tuple[TextEmbedder, Reranker | None, float]:
    local, models = settings.local, settings.home / "models"
    embedder: TextEmbedder = NoEmbedder()
    reranker: Reranker | None = None
    if local.embedding_model or local.reranker_model:
        from adapters.local.models import open_encoder, open_reranker

        if local.embedding_model:
            embedder = open_encoder(
                local.embedding_model,
                models=models,
                context_tokens=local.context_tokens,
                threads=local.threads,
                late=local.late_chunking,
            )
        if local.reranker_model:
            reranker = open_reranker(local.reranker_model, models=models, threads=local.threads)
    return embedder, reranker, VECTOR_WEIGHT if local.embedding_model else 0.0


async def open_model(
    role: str, settings: Settings, stack: AsyncExitStack, measures: Measures
) -> "FallbackModel | None":
    """The chat model of a role: answer, planner, checker, reading, vision. None where there is none, or ANSWER_CHECK
    wants no checker. When the planner's fails the emergency plan may still read documents: the answer's stands in."""
    model, vision = settings.model, settings.recognition
    if not model.configured or (role == "checker" and settings.answer.answer_check != "model"):
        return None
    from adapters.llm.fallback import open_chat_model
    from adapters.llm.vision import MAX_TOKENS

    answer, planner = model.answer_model, model.planner_model or model.answer_model
    name, most = {
        "answer": (answer, model.answer_max_tokens),
        "planner": (planner, model.planner_max_tokens),
        "checker": (model.checker_model or planner, model.checker_max_tokens),
        "reading": (planner, model.reading_max_tokens),
        "vision": (vision.vision_model, MAX_TOKENS),
    }[role]
    names = (name, model.fallback_model if role != "vision" else None, answer if role == "reading" else None)
    temperatures = {"answer": model.answer_temperature, "vision": 0.0}
    patience_s = {"reading": model.timeout_s * READING_PATIENCE, "vision": vision.page_s}
    opened = await stack.enter_async_context(
        open_chat_model(
            base_url=model.base_url,
            api_key=model.api_key.get_secret_value() if model.api_key else None,
            models=tuple(dict.fromkeys(filter(None, names))),
            temperature=temperatures.get(role, model.planner_temperature),
            max_tokens=most,
            timeout_s=patience_s.get(role, model.timeout_s),
            tries_alone=role != "vision",
            heard=partial(measures.model_called, role),
        )
    )
    measures.watch_models(role, lambda: opened.resting)
    return opened


async def open_pictures(
    settings: Settings, parser: ParseProcess, stack: AsyncExitStack, measures: Measures
) -> PictureReader | None:
    """The recogniser of the settings, open as long as `stack`."""
    recognizer = await open_recognizer(settings, stack, measures)
    if recognizer is None:
        return None
    recognition = settings.recognition
    concurrency = recognition.concurrency or os.cpu_count() or 1
    return PictureReader(parser, recognizer, pages=recognition.pages, concurrency=concurrency)


async def open_recognizer(settings: Settings, stack: AsyncExitStack, measures: Measures) -> Recognizer | None:
    """None when recognition is off, or nothing that the settings ask for is available."""
    tesseract, vision_model = _recognizers(settings)
    vision: Recognizer | None = None
    if vision_model and (model := await open_model("vision", settings, stack, measures)):
        from adapters.llm.vision import VisionRecognizer

        vision = VisionRecognizer(
            model=model,
            prompt=load_prompts().transcribe,
            no_text=NO_TEXT,
            to_blocks=lambda markdown: tuple(parse_markdown(markdown, name="").blocks),
        )
    if tesseract is None:
        return vision
    recognizer = TesseractRecognizer(tesseract=tesseract, page_s=settings.recognition.page_s, second=vision)
    return await stack.enter_async_context(recognizer)


def describe_recognition(settings: Settings) -> str | None:
    """Names what would recognise text in images, for `baza doctor` and the start; None when nothing would."""
    tesseract, vision_model = _recognizers(settings)
    found = (f"tesseract {'+'.join(tesseract.languages)}" if tesseract else None, vision_model)
    return ", ".join(filter(None, found)) or None


def _recognizers(settings: Settings) -> tuple[Tesseract | None, str | None]:
    """Tesseract and the name of the vision model, as far as they are wanted and there."""
    recognition = settings.recognition
    wants_tesseract, wants_vision = (recognition.mode in (way, "auto") for way in ("tesseract", "vision"))
    tesseract = find_tesseract(recognition.languages) if wants_tesseract else None
    return tesseract, recognition.vision_model if wants_vision and settings.model.configured else None


async def open_transcriber(settings: Settings, stack: AsyncExitStack) -> Transcriber | None:
    """The speech model of the settings; its process starts with the first recording and ends with `stack`."""
    speech = settings.speech
    if speech.model is None:
        return None
    from adapters.whisper.transcriber import SpeechModel, WhisperTranscriber  # for those who have a model

    model = SpeechModel(
        name=speech.model,
        folder=settings.home / "models",
        threads=speech.threads,
        memory_mb=speech.memory_mb,
        language=None if speech.language == "auto" else speech.language,
    )
    return await stack.enter_async_context(WhisperTranscriber(model, limit_s=speech.minutes * 60, idle_s=speech.idle_s))


async def try_speech(settings: Settings) -> None:
    """Load the model (downloading it if it is not there) and transcribe a second of silence. Raises IngestionError."""
    async with AsyncExitStack() as stack:
        path = Path(stack.enter_context(TemporaryDirectory(prefix="baza-"))) / "silence.wav"
        with wave.open(str(path), "wb") as sound:
            sound.setparams((1, 2, 16_000, 0, "NONE", ""))  # one channel of 16 bits
            sound.writeframes(bytes(2 * 16_000))
        if transcriber := await open_transcriber(settings, stack):
            await transcriber.transcribe(path, name="silence", heard=unheard)


def video_fetcher(settings: Settings) -> VideoFetcher:
    """Fetches captions of videos, and their sound when there is a speech model."""
    speech = settings.speech
    return VideoFetcher(
        may_listen=speech.model is not None,
        total_s=speech.video_s,
        size_bytes=speech.video_mb * MEGABYTE,
        sound_s=speech.minutes * 60,
        guard=AddressGuard(allow_hosts=settings.worker.fetch_allow_hosts),
    )


async def unheard(done_s: float, total_s: float) -> None:
    """The progress of a recording that nobody waits for."""
