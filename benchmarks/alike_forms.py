"""Documents of one form: contracts, invoices, minutes, price lists, CVs and reports, in Russian and English.

In: a form, a seed, how many. Out: documents of many clauses whose wording is the same and whose values differ, with
questions about single clauses. What tells the documents apart (party, number, day, person, month, branch) stands in the
opening or the file's name alone; a question names it as people do: in other cases, without quotation marks, by its
number. Texts and names are in `alike_texts`; everything is made up.
"""

import random
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import product
from pathlib import Path

from adapters.morphology import dictionary

Values = Mapping[str, str]
Identities = Callable[[random.Random, int], Iterator[dict[str, str]]]


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A question, and the words of the document that answer it."""

    text: str
    answer: str


@dataclass(frozen=True, kw_only=True)
class MadeDocument:
    """A document of a base."""

    file_name: str
    text: str
    questions: tuple[Asked, ...]


@dataclass(frozen=True, kw_only=True)
class Clause:
    """A section; `says` holds the sentence that answers `asks`. Braces are filled with the document's values."""

    heading: str
    says: str
    asks: list[str]  # {of} is what tells the document apart
    before: str  # and `after`: alike in all documents
    after: str


@dataclass(frozen=True, kw_only=True)
class Form:
    """A kind of document."""

    names: tuple[str, ...]  # of the file
    opening: str
    clauses: tuple[Clause, ...]
    ways: tuple[str, ...]  # how a question says which document it means
    identities: Identities


_TEXTS = Path(__file__).parent / "alike_texts"
_NAMES = {
    name: tuple(text.split("|" if "endings" in name else None))
    for name, text in tomllib.loads((_TEXTS / "names.toml").read_text(encoding="utf-8")).items()
}


def _inflected(word: str, case: str) -> str:
    """«Лазурит» -> «Лазуритом»; what the dictionary cannot inflect stays."""
    head, sign, tail = word.partition("-")
    parsed = next((each for each in dictionary().parse(head) if "nomn" in str(each.tag)), None)
    changed = parsed.inflect({case}) if parsed else None
    return f"{changed.word.capitalize()}{sign}{tail}" if changed and " " not in word else word


def _days(chance: random.Random, count: int) -> list[date]:
    first = date(2016, 1, 4)
    return [first + timedelta(days=place) for place in chance.sample(range(max(3600, count)), count)]


def _numbered_firms(chance: random.Random, count: int, language: str) -> Iterator[tuple[str, dict[str, str]]]:
    """A firm's bare name with the number and day of its document; a thousand firms, then «Лазурит 2»."""
    every = [f"{name}{end}" for end, name in product(_NAMES[f"firm_endings{language}"], _NAMES[f"firms{language}"])]
    chosen = chance.sample(every[: max(200, count)], min(count, len(every)))
    for number, day in enumerate(_days(chance, count)):
        bare = chosen[number % len(chosen)] + (f" {number // len(chosen) + 1}" if number >= len(chosen) else "")
        yield bare, {"number": f"{number * 7 % 900 + 100 + number // 900 * 1000}", **_day(day)}


def _firms(chance: random.Random, count: int) -> Iterator[dict[str, str]]:
    for bare, rest in _numbered_firms(chance, count, ""):
        kind = chance.choice(("ООО", "АО", "ПАО"))
        yield {
            "bare": bare,
            "lower": bare.lower(),
            "firm": f"{kind} «{bare}»",
            "shout": f"{kind} «{bare.upper()}»",
            "with_firm": _inflected(bare, "ablt"),
            "of_firm": _inflected(bare, "gent"),
            **rest,
        }


def _firms_en(chance: random.Random, count: int) -> Iterator[dict[str, str]]:
    for bare, rest in _numbered_firms(chance, count, "_en"):
        firm = f"{bare} {chance.choice(('Inc.', 'LLC', 'Ltd.', 'Corporation'))}"
        yield {"bare": bare, "lower": bare.lower(), "firm": firm, "shout": firm.upper(), **rest}


def _day(day: date) -> dict[str, str]:
    return {
        "day": f"{day.day} {_NAMES['months_of'][day.month - 1]} {day.year} г.",
        "day_only": f"{day.day} {_NAMES['months_of'][day.month - 1]} {day.year}",
        "dotted": day.strftime("%d.%m.%Y"),
        "iso": day.isoformat(),
        "day_en": f"{_NAMES['months_en'][day.month - 1]} {day.day}, {day.year}",
        "day_en_only": f"{day.day} {_NAMES['months_en'][day.month - 1]} {day.year}",
        "year": str(day.year),
    }


def _meetings(chance: random.Random, count: int) -> Iterator[dict[str, str]]:
    for place, day in enumerate(sorted(_days(chance, count))):
        yield {"number": str(place + 1), **_day(day)}


def _people(chance: random.Random, count: int) -> Iterator[dict[str, str]]:
    full = [(first, last) for last in _NAMES["surnames"] for first in _NAMES["women" if last.endswith("а") else "men"]]
    for number, (first, last, again) in enumerate(_persons(chance, full, count)):
        chosen = f"{last}-{_NAMES['firms'][again % len(_NAMES['firms'])]}ский" if again else last
        yield {
            "first": first,
            "last": chosen,
            "of_last": _inflected(chosen, "gent"),
            "of_first": _inflected(first, "gent"),
            "mail": f"cv{number}@mail.example",
        }


def _people_en(chance: random.Random, count: int) -> Iterator[dict[str, str]]:
    full = list(product(_NAMES["first_en"], _NAMES["surnames_en"]))
    for number, (first, last, again) in enumerate(_persons(chance, full, count)):
        chosen = f"{last}-{_NAMES['firms_en'][again - 1]}" if again else last
        yield {"first": first, "last": chosen, "mail": f"cv{number}@mail.example"}


def _persons(chance: random.Random, full: list[tuple[str, str]], count: int) -> list[tuple[str, str, int]]:
    """First name, last name, and how many have had them before."""
    persons = [(*full[number % len(full)], number // len(full)) for number in range(count)]
    chance.shuffle(persons)
    return persons


def _months(chance: random.Random, count: int) -> Iterator[dict[str, str]]:
    """Month by month, the last one first, of as many years as are needed."""
    for place in range(count):
        year, month = 2025 - place // 12, 11 - place % 12
        yield {**_month(month), "year": str(year), "mm": f"{month + 1:02}"}


def _month(month: int) -> dict[str, str]:
    name = _NAMES["months"][month]
    adjective = _NAMES["month_adjectives"][month]
    return {"month": name, "of_month": _NAMES["months_of"][month], "adjective": adjective}


def _branches(chance: random.Random, count: int) -> Iterator[dict[str, str]]:
    for place in range(count):
        period, city = divmod(place, len(_NAMES["cities"]))
        name = _NAMES["cities"][city]
        yield {
            "city": name,
            "of_city": _inflected(name, "gent"),
            "in_city": _inflected(name, "loct"),
            **_month(period % 12),
            "year": str(2025 - period // 12),
        }


def _branches_en(chance: random.Random, count: int) -> Iterator[dict[str, str]]:
    for place in range(count):
        period, city = divmod(place, len(_NAMES["cities_en"]))
        yield {"city": _NAMES["cities_en"][city], "quarter": f"Q{period % 4 + 1}", "year": str(2025 - period // 4)}


def _values(chance: random.Random, english: bool) -> dict[str, str]:
    """What differs from document to document in its clauses."""

    def money() -> str:
        amount = chance.randrange(12, 9800) * 1000
        return f"{amount:,}" if english else f"{amount:,}".replace(",", " ")

    people = _NAMES["first_en"] if english else _NAMES["women"] + _NAMES["men"]
    surnames = _NAMES["surnames_en" if english else "surnames"]
    return {
        **{
            f"percent{n}": f"{chance.randrange(1, 99) / 100:.2f}".replace(".", "." if english else ",")
            for n in range(4)
        },
        **{f"share{n}": str(chance.randrange(5, 95)) for n in range(4)},
        **{f"term{n}": str(chance.randrange(3, 120)) for n in range(6)},
        **{f"sum{n}": money() for n in range(8)},
        **{f"who{n}": f"{chance.choice(people)} {chance.choice(surnames)}" for n in range(4)},
        "court": chance.choice(_NAMES["cities_en" if english else "cities"]),
        "skill": chance.choice(_NAMES["skills"]),
        "since": str(chance.randrange(2005, 2024)),
    }


_IDENTITIES: Mapping[str, Identities] = {
    "firms": _firms,
    "firms_en": _firms_en,
    "meetings": _meetings,
    "people": _people,
    "people_en": _people_en,
    "months": _months,
    "branches": _branches,
    "branches_en": _branches_en,
}
DEVELOPED_ON = ("contracts_ru", "minutes_ru", "cvs_en", "prices_ru", "reports_en")
REPORTED_ON = ("contracts_en", "minutes_en", "cvs_ru", "invoices_ru", "reports_ru")


def _read_form(name: str) -> Form:
    told = tomllib.loads((_TEXTS / f"{name}.toml").read_text(encoding="utf-8"))
    return Form(
        names=tuple(told["names"]),
        opening=told["opening"],
        clauses=tuple(Clause(**clause) for clause in told["clauses"]),
        ways=tuple(told["ways"]),
        identities=_IDENTITIES[told["identities"]],
    )


def make_documents(form: str, *, seed: int, count: int) -> Iterator[MadeDocument]:
    """`count` documents of the form, the same for the same seed."""
    chance = random.Random(f"{form} {seed}")
    shape = _read_form(form)
    for values in shape.identities(chance, count):
        filled = {**_values(chance, form.endswith("en")), **values}
        says = [clause.says.format(**filled) for clause in shape.clauses]
        sections = (
            f"{clause.heading}\n\n{clause.before} {said} {clause.after}"
            for clause, said in zip(shape.clauses, says, strict=True)
        )
        yield MadeDocument(
            file_name=chance.choice(shape.names).format(**filled),
            text="\n\n".join([shape.opening.format(**filled), *sections]),
            questions=tuple(_questions(chance, shape, says, filled)),
        )


def unnamed_questions(form: str) -> Iterator[str]:
    """What is asked of the clauses, without the words that say which document is meant."""
    asks = (ask for clause in _read_form(form).clauses for ask in clause.asks)
    return (ask.format(of="").strip(" :").replace(" ?", "?") for ask in asks)


def _questions(chance: random.Random, form: Form, says: Sequence[str], filled: Values) -> Iterator[Asked]:
    for clause, said in zip(form.clauses, says, strict=True):
        of = chance.choice(form.ways).format(**filled)
        yield Asked(text=chance.choice(clause.asks).format(of=of), answer=said)
