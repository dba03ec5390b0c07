"""`baza reindex`: embeds bases again with the configured embedder.

In: settings, optionally the name of a base. Out: progress lines; exit code 0. The command may be stopped at any moment
and run again. Searching and adding documents continue meanwhile.
"""

from bot.app import open_parts
from bot.cli.content import words_of
from bot.cli.errors import CommandError, no_such_base
from bot.cli.output import Bar, print_line
from bot.settings import Settings
from bot.texts import Words
from ingestion.errors import ServiceError, WindowTooLarge
from ingestion.reindexing import OutdatedBase, Reindexer


async def reindex_bases(settings: Settings, *, name: str | None) -> int:
    """Move all bases, or one, to the embedder. Raises CommandError when there is no such base, or when the embedder
    fails; the work done so far is kept."""
    words = words_of(settings)
    async with open_parts(settings) as parts:
        if name is not None and name not in (filled := await parts.stores.people.named_bases(name)):
            raise CommandError(no_such_base(name, filled))
        reindexer, model = Reindexer(parts.stores.next_vectors, parts.embedder), parts.embedder.model
        outdated = await reindexer.outdated(name)
        last_line = words.plain("cli-reindexed-restart")
        if not outdated:
            last_line = words.plain("cli-nothing-to-reindex", model=model)
        while outdated:  # repeated for passages that a bot or worker with the old model has embedded meanwhile
            for base in outdated:
                await _move(reindexer, base, words)
                print_line(words.plain("cli-reindexed", base=base.name or base.id, model=model))
            outdated = await reindexer.outdated(name)
        await parts.stores.search.ensure_index()
    print_line(last_line)
    return 0


async def _move(reindexer: Reindexer, base: OutdatedBase, words: Words) -> None:
    try:
        with Bar(base.passages, base.name or str(base.id)) as shown:
            await reindexer.move(base, _Progress(base, words, shown).report)
    except (ServiceError, WindowTooLarge) as error:
        raise CommandError(f"The embedder failed ({error}). Run the command again: it goes on from here.") from error


class _Progress:
    """A bar on a terminal; elsewhere a line for each further percent, however small the embedder's batches are."""

    def __init__(self, base: OutdatedBase, words: Words, shown: Bar) -> None:
        self._base = base
        self._words = words
        self._bar = shown

    def report(self, done: int) -> None:
        """`done` passages have their new vector."""
        total = max(done, self._base.passages)
        self._bar.reach(done, total)
        if not self._bar.is_drawn and self._bar.grows(done, total):
            base = self._base.name or self._base.id
            print_line(self._words.plain("cli-reindexing", base=base, done=done, total=total))
