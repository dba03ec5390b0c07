"""Thirty questions over alike documents, planned and answered by the configured model.

In: a folder to write to (`LLM_BASE_URL=… ANSWER_MODEL=… python -m benchmarks.alike_questions OUT`; any variable of
Baza's settings counts). Contracts of one form, minutes and price lists are made by a seed and go through the real
pipeline into a database of their own. Out: `answers.jsonl` (question, plan, calls, facts, answer, sources, tokens) and
`truth.jsonl` (the documents and words of a right answer; no model is shown it), and a line for each question: whether
the facts hold the needed words, whether the answer says them, whether the needed documents are cited.
"""

import argparse
import asyncio
import json
import os
import random
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from uuid import uuid4

from bot.app import Parts, open_parts
from bot.cli.content import add_sources
from bot.settings import Settings
from domain.documents import DocumentCard, DocumentStatus
from domain.ids import BaseId, SessionId, UserId
from rag.records import Answer, Answered, Question

SEED = 20261122
FIRMS = (
    *("Лазурит", "Ромашка", "Вектор", "Гранит", "Северный порт", "Кедр", "Меридиан", "Спутник", "Альтаир", "Полюс"),
    *("Тайга", "Орион", "Волна", "Янтарь", "Белый берег", "Квант", "Родник", "Монолит", "Стрела", "Парус"),
)
FIRMS_OF_A_BASE = 10
PEOPLE = ("Орлова", "Беляев", "Титова", "Громов", "Сафина", "Кравцов", "Юдина", "Мельник")
MONTHS = ("январь", "февраль", "март", "апрель", "май", "июнь")
GOODS = ("кабель силовой", "щит распределительный", "лоток перфорированный", "муфта соединительная")
TASKS = ("подготовить смету", "согласовать макет", "заказать пропуска", "проверить склад", "обновить договор")
DAYS = ("3 марта", "17 марта", "7 апреля", "21 апреля", "5 мая", "19 мая", "2 июня", "16 июня", "30 июня", "8 сентября")
DAYS_OF_A_BASE = 6


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A question with what a right answer needs."""

    text: str
    documents: tuple[str, ...]  # file names
    words: tuple[str, ...]  # that the answer says; none: it has to ask back
    after: str = ""  # a question of the same dialogue before it


_FILLER = "Стороны действуют добросовестно и сообщают друг другу об изменении реквизитов. " * 12
_CONTRACT = """ДОГОВОР ПОСТАВКИ № {number}

ООО «{firm}», именуемое Поставщик, и ООО «Заказчик» заключили договор о поставке оборудования в город {city}.

# 1. Общие положения

{filler}

# 2. Цена

Цена договора составляет {price}

{filler}

# 3. Сроки

Поставка производится в течение {days} дней с даты подписания.

{filler}

# 4. Ответственность

За просрочку поставки Поставщик уплачивает неустойку {fine} от цены за каждый день.

{filler}
"""
_MINUTES = """ПРОТОКОЛ СОВЕЩАНИЯ

Дата: {day} 2025 года. Председатель: {chair}.

Решили: поручить {task}: {first}. Поручить {other}: {second}.

Запуск участка {part} перенесён из-за поставщика ООО «{late}».
"""

Made = tuple[str, str, dict[str, str]]
"""A document: its file name, its text, what it says."""


def contracts(chance: random.Random) -> Iterator[Made]:
    """Of one form, by party."""
    for number, firm in enumerate(chance.sample(FIRMS, FIRMS_OF_A_BASE), start=101):
        values = {
            "firm": firm,
            "number": f"{number}/2025",
            "fine": f"0,{chance.randint(11, 99)} %",
            "days": str(chance.randint(5, 60)),
            "price": f"{chance.randint(110, 990)} {chance.randint(100, 999)} руб.",
            "city": chance.choice(("Казань", "Омск", "Тверь", "Пермь")),
        }
        yield f"Договор {number}-2025.txt", _CONTRACT.format(filler=_FILLER, **values), values


def minutes(chance: random.Random, firms: Sequence[str]) -> Iterator[Made]:
    """Of meetings by day; each tells of another of the firms."""
    for number, day in enumerate(chance.sample(DAYS, DAYS_OF_A_BASE)):
        (first, second, chair), (task, other) = chance.sample(PEOPLE, 3), chance.sample(TASKS, 2)
        values = {"day": day, "first": first, "second": second, "chair": chair, "task": task, "other": other}
        values |= {"late": firms[number], "part": str(number + 1)}
        yield f"Протокол {day}.txt", _MINUTES.format(**values), values


def price_lists(chance: random.Random) -> Iterator[Made]:
    """By month."""
    for month in MONTHS:
        prices = {good: str(chance.randint(200, 9900)) for good in GOODS}
        rows = "\n".join(f"{good}: {price} руб." for good, price in prices.items())
        yield f"Прайс {month}.txt", f"ПРАЙС-ЛИСТ, {month} 2025 года\n\n{rows}\n", {"month": month, **prices}


def material(seed: int) -> tuple[dict[str, str], list[Asked]]:
    """Texts by file name, and thirty questions; another seed makes other parties, days and values."""
    chance = random.Random(seed)
    deals = list(contracts(chance))
    meetings = list(minutes(chance, [of["firm"] for _, _, of in deals]))
    prices = list(price_lists(chance))
    asked = [
        *_of_contracts(deals),
        *_of_minutes(meetings, deals),
        *_of_prices(prices, chance),
        Asked(text="Какая неустойка по договору?", documents=(), words=()),
        Asked(text="Сколько дней на поставку?", documents=(), words=()),
        Asked(text="Сколько у меня договоров поставки?", documents=(), words=(str(len(deals)),)),
    ]
    return {name: text for name, text, _ in (*deals, *meetings, *prices)}, asked


def _of_contracts(deals: Sequence[Made]) -> Iterator[Asked]:
    """By party, by number, two compared, and a second question of a dialogue."""
    for name, _, of in deals[:4]:
        yield Asked(text=f"Какая неустойка по договору с ООО «{of['firm']}»?", documents=(name,), words=(of["fine"],))
    for name, _, of in deals[5:8]:
        yield Asked(text=f"Срок поставки по договору {of['number']}?", documents=(name,), words=(of["days"],))
    for name, _, of in deals[7:9]:
        yield Asked(text=f"на какую сумму договор с {of['firm'].lower()}", documents=(name,), words=(of["price"],))
    for (one, _, first), (other, _, second) in zip(deals[:3], deals[3:6], strict=True):
        text = f"Сравни неустойку в договорах с «{first['firm']}» и «{second['firm']}»"
        yield Asked(text=text, documents=(one, other), words=(first["fine"], second["fine"]))
    for name, _, of in deals[8:10]:
        before = f"Какая цена договора с «{of['firm']}»?"
        yield Asked(text="а неустойка там какая?", documents=(name,), words=(of["fine"],), after=before)


def _of_minutes(meetings: Sequence[Made], deals: Sequence[Made]) -> Iterator[Asked]:
    """By day, over two hops, and of one document as a whole."""
    for name, _, of in meetings[:4]:
        text = f"Кому поручили {of['task']} на совещании {of['day']}?"
        yield Asked(text=text, documents=(name,), words=(of["first"],))
    for (name, _, of), (contract, _, deal) in zip(meetings[:3], deals[:3], strict=True):
        text = f"Какая неустойка у поставщика, из-за которого перенесли запуск участка {of['part']}?"
        yield Asked(text=text, documents=(name, contract), words=(of["late"], deal["fine"]))
    name, _, of = meetings[4]
    yield Asked(text=f"О чём протокол {of['day']}?", documents=(name,), words=(of["first"], of["late"]))


def _of_prices(prices: Sequence[Made], chance: random.Random) -> Iterator[Asked]:
    """By month, and from one month to another."""
    for name, _, of in prices[:4]:
        good = chance.choice(GOODS)
        yield Asked(text=f"Сколько стоит {good} по прайсу за {of['month']}?", documents=(name,), words=(of[good],))
    (one, _, first), (other, _, second) = prices[0], prices[5]
    text = f"Как изменилась цена на {GOODS[0]} с января по июнь?"
    yield Asked(text=text, documents=(one, other), words=(first[GOODS[0]], second[GOODS[0]]))


async def fill(parts: Parts, base: BaseId, texts: dict[str, str], folder: Path) -> None:
    """The texts as documents of the base."""
    _write(folder, texts)
    await add(parts, base, [str(folder / name) for name in texts])


async def add(parts: Parts, base: BaseId, paths: Sequence[str]) -> None:
    """The files, by the worker that `baza add` runs. Raises RuntimeError when one is not ready."""
    async with parts.open_worker() as worker:
        async for name, card in add_sources(parts, worker, base, paths):
            if not isinstance(card, DocumentCard) or card.status not in (
                DocumentStatus.READY,
                DocumentStatus.DUPLICATE,
            ):
                raise RuntimeError(f"{name} was not read: {card}")


def _write(folder: Path, texts: dict[str, str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")


async def answer(parts: Parts, base: BaseId, asked: Asked) -> Answer:
    """In a dialogue of its own."""
    session = SessionId(str(uuid4()))
    conversation = parts.conversation()
    for text in filter(None, (asked.after, asked.text)):
        question = Question(text=text, user_id=UserId(0), session_id=session, base_id=base)
        async for event in conversation.answer(question):
            if isinstance(event, Answered):
                last = event.answer
    return last


def recorded(asked: Asked, given: Answer) -> dict[str, object]:
    """What is written of one turn: nothing of the truth."""
    trace = given.trace or {}
    sources = [each.source_identifier for each in given.citations]
    return {
        "question": asked.text,
        "after": asked.after,
        "plan": trace.get("plan"),
        "origin": trace.get("origin"),
        "calls": trace.get("calls"),
        "steps": trace.get("steps"),
        "checks": trace.get("checks"),
        "facts": trace.get("facts"),
        "kind": given.kind.value,
        "answer": given.text,
        "choices": given.choices,
        "sources": sources,
        "prompt_tokens": given.turn.usage.prompt_tokens,
        "answer_tokens": given.turn.usage.answer_tokens,
        "model_calls": given.turn.usage.calls,
    }


def judged(asked: Asked, record: dict[str, object]) -> tuple[bool, bool, bool]:
    """Whether the facts hold the words, the answer says them, and every needed document is cited; of a question that
    fits many documents: whether it was asked back."""
    told = f"{record['answer']} {record['choices']}"
    if not asked.words:
        return True, "?" in told or bool(record["choices"]), True
    facts = json.dumps(record["facts"], ensure_ascii=False)
    cited = all(any(name in str(source) for source in _list(record["sources"])) for name in asked.documents)
    return all(word in facts for word in asked.words), all(word in told for word in asked.words), cited


def _list(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else ()


async def run(settings: Settings, out: Path, seed: int, only: Sequence[int]) -> None:
    """Ask, write, judge."""
    texts, questions = material(seed)
    chosen = [(at, questions[at - 1]) for at in only or range(1, len(questions) + 1)]
    truth = [json.dumps({"number": at, **asdict(each)}, ensure_ascii=False) for at, each in chosen]
    (out / "truth.jsonl").write_text("\n".join(truth) + "\n", encoding="utf-8")
    async with open_parts(settings) as parts:
        if parts.model is None:
            raise SystemExit("no model is configured: set LLM_BASE_URL (or a provider's key) and ANSWER_MODEL")
        base = await parts.stores.people.open_named_base("alike questions")
        await fill(parts, base, texts, out / "documents")
        sums, tokens = [0, 0, 0], 0
        with (out / "answers.jsonl").open("w", encoding="utf-8") as written:
            for at, asked in chosen:
                record = recorded(asked, await answer(parts, base, asked))
                written.write(json.dumps({"number": at, **record}, ensure_ascii=False, default=str) + "\n")
                written.flush()
                verdicts = judged(asked, record)
                sums, tokens = (
                    [total + one for total, one in zip(sums, verdicts, strict=True)],
                    tokens + _tokens(record),
                )
                said = " ".join(f"{name} {'yes' if one else 'NO'}" for name, one in zip(JUDGED, verdicts, strict=True))
                print(f"{at:2}. {said}  {record['prompt_tokens']} tokens  {asked.text}", flush=True)
    counts = ", ".join(f"{name} {total}" for name, total in zip(JUDGED, sums, strict=True))
    print(f"{len(chosen)} questions: {counts}; {tokens / max(len(chosen), 1):.0f} prompt tokens each")


JUDGED = ("facts", "answer", "cited")


def _tokens(record: dict[str, object]) -> int:
    return int(str(record["prompt_tokens"]))


def main() -> None:
    """Run in a database of its own below OUT."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument(
        "--questions", type=int, nargs="*", default=(), help="numbers, from 1, in the order given; all without it"
    )
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    settings = Settings.read({**os.environ, "BAZA_HOME": str(arguments.out / "home"), "LOG_LEVEL": "ERROR"})
    asyncio.run(run(settings, arguments.out, arguments.seed, arguments.questions))


if __name__ == "__main__":
    main()
