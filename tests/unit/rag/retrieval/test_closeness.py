"""Words of the question that stand together in one sentence."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.records import RankedPassage
from rag.retrieval.closeness import LOOKED_INTO, SENTENCE_WEIGHT, raise_close
from tests.fakes.rag import make_passage

WORTH = {"штраф": 2.0, "просрочка": 3.0, "pg-15": 1.0}


def scored(text: str, *, score: float = 1.0, number: int = 1) -> RankedPassage:
    return RankedPassage(passage=make_passage(text, number=number), score=score)


def share(text: str) -> float:
    """Of the question's worth, what the best sentence is found to hold, beside a document that says all of it."""
    other = RankedPassage(passage=make_passage(" ".join(WORTH), number=2, document="d-other"), score=1.0)
    raised = raise_close([scored(text), other], WORTH)
    return next(each.score - 1.0 for each in raised if each.passage.chunk_id == 1) / SENTENCE_WEIGHT


def test_together_is_better_than_apart() -> None:
    apart = scored("Штраф велик. Другое. Просрочка бывает.", score=1.0, number=1)
    together = scored("Штраф за просрочку велик.", score=1.0, number=2)

    assert [each.passage.chunk_id for each in raise_close([apart, together], WORTH)] == [2, 1]


@pytest.mark.parametrize(
    ("text", "worth"),
    [
        ("Ни одного слова.", 0),
        ("ШТРАФЫ, пени.", 2),  # another form, in capitals
        ("«Просрочка»", 3),
        ("просроч", 3),  # five letters are what it goes by
        ("Нештрафной", 0),  # in the middle of a word
        ("версия PG-15, штраф", 3),
        ("PG 15", 1),  # signs of a code are blanks
        ("PG-150", 0),  # but it ends where it ends
        ("Штраф\nпросрочка", 3),  # a line ends a sentence
    ],
)
def test_a_sentence_holds_words_by_how_they_begin(text: str, worth: float) -> None:
    assert share(text) == pytest.approx(worth / 6)


def test_the_letter_yo_is_read_as_ye() -> None:
    (raised,) = raise_close([scored("Зелёная ёлка")], {"елка": 1.0, "зеленый": 1.0})

    assert raised.score == pytest.approx(1 + SENTENCE_WEIGHT)


def test_without_rarities_the_order_stays() -> None:
    ranked = [scored("а", number=2), scored("б", number=1)]

    assert raise_close(ranked, {"слово": 0.0}) == ranked


@given(st.lists(st.sampled_from(["штраф", "иное", "просрочка штраф"]), max_size=LOOKED_INTO + 5))
def test_nothing_is_lost_and_what_is_far_behind_stays_there(texts: list[str]) -> None:
    ranked = [scored(text, score=2.0 - place / 100, number=place) for place, text in enumerate(texts)]

    raised = raise_close(ranked, WORTH)

    assert sorted(each.passage.chunk_id for each in raised) == list(range(len(texts)))
    assert raised[LOOKED_INTO:] == ranked[LOOKED_INTO:]


def _taken_apart(text: str) -> float:
    """The same by taking every sentence apart."""
    lowered = text.lower().replace("ё", "е")
    patterns = {r"(?<!\w)штраф": 2.0, r"(?<!\w)проср": 3.0, r"(?<!\w)pg\W+15(?!\w)": 1.0}
    sentences = re.split(r"\n|[.!?…](?=\s)", lowered)
    return max(sum(worth for each, worth in patterns.items() if re.search(each, said)) for said in sentences)


@given(
    st.lists(
        st.sampled_from(["штраф", "Штрафы", "нештраф", "просрочка", "прос", "pg", "15", "PG-15", "150", "_"])
        | st.sampled_from([" ", ". ", ".", "! ", "\n", "-", "«", "… "]),
        max_size=15,
    ).map("".join)
)
def test_going_from_word_to_word_finds_what_taking_sentences_apart_would(text: str) -> None:
    assert share(text) == pytest.approx(_taken_apart(text) / 6)


def test_what_the_document_has_given_counts_in_no_sentence_of_it() -> None:
    """Of a contract that gives the party the preamble with the party stands behind the clause; before other documents
    both stand no higher than they would without the clause."""
    clause, preamble, other = scored("Поставка за 3 дня", number=1), scored("Лазурит. Поставка", number=2), OTHER
    given = {each.passage.chunk_id: (1.0, 0.0, 0.0) for each in (clause, preamble)}
    asked = {"лазурит": 2.0, "поставка": 1.0, "день": 1.0}
    raised = raise_close([preamble, clause, other], asked, given, terms_of=LEMMAS, weight=1.0)
    assert [(each.passage.chunk_id, each.score) for each in raised] == [(1, 1.5), (3, 1.25), (2, 1.0)]


def test_what_no_passage_says_leaves_the_clauses_of_a_document_as_far_apart() -> None:
    """«Во сколько обошёлся монтаж по счёту 7»: nothing says «обошёлся»."""
    clause, other = scored("Монтаж: 5 руб.", number=1), scored("Доставка", number=2, score=1.2)
    asked, given = {"обойтись": 4.0, "монтаж": 1.0, "7": 4.0}, {1: (0.0, 0.0, 1.0), 2: (0.0, 0.0, 1.0)}
    shares = {each.passage.chunk_id: given[each.passage.chunk_id] for each in (clause, other)}
    raised = raise_close([other, clause], asked, shares)
    assert [each.passage.chunk_id for each in raised] == [1, 2]


def test_inside_a_document_several_common_words_outweigh_a_rarer_one() -> None:
    """«За сколько дней закончить ремонт на совещании № 7?»: every minutes of the base has all of it."""
    preamble, clause = scored("ПРОТОКОЛ СОВЕЩАНИЯ № 7", number=1), scored("Ремонт закончить за 5 дней", number=2)
    asked = {"ремонт": 0.0, "закончить": 0.4, "день": 0.0, "совещание": 1.1, "7": 4.0}
    given = {each.passage.chunk_id: (0.0, 0.0, 0.0, 0.0, 1.0) for each in (preamble, clause)}
    raised = raise_close([preamble, clause], asked, given, terms_of=LEMMAS)
    assert [each.passage.chunk_id for each in raised] == [2, 1]


OTHER = RankedPassage(passage=make_passage("Поставка", number=3, document="d-other"), score=1.0)


def LEMMAS(word: str) -> tuple[str, ...]:  # noqa: N802
    """The analyzer of this page."""
    return ("день",) if word in ("дня", "дней") else (word,)


@pytest.mark.parametrize(
    ("text", "is_found"), [("За 5 дней", True), ("Деньги", False), ("за день", True), ("Данные", False)]
)
def test_a_short_word_is_found_in_its_other_forms(text: str, is_found: bool) -> None:
    (raised,) = raise_close([scored(text)], {"день": 1.0}, terms_of=LEMMAS, weight=1.0)
    assert (raised.score > 1.0) is is_found


def test_what_is_left_of_a_name_by_rounding_is_no_clause() -> None:
    """«В каком городе учился Иван?»: no passage says «город», and the name in the preamble does not raise it."""
    preamble, clause = scored("Резюме: Иван", number=1), scored("Окончил университет, Казань", number=2)
    inherited = {each.passage.chunk_id: (0.0, 1.0 - 1e-9) for each in (preamble, clause)}
    raised = raise_close([preamble, clause], {"город": 6.0, "иван": 3.0}, inherited)
    assert [each.score for each in raised] == pytest.approx([1.0, 1.0])
