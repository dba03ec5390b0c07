"""Tables and steps made short, for the bot's replies."""

from rag.progress import StepShown, StepState
from rag.records import (
    FactTable,
    TableRow,
)
from tests.fakes.rag import make_passage


def fact_table(*rows: tuple[str, ...], columns: tuple[str, ...] = ("Договор", "Сумма")) -> FactTable:
    """Each row stands on a page of its own."""
    passages = [make_passage(" ".join(cells), number=place) for place, cells in enumerate(rows, start=1)]
    made = tuple(
        TableRow(cells=cells, sources=(passage,) * len(cells)) for cells, passage in zip(rows, passages, strict=True)
    )
    return FactTable(title="Договоры", columns=columns, rows=made)


def shown(
    action: str, state: StepState = StepState.DONE, about: str = "", *, is_empty: bool = False, **counts: int
) -> StepShown:
    return StepShown(id=action, action=action, about=about, state=state, is_empty=is_empty, **counts)
