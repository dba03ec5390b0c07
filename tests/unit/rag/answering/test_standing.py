"""What an answer stands on: the marks that a model set, wherever it set them."""

import pytest

from rag.answering.prompt import AnswerPrompt
from rag.answering.standing import understood
from rag.execution.search_tool import passages_payload
from rag.records import AnswerKind
from tests.fakes.rag import make_passage, rank

FACTS = passages_payload(rank(make_passage("Штраф 0,1 %.", number=1), make_passage("Срок.", number=2)), asked="x").facts
PROMPT = AnswerPrompt(messages=(), facts=FACTS)


@pytest.mark.parametrize(
    ("raw", "used"),
    [
        ("[+] Штраф 0,1 % [2].\n\n[1] – Договор.pdf", (2,)),
        ("[+] Штраф 0,1 %.\n\n[1] – Договор.pdf", (1,)),
        ("Штраф 0,1 %.\n\n---\n\n[1] – Договор.pdf", (1,)),
        ("[+] Штраф 0,1 %.\n\n**Источники:**\n[1] – Договор.pdf", (1,)),
    ],
)
def test_references_count_as_marks_only_where_there_are_no_others(raw: str, used: tuple[int, ...]) -> None:
    reading = understood(raw, PROMPT)
    assert (reading.text, reading.used, reading.kind) == ("Штраф 0,1 %.", used, AnswerKind.FROM_BASE)
