"""The window of a dialogue."""

from hypothesis import given
from hypothesis import strategies as st

from rag.dialogue.window import fit_window
from rag.records import Exchange
from rag.tokens import estimate_tokens

EXCHANGES = st.lists(st.builds(Exchange, question=st.text(max_size=80), answer=st.text(max_size=200)), max_size=20)


def dialogue(count: int) -> list[Exchange]:
    return [Exchange(question=f"вопрос {n}", answer=f"ответ {n}") for n in range(count)]


def test_the_newest_exchanges_stay_in_their_order() -> None:
    messages = fit_window(dialogue(5), pairs=2, tokens=1000).messages

    assert [(m.role, m.content) for m in messages] == [
        ("user", "вопрос 3"),
        ("assistant", "ответ 3"),
        ("user", "вопрос 4"),
        ("assistant", "ответ 4"),
    ]


def test_no_pairs_is_no_memory() -> None:
    assert fit_window(dialogue(5), pairs=0, tokens=1000).messages == ()


def test_an_exchange_that_does_not_fit_ends_the_window() -> None:
    long = Exchange(question="в" * 500, answer="о" * 500)

    messages = fit_window([*dialogue(1), long, *dialogue(2)], pairs=15, tokens=100).messages

    assert [m.content for m in messages if m.role == "user"] == ["вопрос 0", "вопрос 1"]


def test_the_last_exchange_loses_the_middle_of_its_answer_rather_than_the_whole() -> None:
    long = Exchange(question="вопрос", answer="начало " + "слово " * 1000 + "конец")
    asked, answered = fit_window([*dialogue(1), long], pairs=15, tokens=100).messages
    assert asked.content == "вопрос"
    assert answered.content.startswith("начало слово")
    assert answered.content.endswith("слово конец")


@given(EXCHANGES, st.integers(0, 20), st.integers(0, 300))
def test_the_window_is_never_over_its_budget(exchanges: list[Exchange], pairs: int, tokens: int) -> None:
    messages = fit_window(exchanges, pairs=pairs, tokens=tokens).messages

    assert sum(estimate_tokens(message.content) for message in messages) <= tokens
    assert len(messages) <= 2 * pairs
    assert [message.role for message in messages] == ["user", "assistant"] * (len(messages) // 2)
