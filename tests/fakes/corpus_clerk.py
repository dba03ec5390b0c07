"""A double of the model that reads rows out of the documents of tests.material.whole_base.

It sees what a model sees, the texts of the request, and reads them by rules about their wording. What the program makes
of the rows is what is tested.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rag.execution.wire import NamedChunk, ReadRow, RowsReply, RowsRequest, Standing
from tests.fakes.clerk import listed

_MONTHS = "января|февраля|марта|апреля|мая|июня|июля|августа|сентября|октября|ноября|декабря"
_DAY = rf"(?:\d\d\.\d\d\.\d{{4}}|«?\d{{1,2}}»? (?:{_MONTHS}) \d{{4}} г(?:ода|\.)?)"
_CONTRACT = re.compile(r"(?:договор\w*(?: \w+)?|contract) (?:№|No\.) (\d+/\d{4})", re.IGNORECASE)
_TITLE = re.compile(r"^договор(?: \w+)? №", re.IGNORECASE | re.MULTILINE)
_PARTY = re.compile(r"(?:ООО «(?!Лазурь)[^»]+»|АО «[^»]+»|ПАО «[^»]+»|ИП [А-Я]\w+ [А-Я]\. [А-Я]\.)")
_PRICE = re.compile(
    r"(?:цен|стоимост|price)[^.]*?(\d[\d ,]*(?: ?(?:тыс\.?|млн))? ?(?:рублей|руб\.|долларов США|USD))",
    re.IGNORECASE,
)
_UNTIL = re.compile(
    rf"(?:действует|действия договора[^.]*?|прекращается|на срок|продлевается)[^.\d]*?(?:до|по)? ?({_DAY}|бессрочно)",
    re.IGNORECASE,
)
_SUM = re.compile(r"на сумму (\d[\d ]*(?:,\d\d)? (?:руб\.|рублей))")
_ACT = re.compile(r"^\s*акт[^№\n]*№ (\d+)", re.IGNORECASE)
_TASK = re.compile(r"(?:^|\s)\d\. ([^.]+?)\. Ответственный: (\w+ \w\. \w\.) Срок: ([\d.]+\d)")
_GOODS = re.compile(r"\|?\s*([^|\n]+?)\s*\|\s*(\d[\d ]*\d)\s*\|?")
_AMENDMENT = re.compile(r"дополнительное соглашение № (\d+)", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class _Document:
    """The chunks of one document that a request shows."""

    name: str
    chunks: Sequence[NamedChunk]

    @property
    def text(self) -> str:
        return "\n".join(chunk.chunk_text for chunk in self.chunks)

    def find(self, pattern: "re.Pattern[str]") -> str:
        """The first group, else the whole."""
        found = pattern.search(self.text)
        return (found[1] if found and found.groups() else found[0] if found else "").strip()

    def row(self, cells: Sequence[str], quote: str, standing: Standing = Standing.OWN) -> ReadRow:
        """Quoted from the chunk that has the quotation."""
        chunk = next((each for each in self.chunks if quote in each.chunk_text), self.chunks[0])
        return ReadRow(chunk_id=chunk.chunk_id, cells=tuple(cells), quote=quote, standing=standing)


def read_rows(request: RowsRequest) -> RowsReply:
    """The rows that the texts of a request state."""
    names = dict.fromkeys(chunk.document for chunk in request.document_context)
    documents = (
        _Document(name=name, chunks=[chunk for chunk in request.document_context if chunk.document == name])
        for name in names
    )
    return listed(*(row for document in documents for row in _READ[request.row](document)))


def _contracts(document: _Document) -> Iterator[ReadRow]:
    number, top = document.find(_CONTRACT), document.text[:90]
    if not number or _ACT.match(top):
        return
    is_amendment = _AMENDMENT.match(top) is not None
    is_own = _TITLE.search(document.text) is not None
    price, until = document.find(_PRICE), document.find(_UNTIL)
    if not (is_own or price or until):
        return
    standing = Standing.AMENDS if is_amendment else Standing.OWN if is_own else Standing.MENTIONS
    party = document.find(_PARTY) if is_own else ""
    yield document.row((number, party, _dated(document) if is_own else "", price, until), price or until, standing)


def _dated(document: _Document) -> str:
    """In the first lines, an edition's date left out; else in the document's name."""
    top = re.sub(r"Редакция от \S+", "", document.text[:260])
    found = re.search(rf"{_DAY}", re.sub(rf"(?:до|по|от) {_DAY}", "", top))
    named = re.search(r"\d{4}-\d\d-\d\d", document.name)
    is_open = "«___»" in top
    return "" if is_open else found[0] if found else named[0] if named else ""


def _acts(document: _Document) -> Iterator[ReadRow]:
    if number := document.find(_ACT):
        total = document.find(_SUM)
        dated = re.search(_DAY, document.text)
        yield document.row((number, document.find(_CONTRACT), dated[0] if dated else "", total), total)


def _tasks(document: _Document) -> Iterator[ReadRow]:
    for found in _TASK.finditer(document.text):
        yield document.row(found.groups(), found[1])


def _goods(document: _Document) -> Iterator[ReadRow]:
    if "Прайс-лист" not in document.text:
        return
    for found in _GOODS.finditer(document.text):
        yield document.row((found[1], f"{found[2]} руб."), found[1])


def _supplements(document: _Document) -> Iterator[ReadRow]:
    if _AMENDMENT.match(document.text):
        dated = re.search(_DAY, document.text.replace("от 15.01.2024", ""))
        number = document.find(_AMENDMENT)
        quote = next(match[0] for match in _AMENDMENT.finditer(document.text))
        yield document.row((number, document.find(_CONTRACT), dated[0] if dated else ""), quote)


_READ: Mapping[str, Callable[[_Document], Iterator[ReadRow]]] = {
    "договор": _contracts,
    "акт": _acts,
    "поручение": _tasks,
    "товар": _goods,
    "дополнительное соглашение": _supplements,
}
