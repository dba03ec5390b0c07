"""Judges a whole answer: first by the rules that cannot be wrong, then by meaning, statement by statement.

In: a model's text, its prompt and the `Assignment`. Out: a `Judged`: the parsed text, what is wrong with it, and the
words that carry it; or the same without the statements that no source supports. It asks for no second answer.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from rag.answering.citations import understood, without_references
from rag.answering.language import wanted_language
from rag.answering.marks import Reading, divided
from rag.answering.prompt import AnswerPrompt, AnswerSettings, Assignment
from rag.answering.rules import Evidence, remarks_on, remarks_on_beginning
from rag.grounding.check import SAID, UNCHECKED, Checked, Judgement, SupportCheck, Verdict
from rag.grounding.statements import Statement, split, without
from rag.metering import CheckCounts
from rag.records import AnswerKind

BEST_FACTS = 4  # that an answer without marks is held against; most marks point to one of them
LAST_QUESTIONS = 3
LONGEST_NAMED = 200  # characters of a statement in a remark
NO_MARKS = "No statement is marked. Close each one with the number of its material, such as [1]."


@dataclass(frozen=True, kw_only=True)
class Judged:
    """An answer and what is wrong with it."""

    raw: str
    reading: Reading
    remarks: tuple[str, ...] = ()  # by the rules
    checked: Checked = UNCHECKED
    sources: Mapping[int, str]  # that it was held against
    withdrawn: int = 0  # statements that were taken out

    @cached_property
    def complaints(self) -> tuple[str, ...]:
        """Everything that is wrong, for the model."""
        return (*self.remarks, *map(self._complaint, self.checked.failed))

    @cached_property
    def carried(self) -> dict[int, list[str]]:
        """By number of a fact: its words that carry the answer."""
        found: dict[int, list[str]] = {}
        for each in self.checked.judgements:
            for carrying in each.carried if each.verdict is Verdict.SUPPORTED else ():
                if carrying.source != SAID:
                    words = self.sources[carrying.source][carrying.span.start : carrying.span.end]
                    found.setdefault(carrying.source, []).append(words)
        return found

    def _complaint(self, failed: Judgement) -> str:
        words = [self.sources[each.source][each.span.start : each.span.end] for each in failed.carried]
        told = f" There it says: {'; '.join(f'«{each}»' for each in words)}." if words else ""
        says = "say otherwise than" if failed.verdict is Verdict.CONTRADICTED else "do not say"
        return f"The materials {says} «{failed.statement.text[:LONGEST_NAMED]}». {failed.why}{told}"


class AnswerJudge:
    """Judges the answers of an installation."""

    def __init__(self, settings: AnswerSettings, *, check: SupportCheck | None = None) -> None:
        """Without `check`, the rules alone count."""
        self._settings = settings
        self._check = check

    def by_rules(self, raw: str, prompt: AnswerPrompt) -> Judged:
        """The parsed answer, and what breaks a rule."""
        reading = understood(raw, prompt)
        remarks: tuple[str, ...] = ()
        if reading.text and self._settings.rules:
            evidence = replace(_evidence(prompt), language=self.language(prompt.assignment))
            remarks = remarks_on(reading.text, evidence, from_base=is_held_to_facts(reading, prompt))
        return Judged(raw=raw, reading=reading, remarks=remarks, sources=_sources(reading, prompt))

    async def by_meaning(self, judged: Judged, prompt: AnswerPrompt) -> Judged:
        """The same with the check's judgements. General knowledge is not checked: it is said not to be the base's."""
        if self._check and judged.reading.text and judged.reading.kind is not AnswerKind.GENERAL:
            question = prompt.assignment.understood or prompt.assignment.question
            statements = _statements(judged.raw, prompt)
            checked = await self._check.judge(statements, judged.sources, question=question, today=prompt.today)
            judged = replace(judged, checked=checked)
        return _placed(judged, marks_needed=self._settings.rules)

    def supported(self, judged: Judged, prompt: AnswerPrompt) -> Judged:
        """The answer without the statements that failed, with the sources that carry the others. Its text is empty
        where nothing that is supported is left."""
        gone = [each.statement for each in judged.checked.failed]
        if gone:
            sign, body, own_sources = divided(without_references(judged.raw, prompt.facts))
            raw = f"{sign}{without(body, gone)}{own_sources}"
            text = understood(raw, prompt).text
            supported = any(each.verdict is Verdict.SUPPORTED for each in judged.checked.judgements)
            is_left = supported or bool(judged.checked.missing)
            reading = replace(understood(raw, prompt), text=text if is_left else "", kind=judged.reading.kind)
            judged = replace(judged, raw=raw, reading=reading, withdrawn=len(gone))
        used = tuple(dict.fromkeys((*judged.reading.used, *judged.carried)))
        kind = AnswerKind.FROM_BASE if judged.carried else judged.reading.kind
        return replace(judged, reading=replace(judged.reading, used=used, kind=kind))

    def beginning(self, shown: Reading, prompt: AnswerPrompt) -> tuple[str, ...]:
        """What breaks a rule in a text that was broken off."""
        if not self._settings.rules:
            return ()
        return remarks_on_beginning(shown.text, _evidence(prompt), from_base=is_held_to_facts(shown, prompt))

    def language(self, assignment: Assignment) -> str | None:
        """The language that the answer must be in. The previous question counts, too: it may have asked for a
        translation that this one continues."""
        before = (each.question for each in assignment.dialogue.window[-1:])
        return wanted_language(self._settings.language, assignment.question, assignment.understood, *before)


def _placed(judged: Judged, *, marks_needed: bool) -> Judged:
    """Settles the kind of an answer without marks by what the check found. What had no sign either, and is said by no
    fact, is general knowledge: a wrong label on a correct answer costs less than a source that does not support it."""
    reading, checked = judged.reading, judged.checked
    if reading.used or reading.kind in (AnswerKind.GENERAL, AnswerKind.CONVERSATION) or not reading.text:
        return judged
    verdicts = {each.verdict for each in checked.judgements}
    if Verdict.CONTRADICTED in verdicts or judged.carried:
        return replace(judged, reading=replace(reading, kind=AnswerKind.FROM_BASE))
    if reading.kind is None or not marks_needed:
        general = replace(reading, kind=AnswerKind.GENERAL)
        return replace(judged, reading=general, checked=replace(checked, judgements=()))
    if verdicts == {Verdict.NOTHING}:
        return replace(judged, reading=replace(reading, kind=AnswerKind.CONVERSATION))
    return judged if verdicts else replace(judged, remarks=(*judged.remarks, NO_MARKS))


def counted(first: Judged, last: Judged | None = None) -> CheckCounts:
    """What the checks of an answer and of its second writing took and found."""
    checks = [each.checked for each in (first, last) if each is not None]
    return CheckCounts(
        outcome=checks[-1].outcome.value,
        statements=len(first.checked.judgements),
        failed=len(first.checked.failed),
        withdrawn=last.withdrawn if last else first.withdrawn,
        tokens=sum(each.tokens for each in checks),
        seconds=sum(each.seconds for each in checks),
    )


def is_held_to_facts(reading: Reading, prompt: AnswerPrompt) -> bool:
    """Whether the facts must support the answer: one from the base, and also a conversation when there are facts, since
    an answer from them might be given under that sign without sources."""
    return reading.kind is AnswerKind.FROM_BASE or (reading.kind is AnswerKind.CONVERSATION and bool(prompt.facts))


def _statements(raw: str, prompt: AnswerPrompt) -> tuple[Statement, ...]:
    _, body, _ = divided(without_references(raw, prompt.facts))
    return split(body, facts=len(prompt.facts))


def _sources(reading: Reading, prompt: AnswerPrompt) -> dict[int, str]:
    """What an answer is held against: the facts that it cites with the others of the same items (a row may come from
    two documents), or else the best ones; for a conversation the whole dialogue."""
    assignment = prompt.assignment
    held = {number: said for number, said in enumerate(prompt.said[: len(prompt.facts)], start=1) if said}
    items = {prompt.facts[number - 1].item for number in reading.used} - {""}
    used = {*reading.used, *(number for number in held if prompt.facts[number - 1].item in items)}
    numbers = sorted(used & held.keys()) or list(held)[:BEST_FACTS]
    is_conversation = reading.kind is AnswerKind.CONVERSATION
    last = (each.question for each in assignment.dialogue.window[-LAST_QUESTIONS:])
    said = "\n".join(assignment.dialogue.texts if is_conversation else last)
    left = f"Found besides what is listed: {assignment.facts.left_out}." if assignment.facts.left_out else ""
    told = "\n".join(filter(None, (said, assignment.gaps, left)))
    return {**{number: held[number] for number in numbers}, **({SAID: told} if told else {})}


def _evidence(prompt: AnswerPrompt) -> Evidence:
    assignment = prompt.assignment
    return Evidence(
        question=f"{assignment.question}\n{assignment.understood}",
        facts=prompt.said,
        rules=prompt.rules,
        dialogue=assignment.dialogue.texts,
        ids=assignment.hidden_ids,
    )
