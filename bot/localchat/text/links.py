"""Validates the address of a link. In: what a sender wrote. Out: the address with its scheme, None for an invalid one.

Only schemes that Telegram opens are allowed, so `javascript:` and `data:` never reach the page.
"""

import re

# With a scheme any host is valid; without one the host needs a dot.
_ADDRESS = re.compile(r"(?:https?|ftp|tg|ton)://[^\s/?#]\S*|(?:mailto|tel):\S+|[^\s/?#:]+\.[^\s.:]\S*", re.IGNORECASE)
_SCHEME = re.compile(r"(?:(?:https?|ftp|tg|ton)://|mailto:|tel:)", re.IGNORECASE)
_USER = re.compile(r"tg://user\?id=(\d{1,15})")


def clean_address(written: str) -> str | None:
    """`example.org/a` -> `http://example.org/a`."""
    if not _ADDRESS.fullmatch(written):
        return None
    return written if _SCHEME.match(written) else f"http://{written}"


def mentioned_user(written: str) -> int | None:
    """`tg://user?id=5` -> 5."""
    match = _USER.fullmatch(written)
    return int(match[1]) if match else None
