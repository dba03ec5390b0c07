"""Groups utterances into paragraphs with their start and end in seconds, for recordings and for subtitles.

In: utterances in order. Out: blocks. A paragraph ends at a pause, or before it becomes longer than a minute; in that
case, if possible, at the end of a sentence. Pure.
"""

from collections.abc import Iterable, Iterator, Sequence

from domain.locator import Locator
from ingestion.ports import Utterance
from ingestion.records import Block, BlockKind

PAUSE_S = 1.5  # longer than a breath: the speaker begins something new
PARAGRAPH_S = 60.0  # about a passage (150 words), so that its seconds lead near the quotation
SHORTEST_S = 15.0  # shortest paragraph that may be cut off at the end of a sentence
SENTENCE_ENDS = (".", "!", "?", "…", ".»", "!»", "?»", '."', '!"', '?"')


def to_paragraphs(utterances: Iterable[Utterance]) -> tuple[Block, ...]:
    """A block for each paragraph, in order; utterances without words are left out."""
    spoken = (utterance for utterance in utterances if utterance.text.strip())
    return tuple(_block(paragraph) for paragraph in _paragraphs(spoken))


def _paragraphs(utterances: Iterable[Utterance]) -> Iterator[Sequence[Utterance]]:
    paragraph: list[Utterance] = []
    for utterance in utterances:
        if paragraph and utterance.start_s - paragraph[-1].end_s > PAUSE_S:
            yield paragraph
            paragraph = []
        while paragraph and utterance.end_s - paragraph[0].start_s > PARAGRAPH_S:
            kept = _last_sentence_end(paragraph)
            yield paragraph[:kept]
            paragraph = paragraph[kept:]
        paragraph.append(utterance)
    if paragraph:
        yield paragraph


def _last_sentence_end(paragraph: Sequence[Utterance]) -> int:
    """How many utterances to keep together; all of them when no sentence ends late enough."""
    for count in range(len(paragraph), 0, -1):
        last = paragraph[count - 1]
        if last.end_s - paragraph[0].start_s < SHORTEST_S:
            break
        if last.text.rstrip().endswith(SENTENCE_ENDS):
            return count
    return len(paragraph)


def _block(paragraph: Sequence[Utterance]) -> Block:
    return Block(
        kind=BlockKind.PARAGRAPH,
        text=" ".join(" ".join(utterance.text.split()) for utterance in paragraph),
        locator=Locator(start_s=paragraph[0].start_s, end_s=max(utterance.end_s for utterance in paragraph)),
    )
