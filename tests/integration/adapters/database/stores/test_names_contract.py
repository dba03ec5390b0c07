"""A renamed document is found by its new name, and no longer by the one before."""

from collections import Counter
from dataclasses import replace

from adapters.database.stores import Stores
from domain.documents import Choice, SourceType
from domain.ids import BaseId, DocumentId, UserId
from domain.locator import Locator
from ingestion.records import ClaimedDocument, Document, IndexedChunk, NameLine, Source
from tests.integration.adapters.database.stores.material import (
    batch_of,
    claim,
    claim_new,
    claim_source,
    file,
    find,
    hash_of,
    indexed,
    open_base,
    parsed,
    read,
    read_source,
)

PLAN = file("план.docx")
PAGE = Source(type=SourceType.LINK, identifier="https://site.example/rules")


def words(text: str) -> Counter[str]:
    """Terms of a title."""
    return Counter(text.lower().split())


def titled(
    title: str, *texts: str, headings: tuple[str, ...] = (), name: str | None = None
) -> tuple[Document, list[IndexedChunk]]:
    """A document and its chunks, as `ingestion.indexing` makes them; `name` is that of its file."""
    names = tuple(dict.fromkeys((title, name or title)))
    chunks = []
    for ordinal, text in enumerate(texts):
        above = [line for line in dict.fromkeys((*names, *headings)) if line not in text]
        chunk = indexed(ordinal, text)
        chunk = replace(chunk, chunk=replace(chunk.chunk, locator=Locator(headings=headings)))
        chunks.append(replace(chunk, titled=words(" ".join(above))))
    lines = tuple(NameLine(text=text, terms=words(text)) for text in names)
    return replace(parsed(*texts, title=title), names=lines), chunks


async def publish_titled(
    stores: Stores,
    held: ClaimedDocument,
    title: str,
    *texts: str,
    headings: tuple[str, ...] = (),
    name: str | None = None,
) -> DocumentId:
    """Read the document to its end."""
    document, chunks = titled(title, *texts, headings=headings, name=name)
    assert await stores.work.record_content(held, content_hash=hash_of(*texts)) is None
    await stores.work.publish(held, chunks=len(chunks), last=chunks, parsed=document)
    return held.id


async def rename(stores: Stores, base: BaseId, document: DocumentId, title: str) -> None:
    """As the person does."""
    assert await stores.library.rename(base, document, title, terms=words(title))


async def test_the_words_of_the_new_name_find_and_those_of_the_old_do_not(stores: Stores) -> None:
    base = await open_base(stores)
    document = await publish_titled(stores, await claim_new(stores, base), "договор аренды", "рыба", "лиса")
    assert set(await find(stores, base, "аренды")) == {"рыба", "лиса"}
    await rename(stores, base, document, "смета ремонта")
    assert await find(stores, base, "договор аренды") == {}
    assert set(await find(stores, base, "ремонта")) == {"рыба", "лиса"}


async def test_a_word_that_both_names_have_counts_as_before(stores: Stores) -> None:
    base = await open_base(stores)
    document = await publish_titled(stores, await claim_new(stores, base), "договор аренды", "рыба", "лиса")
    before = (await find(stores, base, "договор"))["рыба"].bm25
    await rename(stores, base, document, "договор купли")
    assert (await find(stores, base, "договор"))["рыба"].bm25 == before


async def test_what_a_passage_says_itself_is_still_found(stores: Stores) -> None:
    base = await open_base(stores)
    document = await publish_titled(stores, await claim_new(stores, base), "договор", "кот и договор", "лиса")
    await rename(stores, base, document, "смета")
    assert set(await find(stores, base, "договор")) == {"кот и договор"}
    await rename(stores, base, document, "лиса")
    assert set(await find(stores, base, "лиса")) == {"кот и договор", "лиса"}


async def test_a_heading_of_the_same_words_stays(stores: Stores) -> None:
    base = await open_base(stores)
    held = await claim_new(stores, base)
    document = await publish_titled(stores, held, "договор", "лиса", headings=("договор", "сроки"))
    await rename(stores, base, document, "смета")
    found = [set(await find(stores, base, word)) for word in ("договор", "сроки", "смета")]
    assert found == [{"лиса"}, {"лиса"}, {"лиса"}]


async def test_renaming_there_and_back_changes_no_score(stores: Stores) -> None:
    base = await open_base(stores)
    document = await publish_titled(stores, await claim_new(stores, base), "договор аренды", "рыба", "договор")
    before = await find(stores, base, "договор аренды рыба")
    await rename(stores, base, document, "аренды аренды смета")
    await rename(stores, base, document, "договор аренды")
    assert await find(stores, base, "договор аренды рыба") == before


async def test_a_renamed_document_scores_as_one_that_always_had_the_name(stores: Stores) -> None:
    scores = []
    for user, name in ((UserId(1), "смета"), (UserId(2), "договорные сметы")):
        base = await open_base(stores, user)
        document = await publish_titled(stores, await claim_new(stores, base), name, "договоры смет", "рыба", "смета")
        await rename(stores, base, document, "договорные сметы")
        found = await find(stores, base, "договорные смета договоры")
        scores.append({text: candidate.bm25 for text, candidate in found.items()})
    assert scores[0] == scores[1]
    assert len(scores[0]) == 3


async def test_a_renamed_file_is_found_by_neither_its_title_nor_its_files_name(stores: Stores) -> None:
    base = await open_base(stores)
    held = await claim_new(stores, base)
    document = await publish_titled(stores, held, "общий договор", "лиса", "общий договор здесь", name="договор аренды")
    assert set(await find(stores, base, "аренды")) == {"лиса", "общий договор здесь"}
    await rename(stores, base, document, "смета")
    assert await find(stores, base, "аренды") == {}
    assert set(await find(stores, base, "договор")) == {"общий договор здесь"}
    assert set(await find(stores, base, "смета")) == {"лиса", "общий договор здесь"}


async def test_another_document_keeps_its_name(stores: Stores) -> None:
    base = await open_base(stores)
    await publish_titled(stores, await claim_new(stores, base, "первая"), "договор", "лиса")
    document = await publish_titled(stores, await claim_new(stores, base, "вторая"), "договор", "рыба")
    await rename(stores, base, document, "смета")
    assert set(await find(stores, base, "договор")) == {"лиса"}


async def test_a_name_given_while_it_is_read_counts_from_its_publication_on(stores: Stores) -> None:
    base = await open_base(stores)
    held = await claim_new(stores, base)
    document, chunks = titled("договор", "лиса", "рыба")
    await stores.work.store_blocks(held, parsed=document, chunks=2)
    await stores.work.add_chunks(held, chunks=chunks[:1])
    await rename(stores, base, held.id, "смета")
    await stores.work.add_chunks(held, chunks=chunks[1:])
    await stores.work.publish(held, chunks=2)
    assert await find(stores, base, "договор") == {}
    assert set(await find(stores, base, "смета")) == {"лиса", "рыба"}


async def test_a_later_version_is_found_by_the_given_name(stores: Stores) -> None:
    base = await open_base(stores)
    (sent,) = await stores.intake.enqueue(batch_of(base, PAGE))
    document = await publish_titled(stores, await claim(stores, sent.id), "Правила", "лиса")
    await rename(stores, base, document, "тарифы")
    again = await stores.intake.refresh(batch_of(base), document)
    assert again is not None
    await publish_titled(stores, await claim(stores, again.id), "Правила", "рыба")
    assert set(await find(stores, base, "тарифы")) == {"рыба"}
    assert await find(stores, base, "правила") == {}


async def test_a_second_file_of_a_name_is_read_under_the_name_that_it_is_kept_by(stores: Stores) -> None:
    base = await open_base(stores)
    await read_source(stores, base, PLAN, "лиса")
    second, _ = await read_source(stores, base, PLAN, "рыба")
    assert await stores.library.choose(base, second, Choice.KEEP_BOTH)
    held = await claim(stores, second)
    assert held.source.identifier == "план (2).docx"
    await publish_titled(stores, held, "план (2)", "рыба")
    captioned = await claim_source(stores, base, replace(PLAN, text="от Петра"))
    await read(stores, captioned, "рыба")
    assert (await claim(stores, captioned.id)).source.identifier == "план (2).docx"


async def test_a_renamed_file_is_read_again_under_its_own_name(stores: Stores) -> None:
    base = await open_base(stores)
    (sent,) = await stores.intake.enqueue(batch_of(base, PLAN))
    await rename(stores, base, sent.id, "смета.docx")
    assert (await claim(stores, sent.id)).source.identifier == "план.docx"


async def test_what_was_only_read_is_found_by_the_number_that_it_is_kept_by(stores: Stores) -> None:
    base = await open_base(stores)
    await read_source(stores, base, PLAN, "лиса")
    (sent,) = await stores.intake.enqueue(replace(batch_of(base, PLAN), ttl_s=60))
    held = await claim(stores, sent.id)
    await publish_titled(stores, held, "смета дома", "рыба", "смета дома и план", name="план")
    assert await find(stores, base, "2") == {}
    assert await stores.library.keep(base, sent.id)
    assert set(await find(stores, base, "2")) == {"рыба", "смета дома и план"}
    assert set(await find(stores, base, "план")) == {"рыба", "смета дома и план"}
    assert set(await find(stores, base, "смета")) == {"рыба", "смета дома и план"}


async def test_a_title_that_several_files_bear_gives_way_to_their_names(stores: Stores) -> None:
    base = await open_base(stores)
    for name, title in (("Боинг", "Form 10-K"), ("Пепси", "FORM 10-K"), ("Смета", "Смета дома"), ("Форд", "Form 10-K")):
        held = await claim_source(stores, base, file(f"{name}.pdf"))
        await publish_titled(stores, held, title, f"текст: {name}", name=name)
    titles = [card.title for card in await stores.library.documents(base, limit=9)]
    assert sorted(titles) == ["Боинг.pdf", "Пепси.pdf", "Смета дома", "Форд.pdf"]
    assert set(await find(stores, base, "form")) == {"текст: Боинг", "текст: Пепси", "текст: Форд"}


async def test_the_next_version_of_a_file_keeps_its_title(stores: Stores) -> None:
    base = await open_base(stores)
    for text in ("лиса", "рыба"):
        held = await claim_source(stores, base, file("план.docx"))
        if text == "рыба":
            assert await stores.work.record_content(held, content_hash=hash_of(text)) is not None
            assert await stores.library.choose(base, held.id, Choice.REPLACE)
            held = await claim(stores, held.id)
        await publish_titled(stores, held, "План закупок", text, name="план")
    assert [card.title for card in await stores.library.documents(base, limit=9)] == ["План закупок"]
