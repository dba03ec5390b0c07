"""What scripts read."""

import pytest

from bot.cli.output import answer_json
from tests.fakes.bot import plain_answer


@pytest.mark.parametrize("cut", [True, False])
def test_an_answer_tells_whether_it_is_whole(cut: bool) -> None:
    assert answer_json(plain_answer("Штраф 0,1 %", cut=cut))["cut"] is cut
