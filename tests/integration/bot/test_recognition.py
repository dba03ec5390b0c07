"""What a scraper reads of a vision model's calls."""

from contextlib import AsyncExitStack

from bot.measures import Measures
from bot.models import open_recognizer
from bot.settings import Settings
from tests.servers.llm import serve_llm


async def test_calls_of_a_vision_model_are_among_the_figures() -> None:
    measures = Measures()
    async with serve_llm(reply=lambda _: "Привет") as server, AsyncExitStack() as stack:
        model = {"LLM_BASE_URL": server.url}
        settings = Settings.read({"OCR": "vision", "VISION_MODEL": "seer", **model})
        recognizer = await open_recognizer(settings, stack, measures)
        assert recognizer is not None
        await recognizer.recognise(b"\xff\xd8\xff\xe0 a picture")
    page = measures.page().decode()
    assert 'baza_model_calls_total{model="seer",problem="",role="vision"} 1.0' in page
    assert 'baza_model_resting{model="seer",role="vision"} 0.0' in page
    assert 'baza_model_tokens_total{of="answer",role="vision"} 1.0' in page
