"""`collect_rows`: lists, counts, sums and comparisons over made documents whose truth is known."""

import re
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.execution.facts import FactKind, FactsPayload, limit
from rag.execution.rows_tool import CollectRows
from rag.execution.tables import RowsArguments
from rag.execution.tools import Run, RunLimits, StepFailed, ToolContext
from rag.execution.wire import ReadRow, RowsReply, RowsRequest, Standing
from rag.planning.tool import ToolMisused
from rag.ports import ModelAway, ModelMisfit
from rag.records import DocumentsRead
from tests.fakes.clerk import ClerkModel, listed, read_contract
from tests.fakes.reading import PROMPTS, WORDINGS, Shelf, turn
from tests.material.contracts import DISPUTED, MADE, PARTIES, TRUTH, documents

BASE_30 = Shelf({name: text.split("\n\n") for name, text in documents().items()})


def tool(shelf: Shelf, model: ClerkModel, *, prompt_tokens: int = 9000) -> CollectRows:
    return CollectRows(shelf, shelf, shelf, model, PROMPTS, WORDINGS, prompt_tokens=prompt_tokens)


async def collect(
    shelf: Shelf = BASE_30, model: ClerkModel | None = None, context: ToolContext | None = None, **arguments: object
) -> FactsPayload:
    wanted = RowsArguments.model_validate({"what": "договор", "columns": ["номер", "цена"], **arguments})
    return await tool(shelf, model or ClerkModel()).run(wanted, context or turn())


def letters(**texts: str) -> Shelf:
    return Shelf({name: [text] for name, text in texts.items()})


def rows_of(cells: Mapping[str, tuple[tuple[str, ...], ...]]) -> ClerkModel:
    """A model that reads these rows out of the chunks with these texts; a quotation is the whole text."""

    def reply(request: RowsRequest) -> RowsReply:
        rows = (
            ReadRow(chunk_id=chunk.chunk_id, cells=row, quote=chunk.chunk_text)
            for chunk in request.document_context
            for row in cells.get(chunk.chunk_text, ())
        )
        return listed(*rows)

    return ClerkModel(reply=reply)


async def test_things_are_counted_once_however_many_documents_name_them() -> None:
    payload = await collect()
    assert payload.facts[0].text == f"Всего (договор): {TRUTH.contracts}"
    assert payload.documents == DocumentsRead(read=30, total=30, without_data=2)
    assert payload.coverage == 1.0


async def test_every_value_names_the_passage_that_says_it() -> None:
    table = (await collect()).table
    assert table is not None
    row = next(row for row in table.rows if row.cells[0] == f"№ {MADE[2].name}")
    assert {source.title for source in row.sources} == {f"Договор {MADE[2].name.replace('/', '-')}.txt"}
    assert all(cell in source.text for cell, source in zip(row.cells, row.sources, strict=True))


async def test_a_sum_is_added_up_by_code() -> None:
    payload = await collect(aggregate="sum", of="цена")
    grouped = f"{TRUTH.total:,}".replace(",", "\u00a0")
    assert payload.facts[1].text == f"Сумма (цена): {grouped}\u00a0₽"


async def test_the_most_is_told_with_its_row() -> None:
    payload = await collect(aggregate="max", of="цена")
    assert payload.facts[1].passage is not None
    assert TRUTH.dearest.split("/")[0] in payload.facts[1].passage.passage.title
    assert payload.facts[1].text.endswith(f"№ {TRUTH.dearest}")


async def test_groups_are_counted() -> None:
    payload = await collect(columns=["номер", "контрагент"], group_by="контрагент")
    groups = {dict(fact.fields)["контрагент"]: dict(fact.fields)["строк"] for fact in payload.facts[1:6]}
    assert groups[PARTIES[0]] == str(TRUTH.with_first_party)
    assert sum(map(int, groups.values())) == TRUTH.contracts


async def test_rows_are_sorted_by_value() -> None:
    payload = await collect(sort_by="цена", order="desc")
    assert payload.table is not None
    assert payload.table.rows[0].cells[0] == f"№ {TRUTH.dearest}"


async def test_documents_that_disagree_are_named_newest_first() -> None:
    payload = await collect(columns=["номер", "срок оплаты"])
    assert [conflict.about for conflict in payload.conflicts] == [f"№ {MADE[DISPUTED - 1].name}, срок оплаты"]
    said = [(claim.value, claim.passage.title) for claim in payload.conflicts[0].claims]
    assert said == [
        ("60 дней", "Протокол совещания.txt"),
        ("60 дней", "Письмо об оплате.txt"),
        ("30 дней", "Договор 7-2025.txt"),
    ]
    told = [fact for fact in payload.facts if fact.text.startswith("Документы расходятся")]
    assert len(told) == 3


async def test_a_day_in_the_name_dates_a_document_that_bears_none() -> None:
    old, new = "Договор 5: срок 14 дней", "О договоре 5: срок 30 дней"
    shelf = letters(**{"Договор 2025-03-03": old, "Письмо от 12.05.2025": new})
    payload = await collect(
        shelf, rows_of({old: (("5", "14 дней"),), new: (("5", "30 дней"),)}), columns=["номер", "срок"]
    )
    (conflict,) = payload.conflicts
    assert [(claim.value, str(claim.dated)[:10]) for claim in conflict.claims] == [
        ("30 дней", "2025-05-12"),
        ("14 дней", "2025-03-03"),
    ]
    assert "(от 12.05.2025)" in conflict.told


async def test_disagreements_use_no_limit_and_no_count() -> None:
    payload = await collect(columns=["номер", "срок оплаты"])
    cut = limit(payload, items=2)
    assert len([fact for fact in cut.facts if fact.kind is FactKind.DISAGREEMENT]) == 3
    assert payload.facts[0].text == f"Всего (договор): {TRUTH.contracts}"
    assert cut.left_out == TRUTH.contracts - 2


async def test_a_row_whose_quotation_stands_nowhere_is_dropped() -> None:
    def invents(request: RowsRequest) -> RowsReply:
        row = ReadRow(
            chunk_id=request.document_context[0].chunk_id, cells=("№ 99/2025", "1 ₽"), quote="договор № 99/2025"
        )
        return listed(*read_contract(request).rows, row)

    payload = await collect(model=ClerkModel(reply=invents))
    assert payload.facts[0].text == f"Всего (договор): {TRUTH.contracts}"


async def test_a_row_that_is_dropped_twice_is_told_of() -> None:
    def invents(request: RowsRequest) -> RowsReply:
        return listed(
            *(
                ReadRow(chunk_id=chunk.chunk_id, cells=("2", "200 ₽"), quote=f"счёт 2 на {place} ₽")
                for place, chunk in ((200, request.document_context[0]), (300, request.document_context[-1]))
            )
        )

    model = ClerkModel(reply=invents)
    payload = await collect(letters(a="Счёт 2 без суммы", b="Счёт 2 на 200 ₽"), model, what="счёт")
    assert [fact.text for fact in payload.facts[:2]] == [
        "Всего (счёт): 1",
        "Строк, которые не подтвердились текстом и в подсчёт не вошли: 1",
    ]
    assert len(model.requests) == 2


async def test_a_row_with_a_wrong_quotation_is_asked_for_once_more() -> None:
    model = _careless_once()
    payload = await collect(letters(a="Счёт 2 на 200 ₽"), model, what="счёт", aggregate="sum", of="цена")
    assert [fact.text for fact in payload.facts[:2]] == ["Всего (счёт): 1", "Сумма (цена): 200\u00a0₽"]


STAFF = "| имя | ставка |\n|---|---|\n| Анна | 10 ₽ |\n| Борис | 20 ₽ |\n| Вера | 30 ₽ |\n| Итого | 60 ₽ |"


def lazy(*, seen: tuple[int, ...], given: tuple[int, ...]) -> ClerkModel:
    """Reads the first rows of `STAFF`: as many as `given` says at each call, and says that there are `seen`."""
    people = [("Анна", "10 ₽"), ("Борис", "20 ₽"), ("Вера", "30 ₽")]
    calls = iter(zip(seen, given, strict=True))

    def reply(request: RowsRequest) -> RowsReply:
        saw, gave = next(calls)
        chunk = request.document_context[0].chunk_id
        rows = (ReadRow(chunk_id=chunk, cells=cells, quote=f"{cells[0]} | {cells[1]}") for cells in people[:gave])
        return listed(*rows, seen=saw)

    return ClerkModel(reply=reply)


async def staff(model: ClerkModel, context: ToolContext | None = None) -> FactsPayload:
    return await collect(letters(a=STAFF), model, context, what="сотрудник", columns=["имя", "ставка"])


async def test_a_model_that_gives_fewer_rows_than_it_saw_is_asked_once_more() -> None:
    model = lazy(seen=(3, 3), given=(1, 3))
    payload = await staff(model)
    assert [fact.text for fact in payload.facts[:1]] == ["Всего (сотрудник): 3"]
    assert "states 3 such rows (total_seen), and gave 1" in model.remarks[-1]
    assert payload.documents == DocumentsRead(read=1, total=1)


async def test_rows_that_a_model_saw_and_did_not_give_twice_are_told_of() -> None:
    payload = await staff(lazy(seen=(3, 3), given=(1, 2)))
    assert [fact.text for fact in payload.facts[:2]] == [
        "Всего (сотрудник): 2",
        "Строк, которые видны в документах, но не выписаны: 1; список и подсчёт могут быть неполными",
    ]
    assert payload.documents == DocumentsRead(read=1, total=1, missing_rows=1)


async def test_rows_that_nobody_may_ask_for_again_are_told_of() -> None:
    payload = await staff(lazy(seen=(3,), given=(1,)), turn(run=Run(limits=RunLimits(model_calls=1))))
    assert payload.documents == DocumentsRead(read=1, total=1, missing_rows=2)


async def test_a_line_left_out_of_a_table_of_rows_is_asked_for() -> None:
    model = lazy(seen=(2, 3), given=(2, 3))
    payload = await staff(model)
    assert payload.facts[0].text == "Всего (сотрудник): 3"
    assert "| Вера | 30 ₽ |" in model.remarks[-1]
    assert "Итого" not in model.remarks[-1]


async def test_no_row_is_lost_where_a_document_is_cut() -> None:
    lines = [f"Сотрудник {number} получает {1000 + number} рублей в месяц." for number in range(400)]
    # passages as the chunker cuts them: between sentences, each repeating the last one before it
    shelf = Shelf({"Ведомость": [" ".join(lines[max(first - 1, 0) : first + 10]) for first in range(0, 400, 10)]})
    pattern = re.compile(r"Сотрудник (\d+) получает (\d+ рублей)")

    def reply(request: RowsRequest) -> RowsReply:
        return listed(
            *(
                ReadRow(chunk_id=chunk.chunk_id, cells=match.groups(), quote=match[0])
                for chunk in request.document_context
                for match in pattern.finditer(chunk.chunk_text)
            )
        )

    model = ClerkModel(reply=reply)
    wanted = RowsArguments(what="работник", columns=("имя", "ставка"))
    payload = await tool(shelf, model, prompt_tokens=4500).run(wanted, turn())
    assert len(model.requests) > 2
    assert payload.facts[0].text == "Всего (работник): 400"


async def test_nothing_is_asked_for_again_where_every_call_is_needed_for_a_document() -> None:
    model = _careless_once()
    context = turn(run=Run(limits=RunLimits(model_calls=1)))
    payload = await collect(letters(a="Счёт 2 на 200 ₽"), model, context, what="счёт")
    assert len(model.requests) == 1
    assert not payload.found


def _careless_once() -> ClerkModel:
    """Misquotes, and quotes well from the second time on."""
    asked: list[RowsRequest] = []

    def reply(request: RowsRequest) -> RowsReply:
        asked.append(request)
        quote = request.document_context[0].chunk_text if len(asked) > 1 else "счёт на двести рублей"
        chunk = request.document_context[0].chunk_id
        return listed(ReadRow(chunk_id=chunk, cells=("2", "200 ₽"), quote=quote))

    return ClerkModel(reply=reply)


async def test_a_cell_that_stands_nowhere_is_emptied_and_the_sum_says_so() -> None:
    model = rows_of({"Счёт 1 на 100 ₽": (("1", "100 ₽"),), "Счёт 2 на 200 ₽": (("2", "900 ₽"),)})
    shelf = letters(a="Счёт 1 на 100 ₽", b="Счёт 2 на 200 ₽")
    payload = await collect(shelf, model, what="счёт", columns=["номер", "сумма"], aggregate="sum", of="сумма")
    assert [fact.text for fact in payload.facts[:3]] == [
        "Всего (счёт): 2",
        "Сумма (сумма): 100\u00a0₽",
        "Без числа в столбце «сумма», в подсчёт не вошли: 1",
    ]


async def test_what_changed_between_two_documents_is_told_in_their_order() -> None:
    old, new = "Тариф А 100 ₽. Тариф Б 200 ₽. Тариф В 300 ₽.", "Тариф А 150 ₽. Тариф В 300 ₽. Тариф Г 400 ₽."
    model = rows_of(
        {
            old: (("А", "100 ₽"), ("Б", "200 ₽"), ("В", "300 ₽")),
            new: (("А", "150 ₽"), ("В", "300 ₽"), ("Г", "400 ₽")),
        }
    )
    shelf = letters(**{"Тарифы май": old, "Тарифы июнь": new})
    payload = await collect(
        shelf, model, what="тариф", columns=["название", "цена"], documents=["тарифы май", "тарифы июнь"], changes=True
    )
    assert [fact.text for fact in payload.facts] == [
        "Без изменений: 1",
        "Изменилось: А; цена: 100 ₽ → 150 ₽",
        "Изменилось: А; цена: 100 ₽ → 150 ₽",
        "Есть только в «Тарифы май»: название: Б; цена: 200 ₽",
        "Есть только в «Тарифы июнь»: название: Г; цена: 400 ₽",
    ]
    assert payload.table is not None
    assert payload.table.rows[0].cells == ("А", "цена", "100 ₽", "150 ₽")


async def test_a_comparison_says_that_a_row_was_dropped() -> None:
    old, new = "Тариф А 100 ₽. Тариф Б 200 ₽.", "Тариф А 100 ₽."
    model = rows_of({old: (("А", "100 ₽"), ("Вольфрам", "900 ₽")), new: (("А", "100 ₽"),)})
    shelf = letters(**{"Тарифы май": old, "Тарифы июнь": new})
    payload = await collect(shelf, model, what="тариф", documents=["тарифы май", "тарифы июнь"], changes=True)
    told = ["Без изменений: 1", "Строк, которые не подтвердились текстом и в подсчёт не вошли: 1"]
    assert [fact.text for fact in payload.facts] == told


async def test_failures_are_counted_and_the_rest_is_told() -> None:
    def fails(request: RowsRequest) -> RowsReply:
        if any("Акт" in chunk.document for chunk in request.document_context):
            raise ModelMisfit("it does not fit", answer="{", problems="")
        return read_contract(request)

    payload = await collect(model=ClerkModel(reply=fails))  # what cannot be read at once is read in halves
    assert payload.documents == DocumentsRead(read=26, total=30, without_data=2, problems=4)
    assert payload.facts[0].text == f"Всего (договор): {TRUTH.contracts} (прочитано документов: 26 из 30)"


async def test_twenty_four_short_documents_take_four_calls_at_most() -> None:
    model = ClerkModel()
    shelf = Shelf({name: texts for name, texts in BASE_30.texts.items() if name.startswith("Договор")})
    payload = await collect(shelf, model)
    assert payload.documents == DocumentsRead(read=24, total=24)
    assert len(model.requests) <= 4


async def test_a_model_that_fails_everywhere_fails_the_step() -> None:
    def away(request: RowsRequest) -> RowsReply:
        raise ModelAway("no answer")

    with pytest.raises(StepFailed):
        await collect(model=ClerkModel(reply=away))


async def test_short_documents_go_together_when_calls_are_few() -> None:
    run, model = Run(limits=RunLimits(model_calls=12)), ClerkModel()
    payload = await collect(model=model, context=turn(run=run))
    assert payload.facts[0].text == f"Всего (договор): {TRUTH.contracts}"
    assert len(model.requests) <= 12


async def test_rows_that_are_known_are_kept_while_others_are_read() -> None:
    heard: list[tuple[int, int]] = []
    run = Run(report=lambda step, *read: heard.append(read))
    await collect(context=turn(run=run))
    assert [done for done, _ in heard] == [12, 24, 30]
    assert run.kept["read"].table is not None


async def test_the_program_filters_and_says_of_which_rows_it_cannot_tell() -> None:
    texts = {"а": "Счёт 1 на 100 ₽", "б": "Счёт 2 на 200 ₽", "в": "Счёт 3", "г": "Счёт 4 на 900 ₽"}
    texts["д"] = "Счёт 5 на 70 $"
    cells = {text: ((text.split()[1], text.partition(" на ")[2]),) for text in texts.values()}
    model = rows_of(cells)
    over = [{"column": "цена", "op": ">", "value": "150 ₽"}]
    payload = await collect(letters(**texts), model, what="счёт", where=over, aggregate="sum", of="цена")
    assert [fact.text for fact in payload.facts[:3]] == [
        "Всего (счёт): 2",
        "Сумма (цена): 1\u00a0100\u00a0₽",
        "По условию не понять (значения нет, или его нельзя сравнить), в подсчёт не вошли: 2 (5, цена: 70 $; 3)",
    ]
    assert payload.table is not None
    assert sorted(row.cells[0] for row in payload.table.rows) == ["2", "4"]
    assert {tuple(request.columns) for request in model.requests} == {("номер", "цена")}


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ({"op": "before", "value": "2025-02-01"}, ["1"]),
        ({"op": "after", "value": "2025-02"}, ["3"]),
        ({"op": "between", "value": "2025-01-15..2025-02"}, ["2"]),
        ({"op": "between", "value": ["2025-01", "2025-02"]}, ["1", "2"]),
        ({"op": "between", "value": "2025-02 — 2025-03"}, ["2", "3"]),
    ],
)
async def test_days_are_compared_as_a_model_words_it(condition: dict[str, object], found: list[str]) -> None:
    texts = {"а": "Счёт 1 от 10.01.2025", "б": "Счёт 2 от 20.02.2025", "в": "Счёт 3 от 01.03.2025"}
    model = rows_of({text: ((text.split()[1], text.split()[3]),) for text in texts.values()})
    where = {"column": "дата", **condition}  # not in a list, as a model may give it
    payload = await collect(letters(**texts), model, what="счёт", columns=["номер", "дата"], where=where)
    assert payload.table is not None
    assert sorted(row.cells[0] for row in payload.table.rows) == found


async def test_a_sum_that_had_to_choose_gives_the_other_result() -> None:
    texts = {"договор": "Договор 5 на 100 ₽", "письмо": "По договору 5 вышло 130 ₽", "другой": "Договор 6 на 200 ₽"}

    def reply(request: RowsRequest) -> RowsReply:
        rows = []
        for chunk in request.document_context:
            number, price = re.findall(r"\d+", chunk.chunk_text)
            standing = Standing.MENTIONS if chunk.document == "письмо" else Standing.OWN
            cells = (number, f"{price} ₽")
            rows.append(ReadRow(chunk_id=chunk.chunk_id, cells=cells, quote=chunk.chunk_text, standing=standing))
        return listed(*rows)

    payload = await collect(letters(**texts), ClerkModel(reply=reply), aggregate="sum", of="цена")
    assert [fact.text for fact in payload.facts[:3]] == [
        "Всего (договор): 2",
        "Сумма (цена): 300\u00a0₽",
        "Документы расходятся: если взять другие значения (5, цена: 130 ₽), выходит иначе: "
        "Всего (договор): 2; Сумма (цена): 330\u00a0₽",
    ]
    assert len(limit(payload, items=1).facts) == len(payload.facts) - 1  # disagreements take no place of a row
    assert limit(payload, items=1).left_out == 1


async def test_a_sum_of_the_last_values_names_those_that_it_leaves_out() -> None:
    bills = {f"Счёт 2025-0{month}": f"Связь {month} ₽, аренда {month}0 ₽, уборка {month}00 ₽" for month in (1, 2)}
    model = rows_of({text: tuple(tuple(part.split(" ", 1)) for part in text.split(", ")) for text in bills.values()})
    arguments: dict[str, object] = {"what": "услуга", "columns": ["услуга", "цена"], "aggregate": "sum", "of": "цена"}
    payload = await collect(letters(**bills), model, None, **arguments)
    assert [fact.text for fact in payload.facts[:3]] == [
        "Всего (услуга): 3",
        "Сумма (цена): 222\u00a0₽",
        "Взяты последние значения; прежние, из изменённых или более старых документов, не вошли: "
        "Связь, цена: 1 ₽; аренда, цена: 10 ₽; уборка, цена: 100 ₽",
    ]
    told = await collect(letters(**bills), model, None, **arguments, key=["услуга", "цена"])
    assert [fact.text for fact in told.facts[:2]] == ["Всего (услуга): 6", "Сумма (цена): 333\u00a0₽"]


async def test_columns_that_only_a_condition_names_are_read_too() -> None:
    where = [{"column": "контрагент", "op": "=", "value": PARTIES[0]}]
    payload = await collect(where=where)
    assert payload.facts[0].text == f"Всего (договор): {TRUTH.with_first_party}"


@pytest.mark.parametrize(
    "arguments",
    [
        {"aggregate": "sum"},  # of which column?
        {"changes": True, "documents": ["а"]},  # two are needed
        {"columns": []},
        {"where": [{"column": "цена", "op": "between", "value": "5 ₽"}]},  # and what?
    ],
)
def test_arguments_that_do_not_fit_each_other_are_refused(arguments: dict[str, object]) -> None:
    raw = {"what": "договор", "columns": ["номер", "цена"], **arguments}
    with pytest.raises(ToolMisused):
        tool(BASE_30, ClerkModel()).read(raw)  # type: ignore[arg-type]  # JSON of every kind


@given(calls=st.integers(1, 40), tokens=st.integers(0, 120_000))
async def test_no_limit_of_the_turn_and_of_a_prompt_is_exceeded(calls: int, tokens: int) -> None:
    run, model = Run(limits=RunLimits(model_calls=calls, tokens=tokens)), ClerkModel()
    arguments = RowsArguments(what="договор", columns=("номер", "цена"))
    payload = await tool(BASE_30, model, prompt_tokens=4500).run(arguments, turn(run=run))
    assert len(model.sizes) <= calls
    assert run.usage.prompt_tokens + run.usage.answer_tokens <= tokens
    assert max(model.sizes, default=0) <= 4500
    assert payload.documents is not None
    assert payload.documents.read <= 30
