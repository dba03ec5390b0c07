"""Checks the type that the finder of names gives, by the dictionary, the word before the name and its ending.

In: a name as it stands in a text, the words before it, and the finder's type. Out: the type, how sure it is, and the
name without a word that only says what it is («кот Барсик»). The finder was trained on news, where a capital means a
person or a town; in people's own texts it may be a cat or its food. A name without evidence is left open: a THING. Pure
but for the dictionary.
"""

import re
from dataclasses import dataclass

from adapters.morphology import dictionary
from ingestion.entities.records import EntityType

CERTAINTY = 0.7  # slovnet's own F1 on news is .95; on other texts, and for our types, it is less
DOUBT = 0.5  # the type is a guess, or open

_WORD = re.compile(r"[А-Яа-яЁё]+")
_LATIN = re.compile("[A-Za-z]")
_WORD_BEFORE = re.compile(r"([А-Яа-яЁё]+)[ \u00a0]+[«\"]?\Z")
_WHERE = re.compile(r"\b(?:в|во|из|на|под|близ|около|до)[ \u00a0]\Z", re.IGNORECASE)
_SIGNS = {EntityType.PERSON: frozenset({"Name", "Surn", "Patr"}), EntityType.PLACE: frozenset({"Geox"})}
_SURNAME = re.compile(
    r"(?:[оеё]в|[иы]н)(?:а|у|ой|ым|е|ы|ых|ыми)?\Z|[сц]к(?:ий|ого|ому|им|ом|ая|ой|ую|ие|их)\Z"
    r"|(?:енко|чук|дзе|швили|штейн|берг|ман|ян|ич|вич)(?:а|у|ом|ем|е)?\Z",
    re.IGNORECASE,
)
_TOWN = re.compile(
    r"(?:ск|град|бург|поль|абад|таун)(?:а|у|ом|ем|е)?\Z|(?:ово|ево|ино|овка|евка|инка)\Z|(?:овк|евк|инк)[иеуой]+\Z"
    r"|(?:стан|ланди|бург|сити)\w{0,2}\Z",
    re.IGNORECASE,
)
_PETS = "кот кошка котенок котик пес собака щенок хомяк попугай лошадь конь корова кролик черепаха питомец кличка"
_HEADS: tuple[tuple[EntityType, str], ...] = (
    (
        EntityType.THING,
        "порода корм наполнитель шампунь крем мазь лекарство препарат таблетка витамин вакцина средство напиток "
        "чай кофе сыр шоколад товар марка бренд модель машина автомобиль телефон смартфон ноутбук планшет телевизор "
        "холодильник пылесос принтер "
        "фильм сериал мультфильм книга роман повесть журнал газета песня альбом игра сервер программа "
        "приложение сервис система плагин библиотека фреймворк " + _PETS,
    ),
    (
        EntityType.ORGANIZATION,
        "клиника компания фирма магазин банк завод фабрика студия агентство издательство ресторан кафе гостиница отель "
        "аптека школа университет институт фонд холдинг корпорация приют",
    ),
    (
        EntityType.PLACE,
        "город село деревня поселок станица хутор улица проспект площадь переулок бульвар шоссе район область край "
        "республика штат страна остров река озеро море гора станция метро аэропорт порт вокзал",
    ),
    (
        EntityType.PERSON,
        "господин госпожа гражданин гражданка директор врач доктор ветеринар менеджер инженер разработчик бухгалтер "
        "юрист учитель преподаватель профессор тренер коллега друг подруга брат сестра мама папа сын дочь муж жена "
        "дядя тетя бабушка дедушка автор писатель поэт актер режиссер президент министр",
    ),
)
_PET = frozenset(_PETS.split())
_KIND_OF_HEAD = {word: kind for kind, words in _HEADS for word in words.split()}


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A name, what it is the name of, and how surely."""

    name: str
    type: EntityType
    confidence: float

    @property
    def is_open(self) -> bool:
        """Whether there is no evidence of what it is."""
        return self.type is EntityType.THING and self.confidence <= DOUBT


class Evidence:
    """Safe to share between threads; the dictionary is loaded at the first name."""

    def judge(self, name: str, kind: EntityType, *, before: str) -> Judged:
        """`before` is the text in front of the name; only its last word counts."""
        if kind is EntityType.ORGANIZATION or not _WORD.search(name) or _LATIN.search(name):
            return Judged(name=name, type=kind, confidence=CERTAINTY)  # there is no evidence on these here
        inside, rest = self._head_inside(name)
        word = inside or _last_word(before)
        head = self._kind(word) if word else None
        if head is not None and self._overrules(word, head, rest, kind):
            return Judged(name=rest, type=head, confidence=CERTAINTY)
        if head is kind or self._speaks_for(kind, name):
            return Judged(name=name, type=kind, confidence=CERTAINTY)
        return Judged(name=name, type=_in_doubt(name, kind, before=before), confidence=DOUBT)

    def _head_inside(self, name: str) -> tuple[str, str]:
        """«Кот Барсик»: what it is, and its name."""
        first, _, rest = name.partition(" ")
        return (first, rest) if rest[:1].isupper() and self._kind(first) is EntityType.THING else ("", name)

    def _overrules(self, word: str, head: EntityType, name: str, kind: EntityType) -> bool:
        """Whether the word says what bears the name. The name may be its owner's or its place's («книга Толстого»,
        «банк Москвы»): so a name that the dictionary has must agree in case, and one of a person be single and follow a
        pet."""
        if head is kind or head is EntityType.PERSON:  # «президент США»
            return False
        if not self._is_known(name, _SIGNS[kind]):
            return self._agree(word, name)
        if kind is EntityType.PERSON:
            return bool(self._forms(word) & _PET) and len(_WORD.findall(name)) == 1 and self._agree(word, name)
        return self._agree(word, name) and "gent" not in self._cases(word)

    def _agree(self, word: str, name: str) -> bool:
        """Whether both agree in case, as far as the dictionary knows them."""
        return not dictionary().word_is_known(name) or bool(self._cases(word) & self._cases(name))

    def _speaks_for(self, kind: EntityType, name: str) -> bool:
        ending = _SURNAME if kind is EntityType.PERSON else _TOWN
        return self._is_known(name, _SIGNS[kind]) or self._ends_like(ending, name)

    def _ends_like(self, ending: re.Pattern[str], name: str) -> bool:
        """Only words that the dictionary does not have: «Титаник» and «Магазин» are ordinary."""
        known = dictionary().word_is_known
        return any(ending.search(word) and not known(word) for word in _WORD.findall(name))

    def _is_known(self, name: str, signs: frozenset[str]) -> bool:
        return any(
            dictionary().word_is_known(word) and any(parse.tag.grammemes & signs for parse in dictionary().parse(word))
            for word in _WORD.findall(name)
        )

    def _kind(self, word: str) -> EntityType | None:
        return next((_KIND_OF_HEAD[form] for form in self._forms(word) if form in _KIND_OF_HEAD), None)

    def _forms(self, word: str) -> frozenset[str]:
        return frozenset(parse.normal_form.replace("ё", "е") for parse in dictionary().parse(word.lower()))

    def _cases(self, word: str) -> frozenset[str]:
        return frozenset(parse.tag.case for parse in dictionary().parse(word.lower()) if parse.tag.case)


def _last_word(before: str) -> str:
    found = _WORD_BEFORE.search(before)
    return found[1] if found else ""


def _in_doubt(name: str, kind: EntityType, *, before: str) -> EntityType:
    """A single word is left open; several are seldom the name of a thing, and «в …» is mostly a place."""
    is_single = len(_WORD.findall(name)) == 1
    is_place = kind is EntityType.PLACE and (name.isupper() or _WHERE.search(before))
    return EntityType.THING if is_single and not is_place else kind
