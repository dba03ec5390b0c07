"""Parses untrusted XML into trees and streams of elements, with external access and expansion turned off.

In: bytes. Out: lxml's elements. Entities stay unresolved, nothing is loaded, and libxml2 keeps its limits of depth
(256) and of a text's length (10 MB). It knows no vocabulary.
"""

import re
from collections.abc import Iterator
from html.entities import html5
from typing import IO, Any

from lxml import etree  # type: ignore[import-untyped] # lxml brings no types

Element = Any  # lxml's

OUT_OF_MEMORY = 2  # libxml2's XML_ERR_NO_MEMORY; lxml raises an XMLSyntaxError with this code
SAFE = {"resolve_entities": False, "no_network": True, "load_dtd": False, "huge_tree": False}

_NAMED = re.compile(rb"&([A-Za-z][A-Za-z0-9]{1,31});")
_XML_NAMES = frozenset({b"amp", b"lt", b"gt", b"quot", b"apos"})


def read_tree(data: bytes, *, recover: bool = False) -> Element:
    """The root; with `recover`, of whatever can be parsed. Raises MemoryError, and ValueError when it is no XML."""
    parser = etree.XMLParser(**SAFE, remove_comments=True, remove_pis=True, recover=recover)
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise _explain(error) from error
    if root is None:
        raise ValueError("no element in the XML")
    return root


def spell_entities(data: bytes) -> bytes:
    """Replace HTML's named characters by numbers, which XML knows without a DTD; for encodings that include ASCII."""
    return _NAMED.sub(_number, data)


def _number(found: re.Match[bytes]) -> bytes:
    characters = html5.get(found.group(1).decode("ascii") + ";")
    if characters is None or found.group(1) in _XML_NAMES:
        return found.group()
    return "".join(f"&#{ord(character)};" for character in characters).encode()


def stream_elements(stream: IO[bytes], tag: str) -> Iterator[Element]:
    """Complete elements with this tag (`{*}row`: in any namespace); each is emptied when the next is requested.

    Raises as `read_tree` does.
    """
    try:
        for _, element in etree.iterparse(stream, tag=tag, remove_comments=True, remove_pis=True, **SAFE):
            yield element
            element.clear()
            while element.getprevious() is not None:
                del element.getparent()[0]
    except etree.XMLSyntaxError as error:
        raise _explain(error) from error


def local_name(element: Element) -> str:
    """The tag without its namespace; only namespaces differ between strict and transitional files, or FB2 2.0 and 2.1.

    Empty for nodes that are no elements (unresolved entities).
    """
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def attribute(element: Element, name: str) -> str | None:
    """The value of an attribute by its local name."""
    found = element.get(name)
    if found is not None:
        return str(found)
    return next((str(value) for key, value in element.attrib.items() if key.endswith("}" + name)), None)


def child(element: Element, name: str) -> Element | None:
    """The first child with this local name."""
    return next(element.iterchildren("{*}" + name), None)


def words_of(element: Element | None) -> str:
    """All text inside on one line."""
    return "" if element is None else " ".join("".join(element.itertext()).split())


def _explain(error: Exception) -> Exception:
    if getattr(error, "code", None) == OUT_OF_MEMORY:
        return MemoryError("libxml2")
    return ValueError(f"{type(error).__name__}: {error}")
