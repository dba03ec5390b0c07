"""Buttons and the data they carry.

In: `Words`, modes and ids. Out: keyboards. The types below keep `callback_data` within Telegram's 64 bytes.
"""

import hashlib
from collections.abc import Sequence

from aiogram.filters.callback_data import CallbackData
from aiogram.types import InlineKeyboardButton, InlineKeyboardMarkup, KeyboardButton, ReplyKeyboardMarkup
from pydantic import Field

from bot.settings import Language
from bot.texts import LANGUAGES, Texts, Value, Words
from domain.documents import Choice
from domain.people import Mode
from domain.visible import visible
from rag.words import Span, normalise

BEFORE_BASE = " · "  # «📚 База · Работа»
Shown = tuple[str, InlineKeyboardMarkup | None]  # HTML, and the buttons below it
BUTTON_CHARACTERS = 24  # two labels of this length fit side by side on a phone


class ShowSource(CallbackData, prefix="src"):
    # the passage's id, then the places of the words that carry the answer: `5`, `5.12-50.70-99`
    place: str = Field(pattern=r"^\d{1,19}(\.\d{1,7}-\d{1,7})*$")

    @property
    def chunk(self) -> int:
        return int(self.place.partition(".")[0])

    @property
    def bold(self) -> tuple[Span, ...]:
        """Where in its text the words stand."""
        pairs = (each.split("-") for each in self.place.split(".")[1:])
        return tuple(Span(start=int(start), end=int(end)) for start, end in pairs)


class Rate(CallbackData, prefix="rate"):
    rating: int  # thumbs up (1) or down (-1)


class ListPage(CallbackData, prefix="docs"):
    page: int  # of the library, from 0
    name: str = ""  # only documents whose names contain it are listed


class OfDocument(CallbackData, prefix="of"):
    document: str


class OpenDocument(OfDocument, prefix="doc"):
    page: int = 0  # of the list, to go back to from the card


class TakeBack(OfDocument, prefix="back"):
    """Remove a document from under its receipt, at once."""


class DeleteDocument(OfDocument, prefix="del"):
    sure: bool = False  # else it is asked first
    page: int = 0  # of the list, to go back to


class ShowOriginal(OfDocument, prefix="orig"): ...


class CancelDocument(OfDocument, prefix="stop"): ...


class CancelBatch(CallbackData, prefix="stopall"):
    batch: str


class KeepDocument(OfDocument, prefix="stay"):
    page: int | None = None  # of the list, when the button is on the document's card


class KeepBatch(CallbackData, prefix="stayall"):
    batch: str


class ChooseVersion(OfDocument, prefix="ver"):
    choice: Choice  # when the base has its name with other content


class AddSection(OfDocument, prefix="sect"): ...


class Refresh(OfDocument, prefix="fresh"):
    """Fetch a link again; changed content becomes a new version."""


class Rename(OfDocument, prefix="name"): ...


class SendOver(OfDocument, prefix="over"): ...


class ReadDocument(OfDocument, prefix="read"):
    part: int = 0  # a page of its text


class ShowVersions(OfDocument, prefix="vers"): ...


class AskAbout(OfDocument, prefix="ask"):
    """From now on, ask of this document alone; from a receipt or a card."""


class Clean(CallbackData, prefix="clean"):
    what: str  # `chat`, `base` or `all` of a person, or `nothing`
    sure: bool = False  # else it is asked first


class ModeFor(CallbackData, prefix="for"):
    mode: Mode  # to switch to, and to handle the message in that this one replies to


class ChooseLanguage(CallbackData, prefix="lang"):
    language: Language


class PickChoice(CallbackData, prefix="pick"):
    place: int  # of the choice in a clarifying question; the button's label holds its text


class PickDocument(OfDocument, prefix="in"):
    asked: str  # `question_key` of the question of the dialogue to answer from this document


class ResumeDialogue(CallbackData, prefix="talk"):
    session: str


class SendTable(CallbackData, prefix="xlsx"):
    table: int


STOP = "enough"  # end the running turn, and answer from the facts found so far
EVERYWHERE = "everywhere"  # search each document for what the last question asked
MORE = "more"  # show the rest of a list that the answer began
KEEP = "keep"  # put the message that this one replies to into the base
ONLY_READ = "glance"  # the same, for one day only
EVERYTHING = "everything"  # ask of all documents again, not of one alone
ANSWER = "answer"  # answer the message that this one replies to
FIND = "find"  # ask for a part of a document's name
DISMISS = "dismiss"  # remove the documents that could not be read
NEVER_MIND = "nevermind"  # cancel what the bot asked for
ADD_SEARCH = "add-search"  # download the model of search by meaning


def question_key(text: str) -> str:
    """Eight digits that tell a question from the others of its dialogue: Telegram's 64 bytes do not hold its words."""
    return hashlib.sha256(normalise(text).encode(errors="replace")).hexdigest()[:8]


def button(label: str, data: CallbackData | str) -> InlineKeyboardButton:
    packed = data if isinstance(data, str) else data.pack()
    return InlineKeyboardButton(text=visible(label), callback_data=packed)


def worded(words: Words, key: str, data: CallbackData | str, **values: Value) -> InlineKeyboardButton:
    """An inline button labelled with the text `button-<key>`."""
    return button(words.plain(f"button-{key}", **values), data)


def rows(*lines: Sequence[InlineKeyboardButton | None]) -> InlineKeyboardMarkup | None:
    """The lines that have buttons; None when none has."""
    keyboard = [shown for line in lines if (shown := [each for each in line if each])]
    return InlineKeyboardMarkup(inline_keyboard=keyboard) if keyboard else None


def in_rows(buttons: Sequence[InlineKeyboardButton], width: int) -> list[list[InlineKeyboardButton]]:
    return [list(buttons[start : start + width]) for start in range(0, len(buttons), width)]


def mode_label(words: Words, mode: Mode, current: Mode | None, base: str | None = None) -> str:
    """A mode's name, ticked when it is the current one; База with the name of the open base, where it has one."""
    name = words.plain(f"button-{mode.value}")
    if base and mode is Mode.DOCUMENTS:
        name = f"{name}{BEFORE_BASE}{base}"
    return words.plain("button-chosen", mode=name) if mode == current else name


def mode_choice(words: Words, current: Mode | None, *, base: str | None = None) -> InlineKeyboardMarkup:
    """The two modes; `callback_data` is the mode's own name, as in seed 1, section 4.1.1."""
    line = [button(mode_label(words, mode, current, base), mode.value) for mode in Mode]
    return InlineKeyboardMarkup(inline_keyboard=[line])


def mode_keyboard(words: Words, current: Mode | None, *, base: str | None = None) -> ReplyKeyboardMarkup:
    """The keyboard that always shows which mode is on, and which base is open."""
    labels = [*(mode_label(words, mode, current, base) for mode in Mode), words.plain("button-library")]
    return ReplyKeyboardMarkup(
        keyboard=[[KeyboardButton(text=label) for label in labels]],
        resize_keyboard=True,
        is_persistent=True,
        input_field_placeholder=words.plain("write-here"),
    )


def labelled_modes(texts: Texts) -> dict[str, Mode]:
    """Labels of the mode buttons in all languages, ticked or not, and bare: «Чат» is typed, too."""
    every = ((texts.for_language(language), mode) for language in LANGUAGES for mode in Mode)
    labels = {mode_label(words, mode, current): mode for words, mode in every for current in (None, mode)}
    return labels | {bare(label): mode for label, mode in labels.items()}


def bare(label: str) -> str:
    """`Чат` of `💬 Чат ✓`."""
    return label.split()[1]
