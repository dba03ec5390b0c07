"""What scripts read."""

from datetime import UTC, datetime

import pytest

from bot.cli.output import answer_json, card_json
from tests.fakes.bot import plain_answer
from tests.fakes.cards import ready


@pytest.mark.parametrize("cut", [True, False])
def test_an_answer_tells_whether_it_is_whole(cut: bool) -> None:
    assert answer_json(plain_answer("Штраф 0,1 %", cut=cut))["cut"] is cut


def test_what_a_person_sees_below_a_cut_answer_is_there() -> None:
    assert answer_json(plain_answer("Штраф", cut=True, passages="> Штраф 0,1 %"))["passages"] == "> Штраф 0,1 %"


def test_a_document_tells_when_it_leaves() -> None:
    moment = datetime(2026, 5, 31, 14, 5, tzinfo=UTC)
    assert card_json(ready(expires_at=moment))["expires_at"] == "2026-05-31T14:05:00+00:00"
    assert card_json(ready())["expires_at"] is None


def test_an_address_that_nothing_holds_is_no_link_for_programs_either() -> None:
    given = plain_answer("См. https://evil.example и https://good.example", addresses=frozenset({"good.example"}))
    assert answer_json(given)["answer"] == "См. evil[.]example и https://good.example"
