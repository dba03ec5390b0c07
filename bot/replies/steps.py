"""The steps of a turn in words: the live list while they run, and a summary below the answer.

In: steps as the engine reports them; an answer. Out: rich text that says what goes on, how much was read and what could
not be done. It does not import aiogram, which would slow the command line by seconds.
"""

from collections.abc import Sequence

from bot.replies.names import shortened
from bot.replies.rich import RichText, join, rich
from bot.texts import Words
from rag.addresses import defanged
from rag.execution.tools import Spent
from rag.progress import StepShown, StepState
from rag.records import Answer, DocumentsRead

SIGNS = {
    StepState.WAITING: "▫️",
    StepState.RUNNING: "⏳",
    StepState.DONE: "✅",
    StepState.SHORT: "☑️",
    StepState.FAILED: "⚠️",
    StepState.STOPPED: "⏹",
    StepState.SKIPPED: "▫️",
}
LISTED = 8  # steps shown in the list: one phone screen
ACTIONS = {
    "rag_db_query": "step-search",
    "graph_query_tool": "step-known",
    "list_documents": "step-list",
    "read_document": "step-read-one",
    "read_documents": "step-read",
    "collect_rows": "step-rows",
    "analyze": "step-think",
}


def steps_text(steps: Sequence[StepShown], words: Words) -> RichText:
    """The live list, without skipped steps; one that found nothing says so."""
    lines = [rich(words.plain("steps-title"))]
    for step in [step for step in steps if step.state is not StepState.SKIPPED][-LISTED:]:
        sign, said = SIGNS[step.state], _step(step, words)
        if step.is_empty:
            nothing = "step-no-conclusion" if step.action == "analyze" else "step-nothing"
            sign, said = SIGNS[StepState.SHORT], words.plain(nothing, step=said)
        elif step.state is StepState.STOPPED:
            said = words.plain("step-stopped", step=said)
        lines.append(rich(f"{sign} {said}"))
    return join(lines, "\n")


def work_done(answer: Answer, words: Words) -> list[str]:
    """How much was read, why the work ended early, what failed or was not done: a line each."""
    read = answer.documents
    lines = _reading_done(read, words) if read else []
    if answer.spent and not (answer.stopped and answer.spent == Spent.STOPPED):  # the answer itself says that already
        lines.append(words.plain(f"answer-spent-{answer.spent.replace('_', '-')}"))
    if answer.spent and read and (left := read.total - read.read - read.problems):  # not read, or not to their end
        lines.append(words.plain("answer-documents-left", count=left))
    failed = [_step(step, words) for step in answer.steps if step.state is StepState.FAILED]
    if failed:
        lines.append(words.plain("answer-steps-failed", steps="; ".join(failed)))
    return lines


def _reading_done(read: DocumentsRead, words: Words) -> list[str]:
    lines = [words.plain("answer-documents-read", read=read.read, total=read.total, without=read.without_data)]
    if read.remembered:
        lines.append(words.plain("answer-documents-remembered", count=read.remembered))
    if read.chosen_from:
        lines.append(words.plain("answer-documents-chosen", total=read.total, base=read.chosen_from))
    counts = (
        ("answer-documents-failed", read.problems),
        ("answer-facts-uncompared", read.uncompared),
        ("answer-rows-missing", read.missing_rows),
    )
    return [*lines, *(words.plain(key, count=count) for key, count in counts if count)]


def _step(step: StepShown, words: Words) -> str:
    key = ACTIONS.get(step.action, "step-other")
    about = defanged(step.about, frozenset())  # a model's words: it may have obeyed a document
    told = {"about": shortened(about, 60)} if "about" in words.variables(key) else {}
    action = words.plain(key, **told)
    counted = step.total and step.state is StepState.RUNNING
    return f"{action}: {words.plain('step-progress', done=step.done, total=step.total)}" if counted else action
