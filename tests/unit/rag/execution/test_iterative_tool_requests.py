"""What a request holds, and how much of it."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from rag.execution.iterative_tool import cut, fitting, request_budget, synthesis_request
from rag.execution.ledger import KnownFact, Ledger
from rag.execution.wire import Certainty
from rag.records import Claim, Conflict
from rag.words import estimate_tokens
from tests.fakes.rag import make_passage
from tests.fakes.reading import PROMPTS

SOURCE = make_passage("текст")


@given(st.text(max_size=300), st.integers(-5, 100))
def test_of_a_text_that_is_too_long_the_end_stays(text: str, tokens: int) -> None:
    kept = cut(text, tokens)
    assert text.endswith(kept)
    assert estimate_tokens(kept) <= max(tokens, 0)


@st.composite
def known_facts(draw: st.DrawFn) -> KnownFact:
    certainty, text = draw(st.sampled_from(Certainty)), draw(st.text(max_size=80))
    return KnownFact(id="f1", text=f"-{text}", certainty=certainty, reasoning="", sources=(SOURCE,))


@given(st.lists(known_facts(), max_size=12), st.integers(-5, 500))
def test_facts_keep_to_their_budget_and_their_order(facts: list[KnownFact], tokens: int) -> None:
    facts = [replace(fact, id=f"f{number}") for number, fact in enumerate(facts)]
    kept = fitting(facts, tokens)
    assert sum(estimate_tokens(fact.wire().model_dump_json()) + 1 for fact in kept) <= max(tokens, 0)
    places = [facts.index(fact) for fact in kept]
    assert places == sorted(places)


def test_the_surest_facts_stay_when_there_is_no_room_for_all() -> None:
    facts = [
        KnownFact(id=f"f{number}", text="Срок 30 дней", certainty=certainty, reasoning="", sources=(SOURCE,))
        for number, certainty in enumerate((Certainty.LOW, Certainty.HIGH, Certainty.MEDIUM))
    ]
    room = 2 * (estimate_tokens(facts[0].wire().model_dump_json()) + 2)
    assert [fact.certainty for fact in fitting(facts, room)] == [Certainty.HIGH, Certainty.MEDIUM]


def test_the_whole_is_told_what_groups_found_to_disagree() -> None:
    places = [make_passage(text, title=title) for text, title in (("180 ₽", "новый"), ("150 ₽", "старый"))]
    claims = tuple(Claim(value=each.text, passage=each, dated=None) for each in places)
    known = Ledger(conflicts=(Conflict(about="цена", claims=claims),))
    budget = request_budget(8000, PROMPTS)
    asked = synthesis_request(budget, known, question="Цена?", answers=["150 ₽"]).model_dump_json()
    assert "новый: 180 ₽; старый: 150 ₽" in asked
    none = {**budget, "document": 0}
    assert "180" not in synthesis_request(none, known, question="Цена?", answers=[]).model_dump_json()


def test_all_parts_of_a_request_fit_into_the_prompt() -> None:
    budget = request_budget(8000, PROMPTS)
    assert sum(budget.values()) + estimate_tokens(PROMPTS.iterative) < 8000
    assert request_budget(0, PROMPTS)["document"] == 0
