"""Names of authors and senders as a model is told them.

In: a name as a file or a message bears it. Out: one line of it, or nothing for what is no name. It does not find out
who somebody is.
"""

import re
import unicodedata

from domain.documents import SourceType

NAME_CHARS = 100  # a channel's title and a signature have no more
# What programs write into files whose user never told a name.
_NOBODY = re.compile(
    r"(?:(?:microsoft |ms )?office )?user|windows user|user name|users|(?:администратор|пользователь)(?: windows)?"
    r"|admin(?:istrator)?|author|автор|unknown|неизвестн\w+|anonymous|python-docx|openpyxl|apache poi|root|owner|pc|пк",
    re.IGNORECASE,
)


def person_name(name: str | None) -> str:
    """As a person or a channel is called in Telegram, where «Root» and «Автор» are names, too."""
    return " ".join(filter(None, map(_visible, (name or "").split())))[:NAME_CHARS]


def author_name(name: str | None, source: SourceType) -> str:
    """Nothing for what is no name in a file or a page: answers would give «Microsoft Office User» as who wrote it. The
    author of a note is somebody in Telegram."""
    plain = person_name(name)
    return "" if source is not SourceType.NOTE and _NOBODY.fullmatch(plain) else plain


def _visible(word: str) -> str:
    """Without marks of direction and the like, which would turn the rest of an answer around."""
    return "".join(character for character in word if unicodedata.category(character) not in ("Cc", "Cf"))
