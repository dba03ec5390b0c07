"""What a person sees without a model: does the answer stand in the first lines, or at least in the reply?

In: the data folder (`python -m benchmarks.quotes ../shared/data`). Out, for XQuAD in both languages and each half of
its questions: the share of answers in the first 450 characters shown and in the whole reply, how often nothing was
found, and how often a plain question became a search of every document. Then the questions of the FAQ pages of VK
Cloud, word for word: how many get the beginning of their answer in the first lines. Each question is a dialogue of its
own, asked of the whole program over an embedded PostgreSQL. Halves are told apart by a hash of the question's id:
tune on `a`, and look at `b`.
"""

import argparse
import asyncio
import hashlib
import json
import re
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.app import Parts, open_parts
from bot.cli.content import add_sources
from bot.cli.measuring import fill_base
from bot.home import configure_logging
from bot.replies.answers import finished_answer
from bot.settings import Settings
from bot.texts import load_texts
from domain.ids import BaseId, SessionId, UserId
from rag.conversation import Conversation
from rag.records import Answer, Answered, AnswerKind, Question

FIRST_LINES = 450  # characters: what a phone shows without scrolling
ANSWER_BEGINNING = 4  # words of a FAQ's answer
_QUESTION = re.compile(r"^(?:\{cut\((?P<cut>[^()]*\?)\)\}|#{2,4} +(?P<head>.*\?))\s*$", re.MULTILINE)
_MARKUP = re.compile(r"\{[^{}]*\}|\[([^\]]*)\]\([^)]*\)|[*`#|]|^\d+\.|^-", re.MULTILINE)
_WORD = re.compile(r"\w+(?:[.,]\d+)*")


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """A question and what was shown for it."""

    id: str
    text: str
    wanted: tuple[str, ...]  # any of them answers it
    shown: str = ""
    kind: AnswerKind | None = None
    surveyed: bool = False


def _plain(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold().replace("ё", "е")))


def _holds(text: str, wanted: Sequence[str]) -> bool:
    said = f" {_plain(text)} "
    return any(f" {_plain(each)} " in said or _plain(each) in said for each in wanted)


def _half(asked: _Asked) -> str:
    return "ab"[hashlib.sha1(asked.id.encode(), usedforsecurity=False).digest()[-1] % 2]


def read_xquad(folder: Path) -> list[_Asked]:
    """Questions with the spans that answer them."""
    rows = map(json.loads, (folder / "answers.jsonl").read_text(encoding="utf-8").splitlines())
    return [
        _Asked(id=row["id"], text=row["question"], wanted=tuple(each["text"] for each in row["answers"]))
        for row in rows
    ]


def read_faq(page: Path) -> Iterator[_Asked]:
    """Each question of a FAQ page, with the first words of its answer."""
    text = page.read_text(encoding="utf-8")
    found = list(_QUESTION.finditer(text))
    for number, match in enumerate(found):
        end = found[number + 1].start() if number + 1 < len(found) else len(text)
        words = _plain(_MARKUP.sub(r" \1 ", text[match.end() : end])).split()
        if len(words) >= ANSWER_BEGINNING:
            question = match["cut"] or match["head"]
            yield _Asked(id=question, text=question, wanted=(" ".join(words[:ANSWER_BEGINNING]),))


async def _ask(conversation: Conversation, base: BaseId, asked: _Asked, number: int) -> _Asked:
    question = Question(
        text=asked.text, user_id=UserId(number + 1), session_id=SessionId(str(uuid.uuid4())), base_id=base
    )
    answers = [event.answer async for event in conversation.answer(question) if isinstance(event, Answered)]
    shown = finished_answer(answers[-1], load_texts().for_language("ru")).text
    return _Asked(
        id=asked.id,
        text=asked.text,
        wanted=asked.wanted,
        shown=shown,
        kind=answers[-1].kind,
        surveyed=_is_surveyed(answers[-1]),
    )


def _is_surveyed(answer: Answer) -> bool:
    return bool(answer.trace) and "search_each_document" in json.dumps(answer.trace)


def _share(told: Sequence[bool]) -> str:
    return f"{sum(told) / max(len(told), 1):.3f}"


def _report(name: str, asked: Sequence[_Asked]) -> None:
    first = [_holds(each.shown[:FIRST_LINES], each.wanted) for each in asked]
    whole = [_holds(each.shown, each.wanted) for each in asked]
    nothing = sum(each.kind is AnswerKind.NOTHING for each in asked)
    surveyed = sum(each.surveyed for each in asked)
    print(
        f"{name:10} {len(asked):4} questions  first lines {_share(first)}  reply {_share(whole)}  "
        f"nothing found {nothing:3}  every document searched {surveyed:3}",
        flush=True,
    )


async def _measure(parts: Parts, name: str, base: BaseId, asked: Sequence[_Asked]) -> list[_Asked]:
    conversation = parts.conversation()
    return [await _ask(conversation, base, each, number) for number, each in enumerate(asked)]


async def run(settings: Settings, data: Path) -> None:
    """Fill a base for each corpus and print a line for each half."""
    async with open_parts(settings) as parts:
        for language in ("ru", "en"):
            folder = data / "xquad" / language
            base = await parts.stores.people.open_named_base(f"xquad-{language}")
            await fill_base(parts, base, folder / "corpus.jsonl")
            asked = await _measure(parts, language, base, read_xquad(folder))
            for half in "ab":
                _report(f"xquad {language} {half}", [each for each in asked if _half(each) == half])
        base = await parts.stores.people.open_named_base("faq")
        pages = sorted((data / "vkcloud" / "raw_md").glob("*faq*.md"))
        async with parts.open_worker() as worker:
            async for _ in add_sources(parts, worker, base, [str(page) for page in pages]):
                pass
        faq = await _measure(parts, "faq", base, [each for page in pages for each in read_faq(page)])
        _report("faq", faq)


def main() -> None:
    """Measure in a throw-away folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="the folder with xquad and vkcloud")
    data: Path = parser.parse_args().data
    with tempfile.TemporaryDirectory(prefix="baza-benchmark-") as folder:
        settings = Settings.read({"BAZA_HOME": folder})
        configure_logging(settings.home / "log", level="WARNING", style="text", destination="file")
        asyncio.run(run(settings, data))


if __name__ == "__main__":
    main()
