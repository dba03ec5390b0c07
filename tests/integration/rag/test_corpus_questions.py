"""Twenty questions over 24 documents, from the files through the real pipeline and database to the XLSX."""

from pathlib import Path

from benchmarks.corpus_questions import CorpusQuestions, fill
from bot.app import open_parts
from bot.settings import Settings
from rag.execution.wire import RowsRequest
from tests.fakes.corpus_clerk import read_rows
from tests.material.whole_base import read_questions
from tests.servers.llm import ChatRequest, serve_llm

MOST_CALLS = 14  # of the twenty questions together: six sets of columns, up to three calls each, two documents named


def reply(request: ChatRequest) -> str:
    return read_rows(RowsRequest.model_validate_json(request.last)).model_dump_json()


async def test_every_question_is_right_in_every_cell(database_url: str, tmp_path: Path) -> None:
    async with serve_llm(reply=reply) as llm:
        variables = {"BAZA_HOME": str(tmp_path), "DATABASE_URL": database_url, "LLM_BASE_URL": llm.url}
        async with open_parts(Settings.read({**variables, "PLANNER_MODEL": "test-model"})) as parts:
            base = await parts.stores.people.open_named_base("corpus")
            await fill(parts, base)
            asker = CorpusQuestions(parts, base)
            outcomes = [await asker.ask(question) for question in read_questions()]
    assert {each.question.text: each.faults for each in outcomes if each.faults} == {}
    assert len(llm.requests) <= MOST_CALLS
