"""Reads subtitles (SRT, WebVTT), and makes paragraphs with their times of what was said, also in recordings.

In: a text file in any encoding; utterances in order. Out: a `Document` of paragraphs whose locators are time ranges. A
paragraph ends at a pause, or before it becomes longer than a minute; in that case, if possible, at the end of a
sentence. Automatic captions repeat each line while it rolls up the screen; the repetitions are removed. A file without
any timing is read as text.
"""

import html
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from domain.locator import Locator
from ingestion.language import detect_language
from ingestion.parsers.encodings import decode_text
from ingestion.parsers.outline import choose_title
from ingestion.parsers.text import SENTENCE_ENDS, read_text
from ingestion.ports import Utterance
from ingestion.records import Block, BlockKind, Document

PAUSE_S = 1.5  # longer than a breath: the speaker begins something new
PARAGRAPH_S = 60.0  # about a passage (150 words), so that its seconds lead near the quotation
SHORTEST_S = 15.0  # shortest paragraph that may be cut off at the end of a sentence
SKIPPED_BLOCKS = ("WEBVTT", "NOTE", "STYLE", "REGION", "X-TIMESTAMP-MAP")
ROLLING_SHARE = 1 / 3  # of cues that repeat the end of the cue before; in speech hardly any do

_TIME = r"(?:(\d+):)?(\d{1,2}):(\d{2})[.,](\d{1,3})"
_TIMING = re.compile(rf"\s*{_TIME}\s*-->\s*{_TIME}")
_SPEAKER = re.compile(r"<v(?:\.[^ \t>]+)*[ \t]+([^>]+)>")
_TAG = re.compile(r"</?[a-zA-Z0-9][^<>]*>|\{\\[^{}]*\}")  # <i>, <c.red>, <00:00:01.000>, {\an8}
_EMPTY_LINES = re.compile(r"\n[ \t]*\n")


def to_paragraphs(utterances: Iterable[Utterance]) -> tuple[Block, ...]:
    """A block for each paragraph, in order; utterances without words are left out."""
    return tuple(
        Block(
            kind=BlockKind.PARAGRAPH,
            text=" ".join(" ".join(utterance.text.split()) for utterance in paragraph),
            locator=Locator(start_s=paragraph[0].start_s, end_s=max(utterance.end_s for utterance in paragraph)),
        )
        for paragraph in _paragraphs(utterances)
    )


def _paragraphs(utterances: Iterable[Utterance]) -> Iterator[Sequence[Utterance]]:
    paragraph: list[Utterance] = []
    for utterance in (each for each in utterances if each.text.strip()):
        if paragraph and utterance.start_s - paragraph[-1].end_s > PAUSE_S:
            yield paragraph
            paragraph = []
        while paragraph and utterance.end_s - paragraph[0].start_s > PARAGRAPH_S:
            ends = [
                count
                for count, each in enumerate(paragraph, start=1)
                if each.end_s - paragraph[0].start_s >= SHORTEST_S and each.text.rstrip().endswith(SENTENCE_ENDS)
            ]
            kept = ends[-1] if ends else len(paragraph)
            yield paragraph[:kept]
            paragraph = paragraph[kept:]
        paragraph.append(utterance)
    if paragraph:
        yield paragraph


def parse(path: Path, name: str) -> Document:
    """Paragraphs with their times."""
    text = decode_text(path.read_bytes())
    cues = sorted(_cues(text), key=lambda cue: cue.start_s)
    if not cues:
        return read_text(text, name=name)
    blocks = to_paragraphs(_collapse_rolling(cues))
    return Document(
        title=choose_title(None, (), name=name),
        blocks=blocks,
        language=detect_language(" ".join(block.text for block in blocks)),
        duration_s=max(cue.end_s for cue in cues),
    )


def _collapse_rolling(cues: Sequence[Utterance]) -> Sequence[Utterance]:
    """Each line once, from its first appearance; cues that do not roll stay unchanged."""
    lines = [cue.text.split("\n") if cue.text else [] for cue in cues]
    overlaps = [_overlap(before, after) for before, after in pairwise(lines)]
    if sum(map(bool, overlaps)) < len(cues) * ROLLING_SHARE:
        return cues
    collapsed = list(cues[:1])
    for after, own, overlap in zip(cues[1:], lines[1:], overlaps, strict=True):
        if fresh := own[overlap:]:
            collapsed.append(replace(after, text="\n".join(fresh)))
        else:
            collapsed[-1] = replace(collapsed[-1], end_s=max(collapsed[-1].end_s, after.end_s))
    # A line stays on screen while the next one is spoken.
    cut = [replace(cue, end_s=min(cue.end_s, max(cue.start_s, after.start_s))) for cue, after in pairwise(collapsed)]
    return [*cut, *collapsed[-1:]]


def _overlap(before: Sequence[str], after: Sequence[str]) -> int:
    """How many of the first lines of `after` repeat the last ones of `before`."""
    longest = min(len(before), len(after))
    return next((count for count in range(longest, 0, -1) if before[-count:] == after[:count]), 0)


def _cues(text: str) -> list[Utterance]:
    """A cue for each timing line, its text in lines; an empty line inside a cue, which some SRT writers leave, does not
    end it."""
    cues: list[Utterance] = []
    for block in _EMPTY_LINES.split(text):
        lines = block.strip("\n").split("\n")
        timings = [(place, timing) for place, line in enumerate(lines) if (timing := _TIMING.match(line))]
        if cues and not timings and not block.lstrip().startswith(SKIPPED_BLOCKS):
            cues[-1] = replace(cues[-1], text="\n".join(filter(None, (cues[-1].text, *_clean(lines)))))
        for (place, timing), end in zip(timings, [*(each for each, _ in timings[1:]), len(lines)], strict=False):
            is_numbered = end < len(lines) and lines[end - 1].strip().isdecimal()  # the number of the next cue
            start_s, end_s = _seconds(timing.groups()[:4]), _seconds(timing.groups()[4:])
            words = "\n".join(_clean(lines[place + 1 : end - is_numbered]))
            cues.append(Utterance(start_s=start_s, end_s=max(start_s, end_s), text=words))
    return cues


def _seconds(parts: Sequence[str | None]) -> float:
    hours, minutes, seconds, fraction = (part or "0" for part in parts)
    return int(hours) * 3600 + int(minutes) * 60 + int(seconds) + int(fraction.ljust(3, "0")) / 1000


def _clean(lines: Iterable[str]) -> Iterator[str]:
    """The lines without tags; a speaker's name is put before the text."""
    for line in lines:
        words = html.unescape(_TAG.sub("", _SPEAKER.sub(r"\1: ", line)))
        if words.strip():
            yield " ".join(words.split())
