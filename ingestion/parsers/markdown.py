"""Reads Markdown: headings with their paths, code kept whole, tables, lists; inline markup as plain text.

In: a Markdown file. Out: a `Document`. markdown-it makes HTML for `markup`, in portions that begin with a heading or a
paragraph, since it takes about fifty times a text's size in memory. Of the front matter `key: value` lines are read,
other YAML is ignored.
"""

import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain, islice
from pathlib import Path

from lxml import html as lxml_html  # type: ignore[import-untyped] # lxml brings no types
from lxml.etree import ParserError  # type: ignore[import-untyped] # lxml brings no types
from lxml.html import tostring  # type: ignore[import-untyped] # lxml brings no types
from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from ingestion.parsers.encodings import text_lines
from ingestion.parsers.markup import add_markup
from ingestion.parsers.outline import Outline
from ingestion.records import Document

LINE_BREAK_TAG = re.compile(r"<br\s*/?>", re.IGNORECASE)
WORTHWHILE_ADDRESS = ("http://", "https://", "mailto:", "tel:")

RULES = (
    (r"\{(?:linkto|link)\([^()\n]*\)\[[^\]\n]*?text=([^\]\n]+)\]\}", r"\1"),  # {linkto(#id)[text=words]}
    (r"(?m)^\{cut\(([^\n{}]*?)\)(?:\[[^\]\n]*\])?\}$", r"###### \1"),
    (r"\{(?:heading|cut|tab)\(([^\n{}]*?)\)(?:\[[^\]\n]*\])?\}", r"\1"),  # {heading(Words)[id=x]}
    (r"\{(?:include|ifdef|ifndef|note|caption|counter)\([^\n{}]*?\)(?:\[[^\]\n]*\])?\}", ""),
    (r"\{/(?:cut|ifdef|ifndef|note|tab|tabs|caption)\}|\{(?:tabs|note)\}", ""),
    (r"\{\{#(?:rustdoc_include|include|playground)[^}\n]*\}\}", ""),  # mdBook: the text is in another file
)
"""Patterns to delete or unwrap, in order. `{var(name)}` stays: its name is informative, its value is elsewhere."""
FRONT_MATTER = re.compile(r"\A\s*---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
FRONT_MATTER_LINES = 1_000  # longer front matter is not recognised
FIELD = re.compile(r"^(\w+):[ \t]*(?:([\"'])(.*)\2|(.*?))[ \t]*$", re.MULTILINE)
PORTION_CHARS = 50_000
LONGEST_PORTION_CHARS = 100_000  # a longer one ends after any line: nobody wrote it as one list or paragraph
_HEADING = re.compile(r"#{1,6}[ \t]")
_OPENING = re.compile(r"[\s>]*(```+|~~~+|<!--)")  # of code or a comment
_TABLE_RULE = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*\|[-:| \t]*$")
_DEFINITION = re.compile(r"[\s>*+\-\d.)]*\[[^\]]+\]:")  # of a link: `[name]: https://…`


class _Renderer(RendererHTML):
    """HTML for `markup`: code with its marks, of links the external addresses in brackets, of images the descriptions,
    of tags inside a line none but breaks."""

    def code_inline(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return escapeHtml(f"`{tokens[idx].content}`")

    def link_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        opened = next(place for place in range(idx, -1, -1) if tokens[place].type == "link_open")
        address = str(tokens[opened].attrs.get("href", ""))
        shown = address.removeprefix("mailto:").removeprefix("tel:")
        words = self.renderInlineAsText(tokens[opened:idx], options, env)
        return escapeHtml(f" ({shown})") if address.startswith(WORTHWHILE_ADDRESS) and shown not in words else ""

    def image(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return escapeHtml(self.renderInlineAsText(tokens[idx].children, options, env))

    def html_block(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        """Whole in itself, so that a tag or comment without an end hides nothing of what follows."""
        content = tokens[idx].content
        if "-->" not in content:
            content = content.replace("<!--", "&lt;!--")
        try:
            return str(tostring(lxml_html.fragment_fromstring(content, create_parent="div"), encoding="unicode"))
        except ParserError:  # nothing is in it, as in a <!DOCTYPE>
            return ""

    def html_inline(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return "<br>" if LINE_BREAK_TAG.fullmatch(tokens[idx].content) else ""


def unwrap_template_marks(text: str) -> str:
    """Returns a text without such marks unchanged."""
    for pattern, replacement in RULES if "{" in text else ():
        text = re.sub(pattern, replacement, text)
    return text


def split_front_matter(text: str) -> tuple[Mapping[str, str], str]:
    """Its fields, and the text after it. A rule `---` at the top without any field after it is no front matter."""
    found = FRONT_MATTER.match(text)
    fields: dict[str, str] = {}
    for key, quote, quoted, bare in FIELD.findall(found[1]) if found else ():
        fields[key.lower()] = quoted.replace(f"\\{quote}", quote).replace("''", "'") if quote else bare
    return fields, text[found.end() :] if found and fields else text


def parse(path: Path, name: str) -> Document:
    """Front matter gives title, author and date."""
    return _read(lambda: text_lines(path), name=name)


def parse_markdown(text: str, *, name: str) -> Document:
    """The same for Markdown in memory; `name` is the title when the text has none."""
    return _read(lambda: (f"{line}\n" for line in text.split("\n")), name=name)


def _read(lines: Callable[[], Iterable[str]], *, name: str) -> Document:
    """`lines` returns the text from its beginning at each call."""
    parser = MarkdownIt("commonmark", {"maxNesting": 20}, renderer_cls=_Renderer).enable(["table", "strikethrough"])
    env: EnvType = {}
    parser.parse("\n".join(filter(_DEFINITION.match, lines())), env)  # links may be defined anywhere
    following = iter(lines())
    stated, body = split_front_matter("".join(islice(following, FRONT_MATTER_LINES)))
    outline = Outline()
    for portion in _portions(map(unwrap_template_marks, chain(io.StringIO(body), following))):
        add_markup(outline, parser.render(portion, env))
        env.pop("duplicate_refs", None)  # unused
    try:
        day = datetime.fromisoformat(stated.get("date", ""))
    except ValueError:
        day = None
    return outline.document(
        name,
        stated.get("title"),
        author=stated.get("author") or None,
        published_at=day.replace(tzinfo=day.tzinfo or UTC) if day else None,
    )


def _portions(lines: Iterable[str]) -> Iterator[str]:
    """A table that is cut has its header in each portion."""
    held: list[str] = []
    header: list[str] = []  # of the open table
    chars, closing = 0, ""  # of the open code or comment
    for line in lines:
        is_gap = not held or held[-1].isspace()
        begins = not closing and (_HEADING.match(line) or (is_gap and line[:1].isalnum()))
        is_line = bool(held) and held[-1].endswith("\n")  # a very long line comes in pieces
        if is_line and (chars > LONGEST_PORTION_CHARS or (begins and chars > PORTION_CHARS)):
            yield "".join(held)
            held, chars = header.copy(), 0
        if closing:
            closing = "" if closing in line else closing
        elif opening := _OPENING.match(line):
            mark = "-->" if opening[1] == "<!--" else opening[1]
            closing = mark if mark not in line[opening.end() :] else ""
        elif line.isspace():
            header = []
        elif held and _TABLE_RULE.match(line):
            header = [held[-1], line]
        held.append(line)
        chars += len(line)
    yield "".join(held)
