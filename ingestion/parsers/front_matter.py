"""Reads the lines between `---` at the top of a Markdown file: title, author, date.

In: the file's text. Out: the metadata, and the text after it. It reads `key: value` lines, quoted or not; other YAML is
ignored.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

FRONT_MATTER = re.compile(r"\A\s*---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
FIELD = re.compile(r"^(\w+):[ \t]*(.*?)[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class FrontMatter:
    """The metadata of a Markdown file; None where nothing is stated."""

    title: str | None = None
    author: str | None = None
    published_at: datetime | None = None


def split_front_matter(text: str) -> tuple[FrontMatter, str]:
    """A rule `---` at the top without any field after it is no front matter."""
    found = FRONT_MATTER.match(text)
    if found is None:
        return FrontMatter(), text
    fields = {key.lower(): _unquote(value) for key, value in FIELD.findall(found.group(1))}
    if not fields:
        return FrontMatter(), text
    return _read(fields), text[found.end() :]


def _read(fields: Mapping[str, str]) -> FrontMatter:
    return FrontMatter(
        title=fields.get("title") or None,
        author=fields.get("author") or None,
        published_at=_parse_date(fields.get("date", "")),
    )


def _unquote(value: str) -> str:
    if len(value) < 2 or value[0] != value[-1] or value[0] not in "\"'":
        return value
    if value[0] == "'":
        return value[1:-1].replace("''", "'")
    try:
        return str(json.loads(value))  # a double-quoted YAML scalar is nearly a JSON string
    except ValueError:
        return value[1:-1]


def _parse_date(value: str) -> datetime | None:
    try:
        date = datetime.fromisoformat(value)
    except ValueError:
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)
