"""A question that takes several steps, as the person sees it: what is done, what is going on, and what came of it.

In: steps as the engine shows them, an answer. Out: rich text: the live list, and the lines below the answer that say
how much was read and what could not be done. It sends nothing.
"""

from collections.abc import Sequence

from bot.replies.names import shortened
from bot.replies.rich import RichText, join, rich
from bot.texts import Words
from rag.records import Answer, StepShown, StepState

SIGNS = {
    StepState.WAITING: "▫️",
    StepState.RUNNING: "⏳",
    StepState.DONE: "✅",
    StepState.SHORT: "☑️",
    StepState.FAILED: "⚠️",
    StepState.SKIPPED: "▫️",
}
ABOUT_CHARACTERS = 60
LISTED = 8  # steps that a list shows: a screen of a phone
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
    """The live list; those that were skipped are no longer shown."""
    kept = [step for step in steps if step.state is not StepState.SKIPPED]
    lines = [rich(f"{SIGNS[step.state]} {_step(step, words)}") for step in kept[-LISTED:]]
    return join([rich(words.plain("steps-title")), *lines], "\n")


def work_done(answer: Answer, words: Words) -> list[str]:
    """How much was read, why the work ended early, what failed: a line each."""
    read = answer.documents
    lines = []
    if read:
        lines.append(words.plain("answer-documents-read", read=read.read, total=read.total, without=read.without_data))
    if read and read.problems:
        lines.append(words.plain("answer-documents-failed", count=read.problems))
    if read and read.missing_rows:
        lines.append(words.plain("answer-rows-missing", count=read.missing_rows))
    if answer.spent:
        lines.append(words.plain(f"answer-spent-{answer.spent.replace('_', '-')}"))
    failed = [_step(step, words) for step in answer.steps if step.state is StepState.FAILED]
    if failed:
        lines.append(words.plain("answer-steps-failed", steps="; ".join(failed)))
    return lines


def _step(step: StepShown, words: Words) -> str:
    key = ACTIONS.get(step.action, "step-other")
    told = {"about": shortened(step.about, ABOUT_CHARACTERS)} if "about" in words.variables(key) else {}
    action = words.plain(key, **told)
    counted = step.total and step.state is StepState.RUNNING
    return f"{action}: {words.plain('step-progress', done=step.done, total=step.total)}" if counted else action
