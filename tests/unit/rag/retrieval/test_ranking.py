"""Passages in order: one order out of two legs, what counts as found, what says nothing new, neighbours as one."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.ids import ChunkId, DocumentId
from domain.locator import Locator
from rag.records import Candidate, Fit, Passage, RankedPassage
from rag.retrieval.ranking import (
    LONGEST_RUN,
    SHORTEST_OVERLAP,
    collapse,
    fit_of,
    fuse,
    is_noise,
    merge_neighbours,
    spread_over_pages,
)
from rag.retrieval.spelling import other_spellings
from tests.fakes.rag import make_candidate, make_passage, rank

BM25 = st.none() | st.floats(0.01, 40)
SIMILARITY = st.none() | st.floats(-1, 1)
WEIGHT = st.floats(0.05, 1)

TEXT = "Арендатор платит до пятого числа каждого месяца. Штраф составляет 0,1 % за каждый день просрочки."

FIRST = "Арендатор платит до пятого числа. Штраф — 0,1 % за день просрочки."
SECOND = "Штраф — 0,1 % за день просрочки. Договор действует год."


@st.composite
def found(draw: st.DrawFn) -> list[Candidate]:
    legs = draw(st.lists(st.tuples(BM25, SIMILARITY), min_size=1, max_size=12))
    return [make_candidate("t", number=n, bm25=b, similarity=s) for n, (b, s) in enumerate(legs)]


@given(found(), WEIGHT, WEIGHT, st.randoms())
def test_the_order_of_candidates_does_not_matter(candidates: list[Candidate], a: float, b: float, dice: object) -> None:
    shuffled = sorted(candidates, key=lambda c: hash((str(dice), c.passage.chunk_id)))

    assert fuse(shuffled, lexical_weight=a, vector_weight=b) == fuse(candidates, lexical_weight=a, vector_weight=b)


@given(found(), WEIGHT, WEIGHT)
def test_better_in_both_legs_is_never_below(candidates: list[Candidate], a: float, b: float) -> None:
    score = {r.passage.chunk_id: r.score for r in fuse(candidates, lexical_weight=a, vector_weight=b)}

    for one in candidates:
        for other in candidates:
            if _at_least(one.bm25, other.bm25) and _at_least(one.similarity, other.similarity):
                assert score[one.passage.chunk_id] >= score[other.passage.chunk_id]


@given(found(), WEIGHT, WEIGHT)
def test_nothing_is_lost_or_made(candidates: list[Candidate], a: float, b: float) -> None:
    fused = fuse(candidates, lexical_weight=a, vector_weight=b)

    assert sorted(r.passage.chunk_id for r in fused) == [c.passage.chunk_id for c in candidates]
    assert all(0 <= r.score <= a + b + 1e-9 for r in fused)


def test_a_leg_of_weight_zero_decides_nothing() -> None:
    lexical = make_candidate("a", number=1, bm25=1.0, similarity=0.9)
    better = make_candidate("b", number=2, bm25=2.0, similarity=0.1)

    first, _ = fuse([lexical, better], lexical_weight=1, vector_weight=0)

    assert first.passage == better.passage


def test_a_vector_does_not_tell_whose_a_clause_is() -> None:
    """The clause of another contract is nearer by its vector; the words have chosen the contract."""
    clause = make_candidate("ours", number=1, document="a", bm25=9.0, similarity=0.8)
    ours = replace(clause, rarities=(2.0, 2.0), inherited=(1.0, 0.0))
    theirs = make_candidate("theirs", number=2, document="b", bm25=6.0, similarity=0.9)
    least = make_candidate("least", number=3, document="c", similarity=0.6)

    first, *_ = fuse([ours, theirs, least], lexical_weight=0.4, vector_weight=0.6)

    assert first.passage == ours.passage


def test_nothing_found_is_nothing() -> None:
    assert fuse([], lexical_weight=1, vector_weight=1) == []


def _at_least(one: float | None, other: float | None) -> bool:
    """None is what a leg did not find: no better than its worst."""
    return other is None or (one is not None and one >= other)


@pytest.mark.parametrize(
    ("bm25", "similarity", "noise"),
    [
        (0.1, None, False),  # a word of the question stands in it
        (None, 0.05, True),
        (None, 0.3, False),
        (None, None, True),
    ],
)
def test_noise_has_neither_words_nor_nearness(bm25: float | None, similarity: float | None, noise: bool) -> None:
    assert is_noise(make_candidate("t", bm25=bm25, similarity=similarity)) is noise


EQUAL = dict.fromkeys(("срок", "аренда", "склад", "продление"), 1.0)


@pytest.mark.parametrize(
    ("asked", "held", "similarity", "model", "fit"),
    [
        (EQUAL, {"срок", "аренда"}, None, None, Fit.CERTAIN),  # two terms of four
        (EQUAL, {"срок"}, None, None, Fit.RELATED),
        (EQUAL, {"ремонт"}, None, None, Fit.CHANCE),
        (EQUAL, {"срок"}, 0.6, "jina-embeddings-v3", Fit.CERTAIN),  # said in other words
        (EQUAL, {"срок"}, 0.9, "offline-2", Fit.RELATED),  # letters alone vouch for nothing
        ({"кто": 0.5, "такой": 1.0, "наполеон": 6.0}, {"кто", "такой"}, None, None, Fit.CHANCE),  # who is not there
        ({"стадия": 6.0, "мунтян": 6.0}, {"мунтянин"}, None, None, Fit.RELATED),  # a form of the name
        ({"какой": 0.5, "срок": 1.0, "ротонда": 6.0}, {"ротонда"}, None, None, Fit.CERTAIN),  # the rare word is
    ],
)
def test_rare_words_of_the_question_or_a_near_meaning_tell_how_a_passage_fits(
    asked: dict[str, float], held: set[str], similarity: float | None, model: str | None, fit: Fit
) -> None:
    assert fit_of(asked, held, similarity=similarity, model=model) is fit


@pytest.mark.parametrize(
    ("asked", "held"),
    [
        ({"вайфай"}, {"wifi", "wi", "fi", "роутер"}),  # the other alphabet
        ({"роутре", "офис"}, {"роутер", "этаж"}),  # a typo
        ({"таймаут", "тайм", "аут"}, {"таймаут", "соединение"}),  # «тайм-аут»: its parts are no words by themselves
        ({"pg-15", "pg", "15", "pg15"}, {"pg15", "бэкап"}),
    ],
)
def test_a_word_in_another_spelling_counts_as_standing_there(asked: set[str], held: set[str]) -> None:
    spellings = other_spellings(sorted(asked), asked)

    assert fit_of(dict.fromkeys(asked, 1.0), held, similarity=None, model=None, spellings=spellings) is Fit.CERTAIN


def test_a_part_of_a_word_that_does_not_stand_there_does_not_count() -> None:
    asked = {"таймаут": 1.0, "тайм": 1.0, "аут": 1.0}

    assert fit_of(asked, {"аут"}, similarity=None, model=None) is not Fit.CERTAIN


def test_a_short_word_that_only_sounds_alike_does_not_count() -> None:
    asked = ["дочь", "алсу"]

    spellings = other_spellings(asked, {"алсу"})

    assert fit_of(dict.fromkeys(asked, 1.0), {"doc"}, similarity=None, model=None, spellings=spellings) is Fit.CHANCE


def kept(*passages: Passage) -> list[int]:
    return [int(ranked.passage.chunk_id) for ranked in collapse(rank(*passages))]


def test_the_same_text_in_two_documents_is_kept_once() -> None:
    assert kept(make_passage(TEXT, number=1), make_passage(TEXT.upper(), number=2, document="other")) == [1]


def test_a_passage_inside_its_better_neighbour_is_left_out() -> None:
    assert kept(make_passage(f"Оплата. {TEXT}", number=1), make_passage(TEXT, number=2)) == [1]


def test_the_better_one_stays_even_when_it_is_the_shorter() -> None:
    assert kept(make_passage(TEXT, number=1), make_passage(f"{TEXT} Договор действует год.", number=2)) == [1, 2]


def test_another_number_is_something_new() -> None:
    assert kept(make_passage(TEXT, number=1), make_passage(TEXT.replace("0,1", "0,5"), number=2)) == [1, 2]


def test_a_negation_is_something_new() -> None:
    assert kept(make_passage(TEXT, number=1), make_passage(TEXT.replace("платит", "не платит"), number=2)) == [1, 2]


def test_the_same_words_in_another_order_are_something_new() -> None:
    assert kept(
        make_passage("Иван должен Петру сто рублей", number=1), make_passage("Петру Иван сто рублей должен", number=2)
    ) == [1, 2]


def piece(ordinal: int, text: str = "текст", *, document: str = "doc", **place: int | str) -> Passage:
    number = ordinal if document == "doc" else ordinal + 100
    plain = make_passage(text, number=number, document=document)
    return replace(plain, ordinal=ordinal, locator=Locator(**place))  # type: ignore[arg-type]  # parts of a place


def merged(*passages: Passage) -> list[Passage]:
    return [each.passage for each in merge_neighbours(rank(*passages))]


def test_neighbours_become_one_in_reading_order_in_the_place_of_the_better() -> None:
    later, between, earlier = piece(5, "конец"), piece(9, "другое"), piece(4, "начало")

    first, second = merged(later, between, earlier)

    assert (first.text, first.chunk_id, first.ordinal) == ("начало\n\nконец", later.chunk_id, 5)
    assert first.pieces == ((4, 0), (5, first.text.index("конец")))
    assert second == between


def test_what_overlaps_is_said_once() -> None:
    (one,) = merged(piece(1, FIRST), piece(2, SECOND))

    assert one.text == "Арендатор платит до пятого числа. Штраф — 0,1 % за день просрочки. Договор действует год."


def test_a_short_repetition_at_the_seam_is_no_overlap() -> None:
    (one,) = merged(piece(1, "Это да"), piece(2, "да, и ещё раз да"))

    assert one.text == "Это да\n\nда, и ещё раз да"


def test_a_gap_keeps_passages_apart() -> None:
    assert len(merged(piece(1), piece(3))) == 2


def test_passages_of_two_documents_stay_apart() -> None:
    assert len(merged(piece(1), piece(2, document="other"))) == 2


def test_sheets_stay_apart() -> None:
    prices, services = (Locator(row=2, row_end=9, headings=(sheet,)) for sheet in ("Прайс", "Услуги"))
    assert len(merged(replace(piece(1), locator=prices), replace(piece(2), locator=services))) == 2
    assert len(merged(replace(piece(1), locator=prices), replace(piece(2), locator=prices))) == 1


def test_slides_files_of_an_archive_and_pages_of_a_site_stay_apart() -> None:
    for part in ({"slide": 1}, {"member": "a.txt"}, {"url": "https://a.example/1"}):
        assert len(merged(piece(1, **part), piece(2))) == 2


def test_the_place_runs_from_the_first_to_the_last() -> None:
    (one,) = merged(piece(2, page=4, page_end=5, row=10, row_end=19), piece(1, page=3, row=2, row_end=9))

    assert one.locator == Locator(page=3, page_end=5, row=2, row_end=19)


def test_one_page_has_no_second() -> None:
    (one,) = merged(piece(1, page=3), piece(2, page=3))

    assert one.locator == Locator(page=3)


def test_seconds_run_from_the_first_to_the_last() -> None:
    later = replace(piece(2), locator=Locator(start_s=60.0, end_s=90.5))
    earlier = replace(piece(1), locator=Locator(start_s=30.0, end_s=60.0))

    assert merged(later, earlier)[0].locator == Locator(start_s=30.0, end_s=90.5)


@given(st.lists(st.integers(1, 12), unique=True, min_size=1))
def test_every_passage_is_in_one_run_of_at_most_three(ordinals: list[int]) -> None:
    words = {ordinal: f"слово{ordinal}" * SHORTEST_OVERLAP for ordinal in ordinals}

    runs = [passage.text.split("\n\n") for passage in merged(*(piece(each, words[each]) for each in ordinals))]

    assert sorted(text for run in runs for text in run) == sorted(words.values())
    assert all(len(run) <= LONGEST_RUN for run in runs)


def test_the_score_is_that_of_the_best() -> None:
    best = RankedPassage(passage=piece(2), score=0.9)
    other = RankedPassage(passage=piece(1), score=0.4)

    (one,) = merge_neighbours([best, other])

    assert (one.score, one.passage.document_id, one.passage.chunk_id) == (0.9, DocumentId("doc"), ChunkId(2))


def test_from_the_third_on_passages_of_a_page_come_behind_other_pages_of_their_document() -> None:
    ranked = rank(
        *(piece(ordinal, page=5) for ordinal in (1, 3, 5, 7)),
        *(piece(ordinal, document="other", page=1) for ordinal in (1, 3, 5)),
        piece(20, page=6),
    )

    spread = spread_over_pages(ranked)

    assert [(each.passage.document_id, each.passage.ordinal) for each in spread] == [
        *(("doc", ordinal) for ordinal in (1, 3, 20, 5)),
        *(("other", ordinal) for ordinal in (1, 3, 5)),
        ("doc", 7),
    ]
    assert [each.score for each in spread] == [each.score for each in ranked]


def test_what_has_no_pages_stays_as_it_is_ranked() -> None:
    ranked = rank(*(piece(ordinal) for ordinal in (4, 2, 8, 6)))

    assert spread_over_pages(ranked) == list(ranked)


@pytest.mark.parametrize(
    ("asked", "held", "fit"),
    [
        (
            "forpost",
            {"форпост", "договор", "поставка"},
            Fit.RELATED,
        ),  # nothing else of an English question can be there
        ("forpost", {"договор", "поставка"}, Fit.CHANCE),
        ("форпост", {"forpost", "форпосте", "договор", "поставка"}, Fit.CHANCE),  # in Russian the rest might be
    ],
)
def test_a_name_in_the_other_alphabet_is_enough_where_nothing_else_can_be(asked: str, held: set[str], fit: Fit) -> None:
    weights = {asked: 1.0, "first": 3.0, "second": 3.0, "third": 3.0}
    assert fit_of(weights, held, similarity=None, model=None, spellings=other_spellings([asked], set())) is fit
