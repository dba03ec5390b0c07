"""What a turn remembers of the dialogue: the window, the summary of what left it, and recalled old exchanges.

In: stored exchanges, a question; later its exchange. Out: a `Dialogue`; messages for a model within a budget; the
exchange in the store. The summary is made in the background, and no turn waits for it.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import structlog

from domain.errors import DatabaseTrouble
from domain.ids import SessionId, UserId
from prompts.loader import Prompts
from rag.ports import ChatModel, Dialogue, DialogueStore, ModelError, TermAnalyzer
from rag.records import ChatMessage, Exchange, Question, asking
from rag.words import estimate_tokens, fence, rarity, stems

GAP = " … "
EVERY_PAIRS = 10  # seed 2, section 5.2: every 10-20 pairs, or when there is too much
BUDGET_TOKENS = 3000  # of unsummarised exchanges: a quarter of a usual prompt
AT_ONCE = 40  # pairs in one request
WORDS = 250  # of a summary
log = structlog.get_logger()
KEPT_MESSAGES = 30  # seed 1, section 4.2: the history is trimmed to 30 messages
RECALLED_PAIRS = 20  # archived pairs that are read; seed 2, section 5.2, has one or two: those reach .58 of what long
# dialogues ask for, twenty .79 (benchmarks.memory). The prompt takes as many as it has room for
REMEMBERED_SESSIONS = 256  # of whose last answer this process knows the sources


def fit_window(
    exchanges: Sequence[Exchange], *, pairs: int, tokens: int
) -> tuple[tuple[ChatMessage, ...], tuple[Exchange, ...]]:
    """The newest exchanges that fit, at most `pairs`, as messages, and those left out, oldest first. Only the last one
    may lose the middle of its answer, since the next question depends on it («подробнее про второй пункт»)."""
    kept: list[Exchange] = []
    left, cut = tokens, 0
    for exchange in reversed(exchanges[-pairs:] if pairs else ()):
        needed = size_of(exchange)
        if needed > left:
            cut = len(kept) == 0
            kept = kept or _shortened(exchange, left)
            break
        left -= needed
        kept.append(exchange)
    messages = [
        ChatMessage(role=role, content=content)
        for each in reversed(kept)
        for role, content in (("user", each.question), ("assistant", each.answer))
    ]
    whole = 0 if cut else len(kept)
    return tuple(messages), tuple(exchanges[: len(exchanges) - whole])


def size_of(exchange: Exchange) -> int:
    """In tokens."""
    return estimate_tokens(exchange.question) + estimate_tokens(exchange.answer)


def likest(exchanges: Sequence[Exchange], question: str) -> tuple[Exchange, ...]:
    """Those that have words of the question, by the rarity of these among the exchanges; short ones first."""
    wanted = stems(question)
    holds = [wanted & stems(f"{each.question}\n{each.answer}") for each in exchanges]
    holders = Counter(stem for words in holds for stem in words)
    mean = sum(len(each.question) + len(each.answer) for each in exchanges) / max(len(exchanges), 1) or 1.0
    worth = {stem: rarity(count, len(exchanges)) for stem, count in holders.items()}

    def score(place: int) -> float:
        length = (len(exchanges[place].question) + len(exchanges[place].answer)) / mean
        return sum(worth[stem] for stem in holds[place]) / (0.7 + 0.3 * length)

    places = sorted((place for place, words in enumerate(holds) if words), key=lambda place: (-score(place), -place))
    return tuple(exchanges[place] for place in places)


def _shortened(exchange: Exchange, tokens: int) -> list[Exchange]:
    """The exchange with the middle of its answer cut out; empty where hardly anything of the answer would fit."""
    allowed, length = tokens - estimate_tokens(exchange.question), len(exchange.answer)
    while length > 100:
        length = length * 3 // 4
        answer = f"{exchange.answer[: length * 3 // 4]}{GAP}{exchange.answer[-(length // 4) :]}"
        if estimate_tokens(answer) <= allowed:
            return [replace(exchange, answer=answer)]
    return []


@dataclass(frozen=True)
class Summariser:
    """Summarises dialogues; at most one task per dialogue."""

    store: DialogueStore
    model: ChatModel
    prompts: Prompts
    _running: dict[SessionId, asyncio.Task[None]] = field(default_factory=dict)

    def begin(self, user: UserId, session: SessionId) -> None:
        """Write a summary in the background if one is due, once at a time for a dialogue."""
        if session not in self._running:
            task = asyncio.create_task(self._summarise(user, session))
            self._running[session] = task
            task.add_done_callback(lambda _: self._running.pop(session, None))

    async def _summarise(self, user: UserId, session: SessionId) -> None:
        try:
            pending = await self.store.unsummarised(user, session, limit=AT_ONCE)
            told = sum(map(size_of, pending.exchanges))
            if len(pending.exchanges) >= EVERY_PAIRS or told > BUDGET_TOKENS:
                exchanges = "\n\n".join(f"Person: {each.question}\nBaza: {each.answer}" for each in pending.exchanges)
                tag = fence("memory", pending.summary, exchanges)
                summary = pending.summary or "Nothing."
                task = self.prompts.summary_exchanges.fill(fence=tag, summary=summary, exchanges=exchanges)
                written = await self.model.complete(asking(self.prompts.summary.fill(words=WORDS), task))
                await self.store.save_summary(user, session, summary=written.strip(), up_to=pending.up_to)
                log.info("dialogue.summarised", pairs=len(pending.exchanges), model=self.model.name)
        except (ModelError, DatabaseTrouble) as error:
            log.warning("dialogue.not_summarised", reason=type(error).__name__)


@dataclass(frozen=True)
class DialogueMemory:
    """The memory of all dialogues. Its state is in the store, except a cache of last exchanges."""

    store: DialogueStore
    analyzer: TermAnalyzer
    summariser: Summariser | None
    pairs: int  # of the window that are read at most (DIALOGUE_PAIRS); with 0 nothing is remembered
    _last: dict[SessionId, Exchange] = field(default_factory=dict)

    async def recollect(self, question: Question) -> Dialogue:
        """Raises DatabaseAway."""
        if not self.pairs:
            return Dialogue()
        if question.dialogue is not None:
            return Dialogue(window=question.dialogue[-self.pairs :])
        known = await self.store.recollect(
            question.user_id,
            question.session_id,
            pairs=KEPT_MESSAGES // 2,
            terms=self.analyzer.terms(question.text),
            recalled=RECALLED_PAIRS,
        )
        window, last = known.window[-self.pairs :], self._last.get(question.session_id)
        if window and last and (last.question, last.answer) == (window[-1].question, window[-1].answer):
            window = (*window[:-1], last)  # with its sources
        beyond = known.window[: -self.pairs]  # neither in the archive nor, by the setting, in the window
        return replace(known, window=window, recalled=(*known.recalled, *beyond))

    async def keep(self, question: Question, exchange: Exchange) -> None:
        """Store the exchange, unless whoever asks keeps the dialogue, or it has no answer: some models refuse that."""
        if not exchange.answer or question.dialogue is not None:
            return
        if self.pairs:
            self._last.pop(question.session_id, None)
            self._last[question.session_id] = exchange
        if len(self._last) > REMEMBERED_SESSIONS:
            del self._last[next(iter(self._last))]
        archived = await self.store.append(
            question.user_id,
            question.session_id,
            base=question.base_id,
            exchange=exchange,
            question_terms=self.analyzer.terms(exchange.question),
            answer_terms=self.analyzer.terms(exchange.answer),
            keep=KEPT_MESSAGES,
        )
        if archived and self.summariser:
            self.summariser.begin(question.user_id, question.session_id)
