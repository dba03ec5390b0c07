"""Live messages and receipts, word for word as in UX.md."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from bot.replies.receipts import changes_line, live_message
from bot.replies.rich import utf16_length
from bot.texts import LANGUAGES
from domain.documents import DocumentCard, DocumentStatus, Medium, SourceType, UnreadPart
from domain.ids import DocumentId
from ingestion.changes import compare
from ingestion.errors import FailureCode
from ingestion.language import FREQUENT_WORDS, SCRIPTS
from ingestion.records import Block, BlockKind
from tests.fakes.bot import texts
from tests.fakes.cards import card, ready
from tests.fakes.telegram_html import read_html

RU = texts().for_language("ru")


def shown(*documents: DocumentCard) -> str:
    return read_html(live_message(documents, RU)[0])[0]


def buttons(*documents: DocumentCard) -> list[str]:
    _, keyboard = live_message(documents, RU)
    return [button.text for row in keyboard.inline_keyboard for button in row] if keyboard else []


@pytest.mark.parametrize(
    ("document", "line"),
    [
        (card(), "⏳ Договор аренды.pdf · в очереди"),
        (card(status=DocumentStatus.FETCHING), "⏳ Договор аренды.pdf · загружаю"),
        (card(status=DocumentStatus.PARSING), "⏳ Договор аренды.pdf · читаю"),
        (
            card(status=DocumentStatus.PARSING, progress_done=12, progress_total=48),
            "⏳ Договор аренды.pdf · читаю страницы 12 из 48",
        ),
        (
            card(status=DocumentStatus.EMBEDDING, progress_done=64, progress_total=131),
            "⏳ Договор аренды.pdf · запоминаю 64 из 131",
        ),
        (card(status=DocumentStatus.CANCELLED), "Отменено: Договор аренды.pdf"),
    ],
    ids=lambda value: value.status.value if isinstance(value, DocumentCard) else "",
)
def test_progress_is_one_line(document: DocumentCard, line: str) -> None:
    assert shown(document) == line


def test_the_receipt_is_as_in_the_standard() -> None:
    assert shown(ready(pages_without_text=(14, 31))) == (
        "✅ Договор аренды.pdf в базе\n"
        "48 страниц · 131 фрагмент · русский · 9\u00a0с\n"
        "⚠️ Страницы 14 и 31 без текста (сканы)."
    )


def test_buttons_fit_the_stage() -> None:
    assert buttons(card()) == ["Отменить"]
    assert buttons(ready()) == ["Спросить о нём", "Убрать"]


def test_a_duplicate_says_since_when_and_shows_the_first_one() -> None:
    params = {
        "document_id": "22222222-2222-2222-2222-222222222222",
        "title": "А.pdf",
        "created_at": "2026-05-12T10:00:00+00:00",
    }
    document = card(status=DocumentStatus.DUPLICATE, error_code="duplicate", error_params=params)
    assert shown(document) == "Этот документ уже есть в базе с 12 мая: А.pdf."
    assert buttons(document) == ["Показать"]


def test_a_duplicate_is_called_as_its_first_receipt_called_it() -> None:
    params = {"title": "Смета", "source_type": "file", "source_identifier": "Смета.txt", "created_at": ""}
    document = card(status=DocumentStatus.DUPLICATE, error_code="duplicate", error_params=params)
    assert shown(document).endswith(": Смета.txt.")


def test_a_service_that_is_away_is_promised_to_be_waited_for() -> None:
    document = card(waits_for_service=True, error_params={"service": "jina"})
    assert "сервис поиска не отвечает. Документ сохранён, закончу сам и сообщу." in shown(document)


@pytest.mark.parametrize("code", list(FailureCode))
def test_every_failure_can_be_shown_even_without_its_parameters(code: FailureCode) -> None:
    document = card(status=DocumentStatus.FAILED, error_code=code.value, source_identifier="<план> & смета.docx")
    assert shown(document).strip()


def test_a_page_error_names_host_and_status() -> None:
    params = {"host": "example.org", "status": 404}
    document = card(status=DocumentStatus.FAILED, error_code="page-status", error_params=params)
    assert shown(document) == "На example.org нет такой страницы. Проверьте адрес."


def test_an_unknown_error_is_our_own_mistake() -> None:
    assert "моя ошибка" in shown(card(status=DocumentStatus.FAILED, error_code="from-the-future"))


def test_several_documents_are_a_line_each_and_a_total() -> None:
    text = shown(ready(), card(status=DocumentStatus.PARSING, source_identifier="План.docx"))
    assert text.splitlines()[-1] == "Готово 1 из 2."
    assert "⏳ План.docx · читаю" in text


def test_a_finished_list_is_lines_without_gaps() -> None:
    locked = card(status=DocumentStatus.FAILED, error_code="file-encrypted", source_identifier="отчёт.pdf")
    empty = card(status=DocumentStatus.FAILED, error_code="file-empty", source_identifier="пусто.txt")
    assert shown(ready(), locked, empty).splitlines() == [
        "✅ Договор аренды.pdf · 48 страниц",
        "🔒 отчёт.pdf защищён паролем. Снимите пароль и пришлите ещё раз.",
        "⚠️ пусто.txt пуст. Проверьте файл и пришлите ещё раз.",
        "",
        "Всего 3 документа, в базе 1.",
    ]


def test_the_total_counts_what_is_in_the_base() -> None:
    failed = card(status=DocumentStatus.FAILED, error_code="file-empty")
    assert shown(ready(), ready(), failed).splitlines()[-1] == "Всего 3 документа, в базе 2."


def test_a_hundred_documents_still_fit_one_message() -> None:
    documents = [
        ready(id=DocumentId(str(number)), source_identifier="Очень длинное имя " * 6 + ".pdf") for number in range(100)
    ]
    text = shown(*documents)
    assert utf16_length(text) <= 4096
    assert "и ещё" in text
    assert text.endswith("Всего 100 документов, в базе 100.")


@pytest.mark.parametrize(
    ("documents", "removed", "end"),
    [
        ((), 1, "Документ удалён из базы."),
        ((), 21, "21 документ удалён из базы."),
        ((), 5, "5 документов удалено из базы."),
        ((card(),), 1, "в очереди\nЕщё 1 документ удалён из базы."),
        ((ready(), ready()), 2, "\n\nВсего 2 документа, в базе 2.\nЕщё 2 документа удалены из базы."),
    ],
)
def test_how_many_were_removed_is_said(documents: tuple[DocumentCard, ...], removed: int, end: str) -> None:
    html, _ = live_message(documents, texts().for_language("ru"), removed=removed)
    assert read_html(html)[0].endswith(end)


def test_what_was_removed_has_no_buttons() -> None:
    message = live_message((), texts().for_language("en"), removed=1)
    assert message == ("The document was deleted from the base.", None)


def test_a_file_keeps_the_name_that_the_person_gave_it() -> None:
    assert shown(ready(title="Microsoft Word - Document1")).startswith("✅ Договор аренды.pdf в базе")


def test_a_page_is_called_by_its_title() -> None:
    page = ready(source_type=SourceType.LINK, source_identifier="https://a.b/c.html", title="Правила расчётов")
    assert shown(page).startswith("✅ Правила расчётов в базе")


@pytest.mark.parametrize(
    ("document", "line"),
    [
        (card(ahead=4), "⏳ Договор аренды.pdf · в очереди, перед ним 4"),
        (
            card(status=DocumentStatus.LISTENING, progress_done=200, progress_total=720),
            "⏳ Договор аренды.pdf · слушаю: 3:20 из 12:00",
        ),
        (
            card(status=DocumentStatus.RECOGNISING, progress_done=3, progress_total=9),
            "⏳ Договор аренды.pdf · распознаю страницы: 3 из 9",
        ),
        (
            card(status=DocumentStatus.EMBEDDING, progress_done=40, progress_total=100, searchable=40),
            "⏳ Договор аренды.pdf · запоминаю 40 из 100\nСпрашивать уже можно: прочитано 40\u00a0%.",
        ),
        (card(status=DocumentStatus.CHOOSING), "Договор аренды.pdf уже есть, но содержание новое."),
        (
            card(status=DocumentStatus.DUPLICATE, error_code="duplicate", error_params={"unchanged": True}),
            "Договор аренды.pdf: ничего не изменилось.",
        ),
        (card(status=DocumentStatus.CANCELLED, error_code="skipped"), "Пропустил: в базе осталось прежнее."),
    ],
    ids=["ahead", "listening", "recognising", "searchable", "choosing", "unchanged", "skipped"],
)
def test_every_stage_says_where_it_is(document: DocumentCard, line: str) -> None:
    assert shown(document) == line


def test_a_recordings_receipt_has_its_length() -> None:
    text = shown(ready(pages=None, duration_s=252.0, medium=Medium.AUDIO))
    assert text.splitlines()[1] == "4:12 · 131 фрагмент · русский · 9\u00a0с"


def test_a_new_version_says_what_changed() -> None:
    document = ready(version=2)
    words = texts().for_language("ru")
    html, _ = live_message([document], words, {document.id: "Что изменилось: убран раздел «Цена»."})
    lines = read_html(html)[0].splitlines()
    assert (lines[0], lines[-1]) == ("✅ Договор аренды.pdf: заменил", "Что изменилось: убран раздел «Цена».")


def test_a_new_version_in_an_album_says_what_changed_below_its_line() -> None:
    words = texts().for_language("ru")
    changed, other = ready(version=2), ready(id=DocumentId("other"))
    html, _ = live_message([changed, other], words, {changed.id: "Что изменилось: убран раздел «Цена»."})
    lines = read_html(html)[0].splitlines()
    assert [line[:5] for line in lines[:3]] == ["✅ Дог", "Что и", "✅ Дог"]


def test_parts_that_could_not_be_read_are_named() -> None:
    parts = tuple(UnreadPart(name=f"файл {number}.bin") for number in range(6))
    text = shown(ready(pages=None, parts=9, unread=parts))
    assert "9 файлов" in text
    assert text.endswith("⚠️ Не прочитаны: файл 0.bin, файл 1.bin, файл 2.bin, файл 3.bin и ещё 2")


def test_why_a_part_could_not_be_read_is_said() -> None:
    parts = (
        UnreadPart(name="a<b.pdf", code=FailureCode.FILE_ENCRYPTED),
        UnreadPart(name="https://e.org/%D1%8F", code=FailureCode.PAGE_STATUS),
        UnreadPart(name="c", code="from-the-future"),
    )
    line = "⚠️ Не прочитаны: a<b.pdf (под паролем), https://e.org/я (сайт ответил ошибкой), c"
    assert shown(ready(parts=9, unread=parts)).endswith(line)


def test_a_photo_of_which_only_the_caption_was_read_has_its_own_name() -> None:
    name = "photo-1795351717877"
    part = UnreadPart(name=name, code=FailureCode.FILE_WITHOUT_WORDS)
    photo = ready(title="Фото от 12 мая", source_identifier=name, pages=None, unread=(part,))
    assert shown(photo).endswith("⚠️ Не прочитано: Фото от 12 мая (слов не разобрать)")


@pytest.mark.parametrize(
    ("part", "said"),
    [("app.apk", "прочитана только подпись"), ("внутри.bin", "прочитано не всё")],
    ids=["the file itself", "a part of it"],
)
def test_in_a_list_it_is_said_that_not_all_was_read(part: str, said: str) -> None:
    unread = (UnreadPart(name=part, code=FailureCode.FILE_UNSUPPORTED),)
    document = ready(title="app.apk", source_identifier="app.apk", pages=None, chunks=1, unread=unread)
    html, _ = live_message([document, ready()], texts().for_language("ru"))
    assert read_html(html)[0].splitlines()[0] == f"✅ app.apk · 1 фрагмент · {said}"


def test_a_choice_has_three_buttons() -> None:
    assert buttons(card(status=DocumentStatus.CHOOSING)) == ["Заменить", "Оставить оба", "Пропустить"]


def test_in_a_list_questions_come_before_cancelling() -> None:
    asking, working = card(status=DocumentStatus.CHOOSING), card(id=DocumentId("b"))
    assert buttons(asking, working) == ["Заменить: Договор аренды.pdf", "Оставить оба", "Пропустить"]


def test_a_whole_batch_can_be_cancelled() -> None:
    assert buttons(card(), card(id=DocumentId("b")))[-1] == "Отменить всё"


def test_a_page_offers_its_section_and_a_file_does_not() -> None:
    page = ready(source_type=SourceType.LINK, pages=None, source_identifier="https://example.org/a", title="А")
    assert buttons(page) == ["Спросить о нём", "Убрать", "Добавить весь раздел"]
    assert buttons(ready()) == ["Спросить о нём", "Убрать"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_that_is_recognised_has_a_name(language: str) -> None:
    words = texts().for_language(language)
    codes = {code for family in FREQUENT_WORDS.values() for code in family} | set(
        SCRIPTS.values()
    ) - FREQUENT_WORDS.keys()
    assert not [name for code in codes if (name := words.plain("receipt-language", code=code)).endswith(f" {code}")]


TOMORROW = datetime(2026, 5, 31, 14, 5).astimezone()  # the day after `tests.fakes.bot.TODAY`, by this machine's clock
READ_NOW = ready(expires_at=TOMORROW)


def test_what_leaves_again_says_when_and_can_be_kept() -> None:
    first, _, last = shown(READ_NOW).splitlines()
    assert first == "✅ Договор аренды.pdf: прочитал, спрашивайте"
    assert last == "Останется до завтра, 14:05."
    assert buttons(READ_NOW) == ["Спросить о нём", "Убрать", "Оставить в базе"]


@pytest.mark.parametrize(
    ("language", "days", "until"),
    [
        ("ru", -1, "до 14:05"),
        ("ru", 0, "до завтра, 14:05"),
        ("ru", 1, "до 1 июня, 14:05"),
        ("en", -1, "until 14:05"),
        ("en", 0, "until tomorrow, 14:05"),
        ("en", 1, "until June 1, 14:05"),
    ],
)
def test_a_moment_is_told_as_people_say_it(language: str, days: int, until: str) -> None:
    assert texts().for_language(language).until(TOMORROW + timedelta(days=days)) == until


def test_several_that_leave_again_say_so_in_their_lines_and_are_kept_together() -> None:
    several = (READ_NOW, replace(READ_NOW, id=DocumentId("d2"), source_identifier="Акт.pdf"))
    assert shown(*several).splitlines()[0] == "✅ Договор аренды.pdf · 48 страниц · до завтра, 14:05"
    assert buttons(*several)[0] == "Оставить в базе"
    assert "Оставить в базе" not in buttons(*(replace(each, expires_at=None) for each in several))


@pytest.mark.parametrize(
    ("until", "line"),
    [
        (None, "Договор аренды.pdf теперь в базе: раньше оставался на день."),
        (TOMORROW.astimezone(UTC).isoformat(), "Договор аренды.pdf: уже прочитал, останется до завтра, 14:05."),
    ],
)
def test_the_same_file_again_says_how_long_the_first_one_stays(until: str | None, line: str) -> None:
    twin = {"document_id": "d1", "stays_until": until}
    assert shown(card(status=DocumentStatus.DUPLICATE, error_params=twin)) == line


def blocks(*texts: str) -> list[Block]:
    """Texts that begin with # are headings."""
    signs = {"#": BlockKind.HEADING, "|": BlockKind.TABLE}
    kinds = [signs.get(text[0], BlockKind.PARAGRAPH) for text in texts]
    return [Block(kind=kind, text=text.strip("# ")) for kind, text in zip(kinds, texts, strict=True)]


def test_sections_that_came_and_went_are_named() -> None:
    line = changes_line(compare(blocks("# Цена", "а"), blocks("# Сроки", "а")), RU)
    assert line == "Что изменилось: добавлен раздел «Сроки», убран раздел «Цена»."


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (
            "3.2. Плата равна 100 000 рублей в месяц.",
            "3.2. Плата равна 120 000 рублей в месяц.",
            "в п. 3.2 теперь «120 000 рублей» вместо «100 000 рублей»",
        ),
        (
            "Оплата не позднее пятого числа.",
            "Оплата не позднее десятого числа.",
            "в разделе «Цена» теперь «десятого» вместо «пятого»",
        ),
        (
            "| Эфиопия | 1 890 ₽ | 17 |",
            "| Эфиопия | 1 990 ₽ | 17 |",
            "в строке «Эфиопия» теперь «1 990 ₽» вместо «1 890 ₽»",
        ),
        ("Старый текст совсем про другое.", "Новые слова о чём угодно ещё.", "изменён 1 абзац"),  # nothing in common
        ("Срок 14 дней.", "Срок 14 дней с даты счёта.", "изменён 1 абзац"),  # nothing was replaced
    ],
)
def test_replaced_words_are_told_with_their_place_and_other_changes_are_counted(
    before: str, after: str, told: str
) -> None:
    line = changes_line(compare(blocks("# Цена", before, "б"), blocks("# Цена", after, "б")), RU)
    assert line == f"Что изменилось: {told}."


def test_of_many_sections_three_are_named() -> None:
    changes = compare([], blocks("# А", "# Б", "# В", "# Г", "# Д"))
    assert "«А», «Б», «В» и ещё 2" in changes_line(changes, RU)


def test_layout_alone_is_no_change() -> None:
    assert changes_line(compare(blocks("Срок  14 дней"), blocks("срок 14 дней")), RU) == ""
