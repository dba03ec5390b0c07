"""Tells why a page shows no text: it is built in the browser, or closed to strangers.

In: the tree of a page and the little text that was found. Out: the reason as a failure code, or None when the text may
be short but complete. The patterns are what such pages say, in Russian and English.
"""

import re

from lxml.html import HtmlElement  # type: ignore[import-untyped] # lxml brings no types

from ingestion.errors import FailureCode
from ingestion.parsers.page_tree import words_of

REMARK_CHARACTERS = 400
"""A shorter text that mentions scripts, cookies or passwords is not the page's subject."""
FEWEST_WORDS = 5
SHELL_CHARACTERS = 80  # what remains of a page whose root a script fills: a name, "Loading…"

_SCRIPT_REMARK = re.compile(
    r"(enable|requires?|turn on|activate|without|need)\s+(you to\s+)?java ?script"
    r"|java ?script\s+(is\s+)?(required|disabled)"
    r"|(включит[еь]|без|требуется|необходим|отключ[её]н)\s+(поддержк\w+\s+)?java ?script"
    r"|java ?script\s+(отключ|выключ)",
    re.IGNORECASE,
)
_CLOSED_REMARK = re.compile(
    r"(accept|use[sd]?|согласие|использу(ет|ем|ют)|примите)\s+(all\s+|our\s+|на\s+|файлы\s+|все\s+)*cookie"
    r"|checking your browser|verify (that )?you are (a )?human|are you a robot|unusual traffic|access denied"
    r"|подтвердите, что (вы не робот|запросы отправляли вы)|вы не робот|доступ (ограничен|запрещ[её]н)"
    r"|(log|sign) in (to|with)|(you must|please) (log|sign) in|join (now|to view)"
    r"|войдите|авторизуйтесь|войти через|вход в (личный кабинет|аккаунт|систему)|требуется авторизация",
    re.IGNORECASE,
)
_ROOTS = (
    "//*[self::div or self::main][contains(' root app __next __nuxt main-app app-root q-app ', concat(' ', @id, ' '))]"
)
_LOGIN_FIELD = "//input[translate(@type, 'PASWORD', 'pasword')='password']"


def find_wall(tree: HtmlElement, text: str, *, remark: str) -> FailureCode | None:
    """`text` is the main text that was found, `remark` everything that the page shows, including its `<noscript>`."""
    if len(text) >= REMARK_CHARACTERS:
        return None
    if _SCRIPT_REMARK.search(remark) or (len(text) < SHELL_CHARACTERS and _is_shell(tree, text)):
        return FailureCode.FILE_NEEDS_SCRIPT
    if _CLOSED_REMARK.search(remark) or tree.xpath(_LOGIN_FIELD):
        return FailureCode.FILE_NEEDS_LOGIN
    return None


def _is_shell(tree: HtmlElement, text: str) -> bool:
    """Whether a script builds the page: its root has hardly any words, or it has only a script."""
    if not tree.xpath("//script"):
        return False
    roots = tree.xpath(_ROOTS)
    return all(len(words_of(root).split()) < FEWEST_WORDS for root in roots) if roots else not text
