"""How much of a long dialogue reaches the prompt: the window alone, and the window with recalled exchanges.

In: LoCoMo's dialogues, the folder or its file (`python -m benchmarks.memory ../shared/data/locomo`). Out: the mean
share of each question's evidence turns that a turn would be given, over the real store in an embedded PostgreSQL,
beside plain BM25 over single turns (its ten best). No model is asked, so the running summary adds nothing here.
"""

import argparse
import asyncio
import json
import math
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from adapters.database.stores.dialogue import DialogueStore
from adapters.database.stores.people import PeopleStore
from adapters.lexical import RussianEnglishAnalyzer
from bot.app import open_transport
from bot.settings import Settings
from domain.ids import BaseId, ChatId, SessionId, UserId
from rag.dialogue.memory import KEPT_MESSAGES
from rag.records import Exchange

FILE = "dialogues.json"
USER = UserId(1)
PAIRS = 15
RECALLED = (0, 1, 2, 3, 5)
BEST_TURNS = 10
K1, B = 1.2, 0.75


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


async def measure_recall(store: DialogueStore, base: BaseId, dialogue: Dialogue) -> dict[int, list[float]]:
    """For each number of recalled exchanges the share of each question's evidence that is reached."""
    analyzer, session = RussianEnglishAnalyzer(), SessionId(str(uuid4()))
    by_text: dict[str, tuple[str, ...]] = {}
    for ids in dialogue.pairs:
        exchange = Exchange(question=dialogue.turns[ids[0]], answer=dialogue.turns[ids[-1]])
        by_text[exchange.question + exchange.answer] = ids
        await store.append(
            USER,
            session,
            base=base,
            exchange=exchange,
            question_terms=analyzer.terms(exchange.question),
            answer_terms=analyzer.terms(exchange.answer),
            keep=KEPT_MESSAGES,
        )
    shares: dict[int, list[float]] = {recalled: [] for recalled in RECALLED}
    for question, wanted in dialogue.questions:
        terms = analyzer.terms(question)
        for recalled in RECALLED:
            known = await store.recollect(USER, session, pairs=PAIRS, terms=terms, recalled=recalled)
            given = {turn for each in (*known.window, *known.recalled) for turn in by_text[each.question + each.answer]}
            shares[recalled].append(len(wanted & given) / len(wanted))
    return shares


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


async def reached_by_store(dialogues: Sequence[Dialogue]) -> dict[int, list[float]]:
    """The shares of all dialogues' questions, over an embedded PostgreSQL that is gone afterwards."""
    shares: dict[int, list[float]] = {recalled: [] for recalled in RECALLED}
    with tempfile.TemporaryDirectory(prefix="baza-memory-") as home:
        async with open_transport(Settings.read({"BAZA_HOME": home})) as transport:
            base = await PeopleStore(transport).open_base(ChatId(USER), thread=None, member=USER)
            found = [await measure_recall(DialogueStore(transport), base, dialogue) for dialogue in dialogues]
    for of_one in found:
        for recalled in RECALLED:
            shares[recalled] += of_one[recalled]
    return shares


async def measure(path: Path) -> None:
    """Print the table."""
    dialogues = read_dialogues(path)
    shares = await reached_by_store(dialogues)
    plain = [share for dialogue in dialogues for share in plain_bm25(dialogue)]
    print(f"{len(dialogues)} dialogues, {len(plain)} questions; share of evidence turns that reach the prompt:")
    for recalled, found in shares.items():
        print(f"  window of {PAIRS} pairs + {recalled} recalled: {sum(found) / len(found):.3f}")
    print(f"  plain BM25, {BEST_TURNS} best single turns:  {sum(plain) / len(plain):.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dialogues", type=Path)
    asyncio.run(measure(parser.parse_args().dialogues))
