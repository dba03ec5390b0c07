"""What scripts read."""

import pytest

from bot.cli.output import answer_json
from tests.fakes.bot import plain_answer


@pytest.mark.parametrize("cut", [True, False])
def test_an_answer_tells_whether_it_is_whole(cut: bool) -> None:
    assert answer_json(plain_answer("Штраф 0,1 %", cut=cut))["cut"] is cut


def test_what_a_person_sees_below_a_cut_answer_is_there() -> None:
    assert answer_json(plain_answer("Штраф", cut=True, passages="> Штраф 0,1 %"))["passages"] == "> Штраф 0,1 %"
