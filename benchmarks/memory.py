"""How much of a long dialogue reaches the prompt: the window alone, with recalled exchanges, and as configured.

In: LoCoMo's dialogues, the folder or its file (`python -m benchmarks.memory ../shared/data/locomo`). Out: the mean
share of each question's evidence turns that a turn would be given, over the real store in an embedded PostgreSQL,
beside plain BM25 over single turns (its ten best). «As configured» is what stands word for word in the answer's whole
prompt beside a usual load of passages, and how many tokens the dialogue takes there. No model is asked, so the running
summary adds nothing here.
"""

import argparse
import asyncio
import json
import math
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from statistics import fmean
from typing import Any
from uuid import uuid4

from adapters.database.stores.dialogue import DialogueStore
from adapters.database.stores.people import PeopleStore
from adapters.lexical import RussianEnglishAnalyzer
from bot.app import open_transport
from bot.settings import AnswerSettings as Asked
from bot.settings import Settings
from domain.ids import BaseId, ChatId, SessionId, UserId
from prompts.loader import load_prompts
from rag.answering.prompt import AnswerSettings, Assignment, build_prompt
from rag.dialogue import DialogueMemory
from rag.execution.search_tool import passages_payload
from rag.ports import Dialogue as Known
from rag.records import Exchange, Question
from rag.words import estimate_tokens
from tests.fakes.rag import make_passage, rank

FILE = "dialogues.json"
USER = UserId(1)
PAIRS = 15
RECALLED = (0, 2, 5, 20)
BEST_TURNS = 10
K1, B = 1.2, 0.75
PASSAGES, PASSAGE_WORDS = 8, 140  # of a usual prompt
PROMPTS = load_prompts()


@dataclass(frozen=True, kw_only=True)
class Dialogue:
    """Turns by their id, in order, and questions with the turns that answer them."""

    turns: Mapping[str, str]
    questions: Sequence[tuple[str, frozenset[str]]]

    @property
    def pairs(self) -> list[tuple[str, ...]]:
        """Ids of turns, two by two: a question of ours and its answer."""
        ids = list(self.turns)
        return [tuple(ids[place : place + 2]) for place in range(0, len(ids), 2)]


def read_dialogues(path: Path) -> list[Dialogue]:
    """LoCoMo's file, or the folder that it lies in. Questions without evidence in the dialogue are left out."""
    file = path / FILE if path.is_dir() else path
    return [_dialogue(sample) for sample in json.loads(file.read_text(encoding="utf-8"))]


def _dialogue(sample: Mapping[str, Any]) -> Dialogue:
    talk = sample["conversation"]
    sessions = sorted((name for name in talk if isinstance(talk[name], list)), key=lambda name: int(name.split("_")[1]))
    turns = {turn["dia_id"]: f"{turn['speaker']}: {turn['text']}" for name in sessions for turn in talk[name]}
    asked = [(each["question"], frozenset(each["evidence"]) & turns.keys()) for each in sample["qa"]]
    return Dialogue(turns=turns, questions=[(question, wanted) for question, wanted in asked if wanted])


@dataclass(kw_only=True)
class Reached:
    """Shares of each question's evidence: for each number of recalled exchanges, and in the whole prompt."""

    recalled: dict[int, list[float]] = field(default_factory=lambda: {count: [] for count in RECALLED})
    prompt: list[float] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)  # of the dialogue in the prompt

    def add(self, other: "Reached") -> None:
        """Another dialogue's questions."""
        for count, shares in other.recalled.items():
            self.recalled[count] += shares
        self.prompt += other.prompt
        self.tokens += other.tokens


async def measure_recall(store: DialogueStore, base: BaseId, dialogue: Dialogue, answer: Asked) -> Reached:
    """The dialogue is said through the product's memory, then each question is asked at its end."""
    analyzer, reached = RussianEnglishAnalyzer(), Reached()
    memory = DialogueMemory(store, analyzer, None, pairs=answer.window_pairs)
    asker = Question(text="", user_id=USER, session_id=SessionId(str(uuid4())), base_id=base)
    by_text: dict[str, tuple[str, ...]] = {}
    for ids in dialogue.pairs:
        exchange = Exchange(question=dialogue.turns[ids[0]], answer=dialogue.turns[ids[-1]])
        by_text[exchange.question + exchange.answer] = ids
        await memory.keep(asker, exchange)
    for question, wanted in dialogue.questions:
        for recalled, shares in reached.recalled.items():
            known = await store.recollect(
                USER, asker.session_id, pairs=PAIRS, terms=analyzer.terms(question), recalled=recalled
            )
            given = {turn for each in (*known.window, *known.recalled) for turn in by_text[each.question + each.answer]}
            shares.append(len(wanted & given) / len(wanted))
        told = as_configured(question, await memory.recollect(replace(asker, text=question)), answer)
        reached.prompt.append(sum(dialogue.turns[turn] in told for turn in wanted) / len(wanted))
        reached.tokens.append(estimate_tokens(told) - estimate_tokens(as_configured(question, Known(), answer)))
    return reached


def as_configured(question: str, dialogue: Known, answer: Asked) -> str:
    """The whole prompt of an answer, beside the passages that a search returns."""
    passages = rank(*(make_passage("слово " * PASSAGE_WORDS, number=number) for number in range(PASSAGES)))
    assignment = Assignment(question=question, facts=passages_payload(passages, asked=question), dialogue=dialogue)
    settings = AnswerSettings(
        language=answer.answer_language,
        general_knowledge=answer.general_knowledge,
        window_pairs=answer.window_pairs,
        prompt_tokens=answer.prompt_tokens,
    )
    prompt = build_prompt(assignment, prompts=PROMPTS, settings=settings, today=date(2026, 5, 12))
    return "\n".join(message.content for message in prompt.messages)


def plain_bm25(dialogue: Dialogue) -> list[float]:
    """The same share for the ten turns that plain BM25 over single turns finds."""
    analyzer = RussianEnglishAnalyzer()
    counted = {turn: Counter(analyzer.terms(text)) for turn, text in dialogue.turns.items()}
    average = sum(sum(each.values()) for each in counted.values()) / len(counted)
    holders = Counter(term for each in counted.values() for term in each)

    def score(terms: Sequence[str], turn: str) -> float:
        found, length = counted[turn], sum(counted[turn].values())
        weight = K1 * (1 - B + B * length / average)
        return sum(
            math.log(1 + (len(counted) - holders[term] + 0.5) / (holders[term] + 0.5))
            * found[term] * (K1 + 1) / (found[term] + weight)
            for term in set(terms) & found.keys()
        )  # fmt: skip

    shares = []
    for question, wanted in dialogue.questions:
        terms = analyzer.terms(question)
        best = sorted(counted, key=lambda turn: -score(terms, turn))[:BEST_TURNS]
        shares.append(len(wanted & set(best)) / len(wanted))
    return shares


async def reached_by_store(dialogues: Sequence[Dialogue]) -> Reached:
    """The shares of all dialogues' questions, over an embedded PostgreSQL that is gone afterwards."""
    reached = Reached()
    with tempfile.TemporaryDirectory(prefix="baza-memory-") as home:
        settings = Settings.read({"BAZA_HOME": home})
        async with open_transport(settings) as transport:
            base = await PeopleStore(transport).open_base(ChatId(USER), thread=None, member=USER)
            for dialogue in dialogues:
                reached.add(await measure_recall(DialogueStore(transport), base, dialogue, settings.answer))
    return reached


async def measure(path: Path) -> None:
    """Print the table."""
    dialogues = read_dialogues(path)
    reached = await reached_by_store(dialogues)
    plain = [share for dialogue in dialogues for share in plain_bm25(dialogue)]
    print(f"{len(dialogues)} dialogues, {len(plain)} questions; share of evidence turns that reach the prompt:")
    for recalled, found in reached.recalled.items():
        print(f"  window of {PAIRS} pairs + {recalled} recalled: {fmean(found):.3f}")
    print(f"  as configured: {fmean(reached.prompt):.3f}, with {fmean(reached.tokens):.0f} tokens of the dialogue")
    print(f"  plain BM25, {BEST_TURNS} best single turns:  {fmean(plain):.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dialogues", type=Path)
    asyncio.run(measure(parser.parse_args().dialogues))
