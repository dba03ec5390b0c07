"""An answer that tells one side of a disagreement is sent back."""

import pytest

from rag.answering.disagreement import unspoken
from rag.records import Claim, Conflict
from tests.fakes.rag import make_passage, rank

PLACES = rank(make_passage("30 дней", title="Письмо.eml"), make_passage("14 дней", number=2, title="Договор.pdf"))
CLAIMS = tuple(Claim(value=each.passage.text, passage=each, dated=None) for each in PLACES)
CONFLICT = Conflict(about="срок оплаты", claims=CLAIMS)


@pytest.mark.parametrize("answer", ["Срок 14 дней.", "Платить надо за **30 дней**."])
def test_one_side_alone_is_remarked_on_with_both_documents(answer: str) -> None:
    (remark,) = unspoken(answer, [CONFLICT])
    assert "Письмо.eml: 30 дней; Договор.pdf: 14 дней" in remark


@pytest.mark.parametrize("answer", ["В письме 30 дней, в договоре 14 дней.", "Штраф 10 %.", "Срок 140 дней."])
def test_both_sides_or_another_matter_are_fine(answer: str) -> None:
    assert unspoken(answer, [CONFLICT]) == ()
