"""Checks the authors and senders that an answer names against the materials.

In: an answer, and the facts as they were in the prompt, each with its «Author» and «Sent by». Out: names that occur
nowhere in the materials, although other authors do; and names that occur elsewhere, although what the answer cites
names another author. Only clear cases are judged: a name after «написал», «составлен», «автор —» or "written by" that
looks like a person's and is in the same alphabet as the known authors. A name that occurs in the cited facts or in the
question in another role passes. Pure.
"""

import re
from collections.abc import Collection, Iterator, Sequence

from rag.words import folded

_LETTERS = 3  # first letters that all forms of a name share: «Павел», «Павла»
_LOWER_LETTERS = 5  # the same for words in lower case (transcripts); with three, «сер» would match «сервис»
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
_STEMS = "напис|присл|посл|пересл|отправи|опубликова|выложи|сообщи|состави|подготови|разработа|оформи"
_VERB = rf"(?i:(?:{_STEMS})(?:а|и)?л?а?|пишет|пересылает|сообщает)"
_DONE = (
    r"(?i:(?:написан|прислан|послан|переслан|отправлен|опубликован|составлен|подготовлен|разработан|оформлен)[аоы]?)"
)
_BY_WHOM = (  # «Петровым», «Иваном Ковальским», «Анной Седовой»
    r"(?:[А-ЯЁ][а-яё]+(?:ом|ем|ой|ей|ью) )?(?!Магазин)[А-ЯЁ][а-яё]+"
    r"(?:[оеё]вым|[иы]ным|[сц]ким|[оеё]вой|[иы]ной|[сц]кой)(?!\w)"
)
_ROLE = r"(?:[Аа]втор(?: [а-яё]+)?|[Сс]оставил(?:а|и)?|[Пп]одготовил(?:а|и)?|[Рр]азработал(?:а|и)?|[Ии]сполнитель)"
_ENGLISH = r"[A-Z][a-z]+(?: [A-Z]\.)? [A-Z][a-z]+"
_CLAIM = re.compile(
    rf"\b{_VERB}(?: (?:это|его|её|ее|их|нам|вам))? ({_PERSON})"
    rf"|\b{_ROLE}(?::| [—–-]) ({_PERSON})"
    rf"|\b({_PERSON}) {_VERB}\b"
    rf"|\b{_DONE} ({_BY_WHOM})"
    rf"|\b(?i:written|sent|posted|forwarded|published) by ({_ENGLISH})\b|\b[Aa]uthor(?::| is) ({_ENGLISH})\b"
)
_DOCUMENT = re.compile(r"^Document: .+$", re.MULTILINE)
_TEXT = "\nText:\n"


def unknown_authors(answer: str, facts: str, said: str) -> tuple[str, ...]:
    """Names that the answer gives as an author's or a sender's and that are not in `said`: all known text, facts
    included. Empty when the facts name no author."""
    claimed = list(_claimed(answer))
    if not claimed:  # most answers
        return ()
    authors = " ".join(_AUTHOR_LINE.findall(facts))
    known = _begun(said)
    strange = [name for name in claimed if _is_of_one_alphabet(name, authors) and known.isdisjoint(_begun(name))]
    return tuple(dict.fromkeys(strange))


def other_authors(answer: str, facts: Sequence[str], cited: Collection[int], asked: str) -> tuple[str, ...]:
    """Names that the answer gives as an author's or a sender's, although its sources (`cited`: numbers from 1) name
    others. The name must not occur in the sources, in other passages of their documents, as an author in any other
    fact, nor in what is `asked`."""
    claimed = list(_claimed(answer)) if cited else []
    if not claimed:  # most answers
        return ()
    sources = [fact for number, fact in enumerate(facts, 1) if number in cited]
    authors = " ".join((*_AUTHOR_LINE.findall("\n".join(sources)), *_claimed("\n".join(sources))))
    documents = {fact_of for fact in sources for fact_of in _DOCUMENT.findall(fact)}
    others = [_of_itself(fact, documents) for number, fact in enumerate(facts, 1) if number not in cited]
    known = _begun("\n".join((*sources, *others, asked)))
    other = [name for name in claimed if _is_of_one_alphabet(name, authors) and known.isdisjoint(_begun(name))]
    return tuple(dict.fromkeys(other))


def _of_itself(fact: str, documents: Collection[str]) -> str:
    """The part of an uncited fact that may name an author: all of it for a fact of a cited document or without a
    document, else only the authors that its text names."""
    own = _DOCUMENT.match(fact)
    if own is None or own[0] in documents:
        return fact
    return " ".join(_claimed(fact.partition(_TEXT)[2]))


def _claimed(answer: str) -> Iterator[str]:
    for match in _CLAIM.finditer(answer):
        yield next(filter(None, match.groups()))


def _is_of_one_alphabet(name: str, authors: str) -> bool:
    """Whether all known authors are written in the alphabet of the name: «Том Рид» may be Tom Reed."""
    return bool(authors) and all(letter.isascii() == name[0].isascii() for letter in authors if letter.isalpha())


def _begun(text: str) -> frozenset[str]:
    return frozenset(begun for word in _WORD.findall(text) for begun in _beginnings(word))


def _beginnings(word: str) -> tuple[str, ...]:
    plain = folded(word)
    return (plain[:_LETTERS], plain[:_LOWER_LETTERS]) if word[0].isupper() else (plain[:_LOWER_LETTERS],)
