"""The post-check of an answer, by rules alone (seed 4, sections 5.1.8 and 8.2).

In: an answer's text, the facts that it was written from, what the person asked. Out: remarks on what is wrong, which
the model can act on; none when the answer may be shown. It rewrites nothing.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rag.answering.authors import other_authors, unknown_authors
from rag.answering.bounds import turned_bounds
from rag.answering.contacts import unknown_contacts, without_telephones
from rag.answering.counts import own_counts, without_remainder
from rag.answering.dates import of_other_years
from rag.answering.exchanges import exchanged_numbers
from rag.answering.figures import Known, strange_figures
from rag.answering.language import LANGUAGE_REMARKS, in_another_language, other_script
from rag.answering.limits import exchanged_limits
from rag.words import folded

_UUID = re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", re.IGNORECASE)
_CONFIDENCE = re.compile(r"\bconfidence\b\s*[:=]|\bуверенность\s*[:=]\s*\d|\bcertainty\s*[:=]", re.IGNORECASE)
_REFERENCE = re.compile(r"\[\d+\]\s*[–—-]\s")
_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
_FENCE = "```"
_LIST_NUMBER = re.compile(r"^[ \t]*\d{1,3}[.)][ \t]", re.MULTILINE)
_QUOTE = re.compile(r"«([^«»]+)»|“([^“”]+)”|\"([^\"\n]+)\"|^>[ \t]?(.+)$", re.MULTILINE)
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+(?=[^\W\d_a-zа-яё]|[«\"(*>-])|\n+")  # not in «2 490 руб. × 12 мес. = …»
_UNFINISHED_SUM = re.compile(r"\d[^\n=≈]{0,20}\s[×*·+]\s[^\n=≈]*\Z")
_ENDS = (".", "!", "?", "…")
_WORDS = re.compile(r"\w+")

_TAILS = (
    re.compile(r"рекоменду\w+ уточнить|уточните у\b|советую уточнить|обратиться .{0,40}за уточнени", re.IGNORECASE),
    re.compile(  # but not «стоимость материала 500 руб.», «лист из материала 3 мм», «материал 12Х18Н10Т»
        r"(?:\b(?:в|из|по|согласно|см\.) материал(?:а|у|е|ом) (?:№ ?)?|\bматериал(?:|а|у|е|ом) № ?"
        r"|\bматериал (?=\d{1,2}(?:[);:]|[.,](?!\d)|\s*$)))"
        r"\d{1,2}\b(?![.,]\d| ?[%°×₽]| ?(?:мм|см|м|кг|г|т|л|шт|руб|р)\b)",
        re.IGNORECASE,
    ),
    re.compile(r"конфиденциальность низк", re.IGNORECASE),
    re.compile(r"(?:конкретных|других|иных|прямых) упоминаний .{0,40}не (?:найдено|обнаружено)", re.IGNORECASE),
    re.compile(r"не (?:найдено|обнаружено) .{0,20}(?:конкретных|других|иных) упоминаний", re.IGNORECASE),
    re.compile(
        r"\b(?:в|из|согласно|основе) предоставленн\w+ (?:материал|фрагмент|документ|контекст|данн|информаци)\w+",
        re.IGNORECASE,
    ),
    re.compile(r"\b(?:provided|given|supplied) (?:context|passages|materials|fragments)\b", re.IGNORECASE),
)
"""The forbidden phrases of seed 4, section 8.2, in the forms that models use."""

_MACHINERY = re.compile(
    r"\b(?:pgvector|supabase|postgres\w*|embeddings?|эмбеддинг\w*|чанк\w*|chunks?|rag_db_query|graph_query_tool|"
    r"system prompt|системн\w+ промпт\w*|реранк\w*|reranker)\b",
    re.IGNORECASE,
)
_OF_ITSELF = re.compile(
    r"\b(?:я|мне|меня|мной|мо[йяеюи]\w{0,2}|нахожу|ищу|использую|применяю|храню|baza|i|my|me|mine)\b|«База»",
    re.IGNORECASE,
)
"""The program speaking of itself: only there «PostgreSQL» is a secret, not in an answer about the world."""

_ON_NUMBERS = (
    ("These numbers stand in no material", "Give only numbers of the materials, or show the sum: a = b × c"),
    (
        "In no material these numbers have this unit",
        "Give number and unit as they stand there, or show the sum: a = b × c",
    ),
)

QUOTED_WORDS = 4  # a shorter quotation is a name or a term
SAME_CHARS = 80  # a shorter answer («Да.», «30 дней») may well be right twice


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What an answer is checked against."""

    question: str
    facts: tuple[str, ...]  # the text of each fact in the prompt
    cited: tuple[int, ...] = ()  # numbers, from 1, of the facts that the answer cites
    dialogue: tuple[str, ...] = ()  # earlier questions and answers
    earlier_answers: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()  # of entities and documents; nobody should see them
    today: str = ""
    language: str | None = None  # the language that the answer must be in; None: any


def remarks_on(answer: str, evidence: Evidence, *, from_base: bool) -> tuple[str, ...]:
    """What is wrong, one sentence each. Numbers and quotations are checked against the facts only if `from_base`."""
    prose = _CODE.sub(" ", answer)
    remarks = [*_artifacts(prose, evidence), *_phrases(prose, evidence), *_repetition(answer, evidence)]
    if _tells_its_machinery(prose, evidence, from_base=from_base):
        remarks.append("It speaks of how the program is built. Leave that out.")
    if from_base:
        remarks += [*_strange_numbers(prose, evidence), *_strange_quotations(prose, evidence)]
        remarks += _strange_statements(prose, evidence)
    return (*remarks, *_language(prose, evidence, from_base=from_base))


def remarks_on_beginning(answer: str, evidence: Evidence, *, from_base: bool) -> tuple[str, ...]:
    """The same for an answer that was cut off anywhere. Numbers of the last sentence are not checked (half a number or
    the result of a calculation may be missing), and neither are the last word and unclosed code. The language is not
    checked: the person has seen the text already, and no model can be asked to rewrite it."""
    evidence, answer = replace(evidence, language=None), _without_open_code(answer)
    words = answer.rpartition(" ")[0] if answer[-1:].isalnum() else answer
    on_words = remarks_on(words, evidence, from_base=False)
    on_sentences = remarks_on(whole_sentences(answer), evidence, from_base=from_base)
    on_quotations = _strange_quotations(_CODE.sub(" ", words), evidence) if from_base else []
    return tuple(dict.fromkeys((*on_words, *on_quotations, *on_sentences)))


def _without_open_code(answer: str) -> str:
    return answer.rpartition(_FENCE)[0] if answer.count(_FENCE) % 2 else answer


def whole_sentences(answer: str) -> str:
    """The answer without an incomplete last sentence."""
    *_, end = [0, *(match.start() for match in _SENTENCE_END.finditer(answer))]
    last = answer[end:]
    is_whole = last.rstrip().endswith(_ENDS) and not _UNFINISHED_SUM.search(last)
    return answer if is_whole else answer[:end]


def of_language(remarks: Sequence[str]) -> bool:
    """Whether only the language is wrong: the content may still be correct."""
    return len(remarks) == 1 and remarks[0] in LANGUAGE_REMARKS.values()


def _language(prose: str, evidence: Evidence, *, from_base: bool) -> list[str]:
    if evidence.language is None:
        return []
    materials = "\n".join(evidence.facts)
    said = "\n".join((materials, evidence.question, *evidence.dialogue))
    remarks = [in_another_language(prose, evidence.language, materials=materials)]
    if from_base and not any(remarks):
        remarks.append(other_script(prose, said))
    return [remark for remark in remarks if remark]


def _artifacts(prose: str, evidence: Evidence) -> list[str]:
    said = "\n".join((evidence.question, *evidence.facts))
    remarks = []
    if any(found not in said for found in _UUID.findall(prose)) or any(each in prose for each in evidence.ids):
        remarks.append("It shows an internal id. Call things by their names.")
    if _CONFIDENCE.search(prose):
        remarks.append("It shows a confidence. Leave it out.")
    if _REFERENCE.search(prose):
        remarks.append("It lists references such as «[1] – …». A program adds the sources: leave the list out.")
    return remarks


def _tells_its_machinery(prose: str, evidence: Evidence, *, from_base: bool) -> bool:
    told = {
        word.casefold()
        for line in _SENTENCE_END.split(prose)
        for word in _MACHINERY.findall(line)
        if from_base or _OF_ITSELF.search(line)
    }
    said = "\n".join((evidence.question, *evidence.facts)).casefold() if told else ""
    return any(word not in said for word in told)


def _phrases(prose: str, evidence: Evidence) -> list[str]:
    """Forbidden phrases. A phrase that is also in a fact is the document's own and passes, and so does an answer that
    consists of such phrases alone."""
    said = "\n".join(evidence.facts)
    lines = [line for line in _SENTENCE_END.split(prose) if line.strip()]
    tails = [line for line in lines if any(tail.search(line) and not tail.search(said) for tail in _TAILS)]
    if not tails or len(tails) == len(lines):
        return []
    return [f"Leave out: «{tails[0].strip()[:120]}»."]


def _repetition(answer: str, evidence: Evidence) -> list[str]:
    same = _plain(answer)
    if len(same) >= SAME_CHARS and any(_plain(earlier) == same for earlier in evidence.earlier_answers):
        return ["It repeats an earlier answer word for word. Say what is new, or say it differently."]
    return []


def _strange_numbers(prose: str, evidence: Evidence) -> list[str]:
    lines = _SENTENCE_END.split(_LIST_NUMBER.sub("", without_telephones(without_remainder(prose))))
    known = Known(
        said="\n".join((*evidence.facts, evidence.question, *evidence.dialogue)),
        listed=own_counts(prose),
        materials=len(evidence.facts),
        today=evidence.today,
    )
    return [
        f"{remark[0]}: {', '.join(dict.fromkeys(strange[:5]))}. {remark[1]}."
        for remark, strange in zip(_ON_NUMBERS, strange_figures(lines, known), strict=True)
        if strange
    ]


def _strange_statements(prose: str, evidence: Evidence) -> list[str]:
    """Remarks on authors, dates, numbers of other things, bounds and limits, addresses."""
    facts = "\n".join(evidence.facts)
    asked = "\n".join((evidence.question, *evidence.dialogue))
    said = "\n".join((facts, asked, evidence.today))
    unknown = unknown_authors(prose, facts, said)
    others = () if unknown else other_authors(prose, evidence.facts, evidence.cited, asked)
    found = (
        ("Nobody of this name stands in the materials", unknown),
        ("The materials that it marks name another author or sender", others),
        ("In the materials these days are of another year", of_other_years(prose, said)),
        ("In the materials these numbers are of other things", _exchanged(prose, evidence, asked)),
        ("The materials bound this the other way round", _turned_bounds(prose, said, evidence.question)),
        ("These addresses or telephone numbers stand in no material", unknown_contacts(prose, said)),
    )
    return [f"{remark}: {', '.join(strange[:5])}. Tell it as they do, or not." for remark, strange in found if strange]


def _exchanged(prose: str, evidence: Evidence, asked: str) -> tuple[str, ...]:
    """Exchanged numbers, without the answer's own counts, which are no numbers of a material."""
    counted = {f"{count:f}" for count in own_counts(prose)}
    strange = exchanged_numbers(without_telephones(without_remainder(prose)), evidence.facts, asked)
    return tuple(number for number in strange if number not in counted)


def _turned_bounds(prose: str, said: str, question: str) -> tuple[str, ...]:
    exchanged = exchanged_limits(prose, said, question)
    return tuple(dict.fromkeys((*turned_bounds(folded(prose), folded(said)), *map(folded, exchanged))))


def _strange_quotations(prose: str, evidence: Evidence) -> list[str]:
    quotations = [next(part for part in match.groups() if part) for match in _QUOTE.finditer(prose)]
    long = [quotation for quotation in quotations if len(_WORDS.findall(quotation)) >= QUOTED_WORDS]
    if not long:  # most answers; parsing all facts takes a millisecond
        return []
    said = _plain("\n".join((*evidence.facts, evidence.question, *evidence.dialogue)))
    for quotation in long:
        pieces = [_plain(piece) for piece in re.split(r"\.\.\.|…|\[…\]", quotation)]
        if not all(piece in said for piece in pieces):
            return [f"This quotation stands in no material: «{quotation[:120]}». Quote exactly, or do not quote."]
    return []


def _plain(text: str) -> str:
    """The words only: differences in punctuation, case and ё do not make a quotation wrong."""
    return " ".join(_WORDS.findall(folded(text)))


def as_remarks(remarks: Sequence[str]) -> str:
    """The remarks, one per line."""
    return "\n".join(f"- {remark}" for remark in remarks)
