"""Buttons and what they carry.

In: `Words`, modes and ids. Out: keyboards. `callback_data` is at most 64 bytes by the types below: prefixes of a few
letters with a number or a UUID. It sends nothing.
"""

from collections.abc import Sequence

from aiogram.filters.callback_data import CallbackData
from aiogram.types import InlineKeyboardButton, InlineKeyboardMarkup, KeyboardButton, ReplyKeyboardMarkup

from bot.texts import LANGUAGES, Texts, Words
from domain.documents import Choice
from domain.people import Mode

MODE_BUTTONS = {Mode.CHAT: "button-chat", Mode.DOCUMENTS: "button-documents"}
BUTTON_CHARACTERS = 24  # a label that two of fit beside each other on a phone


class ShowSource(CallbackData, prefix="src"):
    """Show the passage behind a citation."""

    chunk: int


class Rate(CallbackData, prefix="rate"):
    """Thumbs up (1) or down (-1)."""

    rating: int


class ListPage(CallbackData, prefix="docs"):
    """A page of the library, from 0; `name` is a part of the names that are listed."""

    page: int
    name: str = ""


class OpenDocument(CallbackData, prefix="doc"):
    """A document's card; `page` is the one of the list to go back to."""

    document: str
    page: int = 0


class DeleteDocument(CallbackData, prefix="del"):
    """Delete a document; asked first, done when `sure`. `page` is the one of the list to go back to."""

    document: str
    sure: bool = False
    page: int = 0


class ShowOriginal(CallbackData, prefix="orig"):
    """Point at the message that brought a document."""

    document: str


class CancelDocument(CallbackData, prefix="stop"):
    """Stop reading a document."""

    document: str


class CancelBatch(CallbackData, prefix="stopall"):
    """Stop reading all of a batch."""

    batch: str


class KeepDocument(CallbackData, prefix="stay"):
    """A document that was sent to be read now stays; `page` is the one of the list, when the button is on its card."""

    document: str
    page: int | None = None


class KeepBatch(CallbackData, prefix="stayall"):
    """All of a batch stays."""

    batch: str


class ChooseVersion(CallbackData, prefix="ver"):
    """What becomes of a document whose name the base has with other content."""

    document: str
    choice: Choice


class AddSection(CallbackData, prefix="sect"):
    """Read the pages below a link too."""

    document: str


class Refresh(CallbackData, prefix="fresh"):
    """Fetch a link again; changed content becomes a new version."""

    document: str


class Rename(CallbackData, prefix="name"):
    """Ask for another name."""

    document: str


class SearchDocuments(CallbackData, prefix="find"):
    """Ask for a part of a name."""


class ReadDocument(CallbackData, prefix="read"):
    """A page of a document's text, from 0; `page` is the one of the list to go back to."""

    document: str
    part: int = 0


class ShowVersions(CallbackData, prefix="vers"):
    """The earlier versions of a document."""

    document: str


class AskAbout(CallbackData, prefix="ask"):
    """Go on to Чат from a receipt."""

    document: str


class Clean(CallbackData, prefix="clean"):
    """Clear `chat` or `base`, or `nothing`; asked first, done when `sure`."""

    what: str
    sure: bool = False


class ModeFor(CallbackData, prefix="for"):
    """A mode for the message that this one replies to, and from then on."""

    mode: Mode


class ChooseLanguage(CallbackData, prefix="lang"):
    """The language of the interface."""

    language: str


class PickChoice(CallbackData, prefix="pick"):
    """One of the answers to a question asked back, by its place; its words are on the button."""

    place: int


class ResumeDialogue(CallbackData, prefix="talk"):
    """Go on with an earlier dialogue."""

    session: str


class SendTable(CallbackData, prefix="xlsx"):
    """A table that stands under an answer, as a file."""

    table: int


STOP = "enough"
"""Answer now from what is known: for a question that takes several steps."""

MORE = "more"
"""The rest of a list that an answer began."""

KEEP = "keep"
"""Put the message that this one replies to into the base."""

ONLY_READ = "glance"
"""The same for a day."""

ANSWER = "answer"
"""Answer the message that this one replies to."""


def button(label: str, data: CallbackData | str) -> InlineKeyboardButton:
    """An inline button."""
    packed = data if isinstance(data, str) else data.pack()
    return InlineKeyboardButton(text=label, callback_data=packed)


def rows(*lines: Sequence[InlineKeyboardButton]) -> InlineKeyboardMarkup | None:
    """The lines that have buttons; None when none has."""
    keyboard = [list(line) for line in lines if line]
    return InlineKeyboardMarkup(inline_keyboard=keyboard) if keyboard else None


def in_rows(buttons: Sequence[InlineKeyboardButton], width: int) -> list[list[InlineKeyboardButton]]:
    """Buttons in lines of `width`."""
    return [list(buttons[start : start + width]) for start in range(0, len(buttons), width)]


def mode_label(words: Words, mode: Mode, current: Mode | None) -> str:
    """A mode's name, ticked when it is the current one."""
    name = words.plain(MODE_BUTTONS[mode])
    return words.plain("button-chosen", mode=name) if mode == current else name


def mode_choice(words: Words, current: Mode | None) -> InlineKeyboardMarkup:
    """The two modes; `callback_data` is the mode's own name, as in seed 1, section 4.1.1."""
    line = [button(mode_label(words, mode, current), mode.value) for mode in MODE_BUTTONS]
    return InlineKeyboardMarkup(inline_keyboard=[line])


def mode_offer(words: Words) -> InlineKeyboardMarkup:
    """The two modes, for a message that came before a mode was chosen."""
    line = [button(mode_label(words, mode, None), ModeFor(mode=mode)) for mode in MODE_BUTTONS]
    return InlineKeyboardMarkup(inline_keyboard=[line])


def mode_keyboard(words: Words, current: Mode | None) -> ReplyKeyboardMarkup:
    """The keyboard that always shows which mode is on."""
    labels = [*(mode_label(words, mode, current) for mode in MODE_BUTTONS), words.plain("button-library")]
    return ReplyKeyboardMarkup(
        keyboard=[[KeyboardButton(text=label) for label in labels]],
        resize_keyboard=True,
        is_persistent=True,
        input_field_placeholder=words.plain("write-here"),
    )


def labelled_modes(texts: Texts) -> dict[str, Mode]:
    """Everything that the mode buttons of a reply keyboard can say, in every language, ticked or not, and their bare
    names: where the keyboard is folded away, people write «Чат»."""
    labels = {
        mode_label(texts.for_language(language), mode, current): mode
        for language in LANGUAGES
        for mode in MODE_BUTTONS
        for current in (None, mode)
    }
    return labels | {bare(label): mode for label, mode in labels.items()}


def bare(label: str) -> str:
    """`Чат` of `💬 Чат ✓`."""
    return label.split()[1]


def language_choice(texts: Texts) -> InlineKeyboardMarkup:
    """A button for each language, named in that language."""
    line = [
        button(texts.for_language(language).plain("language-name"), ChooseLanguage(language=language))
        for language in LANGUAGES
    ]
    return InlineKeyboardMarkup(inline_keyboard=[line])
