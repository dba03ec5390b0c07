"""A strict reader of Telegram's HTML, written from https://core.telegram.org/bots/api#html-style.

In: HTML that a bot would send. Out: its text and formatted stretches; AssertionError for anything doubtful, also
where the real server would be lenient.
"""

import html
import re
from dataclasses import dataclass

_TOKEN = re.compile(
    r"<(?P<close>/?)(?P<name>[a-z]+)(?P<rest>[^<>]*)>|(?P<entity>&[^;\s]*;?)|(?P<text>[^<&]+)|(?P<bad>.)", re.S
)
_SIMPLE = frozenset({"b", "i", "s", "u"})
_ATTRIBUTES = {
    "a": re.compile(r' href="(?:https?|tg)://[^"<>]+"', re.IGNORECASE),
    "code": re.compile(r'(?: class="language-[\w+#.-]+")?'),
    "pre": re.compile(""),
    "blockquote": re.compile("(?: expandable)?"),
    **{name: re.compile("") for name in _SIMPLE},
}
_ENTITY = re.compile(r"&(?:lt|gt|amp|quot|#\d+|#x[0-9a-f]+);")


@dataclass(frozen=True)
class Stretch:
    """Formatted text: `kind` is the tag's name, offsets count characters."""

    kind: str
    start: int
    end: int


def read_html(source: str) -> tuple[str, list[Stretch]]:
    """Text and formatting of `source`."""
    text: list[str] = []
    opened: list[tuple[str, int]] = []
    stretches: list[Stretch] = []
    length = 0
    for token in _TOKEN.finditer(source):
        assert not token["bad"], f"stray {token['bad']!r}"
        if token["name"] and token["close"]:
            assert opened, f"</{token['name']}> closes nothing"
            name, start = opened.pop()
            assert name == token["name"], f"</{token['name']}> closes <{name}>"
            assert not token["rest"], "an end tag with attributes"
            assert length > start, f"<{name}> is empty"
            stretches.append(Stretch(name, start, length))
        elif token["name"]:
            _check_start(token["name"], token["rest"], [name for name, _ in opened])
            opened.append((token["name"], length))
        else:
            piece = _unescaped(token)
            text.append(piece)
            length += len(piece)
    assert not opened, f"never closed: {opened}"
    return "".join(text), stretches


def _check_start(name: str, rest: str, around: list[str]) -> None:
    assert name in _ATTRIBUTES, f"<{name}> is not known to Telegram"
    assert _ATTRIBUTES[name].fullmatch(rest), f"<{name}{rest}>"
    assert name not in around, f"<{name}> inside itself"
    inner_code_of_pre = name == "code" and around[-1:] == ["pre"] and rest
    assert inner_code_of_pre or "code" not in around, f"<{name}> inside <code>"
    assert inner_code_of_pre or "pre" not in around, f"<{name}> inside <pre>"
    assert name not in ("pre", "code") or inner_code_of_pre or set(around) <= {"blockquote"}, f"<{name}> in {around}"


def _unescaped(token: re.Match[str]) -> str:
    if not token["entity"]:
        return token["text"]
    assert _ENTITY.fullmatch(token["entity"]), f"entity {token['entity']}"
    return html.unescape(token["entity"])
