"""Renders facts as an answer without a model (seed 4, section 8): bullets, groups, paragraphs, a table.

In: facts and the plan's style and limits. Out: Markdown, and the citations of what it shows. Used when there is no
model, or when the model's text may not be shown. Passages are quoted, never paraphrased; the bot adds the line above
and the sources below.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from prompts.wordings import language_of
from rag.answering.citations import cite
from rag.execution.facts import Fact, FactKind, FactsPayload
from rag.planning.plan import Limits, RenderStyle
from rag.quoting.plain_requests import PlainRequests, Request, RequestKind, outline, sides
from rag.quoting.quotes import MAX_QUOTES, choose, escaped, quote_passages
from rag.records import Citation, RankedPassage


@dataclass(frozen=True, kw_only=True)
class Rendered:
    """Text and sources; the text is empty when there is nothing worth showing."""

    text: str
    citations: tuple[Citation, ...] = ()
    items: int = 0  # items shown; numbers about rows and disagreements do not count (`Fact.is_item`)
    left: int = 0  # items that the limits leave out, here or earlier
    is_weak: bool = False  # the passages may be about something else
    done: RequestKind | None = None  # what was done instead of quoting what answers


def render(
    payload: FactsPayload,
    *,
    style: RenderStyle,
    limits: Limits,
    question: str,
    marked: Sequence[Fact] = (),
    asked: str = "",
    requests: PlainRequests | None = None,
) -> Rendered:
    """The items up to the limits. Only where there are none: quotes of the passages that were `marked` as the answer's
    sources, or, if none was, of those that are `certain`.

    What the question, as it was `asked`, requests of code (`plain_requests`) goes before quotes. Quotes next to a list
    would repeat it. A fact without a title is a remark for the model and is not shown.
    """
    facts = [fact for fact in payload.facts if fact.kind is not FactKind.PASSAGE and fact.title]
    if facts:
        distinct = [fact for place, fact in enumerate(facts) if _is_said_first(fact, facts[:place])]
        shown = _within(distinct, style, limits)
        items = sum(fact.is_item for fact in shown)
        left = payload.left_out + sum(fact.is_item for fact in distinct) - items
        said = {fact.text for fact in shown}
        cited = [fact for fact in facts if fact in shown or (fact.item and fact.text in said)]  # both sides of a change
        citations = _unique([cite(fact.passage.passage, about=fact.text) for fact in cited if fact.passage])
        return Rendered(text=_STYLES[style](shown), citations=citations, items=items, left=left)
    judged = tuple(dict.fromkeys(fact.passage for fact in marked if fact.passage))[:MAX_QUOTES]
    found = [fact.passage for fact in payload.facts if fact.passage]
    request = requests.of(asked) if requests and not judged else None
    if requests and request and (done := _requested(request, requests, asked, found)):
        return done
    passages = judged or choose(found)
    if not passages:
        return Rendered(text="")
    asks_price = requests is not None and requests.asks_price(asked)
    text, citations = quote_passages(passages, question, asks_price=asks_price)
    return Rendered(text=text, citations=citations, is_weak=not judged and not any(each.certain for each in passages))


def _requested(
    request: Request, requests: PlainRequests, question: str, found: Sequence[RankedPassage]
) -> Rendered | None:
    """What code can do of the request with what was found; None where that is nothing."""
    if request.kind is RequestKind.COMPARISON:
        if (passages := sides(found)) is None:
            return None
        text, citations = quote_passages(passages, question)
        return Rendered(text=text, citations=citations, done=request.kind)
    if request.condition:
        listed = requests.rows(request.condition, question, found, language_of(question))
        done, left = listed or (None, 0)
    else:
        done, left = outline(found), 0
    if done is None:
        return None
    citations = tuple(cite(passage, about=question) for passage in done.passages)
    return Rendered(text=done.text, citations=_unique(citations), left=left, done=request.kind)


def _within(facts: Sequence[Fact], style: RenderStyle, limits: Limits) -> list[Fact]:
    """The facts within the limits: so many items, of so many titles as the style allows; numbers always stay."""
    titles = list(dict.fromkeys(fact.title for fact in facts))
    room = {RenderStyle.GROUPED_BULLETS: limits.max_groups, RenderStyle.SHORT: limits.max_paragraphs}
    of_titles = [fact for fact in facts if fact.title in titles[: room.get(style, len(titles))]]
    items = [place for place, fact in enumerate(of_titles) if fact.is_item][: limits.max_items]
    return [fact for place, fact in enumerate(of_titles) if not fact.is_item or place in items]


def _is_said_first(fact: Fact, before: Sequence[Fact]) -> bool:
    """Whether this is the first fact of its item with this text: what two documents state identically is shown once."""
    return not fact.item or all((fact.item, fact.text) != (each.item, each.text) for each in before)


def _bullets(facts: Sequence[Fact]) -> str:
    return "\n".join(f"- {_line(fact)}" for fact in facts)


def _grouped(facts: Sequence[Fact]) -> str:
    return "\n\n".join(f"**{escaped(title)}**\n{_bullets(group)}" for title, group in _by_title(facts))


def _short(facts: Sequence[Fact]) -> str:
    """One paragraph for each title."""
    return "\n\n".join(" ".join(map(_sentence, group)) for _, group in _by_title(facts))


def _by_title(facts: Sequence[Fact]) -> list[tuple[str, list[Fact]]]:
    titles = dict.fromkeys(fact.title for fact in facts)
    return [(title, [fact for fact in facts if fact.title == title]) for title in titles]


def _table(facts: Sequence[Fact]) -> str:
    """A table of the facts with columns, below a list of the others; only the list if no fact has columns."""
    rows = [dict(fact.fields) for fact in facts if fact.fields]
    others = _bullets([fact for fact in facts if not fact.fields])
    if not rows:
        return others
    columns = list(dict.fromkeys(column for row in rows for column in row))
    lines = [[escaped(row.get(column, "")) for column in columns] for row in rows]
    table = "\n".join(f"| {' | '.join(line)} |" for line in [columns, ["---"] * len(columns), *lines])
    return f"{others}\n\n{table}" if others else table


_STYLES: Mapping[RenderStyle, Callable[[Sequence[Fact]], str]] = {
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


def _unique(citations: Sequence[Citation]) -> tuple[Citation, ...]:
    return tuple({citation.chunk_id: citation for citation in citations}.values())
