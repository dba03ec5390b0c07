"""Puts Russian names into the nominative, as a list of names shows them.

In: a name as it stands in a sentence («Дмитрия Иванова», «студией «Кедр»»). Out: «Дмитрий Иванов», «студия «Кедр»».
Words that the dictionary does not know stay as they are.
"""

import re

from adapters.morphology import Parse, dictionary

_WORD = re.compile(r"[А-Яа-яЁё]+")
_OF_PEOPLE = frozenset({"Name", "Surn", "Patr"})
_NOMINAL = frozenset({"NOUN", "ADJF", "PRTF", "NUMR"})  # «Роял» is read as a verb, too
_OPENING = '«„“"'


class FirstCase:
    """Safe to share between threads; the dictionary is loaded at the first name."""

    def person(self, name: str) -> str:
        """Every word of the name, a surname in the gender of the first name."""
        gender = self._gender(name)
        return _WORD.sub(lambda match: self._inflected(match.group(), _OF_PEOPLE, gender), name)

    def thing(self, name: str) -> str:
        """The words up to the first noun: what follows depends on it, and a quoted name is in the nominative
        already."""
        before_quotes = re.split(f"[{_OPENING}]", name)[0]
        head, gender = self._head(before_quotes)
        return _WORD.sub(lambda match: self._inflected(match.group(), set(), gender), head) + name[len(head) :]

    def unsure(self, name: str) -> str:
        """For a name of unknown type, only first names and words that the dictionary does not have: «Тесла» is no form
        of «тесло»."""
        return _WORD.sub(lambda match: self._unsure(match.group()), name)

    def _unsure(self, word: str) -> str:
        is_name = any(parse.tag.grammemes & _OF_PEOPLE for parse in self._parses(word))
        if dictionary().word_is_known(word):
            return self._inflected(word, _OF_PEOPLE, None) if is_name else word
        first = self._inflected(word, set(), None)
        return word if first.replace("ё", "е") == word.replace("ё", "е") else first

    def _head(self, name: str) -> tuple[str, str | None]:
        """Up to the first noun, and its gender."""
        for match in _WORD.finditer(name):
            parse = self._parses(match.group())[0]
            if "NOUN" in parse.tag.grammemes:
                return name[: match.end()], parse.tag.gender
        return name, None

    def _gender(self, name: str) -> str | None:
        parses = [parse for word in _WORD.findall(name) for parse in self._parses(word)[:2]]
        return next((parse.tag.gender for parse in parses if "Name" in parse.tag.grammemes), None)

    def _inflected(self, word: str, wanted: frozenset[str] | set[str], gender: str | None) -> str:
        parses = self._parses(word)
        fitting = [parse for parse in parses if parse.tag.grammemes & (wanted or _NOMINAL)]
        same = [parse for parse in fitting if gender is None or parse.tag.gender == gender]
        for parse in (same or fitting)[:1]:
            inflected = parse.inflect({"nomn"})
            return _as_written(inflected.word, word) if inflected else word
        return word

    def _parses(self, word: str) -> list[Parse]:
        return dictionary().parse(word)


def _as_written(word: str, original: str) -> str:
    if original.isupper():
        return word.upper()
    return word.capitalize() if original[0].isupper() else word
