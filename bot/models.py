"""Chooses the models of search, pictures and recordings. Part of the composition root (`bot.app`), which opens them.

In: settings, and what is installed on this machine. Out: an embedder and a reranker (Jina's with a key, else the local
ones that the settings name, else none) and the weights of lexical and vector search for them; a `PictureReader`
(tesseract, a vision model, first one and then the other) or None; a `Transcriber` or None, and a video fetcher, which
without a speech model takes captions only. Models are loaded at their first use.
"""

import asyncio
import os
import wave
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

from adapters.tesseract import TesseractRecognizer, find_tesseract
from bot.measures import Measures
from bot.settings import JinaSettings, LocalModelSettings, ModelSettings, RecognitionSettings, Settings
from ingestion.fetch.video import VideoFetcher, VideoLimits
from ingestion.parsers.markdown import parse_markdown
from ingestion.parsers.process import ParseProcess
from ingestion.ports import Embedder, Recognizer, Transcriber
from ingestion.reading.pictures import PictureReader, RecognitionLimits
from ingestion.records import Block, Vector, Window
from prompts.loader import load_prompts
from rag.ports import QueryEmbedder, Reranker

MODEL = "none"
WINDOW_TOKENS = 7500  # nothing limits it; the same as Jina's, so that progress is reported in similar steps
NO_TEXT = "[no text]"  # as prompts/transcribe.md says
ROLE = "vision"  # the model's role in `bot.measures`
MEGABYTE = 2**20
SAMPLES_A_SECOND = 16_000
SAMPLE_BYTES = 2


class NoEmbedder:
    """Meets `ingestion.ports.Embedder` and `rag.ports.QueryEmbedder`."""

    @property
    def model(self) -> str:
        """What passages without a vector are marked with."""
        return MODEL

    @property
    def window_tokens(self) -> int:
        """How many tokens one window may hold at the most."""
        return WINDOW_TOKENS

    async def embed_windows(self, windows: Sequence[Window]) -> list[list[Vector]]:
        """An empty vector for each of a window's own chunks."""
        return [[[] for _ in window.own] for window in windows]

    async def embed_query(self, text: str) -> Vector:
        """Nothing to compare."""
        return []


class TextEmbedder(Embedder, QueryEmbedder, Protocol):
    """One model for passages and questions: vectors of different models cannot be compared."""


@dataclass(frozen=True, kw_only=True)
class Fusion:
    """The weights of lexical and vector search, which make 1 together: sentences and names are weighed against that.
    Measured, see benchmarks/README.md."""

    lexical_weight: float
    vector_weight: float


WITHOUT_VECTORS = Fusion(lexical_weight=1.0, vector_weight=0.0)
WITH_VECTORS = Fusion(lexical_weight=0.4, vector_weight=0.6)


@dataclass(frozen=True, kw_only=True)
class SearchModels:
    """What `rag.retrieval` is given."""

    embedder: TextEmbedder
    reranker: Reranker | None
    fusion: Fusion


async def open_search_models(settings: Settings, stack: AsyncExitStack) -> SearchModels:
    """The models that are configured. Raises LocalModelError for a local one that cannot be used."""
    if settings.jina.api_key is not None:
        return await _open_jina_models(settings.jina, settings.jina.api_key.get_secret_value(), stack)
    # In a thread: a model given by its name is downloaded, which may take minutes.
    return await asyncio.to_thread(_open_local_models, settings.local, settings.home / "models")


async def _open_jina_models(jina: JinaSettings, key: str, stack: AsyncExitStack) -> SearchModels:
    from adapters.jina import TIERS, JinaEmbedder, JinaReranker, open_jina

    client = await stack.enter_async_context(
        open_jina(
            base_url=jina.base_url,
            api_key=key,
            timeout_s=jina.timeout_s,
            tier=TIERS[jina.tier],
            concurrency=jina.concurrency,
        )
    )
    return SearchModels(
        embedder=JinaEmbedder(client, model=jina.embedding_model, million_cost=jina.million_cost),
        reranker=JinaReranker(client, model=jina.reranker_model),
        fusion=WITH_VECTORS,
    )


def _open_local_models(local: LocalModelSettings, models: Path) -> SearchModels:
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
    fusion = WITH_VECTORS if local.embedding_model else WITHOUT_VECTORS
    return SearchModels(embedder=embedder, reranker=reranker, fusion=fusion)


async def open_pictures(
    settings: Settings, parser: ParseProcess, stack: AsyncExitStack, measures: Measures
) -> PictureReader | None:
    """The recogniser of the settings, open as long as `stack`."""
    recognizer = await open_recognizer(settings, stack, measures)
    if recognizer is None:
        return None
    recognition = settings.recognition
    limits = RecognitionLimits(pages=recognition.pages, concurrency=recognition.concurrency or os.cpu_count() or 1)
    return PictureReader(parser, recognizer, limits)


async def open_recognizer(settings: Settings, stack: AsyncExitStack, measures: Measures) -> Recognizer | None:
    """None when recognition is off, or nothing that the settings ask for is available."""
    recognition = settings.recognition
    if recognition.mode == "off":
        return None
    vision = None
    if recognition.mode != "tesseract":
        vision = await _open_vision(recognition, settings.model, stack, measures)
    tesseract = find_tesseract(recognition.languages) if recognition.mode != "vision" else None
    if tesseract is None:
        return vision
    recognizer = TesseractRecognizer(tesseract=tesseract, page_s=recognition.page_s, second=vision)
    return await stack.enter_async_context(recognizer)


def describe_recognition(settings: Settings) -> str | None:
    """Names what would recognise text in images, for `baza doctor` and the start; None when nothing would."""
    recognition = settings.recognition
    if recognition.mode == "off":
        return None
    found = []
    tesseract = find_tesseract(recognition.languages) if recognition.mode != "vision" else None
    if tesseract is not None:
        found.append(f"tesseract {'+'.join(tesseract.languages)}")
    if recognition.mode != "tesseract" and recognition.vision_model is not None and settings.model.configured:
        found.append(recognition.vision_model)
    return ", ".join(found) or None


async def _open_vision(
    recognition: RecognitionSettings, model: ModelSettings, stack: AsyncExitStack, measures: Measures
) -> Recognizer | None:
    if recognition.vision_model is None or not model.configured:
        return None
    from adapters.llm import open_chat_model
    from adapters.llm.vision import MAX_TOKENS, VisionRecognizer

    opened = await stack.enter_async_context(
        open_chat_model(
            base_url=model.base_url,
            api_key=model.api_key.get_secret_value() if model.api_key else None,
            models=(recognition.vision_model,),
            temperature=0,
            max_tokens=MAX_TOKENS,
            timeout_s=recognition.page_s,
            tries_alone=False,
            heard=partial(measures.model_called, ROLE),
        )
    )
    measures.watch_models(ROLE, lambda: opened.resting)
    prompt = load_prompts().transcribe
    return VisionRecognizer(model=opened, prompt=prompt, no_text=NO_TEXT, to_blocks=_to_blocks)


def _to_blocks(markdown: str) -> tuple[Block, ...]:
    return tuple(parse_markdown(markdown, name="").blocks)


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
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="baza-")))
        transcriber = await open_transcriber(settings, stack)
        if transcriber is not None:
            await transcriber.transcribe(_silence(folder / "silence.wav"), name="silence", heard=_ignore)


def video_fetcher(settings: Settings) -> VideoFetcher:
    """Fetches captions of videos, and their sound when there is a speech model."""
    speech = settings.speech
    limits = VideoLimits(
        total_s=speech.video_s,
        size_bytes=speech.video_mb * MEGABYTE,
        sound_s=speech.minutes * 60,
        allow_hosts=settings.worker.fetch_allow_hosts,
    )
    return VideoFetcher(limits, may_listen=speech.model is not None)


def _silence(path: Path) -> Path:
    with wave.open(str(path), "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(SAMPLE_BYTES)
        sound.setframerate(SAMPLES_A_SECOND)
        sound.writeframes(bytes(SAMPLE_BYTES * SAMPLES_A_SECOND))
    return path


async def _ignore(done_s: float, total_s: float) -> None:
    """Nobody waits for progress here."""
