"""The postings of a batch: their order, and the sums of terms that begin alike.

In: passages of a few words. Out: their numbers unpacked, beside sums that are counted one by one.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from adapters.database.payloads import ALIKE_CHARACTERS, LONGEST_TERM_BYTES, PASSAGES_A_RUN, posting_lists
from domain.locator import Locator
from ingestion.records import Chunk, IndexedChunk, Span

WORDS = st.text("абв", min_size=1, max_size=ALIKE_CHARACTERS + 2)
COUNTS = st.dictionaries(WORDS, st.integers(1, 9), max_size=6)


def chunk(terms: Mapping[str, int], titled: Mapping[str, int]) -> IndexedChunk:
    """A passage of these terms, not the first of its document."""
    return passage(1, terms, titled)


def passage(ordinal: int, terms: Mapping[str, int], titled: Mapping[str, int]) -> IndexedChunk:
    """The same anywhere in its document."""
    text = Chunk(ordinal=ordinal, text="", span=Span(start=0, end=0), locator=Locator())
    return IndexedChunk(chunk=text, terms=terms, length=0, vector=[], model="a model", titled=titled)


def packed(*chunks: IndexedChunk) -> list[tuple[str, int]]:
    """Terms with their numbers, a pair for each posting."""
    found: list[tuple[str, int]] = []
    for run in posting_lists(chunks):
        assert isinstance(run, dict)
        terms, lists = (str(run[name]).split("\n") if run[name] else [] for name in ("terms", "postings"))
        for term, numbers in zip(terms, lists, strict=True):
            found += [(term, int(number)) for number in numbers.strip("{}").split(",")]
    return found


def rows(*chunks: IndexedChunk) -> list[tuple[str, int, int, int, int, int]]:
    """Term, place, frequency, around, titled, around_titled."""
    return [
        (term, number >> 55, number & 127, number >> 7 & 127, number >> 14 & 127, number >> 21 & 127)
        for term, number in packed(*chunks)
    ]


def test_the_first_passage_tells_how_many_have_its_terms() -> None:
    found = packed(
        passage(0, {"договор": 1, "договоры": 1, "цена": 1}, {"аренда": 1}),
        passage(1, {"договор": 1, "срок": 2}, {"аренда": 1}),
        passage(2, {"договор": 3}, {"договор": 1}),
    )
    assert [(term, number >> 40) for term, number in found if number >> 55 == 0] == [
        ("аренда", 2),
        ("договор", 3),
        ("договоры", 1),
        ("цена", 1),
    ]
    assert not any(number >> 40 & 32767 for _, number in found if number >> 55 > 0)


def test_a_term_of_the_text_and_of_its_title_is_one_posting() -> None:
    found = rows(chunk({"договор": 2}, {"договор": 1, "аренда": 1}), chunk({"аренда": 3}, {}))
    assert found == [("аренда", 0, 0, 0, 1, 1), ("аренда", 1, 3, 3, 0, 0), ("договор", 0, 2, 2, 1, 1)]


@given(st.lists(st.tuples(COUNTS, COUNTS), max_size=4))
def test_the_first_of_the_terms_that_begin_alike_has_their_sums(passages: list[tuple[dict[str, int], ...]]) -> None:
    found = rows(*(chunk(terms, titled) for terms, titled in passages))
    sums: Counter[tuple[int, str]] = Counter()
    for place, (terms, titled) in enumerate(passages):
        for term in {*terms, *titled}:
            sums[place, term[:ALIKE_CHARACTERS]] += 1000 * terms.get(term, 0) + titled.get(term, 0)
    assert [row[:2] for row in found] == sorted(row[:2] for row in found)
    for term, place, _, around, _, around_titled in found:
        assert 1000 * around + around_titled == sums.pop((place, term[:ALIKE_CHARACTERS]), 0)
    assert not sums


def test_a_term_that_no_index_holds_is_left_out_of_the_sums_too() -> None:
    long = "слово" * (LONGEST_TERM_BYTES // 10) + "о"
    assert rows(chunk({long: 5, "слово": 1, long[:-1]: 1}, {})) == [
        ("слово", 0, 1, 2, 0, 0),
        (long[:-1], 0, 1, 0, 0, 0),
    ]


def test_passages_without_words_have_no_postings() -> None:
    assert rows(chunk({}, {})) == []


def test_the_length_of_a_passage_is_in_its_postings() -> None:
    lengths = [number >> 28 & 4095 for _, number in packed(replace(chunk({"a": 1}, {"b": 1}), length=300))]
    assert lengths == [300, 300]
    assert [number >> 28 for _, number in packed(replace(chunk({"a": 1}, {}), length=70_000))] == [4095]


def test_more_passages_than_a_byte_counts_are_several_runs() -> None:
    found = posting_lists([passage(ordinal, {"a": 1}, {}) for ordinal in range(PASSAGES_A_RUN + 2)])
    assert [str(dict(run)["postings"]).count(",") + 1 for run in found if isinstance(run, dict)] == [PASSAGES_A_RUN, 2]


def test_what_is_more_than_a_column_holds_is_the_most_that_it_holds_and_spills_nowhere() -> None:
    found = rows(chunk({"слово": 40_000, "словом": 1, "словаре": 127}, {"слово": 200, "словом": 127, "словаре": 1}))
    assert found == [
        ("словаре", 0, 127, 127, 1, 1),
        ("слово", 0, 127, 127, 127, 127),
        ("словом", 0, 1, 0, 127, 0),
    ]
