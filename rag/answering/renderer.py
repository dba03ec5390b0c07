"""Facts as an answer without a model's words (seed 4, section 8): bullets, groups, paragraphs, a table.

In: facts and the plan's style and limits. Out: Markdown and the citations of what it shows. It is what people get when
no model is there, or when what the model wrote may not be shown. Passages are quoted, never retold; the line above and
the sources below are the bot's.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rag.answering.citations import cite
from rag.answering.quotes import choose, quote_passages
from rag.execution.facts import Fact, FactKind, FactsPayload
from rag.planning.plan import Limits, RenderStyle
from rag.records import Citation

_MARKUP = re.compile(r"([\\`*_\[\]<>|~])")


@dataclass(frozen=True, kw_only=True)
class Rendered:
    """Text and sources; blank when there is nothing worth showing."""

    text: str
    citations: tuple[Citation, ...] = ()


def render(payload: FactsPayload, *, style: RenderStyle, limits: Limits, question: str) -> Rendered:
    """Every item up to the limits, then quotes of the passages that are certain.

    Quotes come only where no item answers: next to a list they would say the same once more. A fact without a title is
    a remark for the model.
    """
    items = [fact for fact in payload.facts if fact.kind is not FactKind.PASSAGE and fact.title]
    if items:
        shown = [fact for place, fact in enumerate(items) if _is_said_first(fact, items[:place])][: limits.max_items]
        said = {fact.text for fact in shown}
        cited = [fact for fact in items if fact in shown or (fact.item and fact.text in said)]  # both sides of a change
        citations = tuple(cite(fact.passage.passage, about=fact.text) for fact in cited if fact.passage)
        return Rendered(text=_STYLES[style](shown, limits), citations=_unique(citations))
    passages = choose([fact.passage for fact in payload.facts if fact.passage])
    if not passages:
        return Rendered(text="")
    text, citations = quote_passages(passages, question)
    return Rendered(text=text, citations=citations)


def _is_said_first(fact: Fact, before: Sequence[Fact]) -> bool:
    """What two documents bear word for word is said once."""
    return not fact.item or all((fact.item, fact.text) != (each.item, each.text) for each in before)


def _bullets(facts: Sequence[Fact], limits: Limits) -> str:
    return "\n".join(f"- {_line(fact)}" for fact in facts)


def _grouped(facts: Sequence[Fact], limits: Limits) -> str:
    titles = list(dict.fromkeys(fact.title for fact in facts))[: limits.max_groups]
    groups = [(title, [fact for fact in facts if fact.title == title]) for title in titles]
    return "\n\n".join(f"**{escaped(title)}**\n{_bullets(group, limits)}" for title, group in groups)


def _short(facts: Sequence[Fact], limits: Limits) -> str:
    """One paragraph for each thing that the facts are about."""
    titles = list(dict.fromkeys(fact.title for fact in facts))[: limits.max_paragraphs]
    return "\n\n".join(" ".join(_sentence(fact) for fact in facts if fact.title == title) for title in titles)


def _table(facts: Sequence[Fact], limits: Limits) -> str:
    """Rows of the facts that have columns; without any, a list says as much."""
    rows = [dict(fact.fields) for fact in facts if fact.fields]
    if not rows:
        return _bullets(facts, limits)
    columns = list(dict.fromkeys(column for row in rows for column in row))
    lines = [[escaped(row.get(column, "")) for column in columns] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in [columns, ["---"] * len(columns), *lines])


_STYLES: Mapping[RenderStyle, Callable[[Sequence[Fact], Limits], str]] = {
    RenderStyle.BULLETS: _bullets,
    RenderStyle.GROUPED_BULLETS: _grouped,
    RenderStyle.SHORT: _short,
    RenderStyle.TABLE: _table,
}


def _line(fact: Fact) -> str:
    return escaped(" ".join(fact.text.split()))


def _sentence(fact: Fact) -> str:
    line = _line(fact)
    return line if line.endswith((".", "!", "?", "…")) else f"{line}."


def escaped(text: str) -> str:
    """The text as Markdown that says just that."""
    return _MARKUP.sub(r"\\\1", text)


def _unique(citations: Sequence[Citation]) -> tuple[Citation, ...]:
    return tuple({citation.chunk_id: citation for citation in citations}.values())
