"""What a message holds, as a person would say it."""

import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.documents import SourceType
from ingestion.intake import (
    TITLE_CHARACTERS,
    IncomingMessage,
    MessageLink,
    note_title,
    one_line,
    sources_of,
    words_of,
)
from ingestion.records import Source

WEB = re.compile(r"(?:https?://|www\.|\b[\w-]+\.(?:org|рф)\b)\S*")


def _message(text: str, *, hidden: dict[str, str] | None = None, forwarded: bool = False) -> IncomingMessage:
    """A message with its entities, as Telegram marks them; `hidden` maps words to the address behind them."""
    spans: list[tuple[int, int, str | None]] = [(match.start(), match.end(), None) for match in WEB.finditer(text)]
    spans += [(text.index(words), text.index(words) + len(words), url) for words, url in (hidden or {}).items()]
    links = [
        MessageLink(offset=_units(text[:start]), length=_units(text[start:end]), target=target)
        for start, end, target in spans
    ]
    return IncomingMessage(text=text, links=tuple(links), forwarded=forwarded)


def _units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def _kinds(message: IncomingMessage) -> list[tuple[str, str]]:
    return [(source.type.value, source.identifier) for source in sources_of(message)]


def test_a_link_into_telegram_leaves_its_words_as_they_are() -> None:
    message = _message("Напишите Анне о новых сроках", hidden={"Анне": "tg://user?id=5"})
    assert [source.text for source in sources_of(message)] == ["Напишите Анне о новых сроках"]


def test_an_address_alone_is_a_link() -> None:
    assert _kinds(_message("https://example.org/a")) == [("link", "https://example.org/a")]


@pytest.mark.parametrize(
    "text", ["вот: {}", "👉 {} !!!", "Вот ещё статья\n{}", "вот, почитай на досуге {}", "{}\n\n#закладки"]
)
def test_a_few_words_beside_an_address_are_no_note(text: str) -> None:
    assert _kinds(_message(text.format("https://example.org/a"))) == [("link", "https://example.org/a")]


def test_several_addresses_are_a_link_each_and_the_same_one_only_once() -> None:
    text = "https://example.org/a https://example.org/b\nhttps://example.org/a#top"
    assert _kinds(_message(text)) == [("link", "https://example.org/a"), ("link", "https://example.org/b")]


def test_prose_is_a_note_word_for_word() -> None:
    (note,) = sources_of(_message("Встреча во вторник в 15:00.\nОбсудить договор аренды."))
    assert (note.type, note.title) == (SourceType.NOTE, "Встреча во вторник в 15:00")
    assert note.text == "Встреча во вторник в 15:00.\nОбсудить договор аренды."


def test_one_word_is_a_note_too() -> None:
    assert _kinds(_message("Ключ")) == [("note", "Ключ")]


def test_prose_with_an_address_is_a_note_and_a_link() -> None:
    message = _message("Здесь подробно разобрано, как расторгнуть договор: https://example.org/a")
    assert [kind for kind, _ in _kinds(message)] == ["note", "link"]


def test_a_file_name_that_telegram_takes_for_an_address_is_not_read_in_prose() -> None:
    text = "Вся настройка проекта описана в README.org, начни с него"
    assert [kind for kind, _ in _kinds(_message(text))] == ["note"]


def test_addresses_under_a_forwarded_post_are_not_read() -> None:
    message = _message("Сегодня мы расскажем о новом законе. Подписаться: https://example.org/a", forwarded=True)
    assert [kind for kind, _ in _kinds(message)] == ["note"]


def test_an_address_behind_words_stays_in_the_note() -> None:
    message = _message("Подробнее об этом написано в новой статье", hidden={"статье": "https://example.org/a"})
    (note,) = sources_of(message)
    assert note.text == "Подробнее об этом написано в новой статье (https://example.org/a)"


def test_an_address_behind_the_only_words_is_a_link() -> None:
    assert _kinds(_message("Статья", hidden={"Статья": "https://example.org/a"})) == [("link", "https://example.org/a")]


def test_offsets_count_as_telegram_counts() -> None:
    assert _kinds(_message("😀👨‍👩‍👧 https://example.org/a 😀")) == [("link", "https://example.org/a")]


def test_a_bare_domain_gets_a_scheme() -> None:
    assert _kinds(_message("example.org/news")) == [("link", "https://example.org/news")]


def test_what_only_measures_visitors_is_dropped_from_an_address() -> None:
    message = _message("https://example.org/a?utm_source=tg&id=7&fbclid=x#part")
    assert _kinds(message) == [("link", "https://example.org/a?id=7")]


def test_a_link_that_is_no_web_address_is_words() -> None:
    message = IncomingMessage(text="tg://resolve?domain=x", links=(MessageLink(offset=0, length=21),))
    assert _kinds(message) == [("note", "tg://resolve?domain=x")]


def test_a_file_keeps_its_caption() -> None:
    file = Source(
        type=SourceType.FILE, identifier="Договор.pdf", file_id="F1", size_bytes=10, media_type="application/pdf"
    )
    (source,) = sources_of(IncomingMessage(text="Аренда офиса", file=file))
    assert (source.type, source.identifier, source.text) == (SourceType.FILE, "Договор.pdf", "Аренда офиса")
    assert (source.file_id, source.size_bytes, source.media_type) == ("F1", 10, "application/pdf")


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Новый состав договора аренды", [("note", "Новый состав договора аренды")]),
        ("Смета: https://e.org/a", [("link", "Смета: https://e.org/a")]),
        ("https://e.org/a", [("link", None)]),
        ("", []),
    ],
    ids=["words", "a few words and a link", "a link", "nothing"],
)
def test_the_words_under_a_file_that_cannot_be_taken_stand_alone(text: str, kept: list[tuple[str, str | None]]) -> None:
    file = Source(type=SourceType.FILE, identifier="фильм.mp4", file_id="f")
    message = replace(_message(text), file=file)
    assert [(source.type.value, source.text) for source in words_of(message)] == kept


def test_a_forward_keeps_its_author_and_date() -> None:
    moment = datetime(2026, 5, 12, tzinfo=UTC)
    message = IncomingMessage(text="Новость дня для всех нас", forwarded=True, author="Канал", published_at=moment)
    (note,) = sources_of(message)
    assert (note.author, note.published_at) == ("Канал", moment)


@pytest.mark.parametrize("message", [IncomingMessage(unsupported="sticker"), IncomingMessage(text=" \n… ")])
def test_nothing_to_keep_yields_nothing(message: IncomingMessage) -> None:
    assert sources_of(message) == ()


def test_a_long_first_line_is_cut_at_a_words_end() -> None:
    title = note_title("Протокол совещания по вопросу расторжения договора аренды офисного помещения")
    assert title == "Протокол совещания по вопросу расторжения договора аренды…"


@given(st.text())
def test_a_title_is_one_short_line(text: str) -> None:
    title = note_title(text)
    assert len(title) <= TITLE_CHARACTERS + 1
    assert len(title.splitlines()) <= 1


@given(st.text(), st.lists(st.builds(MessageLink, offset=st.integers(0, 50), length=st.integers(0, 50))))
def test_any_text_with_any_entities_is_taken(text: str, links: list[MessageLink]) -> None:
    for source in sources_of(IncomingMessage(text=text, links=tuple(links))):
        assert source.identifier


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("\u202egpj.exe", "gpj.exe"),
        ("две\r\nстроки\u2028.txt", "две строки .txt"),
        ("\ufeff \u200b\x00", ""),
        ("семья 👨\u200d👩\u200d👧.jpg", "семья 👨\u200d👩\u200d👧.jpg"),
        (None, ""),
    ],
    ids=["turned around", "lines", "nothing to be seen", "emoji", "none"],
)
def test_a_name_is_one_line_that_turns_nothing_around(name: str | None, shown: str) -> None:
    assert one_line(name) == shown


def test_a_note_is_called_by_what_can_be_read_of_it() -> None:
    (note,) = sources_of(IncomingMessage(text="\u202eтевирп\u202c всем соседям"))
    assert (note.title, note.text) == ("тевирп всем соседям", "\u202eтевирп\u202c всем соседям")


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("## Что такое *владение*?", "Что такое владение?"),
        ("#1 в списке", "#1 в списке"),
        ("Подъём в 7 утра.", "Подъём в 7 утра"),
        ("Подъём в 7 утра...", "Подъём в 7 утра..."),
    ],
)
def test_a_note_that_begins_with_a_heading_is_called_by_its_words(line: str, title: str) -> None:
    assert note_title(f"{line}\n\nНабор правил") == title
