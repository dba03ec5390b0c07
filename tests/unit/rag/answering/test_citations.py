"""What an answer stands on: its marks, its sources and their quotes, and what is told beside them."""

from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.documents import DocumentStatus, SourceType
from domain.ids import DocumentId
from rag.answering.citations import citations_of, cite, still_read, with_sides
from rag.answering.marks import ParsedAnswer, divided
from rag.answering.prompt import AnswerPrompt, Assignment
from rag.excerpts import QUOTE_CHARS, quote
from rag.execution.facts import Fact, FactKind
from rag.execution.search_tool import passages_payload
from rag.records import AnswerKind, Claim, Conflict, Passage
from rag.retrieval.ranking import merge_neighbours
from tests.fakes.rag import make_passage, rank

LONG = (
    "Арендодатель передаёт помещение по акту. " * 8
    + "Штраф за просрочку оплаты составляет 0,1 % за каждый день. "
    + "Стороны хранят документы пять лет. " * 8
)


def facts(*passages: Passage) -> tuple[Fact, ...]:
    return passages_payload(rank(*passages), asked="").facts


def test_a_short_passage_is_quoted_whole() -> None:
    assert quote(" Срок 14 дней. ", about="срок") == "Срок 14 дней."


def test_a_quote_is_trimmed_to_the_sentences_in_question() -> None:
    piece = quote(LONG, about="Какой штраф за просрочку?")

    assert "Штраф за просрочку оплаты составляет 0,1 % за каждый день." in piece
    assert len(piece) <= QUOTE_CHARS


@given(st.text(max_size=2000), st.text(max_size=50))
def test_a_quote_is_word_for_word_and_within_its_limit(text: str, about: str) -> None:
    piece = quote(text, about=about)

    assert piece in text
    assert len(piece) <= QUOTE_CHARS


def test_a_passage_without_a_title_is_cited_by_its_name() -> None:
    assert cite(replace(make_passage("текст"), title=""), about="").title == "Договор.pdf"


def own_part(raw: str, found: tuple[Fact, ...]) -> str:
    """Without the sources that the model names."""
    prompt = AnswerPrompt(assignment=Assignment(question="?"), today=date(2026, 5, 12), messages=(), facts=found)
    return "".join(divided(raw, prompt.names)[:2]).rstrip()


def test_references_at_the_end_are_taken_out_and_claims_are_not() -> None:
    found = facts(make_passage("Штраф 0,1 %."))
    claims = "[+] Сроки:\n\n[1] – 14 дней\n[1] – Договор.pdf говорит о штрафе"
    references = "\n\n[1] – Договор.pdf\n- [1]: Договор.pdf, стр. 3\n"
    listed = f"[+] **О штрафе говорят:**{references}"
    assert own_part(claims + references, found) == claims
    assert own_part(f"{claims}\n\n---{references}", found) == claims
    assert own_part(claims, found) == claims
    assert own_part(listed, found) == listed.rstrip()


@pytest.mark.parametrize(
    "told",
    [
        "\n\nИсточник: Договор.pdf",
        " Источник: «Договор.pdf» [1].",
        "\n\n**Источники:**\n- Договор.pdf, стр. 3\n- https://x.org/a [2]",
        "\n(Источник: Договор.pdf, стр. 3)",
        "\nSources: [1], [2]",
        "\n\nИнформация взята из: Договор.pdf и https://x.org/a",
    ],
)
def test_sources_that_the_model_names_are_taken_out(told: str) -> None:
    page = replace(
        make_passage("Пеня 1 %.", number=2), source_type=SourceType.LINK, source_identifier="https://x.org/a"
    )
    found = facts(make_passage("Штраф 0,1 %."), page)
    assert own_part(f"[+] **Штраф** в день 0,1 % [1].{told}", found) == "[+] **Штраф** в день 0,1 % [1]."


@pytest.mark.parametrize(
    "answer",
    [
        "[+] Документ: Договор.pdf [1]",
        "[+] Об этом говорит один документ: Договор.pdf [1].",
        "[+] - Штраф: 0,1 % [1]\n- Документ: Договор.pdf [1]",
        "[+] Штраф в день 0,1 % [1].\n\nИсточник: письмо юриста [1]",
        "[+] Штраф в день 0,1 % [1]. Срок: 14 дней [1].",
        "[+] Штраф в день 0,1 % [1]. Срок: 14 дней, Договор.pdf [1].",
    ],
)
def test_a_document_that_is_the_answer_stays(answer: str) -> None:
    assert own_part(answer, facts(make_passage("Штраф 0,1 %."))) == answer


def test_a_reference_may_repeat_the_kind_that_the_prompt_tells_or_name_the_file_of_a_path() -> None:
    passage = make_passage("Штраф 0,1 %.", title="Аренда")
    found = facts(replace(passage, source_type=SourceType.PATH, source_identifier="/a/Договор.pdf"))
    assert own_part("[+] Штраф 0,1 % [1].\n\n[1] – Аренда (file)\n[1] – Договор.pdf", found) == ("[+] Штраф 0,1 % [1].")


def test_the_names_of_documents_that_are_listed_are_the_answer() -> None:
    (found,) = facts(make_passage("Штраф 0,1 %."))
    listed = "[+] В базе один документ.\n\nИсточники:\n- Договор.pdf"
    assert own_part(listed, (replace(found, kind=FactKind.DOCUMENT),)) == listed
    assert own_part(listed, (found,)) == "[+] В базе один документ."


@pytest.mark.parametrize("begun", ["[1] – ", "[1] – Дог", "[1] – Договор.pdf", "[1] – Договор.pdf\n[1] – До"])
def test_a_reference_that_has_only_begun_is_held_back(begun: str) -> None:
    assert FINED_PROMPT.read(f"[+] Штраф 0,1 % [1].\n\n{begun}", complete=False).text == "Штраф 0,1 %."


FINED = passages_payload(rank(make_passage("Штраф 0,1 %.", number=1), make_passage("Срок.", number=2)), asked="x").facts
ASKED = Assignment(question="Какой срок?")
FINED_PROMPT = AnswerPrompt(assignment=ASKED, today=date(2026, 5, 12), messages=(), facts=FINED)


@pytest.mark.parametrize(
    ("raw", "used"),
    [
        ("[+] Штраф 0,1 % [2].\n\n[1] – Договор.pdf", (2,)),
        ("[+] Штраф 0,1 %.\n\n[1] – Договор.pdf", (1,)),
        ("Штраф 0,1 %.\n\n---\n\n[1] – Договор.pdf", (1,)),
        ("[+] Штраф 0,1 %.\n\n**Источники:**\n[1] – Договор.pdf", (1,)),
    ],
)
def test_references_count_as_marks_only_where_there_are_no_others(raw: str, used: tuple[int, ...]) -> None:
    reading = FINED_PROMPT.read(raw, complete=True)
    assert (reading.text, reading.used, reading.kind) == ("Штраф 0,1 %.", used, AnswerKind.FROM_BASE)


def test_a_source_is_quoted_by_the_words_that_carry_the_answer() -> None:
    passage = make_passage("Срок — 14 дней. Потом ещё 5. Штраф 0,1 %.")
    prompt = replace(FINED_PROMPT, facts=passages_payload(rank(passage), asked="x").facts)
    reading = ParsedAnswer(kind=AnswerKind.FROM_BASE, text="Срок две недели.", used=(1,))
    (cited,) = citations_of(reading, prompt, {1: ["Штраф 0,1 %", "Срок - 14 дней", "Срок — 14", "нет"]})
    assert cited.quote == "Срок — 14 дней … Штраф 0,1 %"
    assert [passage.text[span.start : span.end] for span in cited.carrying] == ["Срок — 14 дней", "Штраф 0,1 %"]


def test_of_a_merged_passage_the_stored_one_that_holds_the_words_is_shown() -> None:
    first, best = make_passage("Стамеска: 540 ₽.", number=1), make_passage("Фанера: 1850 ₽.", number=2)
    (found,) = merge_neighbours(rank(replace(best, ordinal=1), replace(first, ordinal=0)))
    cited = cite(found.passage, about="x", carrying=["Стамеска: 540 ₽"])
    assert (cited.chunk_id, cited.shown) == (best.chunk_id, first.chunk_id)
    cited = cite(found.passage, about="x", carrying=["Фанера: 1850 ₽"])
    assert cited.shown == best.chunk_id
    assert [best.text[span.start : span.end] for span in cited.carrying] == ["Фанера: 1850 ₽"]
    assert cite(found.passage, about="x").shown is None


def _claim(value: str, title: str, *, number: int) -> Claim:
    place = replace(make_passage(value, number=number, title=title), document_id=DocumentId(title))
    return Claim(value=value, passage=place, dated=None)


SIDES = (_claim("30 дней", "Письмо.eml", number=1), _claim("14 дней", "Договор.pdf", number=2))
TERMS = Conflict(about="срок оплаты", claims=SIDES, told="Документы расходятся: 30 и 14 дней.")


@pytest.mark.parametrize("cited", [(), (0, 1), (1, 0)])
def test_an_answer_with_all_sides_or_none_stays_as_it_is(cited: tuple[int, ...]) -> None:
    sources = tuple(cite(SIDES[place].passage, about="") for place in cited)
    assert with_sides("Срок разный.", sources, [TERMS]) == ("Срок разный.", sources)


@pytest.mark.parametrize("side", [0, 1])
def test_the_other_side_of_a_disagreement_is_told_by_code(side: int) -> None:
    other = cite(_claim("x", "Прочее.txt", number=3).passage, about="")
    own = cite(SIDES[side].passage, about="")
    text, cited = with_sides("Срок такой.", (own, other), [TERMS])
    assert text == f"Срок такой.\n\n{TERMS.told}"
    assert [each.title for each in cited[:2]] == [own.title, "Прочее.txt"]
    assert len(cited) == 3


def _half_read(document: str, *, searchable: int = 1, total: int = 4, number: int = 1) -> Passage:
    passage = make_passage("слова", document=document, title=document, number=number)
    return replace(passage, document_status=DocumentStatus.EMBEDDING, searchable=searchable, progress_total=total)


def _told(*passages: Passage, cited: tuple[Passage, ...] = ()) -> list[tuple[str, int]]:
    payload = passages_payload(rank(*passages), asked="")
    return [(told.name, told.percent) for told in still_read(payload, [cite(passage, about="") for passage in cited])]


def test_a_ready_document_is_not_mentioned() -> None:
    ready = make_passage("слова")
    assert _told(ready, cited=(ready,)) == []


@pytest.mark.parametrize(("searchable", "total", "percent"), [(1, 4, 25), (4, 4, 99), (0, 4, 0), (3, 0, 99)])
def test_the_share_is_of_its_passages_and_never_the_whole(searchable: int, total: int, percent: int) -> None:
    book = _half_read("Книга", searchable=searchable, total=total)
    assert _told(book, cited=(book,)) == [("Книга", percent)]


def test_each_document_is_told_once() -> None:
    first, second = _half_read("Книга"), _half_read("Книга", number=2)
    assert _told(first, second, cited=(first, second)) == [("Книга", 25)]


def test_of_what_was_found_only_the_sources_are_told() -> None:
    book, other = _half_read("Книга"), _half_read("Другая", number=2)
    assert _told(book, other, cited=(other,)) == [("Другая", 25)]


def test_without_sources_the_answer_may_be_in_the_rest_of_anything() -> None:
    assert _told(_half_read("Книга"), _half_read("Другая", number=2)) == [("Книга", 25), ("Другая", 25)]


def test_of_what_a_statement_was_drawn_from_the_passages_that_carry_it_are_its_sources() -> None:
    one, other = facts(make_passage("Срок 14 дней.", number=1), make_passage("Срок 30 дней.", number=2))
    drawn = Fact(kind=FactKind.STATEMENT, text="Разница 16 дней.", passage=one.passage, drawn_from=(one, other))
    prompt = AnswerPrompt(assignment=Assignment(question="?"), today=date(2026, 1, 1), messages=(), facts=(drawn,))
    reading = ParsedAnswer(kind=AnswerKind.FROM_BASE, text="Разница 16 дней.", used=(1,))
    assert [each.quote for each in citations_of(reading, prompt, {1: ["14 дней", "30 дней"]})] == ["14 дней", "30 дней"]
    assert [each.quote for each in citations_of(reading, prompt)] == ["Срок 14 дней."]
