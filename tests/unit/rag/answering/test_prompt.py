"""The messages that an answer is written from."""

from datetime import date

import pytest

from prompts.loader import load_prompts
from rag.answering.prompt import AnswerPrompt, AnswerSettings, Assignment, build_prompt
from rag.execution.facts import Fact, FactKind, FactsPayload
from rag.execution.search_tool import passages_payload
from rag.planning.plan import Limits, RenderStyle
from rag.ports import Dialogue
from rag.records import Exchange, RankedPassage
from rag.words import estimate_tokens
from tests.fakes.rag import make_passage, rank


def build(
    question: str = "Какой срок?",
    *,
    found: tuple[RankedPassage, ...] = (),
    history: int = 0,
    tokens: int = 12000,
    language: str = "ru",
    general_knowledge: bool = True,
    summary: str = "",
    searched: bool = True,
    style: RenderStyle = RenderStyle.SHORT,
    gaps: str = "",
    limits: Limits = Limits(),  # noqa: B008 - frozen
) -> AnswerPrompt:
    window = tuple(Exchange(question=f"вопрос {n}", answer="ответ " * 40) for n in range(history))
    return build_prompt(
        Assignment(
            question=question,
            facts=passages_payload(found, asked=question),
            dialogue=Dialogue(window=window, summary=summary),
            searched=searched,
            style=style,
            gaps=gaps,
            limits=limits,
        ),
        prompts=load_prompts(),
        settings=AnswerSettings(
            language=language, general_knowledge=general_knowledge, window_pairs=15, prompt_tokens=tokens
        ),
        today=date(2026, 5, 12),
    )


def test_the_system_prompt_is_the_same_for_every_question() -> None:
    first, second = build("один"), build("два", found=rank(make_passage("текст")), history=3)

    assert first.messages[0] == second.messages[0]


def test_a_passage_that_looks_like_a_template_stays_as_it_is() -> None:
    prompt = build("Какой срок?", found=rank(make_passage("{question} {materials} {{fence}}")))

    assert "{question} {materials} {{fence}}" in prompt.messages[-1].content
    assert prompt.messages[-1].content.count("Какой срок?") == 1


def test_nothing_found_is_said() -> None:
    last = build().messages[-1].content

    assert "found nothing" in last
    assert "[+]" not in last


@pytest.mark.parametrize(
    ("style", "said"),
    [
        (RenderStyle.BULLETS, "at most 7, one line"),
        (RenderStyle.GROUPED_BULLETS, "under at most 5 bold headings"),
        (RenderStyle.SHORT, "at most 2 short paragraphs"),
        (RenderStyle.TABLE, "at most 7 rows"),
    ],
)
def test_the_limits_of_the_plan_reach_the_writer(style: RenderStyle, said: str) -> None:
    limits = Limits(max_items=7, max_groups=5, max_paragraphs=2)
    assert said in build(found=rank(make_passage("текст")), style=style, limits=limits).messages[-1].content


def test_the_writer_is_told_how_many_there_are_beyond_its_materials() -> None:
    listed = tuple(Fact(kind=FactKind.STATEMENT, text=f"проект {number}", title="Проект") for number in range(3))
    payload = FactsPayload(facts=listed, left_out=8)
    asked = Assignment(question="Какие проекты?", facts=payload, style=RenderStyle.BULLETS, limits=Limits(skip=2))
    settings = AnswerSettings(language="ru", general_knowledge=True, window_pairs=15, prompt_tokens=9000)
    prompt = build_prompt(asked, prompts=load_prompts(), settings=settings, today=date(2026, 5, 12))
    assert "found 8 more: 13 in all" in prompt.messages[-1].content


@pytest.mark.parametrize(("language", "words"), [("ru", "Answer in Russian"), ("en", "Answer in English")])
def test_the_language_is_a_setting(language: str, words: str) -> None:
    assert words in build(language=language).messages[0].content


def test_general_knowledge_is_a_setting() -> None:
    assert "Do not answer from general knowledge" in build(general_knowledge=False).messages[0].content
    assert "Do not answer from general knowledge" not in build().messages[0].content


def test_what_steps_did_not_find_is_told_beside_the_materials_and_is_none_of_them() -> None:
    gaps = "Looked for in the base, and nothing was found: «пени 2031»."

    prompt = build(found=rank(make_passage("текст")), gaps=gaps)

    assert gaps in prompt.messages[-1].content
    assert gaps in prompt.said  # its numbers may be said
    assert len(prompt.facts) == 1
    assert gaps in build(gaps=gaps).messages[-1].content  # a name that no document has is said, too


@pytest.mark.parametrize("gaps", ["", "Looked for in the base, and nothing was found: «пени». " * 8])
@pytest.mark.parametrize("tokens", [3000, 4000, 8000])
def test_everything_fits_into_the_budget(tokens: int, gaps: str) -> None:
    found = rank(*(make_passage("слово " * 200, number=number) for number in range(1, 30)))

    prompt = build(found=found, history=15, tokens=tokens, gaps=gaps)

    assert sum(estimate_tokens(message.content) for message in prompt.messages) <= tokens
    assert prompt.facts


def test_the_dialogue_does_not_crowd_out_the_passages() -> None:
    found = rank(*(make_passage("слово " * 50, number=number) for number in range(1, 11)))

    alone = build(found=found, tokens=6000)
    with_history = build(found=found, history=15, tokens=6000)

    assert len(with_history.messages) > 2
    assert len(with_history.facts) >= len(alone.facts) * 0.7


def test_room_that_passages_do_not_use_is_the_dialogues() -> None:
    many = rank(*(make_passage("слово " * 50, number=number) for number in range(1, 40)))
    crowded, free = (build(found=found, history=15, tokens=5000) for found in (many, many[:1]))
    assert len(free.messages) > len(crowded.messages)


def test_what_was_said_long_ago_comes_before_the_question() -> None:
    last = build("Какой срок?", summary="Говорили о договоре аренды.", found=rank(make_passage("текст"))).messages[-1]

    assert last.content.index("Говорили о договоре аренды.") < last.content.index("Какой срок?")


def test_where_the_base_was_not_searched_the_model_is_not_told_that_nothing_was_found() -> None:
    last = build("Привет", searched=False).messages[-1].content

    assert "not searched" in last
    assert "found nothing" not in last


@pytest.mark.parametrize("style", list(RenderStyle))
def test_the_form_of_the_answer_is_the_plans(style: RenderStyle) -> None:
    last = build(found=rank(make_passage("текст")), style=style).messages[-1].content

    assert "Form of this answer" in last
    assert "{items}" not in last
