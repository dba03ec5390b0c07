"""Texts made to break what comes after the parser: cutting, sentences, words, dates. All are small enough to be sent.

In: a path. Out: a file there. Two of them took the bot's process to 1.8 and 1 GB while chunking still ran in it.
"""

from collections.abc import Callable
from pathlib import Path

MEGABYTE = 1_000_000

Maker = Callable[[Path], object]


def _repeated(text: str, megabytes: int) -> Maker:
    times = megabytes * MEGABYTE // len(text.encode())
    return lambda path: path.write_text(text * times, encoding="utf-8")


def _cell_of_lines(path: Path) -> None:
    path.write_text('a;b\n1;"' + "x\n" * 5_000_000 + '"\n')


def _attributes(path: Path) -> None:
    attributes = "".join(f" a{number}=x" for number in range(500_000))
    path.write_text(f"<html><body><p{attributes}>Слова.</p></body></html>")


def _blank_lines(path: Path) -> None:
    path.write_text("Начало.\n" + "\n" * 18_000_000 + "Конец.")


def _blank_entities(path: Path) -> None:
    path.write_text("<html><body><p>Начало" + "&nbsp;" * 1_600_000 + "конец.</p></body></html>")


FILES: dict[str, Maker] = {
    "cell.csv": _cell_of_lines,
    "yes.txt": _repeated("Да. ", 15),
    "attributes.html": _attributes,
    "initials.txt": _repeated("А. Б. ", 10),
    "quotes.txt": _repeated("«Он сказал. ", 10),
    "numbers.txt": _repeated("1.2.3. ", 10),
    "word.txt": _repeated("слово", 15),
    "marks.txt": _repeated("а\u0301\u0302\u0303\u0304", 10),
    "pictures.txt": _repeated("👩\u200d👩\u200d👧", 10),
    "speech.txt": _repeated("— Да? — спросил он. — Нет! ", 10),
    "abbreviations.txt": _repeated("т. е. и т. д. в 2024 г. см. рис. 5 ", 10),
    "headings.md": _repeated("# Заголовок\n", 10),
    "rows.csv": _repeated("слово;1\n", 15),
    "days.txt": _repeated("Договор № 5 от 01.02.2024 ", 10),
    "years.txt": _repeated("в 2024 г. ", 10),
    "blanks.txt": _blank_lines,
    "blanks.html": _blank_entities,
    "bars.md": _repeated("| a " * 200 + "|\n", 10),
    "code.md": lambda path: path.write_text("```\n" + "x = 1\n" * 1_600_000 + "```\n"),
    "capitals.txt": _repeated("ИВАН IV. ", 10),
}
