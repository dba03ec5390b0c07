"""Whether who is said to have written or sent something is somebody that the materials know.

In: an answer and the facts as the model was told them, each with its «Author» and «Sent by». Out: names of people who
stand nowhere in them, though others do as authors. Only what can be told without doubt: a name behind «написал»,
«прислал», «автор —», "written by", that looks like a person's and is in the alphabet of those known. Names that stand
in a material or the question in another role pass. Pure.
"""

import re
from collections.abc import Iterator

_LETTERS = 3  # that the forms of a name share: «Павел», «Павла»
_LOWER_LETTERS = 5  # of a name in small letters, as in what was heard; of three there would be «сер» of «сервис»
_AUTHOR_LINE = re.compile(r"^(?:Author|Sent by): (.+)$", re.MULTILINE)
_WORD = re.compile(r"[^\W\d_]+")
_SURNAME = (
    r"(?!Магазин|Минфин)[А-ЯЁ][а-яё]+"
    r"(?:[оеё]в|[иы]н|[сц]кий|ской|[оеё]ва|[иы]на|[сц]кая|енко|чук|юк|швили|дзе)(?:-[А-ЯЁ][а-яё]+)?"
)
_GIVEN = (
    "Александр|Александра|Алексей|Алина|Алла|Анатолий|Андрей|Анна|Антон|Антонина|Артём|Артем|Борис|Вадим|Валентина|"
    "Валерий|Валерия|Василий|Вера|Виктор|Виктория|Виталий|Владимир|Владислав|Вячеслав|Галина|Геннадий|Георгий|"
    "Григорий|Дарья|Денис|Дмитрий|Евгений|Евгения|Екатерина|Елена|Елизавета|Зинаида|Иван|Игорь|Илья|Инна|Ирина|"
    "Кирилл|Константин|Ксения|Лариса|Леонид|Лидия|Любовь|Людмила|Маргарита|Марина|Мария|Максим|Михаил|Надежда|"
    "Наталья|Наталия|Никита|Николай|Нина|Оксана|Олег|Ольга|Павел|Пётр|Петр|Полина|Раиса|Роман|Руслан|Светлана|"
    "Семён|Сергей|Софья|Станислав|Степан|Тамара|Татьяна|Тимур|Фёдор|Федор|Юлия|Юрий|Яна|Ярослав"
)
_PERSON = rf"(?:(?:{_GIVEN})(?: {_SURNAME})?|{_SURNAME}(?: (?:{_GIVEN}))?)(?!\w)"
_VERB = r"(?i:(?:напис|присл|посл|пересл|отправи|опубликова|выложи|сообщи)(?:а|и)?л?а?|пишет|пересылает|сообщает)"
_ENGLISH = r"[A-Z][a-z]+(?: [A-Z]\.)? [A-Z][a-z]+"
_CLAIM = re.compile(
    rf"\b{_VERB}(?: (?:это|его|её|ее|их|нам|вам))? ({_PERSON})"
    rf"|\b[Аа]втор(?: [а-яё]+)?(?::| [—–-]) ({_PERSON})"
    rf"|\b({_PERSON}) {_VERB}\b"
    rf"|\b(?i:written|sent|posted|forwarded|published) by ({_ENGLISH})\b|\b[Aa]uthor(?::| is) ({_ENGLISH})\b"
)


def unknown_authors(answer: str, facts: str, said: str) -> tuple[str, ...]:
    """Names that the answer gives as an author's or a sender's; `said` is all that is known, facts included. None
    where no author is known: then a name is the text's own matter."""
    claimed = list(_claimed(answer))
    if not claimed:  # as most answers
        return ()
    authors = " ".join(_AUTHOR_LINE.findall(facts))
    known = frozenset(begun for word in _WORD.findall(said) for begun in _beginnings(word))
    strange = [name for name in claimed if _is_of_one_alphabet(name, authors) and known.isdisjoint(_all_begun(name))]
    return tuple(dict.fromkeys(strange))


def _claimed(answer: str) -> Iterator[str]:
    for match in _CLAIM.finditer(answer):
        yield next(filter(None, match.groups()))


def _is_of_one_alphabet(name: str, authors: str) -> bool:
    """«Том Рид» may be how Tom Reed is written."""
    return bool(authors) and all(letter.isascii() == name[0].isascii() for letter in authors if letter.isalpha())


def _all_begun(name: str) -> Iterator[str]:
    return (begun for word in _WORD.findall(name) for begun in _beginnings(word))


def _beginnings(word: str) -> tuple[str, ...]:
    plain = word.casefold().replace("ё", "е")
    return (plain[:_LETTERS], plain[:_LOWER_LETTERS]) if word[0].isupper() else (plain[:_LOWER_LETTERS],)
