"""A base of 30 documents about contracts, with the truth about them.

In: nothing; the same every time. Out: texts by name (24 contracts, four acts, a letter and a note of a meeting) and
`TRUTH`: how many, with whom, for how much. The letter and the note give contract 7/2025 more days to pay than the
contract itself. Run `python -m tests.material.contracts FOLDER` to write them as text files.
"""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

PARTIES = ("ООО «Ромашка»", "АО «Вектор»", "ИП Соколова А. П.", "ООО «Северный порт»", "ПАО «Гранит»")
SUBJECTS = (
    "аренду офиса",
    "поставку бумаги",
    "уборку помещений",
    "разработку сайта",
    "охрану склада",
    "аудит отчётности",
)
_MONTHS = (
    "января",
    "февраля",
    "марта",
    "апреля",
    "мая",
    "июня",
    "июля",
    "августа",
    "сентября",
    "октября",
    "ноября",
    "декабря",
)
CONTRACTS = 24
ACTS = (3, 9, 14, 20)  # numbers of contracts that an act closes, for the full price
DISPUTED = 7  # the number of the contract about whose days to pay documents disagree
DISPUTED_DAYS = 60  # that the letter and the note give it
FIRST_DAY = date(2024, 9, 2)


@dataclass(frozen=True, kw_only=True)
class Contract:
    """What a contract says."""

    number: int
    party: str
    subject: str
    signed: date
    price: int  # roubles
    days: int  # for paying
    fine: str  # per cent a day

    @property
    def name(self) -> str:
        """Its number as texts write it."""
        return f"{self.number}/{self.signed.year}"

    @property
    def text(self) -> str:
        """Some contracts write their day and price in one way, some in another."""
        day = f"{self.signed.day} {_MONTHS[self.signed.month - 1]} {self.signed.year} г."
        dotted = self.signed.strftime("%d.%m.%Y")
        grouped = f"{self.price:,}".replace(",", " ")
        price = (f"{grouped} рублей", f"{grouped},00 руб.", f"{self.price // 1000} тыс. рублей")[self.number % 3]
        return (
            f"Договор № {self.name}\n\nг. Москва, {day if self.number % 2 else dotted}\n\n"
            f"1. Стороны. {self.party} (Исполнитель) и ООО «Лазурь» (Заказчик) заключили договор на {self.subject}.\n\n"
            f"2. Цена. Общая цена по договору составляет {price}, НДС не облагается.\n\n"
            f"3. Оплата. Заказчик платит в течение {self.days} дней со дня подписания акта. За просрочку "
            f"начисляется пеня {self.fine} % за каждый день.\n\n"
            "4. Прочее. Споры рассматриваются в Арбитражном суде города Москвы. Договор составлен в двух экземплярах.\n"
        )


def _contract(number: int) -> Contract:
    return Contract(
        number=number,
        party=PARTIES[number * 7 % 11 % len(PARTIES)],
        subject=SUBJECTS[number % len(SUBJECTS)],
        signed=FIRST_DAY + timedelta(days=31 * number),
        price=(37 * number % 23 + 5) * 12_000,
        days=(5, 10, 14, 30)[number % 4],
        fine=("0,1", "0,05", "0,2")[number % 3],
    )


MADE: Sequence[Contract] = tuple(map(_contract, range(1, CONTRACTS + 1)))


def _act(contract: Contract) -> str:
    grouped = f"{contract.price:,}".replace(",", " ")
    return (
        f"Акт выполненных работ к договору № {contract.name}\n\n{contract.party} передал, а ООО «Лазурь» приняло "
        f"работы в полном объёме на сумму {grouped} рублей. Стороны претензий друг к другу не имеют.\n"
    )


def _letter(contract: Contract) -> str:
    return (
        f"Письмо от {contract.party}\n\nУважаемые коллеги! Напоминаем, что срок оплаты по договору № {contract.name} "
        f"составляет {DISPUTED_DAYS} дней со дня подписания акта. Просим подготовить оплату.\n"
    )


def _note(contract: Contract) -> str:
    return (
        f"Протокол совещания\n\nОбсудили расчёты с {contract.party}. Решили: по договору № {contract.name} срок оплаты "
        f"{DISPUTED_DAYS} дней, оплатить до конца квартала.\n"
    )


def documents() -> Mapping[str, str]:
    """Texts by file name: contracts first, oldest first."""
    disputed = MADE[DISPUTED - 1]
    return {
        **{f"Договор {contract.name.replace('/', '-')}.txt": contract.text for contract in MADE},
        **{f"Акт к договору {MADE[number - 1].name.replace('/', '-')}.txt": _act(MADE[number - 1]) for number in ACTS},
        "Письмо об оплате.txt": _letter(disputed),
        "Протокол совещания.txt": _note(disputed),
    }


@dataclass(frozen=True, kw_only=True)
class Truth:
    """What a right answer has to say."""

    contracts: int
    total: int  # roubles, by the contracts themselves
    with_first_party: int  # contracts with PARTIES[0]
    signed_in_2025: int
    dearest: str
    paid_within_14_days: int  # that give 14 days to pay
    acts: int


TRUTH = Truth(
    contracts=len(MADE),
    total=sum(contract.price for contract in MADE),
    with_first_party=sum(contract.party == PARTIES[0] for contract in MADE),
    signed_in_2025=sum(contract.signed.year == 2025 for contract in MADE),
    dearest=max(MADE, key=lambda contract: contract.price).name,
    paid_within_14_days=sum(contract.days == 14 for contract in MADE),
    acts=len(ACTS),
)


def write(folder: Path) -> None:
    """As text files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in documents().items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    write(parser.parse_args().folder)
