"""Chooses what recognises text in images: tesseract, a vision model, first one and then the other, or nothing.

In: settings, and what is installed on this machine. Out: a `PictureReader`, or None when no recogniser is available.
Part of the composition root (`bot.app`), split off for length.
"""

import os
from contextlib import AsyncExitStack
from functools import partial

from adapters.tesseract import TesseractRecognizer, find_tesseract
from bot.metrics.measures import Measures
from bot.settings import ModelSettings, RecognitionSettings, Settings
from ingestion.parsers.markdown import parse_markdown
from ingestion.parsers.process import ParseProcess
from ingestion.ports import Recognizer
from ingestion.reading.pictures import PictureReader, RecognitionLimits
from ingestion.records import Block
from prompts.loader import load_prompts

NO_TEXT = "[no text]"  # as prompts/transcribe.md says
ROLE = "vision"  # the model's role in `bot.metrics`


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
    from adapters.llm.vision import VisionSettings, open_vision

    settings = VisionSettings(
        model=recognition.vision_model,
        prompt=load_prompts().transcribe.text,
        no_text=NO_TEXT,
        timeout_s=recognition.page_s,
    )
    key = model.api_key.get_secret_value() if model.api_key else None
    opened = await stack.enter_async_context(
        open_vision(
            base_url=model.base_url,
            api_key=key,
            settings=settings,
            to_blocks=_to_blocks,
            heard=partial(measures.model_called, ROLE),
        )
    )
    measures.watch_models(ROLE, lambda: opened.resting)
    return opened


def _to_blocks(markdown: str) -> tuple[Block, ...]:
    return tuple(parse_markdown(markdown, name="").blocks)
