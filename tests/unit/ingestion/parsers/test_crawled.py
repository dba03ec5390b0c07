"""A section of a site as one document."""

from pathlib import Path

import pytest

from domain.documents import UnreadPart
from ingestion.errors import FailureCode, SourceError
from ingestion.files import SITE_TYPE, SitePage
from ingestion.parsers.registry import parse_file
from ingestion.records import BlockKind, Document
from sandbox.records import to_line
from tests.servers.sites import page

SITE = "https://site.example"


def _parse(tmp_path: Path, pages: dict[str, str], *, unread: tuple[str, ...] = ()) -> Document:
    with (tmp_path / "site").open("wb") as file:
        for path, html in pages.items():
            file.write(to_line(SitePage(url=f"{SITE}{path}", html=html)))
        for url in unread:
            file.write(to_line(UnreadPart(name=url, code=FailureCode.PAGE_STATUS)))
    return parse_file(tmp_path / "site", name="site.example", media_type=SITE_TYPE)


def _page(title: str, *, words: str = "") -> str:
    return page(title, words=words).body.decode()


def test_pages_become_chapters_with_their_addresses(tmp_path: Path) -> None:
    document = _parse(
        tmp_path, {"/docs/": _page("Документация"), "/docs/pay": _page("Оплата")}, unread=(f"{SITE}/docs/x",)
    )
    assert (document.title, document.parts) == ("Документация", 2)
    assert document.unread == (UnreadPart(name=f"{SITE}/docs/x", code=FailureCode.PAGE_STATUS),)
    headings = [
        (block.text, block.level, block.locator.url) for block in document.blocks if block.kind is BlockKind.HEADING
    ]
    assert headings == [("Документация", 1, f"{SITE}/docs/"), ("Оплата", 1, f"{SITE}/docs/pay")]
    assert all(block.locator.url for block in document.blocks)
    assert document.blocks[-1].locator.headings == ("Оплата",)


def test_a_page_that_says_the_same_again_is_left_out(tmp_path: Path) -> None:
    rules = (f"Правило номер {n} говорит о расчётах вида {n * 7} и действует для счетов {n * 13}." for n in range(60))
    words = " ".join(rules)
    same = {f"/docs/{n}": _page("Правила", words=f"{words} Прочли {n} раз. ") for n in range(3)}
    assert _parse(tmp_path, {"/docs/": _page("Начало"), **same}).parts == 2


def test_what_every_page_repeats_is_left_out(tmp_path: Path) -> None:
    offer = "<p>Оформите карту до конца месяца и получите подарок от нашего банка.</p></article>"
    pages = {f"/{n}": _page(f"Глава {n}").replace("</article>", offer) for n in "абвгд"}
    document = _parse(tmp_path, pages)
    assert document.parts == 5
    assert not any("подарок" in block.text for block in document.blocks)


def test_pages_behind_a_wall_are_named_and_galleries_are_not(tmp_path: Path) -> None:
    wall = "<html><body><p>Войдите, чтобы читать дальше.</p></body></html>"
    document = _parse(
        tmp_path, {"/": _page("Начало"), "/closed": wall, "/gallery": "<html><body><img src=a></body></html>"}
    )
    assert document.parts == 1
    assert document.unread == (UnreadPart(name=f"{SITE}/closed", code=FailureCode.FILE_NEEDS_LOGIN),)


def test_a_section_without_words_has_no_text(tmp_path: Path) -> None:
    with pytest.raises(SourceError) as caught:
        _parse(tmp_path, {"/": "<html><body><img src=a></body></html>"})
    assert caught.value.code is FailureCode.FILE_WITHOUT_TEXT


def test_pages_that_do_not_fit_into_the_time_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("resource.getrlimit", lambda _: (0, 0))
    with pytest.raises(SourceError) as caught:
        _parse(tmp_path, {"/": _page("Начало"), "/a": _page("А")})
    assert caught.value.detail == "2 pages unread"


def test_lines_that_are_not_ours_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "site"
    path.write_text('{"url": 1, "html": null}\n')
    with pytest.raises(SourceError, match="not a record"):
        parse_file(path, name="site.example", media_type=SITE_TYPE)
