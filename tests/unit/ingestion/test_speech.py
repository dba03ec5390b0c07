"""Speech becomes paragraphs that lose no word and know their seconds."""

from hypothesis import given
from hypothesis import strategies as st

from domain.locator import Locator
from ingestion.chunking.chunker import chunk_document
from ingestion.ports import Utterance
from ingestion.records import Document
from ingestion.speech import PARAGRAPH_S, PAUSE_S, to_paragraphs
from tests.fakes.speech import said

steps = st.tuples(st.floats(0, 4), st.floats(0.1, 70), st.sampled_from(["слово", "конец.", "да?", "  "]))


def _utterances(moves: list[tuple[float, float, str]]) -> list[Utterance]:
    """Pauses and lengths, one after the other."""
    now, utterances = 0.0, []
    for pause_s, length_s, text in moves:
        start_s = now + pause_s
        now = start_s + length_s
        utterances.append(Utterance(start_s=start_s, end_s=now, text=text))
    return utterances


@given(moves=st.lists(steps, max_size=30))
def test_every_word_stands_once_and_in_its_time(moves: list[tuple[float, float, str]]) -> None:
    utterances = _utterances(moves)
    blocks = to_paragraphs(utterances)
    words = [word for utterance in utterances for word in utterance.text.split()]
    assert [word for block in blocks for word in block.text.split()] == words
    spoken = [utterance for utterance in utterances if utterance.text.strip()]
    assert [block.locator.start_s for block in blocks[:1]] == [utterance.start_s for utterance in spoken[:1]]
    assert [block.locator.end_s for block in blocks[-1:]] == [utterance.end_s for utterance in spoken[-1:]]


@given(moves=st.lists(steps, max_size=30))
def test_paragraphs_are_short_unless_one_utterance_is_long(moves: list[tuple[float, float, str]]) -> None:
    longest_s = max((length_s for _, length_s, _ in moves), default=0.0)
    for block in to_paragraphs(_utterances(moves)):
        start_s, end_s = block.locator.start_s, block.locator.end_s
        assert start_s is not None
        assert end_s is not None
        assert end_s - start_s <= max(PARAGRAPH_S, longest_s) + 1e-6


def test_a_pause_begins_a_paragraph() -> None:
    blocks = to_paragraphs(said((0, 2, "Первое."), (2.5, 4, "Ещё."), (4 + PAUSE_S + 0.1, 8, "Второе.")))
    assert [block.text for block in blocks] == ["Первое. Ещё.", "Второе."]
    assert blocks[0].locator == Locator(start_s=0, end_s=4)


def test_a_long_paragraph_ends_with_a_sentence() -> None:
    blocks = to_paragraphs(said((0, 20, "Раз."), (20, 40, "Два."), (40, 55, "начало"), (55, 70, "конец.")))
    assert [block.text for block in blocks] == ["Раз. Два.", "начало конец."]


def test_passages_know_their_seconds_after_chunking() -> None:
    lines = said(
        *((second, second + 10, f"Предложение номер {second} про базы данных.") for second in range(0, 600, 10))
    )
    document = Document(title="Лекция", blocks=to_paragraphs(lines))
    chunks = chunk_document(document, chunk_tokens=100, overlap_tokens=20)
    assert len(chunks) > 3
    for chunk in chunks:
        start_s, end_s = chunk.locator.start_s, chunk.locator.end_s
        numbers = [int(word) for word in chunk.text.split() if word.isdecimal()]
        assert start_s is not None
        assert end_s is not None
        assert start_s <= min(numbers) < max(numbers) < end_s <= max(numbers) + PARAGRAPH_S
