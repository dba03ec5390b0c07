"""The parsing process on real files: what they begin with, why they are refused, how much of the gold is found.

In: files of `../shared/data` where they are. Out: assertions about documents and reasons.
"""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.process import ParseProcess
from ingestion.records import FetchedFile
from tests.fakes.ingestion import FakeQueue, progress_of

DATA = Path(__file__).resolve().parents[4] / "shared" / "data"

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="../shared/data is not on this machine")


@pytest.fixture
async def parser() -> AsyncIterator[ParseProcess]:
    async with ParseProcess(timeout_s=300, memory_mb=1024) as process:
        yield process


def _fetched(path: Path) -> FetchedFile:
    return FetchedFile(path=path, name=path.name, media_type=None, size_bytes=path.stat().st_size, sha256="")


@pytest.mark.parametrize(
    ("file", "beginning"),
    [
        ("docs_mixed/tika/russian.cp866.txt", "Однажды, в студеную зимнюю пору"),
        ("docs_mixed/unstructured/fake-text-utf-16.txt", "This is a test document to use for unit tests."),
        ("docs_mixed/unstructured/fake-text-utf-32.txt", "This is a test document to use for unit tests."),
        ("docs_mixed/mammoth_docx/strict-format.docx", "Test"),
        ("docs_mixed/markitdown/test.docx", "AutoGen: Enabling Next-Gen LLM Applications"),
        ("pdf/pypdf_resources/crazyones.pdf", "The Crazy Ones"),
    ],
)
async def test_real_files_begin_as_they_should(parser: ParseProcess, file: str, beginning: str) -> None:
    document = await parser.parse(_fetched(DATA / file), progress_of(FakeQueue()))
    assert document.blocks[0].text.startswith(beginning)


@pytest.mark.parametrize(
    ("file", "code"),
    [
        ("docs_mixed/unstructured/empty.txt", FailureCode.FILE_EMPTY),
        ("docs_mixed/unstructured/password.pdf", FailureCode.FILE_ENCRYPTED),
        ("docs_mixed/tika/testWORD_protected_passtika.docx", FailureCode.FILE_ENCRYPTED),
        ("docs_mixed/tika/testWORD_truncated.docx", FailureCode.FILE_DAMAGED),
        ("docs_mixed/markitdown/random.bin", FailureCode.FILE_UNSUPPORTED),
        ("malicious/tika/quine.gz", FailureCode.FILE_UNSUPPORTED),
    ],
)
async def test_real_files_are_refused_for_the_right_reason(parser: ParseProcess, file: str, code: FailureCode) -> None:
    assert await _outcome(parser, DATA / file) is code


async def test_hostile_files_end_in_a_document_or_a_reason(parser: ParseProcess) -> None:
    outcomes = {path.name: await _outcome(parser, path) for path in sorted((DATA / "malicious").rglob("*.pdf"))}
    assert set(outcomes.values()) <= {"read", FailureCode.FILE_DAMAGED, FailureCode.FILE_WITHOUT_TEXT}, outcomes


async def _outcome(parser: ParseProcess, path: Path) -> str:
    try:
        await parser.parse(_fetched(path), progress_of(FakeQueue()))
    except SourceError as error:
        return error.code
    return "read"


async def test_most_words_of_the_gold_texts_are_found_in_order(parser: ParseProcess) -> None:
    shares = []
    for gold in sorted((DATA / "docs_mixed" / "docling_docx_gold").glob("*.docx.md")):
        source = gold.with_suffix("")
        words = re.findall(r"\w+", gold.read_text().replace("<!-- image -->", ""))
        if source.exists() and words:
            document = await parser.parse(_fetched(source), progress_of(FakeQueue()))
            found = re.findall(r"\w+", " ".join(block.text for block in document.blocks))
            shares.append(_share_in_order(words, found))
    assert sum(shares) / len(shares) > 0.9  # 0.93 when written; formulas and repeated merged cells are what is missing


def _share_in_order(gold: list[str], found: list[str]) -> float:
    """Of the gold words, those in the longest common subsequence with what was found."""
    row = [0] * (len(found) + 1)
    for word in gold:
        diagonal = 0
        for index, other in enumerate(found, start=1):
            diagonal, row[index] = row[index], diagonal + 1 if word == other else max(row[index], row[index - 1])
    return row[-1] / len(gold)
