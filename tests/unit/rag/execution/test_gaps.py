"""What steps did not bring, as the model that answers is told of it."""

from rag.execution.course import gaps_of
from rag.execution.tools import Spent
from rag.progress import StepState
from tests.fakes.tabulated import shown

STEPS = (
    shown("rag_db_query", about="пени", is_empty=True),
    shown("rag_db_query", about="срок"),
    shown("collect_rows", StepState.FAILED, about="договор"),
    shown("analyze", StepState.STOPPED, about="причины"),
    shown("list_documents", is_empty=True),
)


def test_what_was_looked_for_and_not_found_is_said_by_its_words() -> None:
    assert "nothing was found: «пени»; list_documents." in gaps_of(STEPS, None)


def test_what_was_not_done_is_told_apart_from_what_is_not_there() -> None:
    lines = gaps_of(STEPS, Spent.MODEL_CALLS).splitlines()
    assert lines[1].endswith("«договор».")
    assert lines[2].startswith("Broken off")
    assert "model calls" in lines[3]


def test_what_an_analysis_missed_is_said_in_its_words() -> None:
    assert gaps_of((STEPS[1],), None, ("причины спада", "меры")).endswith(": причины спада; меры.")


def test_where_nothing_is_missing_nothing_is_said() -> None:
    thought_in_vain = shown("analyze", is_empty=True)
    assert gaps_of((STEPS[1], thought_in_vain), None) == ""
