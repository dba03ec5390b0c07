"""Names of authors and senders, cleaned for a prompt.

In: a name as a file or a message gives it. Out: the name in one line, or an empty string for a placeholder. It does not
identify people.
"""

import re
import unicodedata

from domain.documents import SourceType

NAME_CHARS = 100  # a channel's title and a signature have no more
# What programs write into files when the user has never set a name.
_NOBODY = re.compile(
    r"(?:(?:microsoft |ms )?office )?user|windows user|user name|users|(?:администратор|пользователь)(?: windows)?"
    r"|admin(?:istrator)?|author|автор|unknown|неизвестн\w+|anonymous|python-docx|openpyxl|apache poi|root|owner|pc|пк",
    re.IGNORECASE,
)


def person_name(name: str | None) -> str:
    """The name of a person or a channel in Telegram, where «Root» and «Автор» are names, too."""
    return " ".join(filter(None, map(_visible, (name or "").split())))[:NAME_CHARS]


def author_name(name: str | None, source: SourceType) -> str:
    """Empty for a placeholder in a file or a page: answers would name «Microsoft Office User» as the author. The author
    of a note is a Telegram user, so any name is taken."""
    plain = person_name(name)
    return "" if source is not SourceType.NOTE and _NOBODY.fullmatch(plain) else plain


def _visible(word: str) -> str:
    """The word without control and direction marks, which would reverse the rest of an answer."""
    return "".join(character for character in word if unicodedata.category(character) not in ("Cc", "Cf"))
