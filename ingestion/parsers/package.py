"""Reads a document that is a ZIP archive of XML parts: Office, OpenDocument, EPUB.

In: a path. Out: its parts, inflated within a budget for the whole document, and the relations between Office parts.
Part names are only names: nothing is ever written to disk.
"""

import posixpath
import zipfile
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Self
from urllib.parse import unquote

from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.xml_trees import Element, attribute, read_tree

LARGEST_PARTS_BYTES = 64 * 1024 * 1024
"""Limit of all parts read as trees, inflated: 64 MB is a shelf of books. A tree takes ten times as much memory."""

LARGEST_STREAM_BYTES = 1024 * 1024 * 1024  # of a part read element by element; in practice the time limit applies first


@dataclass(frozen=True, kw_only=True)
class Relation:
    """A relation from one Office part to another."""

    kind: str  # the last word of its type: slide, notesSlide, chart
    target: str  # the part's name


class Package(AbstractContextManager["Package"]):
    """An open archive."""

    def __init__(self, path: Path, *, name: str) -> None:
        """`name` is used in errors. Raises zipfile.BadZipFile."""
        self._name = name
        self._archive = zipfile.ZipFile(path)
        self._left_bytes = LARGEST_PARTS_BYTES
        self.names = frozenset(self._archive.namelist())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._archive.close()

    def read(self, part: str) -> bytes:
        """The whole part; empty when there is none. Raises SourceError FILE_TOO_HEAVY before it is inflated."""
        if part not in self.names:
            return b""
        size = self._archive.getinfo(part).file_size  # as stated; zipfile never inflates beyond it
        self._left_bytes -= size
        if self._left_bytes < 0:
            raise SourceError(FailureCode.FILE_TOO_HEAVY, name=self._name, detail=f"inflates beyond {size} bytes")
        return self._archive.read(part)

    def tree(self, part: str) -> Element | None:
        """The root of a part; None when there is no such part."""
        data = self.read(part)
        return read_tree(data) if data else None

    def open(self, part: str) -> IO[bytes]:
        """The part as a stream, for `stream_elements`. Raises KeyError, and SourceError FILE_TOO_HEAVY."""
        size = self._archive.getinfo(part).file_size
        if size > LARGEST_STREAM_BYTES:
            raise SourceError(FailureCode.FILE_TOO_HEAVY, name=self._name, detail=f"{part} inflates to {size} bytes")
        return self._archive.open(part)

    def relations(self, part: str) -> Mapping[str, Relation]:
        """Relations of an Office part, by id; without those to outside the package."""
        folder, base = posixpath.split(part)
        root = self.tree(posixpath.join(folder, "_rels", f"{base}.rels"))
        if root is None:
            return {}
        return {
            link.get("Id", ""): Relation(
                kind=link.get("Type", "").rpartition("/")[2], target=resolve(part, link.get("Target", ""))
            )
            for link in root
            if attribute(link, "TargetMode") != "External"
        }


def resolve(part: str, target: str) -> str:
    """The part that `part` refers to as `target`: relative to its folder, or absolute; without the fragment."""
    path = unquote(target.partition("#")[0])
    return posixpath.normpath(posixpath.join("/", posixpath.dirname(part), path)).lstrip("/")
