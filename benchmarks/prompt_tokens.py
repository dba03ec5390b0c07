"""Tokens of one simple question: what its planner, its writer and its check are sent, schemas included.

In: nothing, or a folder of data (`python -m benchmarks.prompt_tokens ../shared/data/xquad/ru --every 40`). A scripted
model searches for each question as it stands and answers in one marked sentence of the best passage; the other texts
are the product's own. Without a folder: the simple questions of `benchmarks.alike_questions`. Out: tokens of each
request by our estimate, which is too high rather than too low: median, least and most; `--keep FILE` writes the
requests, one JSON line each, for a real tokenizer.
"""

import argparse
import asyncio
import json
import logging
import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from uuid import uuid4

import structlog

from benchmarks.alike_questions import SEED, fill, material
from bot.app import Parts, open_parts
from bot.cli.measuring import fill_base, read_rows
from bot.settings import Settings
from domain.ids import BaseId, SessionId, UserId
from rag.records import Question
from rag.words import estimate_tokens
from tests.servers.llm import ChatRequest, LlmServer, serve_llm

USER = UserId(0)
_FIRST = re.compile(r"Text:\n(?P<text>.*?)\n</material", re.DOTALL)


def said(request: ChatRequest) -> str:
    """An answer of a sentence from the first material."""
    found = _FIRST.search(request.last)
    words = (found["text"] if found else "Ничего не найдено").partition(".")[0].split()
    return f"[+] {' '.join(words[:25])} [1]."


def sent(request: ChatRequest) -> str:
    """All that is paid for: messages and schema."""
    schema = json.dumps(request.response_format, separators=(",", ":")) if request.response_format else ""
    return "\n".join((*(each.content for each in request.messages), schema))


async def ask(parts: Parts, base: BaseId, llm: LlmServer, text: str) -> Mapping[str, str]:
    """What one turn sends, by part."""
    kinds = {"planner": llm.plans, "answer": llm.requests, "check": llm.checks}
    for kept in kinds.values():
        kept.clear()
    question = Question(text=text, user_id=USER, session_id=SessionId(str(uuid4())), base_id=base)
    async for _ in parts.conversation().answer(question):
        pass
    return {name: "\n".join(map(sent, kept)) for name, kept in kinds.items()}


def show(turns: Sequence[Mapping[str, str]]) -> None:
    """A line for each part, and for the whole."""
    counts = [{name: estimate_tokens(text) for name, text in turn.items()} for turn in turns]
    for name in counts[0]:
        of_part = [each[name] for each in counts]
        print(f"{name}: median {median(of_part):.0f}, {min(of_part)} to {max(of_part)}")
    whole = [sum(each.values()) for each in counts]
    print(f"{len(whole)} questions: median {median(whole):.0f}, {min(whole)} to {max(whole)}")


async def asked(home: Path, folder: Path | None, every: int) -> list[Mapping[str, str]]:
    """What each question of a base sends."""
    async with serve_llm(reply=said) as llm:
        settings = Settings.read(
            {"BAZA_HOME": str(home), "LLM_BASE_URL": llm.url, "ANSWER_MODEL": "test-model", "ANSWER_LANGUAGE": "auto"}
        )
        async with open_parts(settings) as parts:
            base = await parts.stores.people.open_named_base("tokens")
            if folder:
                await fill_base(parts, base, folder / "corpus.jsonl")
                questions = [row["text"] for row in read_rows(folder / "queries.jsonl")][::every]
            else:
                texts, simple = material(SEED)
                await fill(parts, base, texts, home / "documents")
                questions = [each.text for each in simple if len(each.documents) == 1 and not each.after]
            return [await ask(parts, base, llm, text) for text in questions]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", help="with corpus.jsonl and queries.jsonl")
    parser.add_argument("--every", type=int, default=1, help="only each so-many-th question")
    parser.add_argument("--keep", type=Path)
    given = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    with tempfile.TemporaryDirectory(prefix="baza-tokens-") as made:
        Path(made).chmod(0o711)
        turns = asyncio.run(asked(Path(made) / "home", given.folder, given.every))
    show(turns)
    if given.keep:
        given.keep.write_text("".join(json.dumps(turn, ensure_ascii=False) + "\n" for turn in turns), encoding="utf-8")
