"""The answer without a model."""

from dataclasses import replace

from rag.answering.quotes import MAX_QUOTES, choose, quote_passages
from tests.fakes.rag import make_passage, rank


def test_only_the_best_are_quoted() -> None:
    passages = rank(*(make_passage("текст", number=number) for number in range(1, 9)))

    assert choose(passages) == passages[:MAX_QUOTES]


def test_what_is_not_certain_is_not_quoted() -> None:
    first, second = rank(make_passage("один", number=1), make_passage("два", number=2))

    assert choose((replace(first, certain=False), second)) == (second,)


def test_every_quote_stands_under_its_title() -> None:
    text, citations = quote_passages(rank(make_passage("Строка.\nВторая.", title="план_2*.md")), "строка")

    assert text == "**план\\_2\\*.md**\n> Строка.\n> Вторая."
    assert [citation.quote for citation in citations] == ["Строка.\nВторая."]
