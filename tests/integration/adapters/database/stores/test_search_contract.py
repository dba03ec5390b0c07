"""Both legs of search: `rag.ports.PassageSearch`."""

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from adapters.database.stores import Stores
from domain.documents import Medium, SourceType
from domain.ids import BaseId, UserId
from domain.locator import Locator
from rag.records import DocumentMatch, SearchFilter, SearchQuery, Spelling
from tests.integration.adapters.database.stores.material import (
    ANNA,
    EAST,
    NORTH,
    SENDER,
    claim,
    claim_new,
    find,
    indexed,
    open_base,
    parsed,
    publish,
)
from tests.integration.adapters.database.stores.test_functions import set_number

NORTH_EAST = [math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0]
HALF_PRECISION = 1e-3
LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
TODAY = datetime.now(UTC)
YEAR = timedelta(days=365)


async def publish_vectors(stores: Stores, vectors: dict[str, list[float]], *, model: str | None = None) -> None:
    held = await claim_new(stores, await open_base(stores))
    named = {"model": model} if model else {}
    chunks = [indexed(number, text, vector=vector, **named) for number, (text, vector) in enumerate(vectors.items())]
    await stores.work.add_chunks(held, chunks=chunks)
    await stores.work.publish(held, chunks=len(chunks))


async def test_a_base_without_documents_has_nothing_to_find(stores: Stores) -> None:
    base = await open_base(stores)
    assert await find(stores, base, "слова", vector=NORTH) == {}
    assert not await stores.search.holds_documents(base)


async def test_the_vector_leg_gives_the_nearest(stores: Stores) -> None:
    base = await open_base(stores)
    await publish_vectors(stores, {"север": NORTH, "между": NORTH_EAST, "восток": EAST})
    found = await find(stores, base, vector=NORTH, limit=2)
    assert set(found) == {"север", "между"}
    assert found["север"].similarity == pytest.approx(1, abs=HALF_PRECISION)
    assert found["между"].similarity == pytest.approx(math.sqrt(0.5), abs=HALF_PRECISION)
    assert found["север"].bm25 is None


async def test_vectors_of_another_model_are_not_compared(stores: Stores) -> None:
    base = await open_base(stores)
    await publish_vectors(stores, {"чужой": NORTH}, model="another")
    assert await find(stores, base, vector=NORTH) == {}
    found = await find(stores, base, "чужой", vector=NORTH)
    assert found["чужой"].similarity is None


async def test_a_passage_that_words_found_has_its_similarity_too(stores: Stores) -> None:
    base = await open_base(stores)
    await publish_vectors(stores, {"север": NORTH, "восток": EAST})
    found = await find(stores, base, "восток", vector=NORTH, limit=1)
    assert set(found) == {"север", "восток"}
    assert found["восток"].similarity == pytest.approx(0, abs=HALF_PRECISION)


async def test_a_vector_of_zeros_is_like_nothing(stores: Stores) -> None:
    base = await open_base(stores)
    await publish_vectors(stores, {"пустой": [0.0, 0.0, 0.0, 0.0]})
    assert (await find(stores, base, "пустой", vector=NORTH))["пустой"].similarity is None


async def test_the_lexical_leg_is_bm25(stores: Stores) -> None:
    base = await open_base(stores)
    long = f"кот {'рыба ' * 31}".strip()
    await publish(stores, base, "кот кот пёс", long, "лиса")
    found = await find(stores, base, "кот")
    rarity, average = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5)), 36 / 3
    short, by_length = 2 * average / 16, 1 * average / 32
    expected = {"кот кот пёс": rarity * short * 2.2 / (short + 1.2), long: rarity * by_length * 2.2 / (by_length + 1.2)}
    assert {text: candidate.bm25 for text, candidate in found.items()} == pytest.approx(expected)
    assert all(candidate.similarity is None for candidate in found.values())


async def test_half_of_a_words_worth_is_for_what_begins_alike(stores: Stores) -> None:
    base = await open_base(stores)
    await publish(stores, base, "сервер", "серверная", "сервис", "лиса")
    found = await find(stores, base, "сервер")
    assert set(found) == {"сервер", "серверная"}
    own, wide = (math.log(1 + (4 - held + 0.5) / (held + 0.5)) for held in (1, 2))
    weight = (1 / 16) * 2.2 / (1 / 16 + 1.2)
    assert found["сервер"].bm25 == pytest.approx((own / 2 + wide / 2) * weight)
    assert found["серверная"].bm25 == pytest.approx(wide / 2 * weight)


async def test_words_that_begin_alike_in_one_passage_are_added_up(stores: Stores) -> None:
    base = await open_base(stores)
    several, one = "серверная серверы сервера лес", "серверная серверная серверная лес"
    await publish(stores, base, several, one, *(f"кот {number}" for number in range(8)))
    found = await find(stores, base, "сервер")  # which none of them has
    assert found[several].bm25 == pytest.approx(found[one].bm25)
    wide = 0.5 * math.log(1 + (10 - 4 + 0.5) / (4 + 0.5))
    weight = 3 * (24 / 10) / 16
    assert found[several].bm25 == pytest.approx(wide * weight * 2.2 / (weight + 1.2))


async def test_codes_that_begin_alike_are_not_related(stores: Stores) -> None:
    base = await open_base(stores)
    await publish(stores, base, "user_id", "user_ip", "12345-1", "12345-2")
    assert set(await find(stores, base, "user_id")) == {"user_id"}
    assert set(await find(stores, base, "12345-1")) == {"12345-1"}


async def test_a_word_of_the_title_counts_half_and_by_no_length(stores: Stores) -> None:
    base = await open_base(stores)
    held = await claim_new(stores, base)
    chunks = [replace(indexed(0, "рыба " * 40), titled={"кот": 1}), indexed(1, "лиса")]
    await stores.work.add_chunks(held, chunks=chunks)
    await stores.work.publish(held, chunks=2)
    (candidate,) = (await find(stores, base, "кот")).values()
    assert candidate.bm25 == pytest.approx(math.log(1 + (2 - 1 + 0.5) / 1.5) * 0.5 * 2.2 / (0.5 + 1.2))


async def test_each_term_says_what_it_is_worth(stores: Stores) -> None:
    base = await open_base(stores)
    await publish(stores, base, "кот пёс", "кот", "лиса")
    (rare,) = (await find(stores, base, "кот нет пёс", limit=1)).values()
    frequent, absent, rarest = rare.rarities
    assert rarest > frequent
    assert absent == rarest  # a word that no passage holds weighs like one that a single passage holds
    assert {each.rarities for each in (await find(stores, base, "кот нет пёс")).values()} == {rare.rarities}


async def test_a_word_that_the_base_does_not_hold_is_found_in_another_spelling(stores: Stores) -> None:
    base = await open_base(stores)
    await publish(stores, base, "кошка", "мошка")
    spelling = Spelling(term="кашка", beginnings=("к",), pattern="^к.шка$")
    assert set(await find(stores, base, "кашка", spellings=(spelling,))) == {"кошка"}


async def test_a_word_that_the_base_holds_has_no_other_spelling(stores: Stores) -> None:
    base = await open_base(stores)
    await publish(stores, base, "кошка", "кашка")
    spelling = Spelling(term="кашка", beginnings=("к",), pattern="^к.шка$")
    assert set(await find(stores, base, "кашка", spellings=(spelling,))) == {"кашка"}


async def test_a_filter_leaves_other_documents_out_of_both_legs(stores: Stores) -> None:
    base = await open_base(stores)
    wanted = await publish(stores, base, "кот первый", name="первая")
    await publish(stores, base, "кот второй", name="вторая")
    only = SearchFilter(documents=(wanted,))
    assert set(await find(stores, base, "кот", vector=NORTH, only=only)) == {"кот первый"}


@pytest.mark.parametrize(
    ("only", "passes"),
    [
        pytest.param(SearchFilter(types=(SourceType.NOTE,)), True, id="its type"),
        pytest.param(SearchFilter(types=(SourceType.LINK, SourceType.FILE)), False, id="other types"),
        pytest.param(SearchFilter(media=(Medium.TEXT,)), True, id="its medium"),
        pytest.param(SearchFilter(media=(Medium.AUDIO, Medium.VIDEO)), False, id="other media"),
        pytest.param(SearchFilter(sender="петр"), True, id="its sender"),
        pytest.param(SearchFilter(sender="Павел"), False, id="another sender"),
        pytest.param(SearchFilter(sent_by=ANNA), True, id="its sender's number"),
        pytest.param(SearchFilter(sent_by=UserId(ANNA + 1)), False, id="another's number"),
        pytest.param(SearchFilter(sent_by=UserId(0)), False, id="nobody's number"),
        pytest.param(SearchFilter(since=LONG_AGO), True, id="since long ago"),
        pytest.param(SearchFilter(before=LONG_AGO), False, id="before long ago"),
        pytest.param(SearchFilter(author="Николай"), False, id="nobody signed it"),
        pytest.param(SearchFilter(author="петр"), True, id="what nobody signed is of who sent it"),
        pytest.param(SearchFilter(), True, id="nothing asked"),
    ],
)
async def test_a_filter_knows_type_sender_author_and_date(stores: Stores, only: SearchFilter, *, passes: bool) -> None:
    base = await open_base(stores)
    await publish(stores, base, "кот")
    assert bool(await find(stores, base, "кот", only=only)) is passes


@pytest.mark.over_rest
async def test_a_passage_says_who_wrote_and_who_sent_it(stores: Stores) -> None:
    base = await open_base(stores)
    held = await claim_new(stores, base)
    signed = replace(parsed("кот"), author="Николай")
    await stores.work.publish(held, chunks=1, last=[indexed(0, "кот")], parsed=signed)
    passage = (await find(stores, base, "кот"))["кот"].passage
    assert (passage.author, passage.sender) == ("Николай", SENDER)
    assert await stores.search.passage(base, passage.chunk_id) == passage
    assert await find(stores, base, "кот", only=SearchFilter(author=SENDER)) == {}, "signed by another"


@pytest.mark.parametrize(
    ("only", "passes"),
    [
        pytest.param(SearchFilter(since=LONG_AGO, before=LONG_AGO + YEAR), True, id="its own day"),
        pytest.param(SearchFilter(since=TODAY - YEAR, before=TODAY + YEAR), True, id="the day it came"),
        pytest.param(SearchFilter(since=LONG_AGO + YEAR, before=TODAY - YEAR), False, id="a time between"),
        pytest.param(SearchFilter(since=TODAY, before=LONG_AGO), False, id="no time at all"),
    ],
)
async def test_a_filter_takes_a_documents_own_day_or_that_of_its_coming(
    stores: Stores, only: SearchFilter, *, passes: bool
) -> None:
    base = await open_base(stores)
    held = await claim_new(stores, base)
    dated = replace(parsed("кот"), published_at=LONG_AGO + timedelta(days=1))
    await stores.work.publish(held, chunks=1, last=[indexed(0, "кот")], parsed=dated)
    assert bool(await find(stores, base, "кот", only=only)) is passes


async def test_a_passage_without_a_vector_is_found_by_its_words(stores: Stores) -> None:
    base = await open_base(stores)
    await publish_vectors(stores, {"кот": []})
    assert await find(stores, base, vector=NORTH) == {}
    assert (await find(stores, base, "кот", vector=NORTH))["кот"].similarity is None


async def test_scores_of_several_words_add_up(stores: Stores) -> None:
    base = await open_base(stores)
    await publish(stores, base, "кот пёс", "кот лиса", "пёс волк")
    alone = [(await find(stores, base, word))["кот пёс"].bm25 for word in ("кот", "пёс")]
    both = (await find(stores, base, "кот пёс"))["кот пёс"].bm25
    assert both == pytest.approx(sum(score for score in alone if score))


async def test_a_word_that_is_asked_twice_counts_once(stores: Stores) -> None:
    base = await open_base(stores)
    await publish(stores, base, "кот пёс", "лиса")
    once, twice = [(await find(stores, base, words))["кот пёс"].bm25 for words in ("кот", "кот кот")]
    assert once == pytest.approx(twice)


async def test_words_with_signs_are_only_words(stores: Stores) -> None:
    base = await open_base(stores)
    texts = ("pg-15", "a,b", 'c"d', "{e}", "f\\g", "null", "'); drop table")
    await publish(stores, base, *texts)
    assert {text for text in texts if text in await find(stores, base, text)} == set(texts)


async def test_unpublished_chunks_do_not_change_the_scores(stores: Stores) -> None:
    base = await open_base(stores)
    await publish(stores, base, "кот пёс", "лиса")
    before = (await find(stores, base, "кот"))["кот пёс"].bm25
    held = await claim_new(stores, base, "в работе")
    await stores.work.add_chunks(held, chunks=[indexed(number, f"кот {number}") for number in range(5)])
    assert (await find(stores, base, "кот"))["кот пёс"].bm25 == pytest.approx(before)


async def test_scores_are_right_after_a_deletion(stores: Stores) -> None:
    base = await open_base(stores)
    await publish(stores, base, "кот пёс", "лиса")
    before = (await find(stores, base, "кот"))["кот пёс"].bm25
    other = await publish(stores, base, "кот кот", "кот рыба и ещё слова")
    await stores.library.delete(base, other)
    assert (await find(stores, base, "кот"))["кот пёс"].bm25 == pytest.approx(before)


async def test_each_leg_keeps_to_the_limit(stores: Stores) -> None:
    base = await open_base(stores)
    await publish(stores, base, *(f"кот {number}" for number in range(10)))
    found = await find(stores, base, "кот", limit=3)
    assert len(found) == 3


async def test_a_passage_has_all_that_a_citation_needs(stores: Stores) -> None:
    base = await open_base(stores)
    document = await publish(stores, base, "первый кусок", "второй кусок", name="заметка о кусках")
    passage = (await find(stores, base, "второй"))["второй кусок"].passage
    assert (passage.document_id, passage.ordinal, passage.title) == (document, 1, "заметка о кусках")
    assert (passage.source_type, passage.source_identifier) == (SourceType.NOTE, "заметка о кусках")
    assert passage.locator == Locator(page=1)
    assert await stores.search.passage(base, passage.chunk_id) == passage


async def test_a_document_that_is_read_again_after_a_crash_is_found_once(stores: Stores) -> None:
    base = await open_base(stores)
    first = await claim_new(stores, base, lease_s=0)
    await stores.work.add_chunks(first, chunks=[indexed(0, "кот"), indexed(1, "пёс")])
    second = await claim(stores)
    await stores.work.add_chunks(second, chunks=[indexed(0, "кот"), indexed(1, "пёс")])
    await stores.work.publish(second, chunks=2)
    assert set(await find(stores, base, "кот пёс", vector=NORTH)) == {"кот", "пёс"}


@pytest.mark.over_rest
async def test_words_choose_documents_and_never_those_of_another_base(stores: Stores) -> None:
    base, other = await open_base(stores), await open_base(stores, UserId(ANNA + 1))
    await publish(stores, base, "лазурит стороны", "неустойка", name="первый")
    await publish(stores, base, "вектор стороны", name="второй")
    await publish(stores, other, "лазурит и стороны", name="чужой")
    found = await choose(stores, base, "лазурит", "стороны")
    assert [(match.title, match.passages) for match in found] == [("первый", 2), ("второй", 1)]
    assert found[0].score > found[1].score
    assert await choose(stores, base, "гранит") == []


async def test_a_clause_is_found_by_the_party_that_its_preamble_names(stores: Stores) -> None:
    base = await open_base(stores)
    for place, party in enumerate(("лазурит", "вектор", "гранит", "сапфир")):
        clause = f"неустойка {place} процент за день просрочки"
        await publish(
            stores, base, f"договор и сторона {party}", clause, f"прочие условия {place}", name=f"scan {place}"
        )
    found = await find(stores, base, "неустойка лазурит")
    best = max(found.values(), key=lambda each: each.bm25 or 0)
    assert best.passage.text == "неустойка 0 процент за день просрочки"
    assert best.passage.opening == "договор и сторона лазурит"
    assert best.inherited == pytest.approx((0.0, 1.0), abs=1e-3)
    assert found["договор и сторона лазурит"].passage.opening == ""
    chosen = [(match.title, match.opening) for match in await choose(stores, base, "лазурит")]
    assert chosen == [("scan 0", "договор и сторона лазурит")]


async def test_a_name_is_not_confused_with_a_word_that_begins_alike(stores: Stores) -> None:
    """«Электрон» is called so in one document alone, though all of them speak of «электронной почтой»."""
    base = await open_base(stores)
    for place, party in enumerate(("электрон", "вектор", "гранит", "сапфир")):
        clauses = (f"неустойка {place} процент", f"электронной почтой за {place} дня", f"электронной подписью {place}")
        await publish(stores, base, f"договор и сторона {party}", *clauses, name=f"scan {place}")
    found = await find(stores, base, "неустойка электрон")
    best = max(found.values(), key=lambda each: each.bm25 or 0)
    assert best.passage.text == "неустойка 0 процент"
    assert best.inherited[1] > 0.9


async def test_a_passage_without_a_word_of_the_question_comes_with_the_document_that_is_named(stores: Stores) -> None:
    """«В каком городе учился Голубев?»: he studied at a university, and the passage does not say who."""
    base = await open_base(stores)
    for place, person in enumerate(("голубев иван", "голубев пётр", "орлова анна", "титова ирина")):
        await publish(stores, base, f"резюме {person}", f"университет казань {place}", name=f"cv {place}")
    found = await find(stores, base, "город голубев иван")
    assert (found["университет казань 0"].bm25 or 0) > (found["резюме голубев пётр"].bm25 or 0)


async def test_a_word_too_frequent_to_choose_documents_still_tells_the_clause_from_the_preamble(
    stores: Stores, database_url: str
) -> None:
    """«договор поставки» of each of 4,000 preambles is no answer to «срок поставки»."""
    set_number(database_url, "telling_postings", 3)
    base = await open_base(stores)
    for place, party in enumerate(("лазурит", "вектор", "гранит", "сапфир")):
        clauses = (f"поставка за {place} дня", f"прочие условия {place}")
        await publish(stores, base, f"договор поставка сторона {party}", *clauses, name=f"scan {place}")
    found = await find(stores, base, "поставка лазурит")
    assert found["поставка за 0 дня"].inherited == pytest.approx((0.6, 1.0), abs=0.01)


async def test_a_number_that_names_the_document_does_not_choose_its_clause(stores: Stores) -> None:
    base = await open_base(stores)
    for day, city in enumerate(("пермь", "тверь", "псков", "курск", "томск", "омск", "орел", "елец"), 21):
        texts = (f"договор от {day} мая", f"неустойка за просрочку {city}", f"{city} за {day} дней, не {day} суток")
        await publish(stores, base, *texts, name=f"scan {day}")
    found = await find(stores, base, "неустойка 23")
    assert max(found.values(), key=lambda each: each.bm25 or 0).passage.text == "неустойка за просрочку псков"


async def test_of_few_long_documents_the_named_one_is_found_first(stores: Stores) -> None:
    """A name that one of three reports has tells more than a word that two passages in a hundred have."""
    base = await open_base(stores)
    for name in ("боинг", "пепси", "спирит"):
        pages = [f"{name} страница {page} о выручке и расходах" for page in range(40)]
        said = ["категории товара и категории услуг по выручке"] if name == "пепси" else []
        await publish(stores, base, f"годовой отчет {name}", *said, *pages, name=f"report {name}")
    found = await find(stores, base, "категории боинг")
    assert max(found.values(), key=lambda each: each.bm25 or 0).passage.title == "report боинг"


async def choose(stores: Stores, base: BaseId, *terms: str) -> list[DocumentMatch]:
    query = SearchQuery(base_id=base, vector=None, model=None, terms=terms, limit=10)
    return await stores.search.find_documents(query)


async def test_documents_are_counted_by_what_they_say_first(stores: Stores) -> None:
    """Of every length, page by page, and of this base alone."""
    base, other = await open_base(stores), await open_base(stores, UserId(ANNA + 1))
    for number in range(3):
        await publish(stores, base, f"договор поставки {number}", "неустойка и поставка", name=f"scan {number}")
    await publish(stores, base, "договор аренды", "после него договор поставки", name="rent")
    await publish(stores, base, "договор поставки коротко", name="note")
    await publish(stores, other, "договор поставки чужой", name="theirs")
    first = await stores.search.documents_saying_first(base, ("договор", "поставки"), limit=3)
    rest = await stores.search.documents_saying_first(base, ("договор", "поставки"), limit=3, offset=3)
    assert sorted(each.title for each in (*first, *rest)) == ["note", "scan 0", "scan 1", "scan 2"]
    assert {each.opening for each in (*first, *rest)} >= {"договор поставки 0", "договор поставки коротко"}
