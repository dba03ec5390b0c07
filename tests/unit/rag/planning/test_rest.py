"""The rest of a list that an earlier answer has offered, where no model plans."""

import pytest

from bot.texts import load_texts
from domain.ids import BaseId
from rag.execution.search_tool import SurveyBase
from rag.planning.plain_planner import rest_of
from rag.records import Exchange, RankedPassage, SearchFilter
from tests.fakes.planning import BREADTH
from tests.fakes.rag import RememberedDialogue, rank
from tests.fakes.reading import WORDINGS, Shelf
from tests.fakes.turns import Turn

ASKED = "Перечисли все договоры с неустойкой"
OFFERED = Exchange(question=ASKED, answer="- А\n- Б\n\nещё 18 из 20 (по запросу могу вывести)")
ON = Exchange(question="Выведи остальное", answer="- В\n- Г\n\nещё 16 из 20 (по запросу могу вывести)")


class SearchedShelf(Shelf):
    """Finds the first passage of the document that it is narrowed to."""

    async def find(self, base: BaseId, question: str, *, only: SearchFilter | None = None) -> tuple[RankedPassage, ...]:
        return rank(self.passages_of(only.documents[0])[0]) if only else ()


@pytest.mark.parametrize(
    "question",
    [
        *("Выведи остальные", "Да, выведи их", "Ещё", "давай дальше", "Show the rest, please", "А остальные?"),
        *(
            "Какие ещё?",
            "Можешь вывести остальные?",
            "Что не поместилось?",
            "Выведи оставшиеся 18",
            "What about the rest?",
        ),
    ],
)
def test_what_takes_the_offer_up_gets_the_rest(question: str) -> None:
    assert rest_of(question, (OFFERED,), BREADTH) == (ASKED, 2)


@pytest.mark.parametrize("language", ["ru", "en"])
def test_so_does_the_button_below_the_answer(language: str) -> None:
    asked = load_texts().for_language(language).plain("ask-more")
    assert rest_of(asked, (OFFERED, ON), BREADTH) == (ASKED, 4)


@pytest.mark.parametrize(
    "question",
    [
        *("Выведи остальные договоры аренды", "Покажи штраф", "Ещё раз, какой срок?", "Спасибо", "Все", "Ещё 20"),
        *("Не выводи", "Да не продолжай", "Не хочу", "Не показывай остальные", "Don't show more", "No more"),
    ],
)
def test_what_asks_for_something_else_does_not(question: str) -> None:
    assert rest_of(question, (OFFERED,), BREADTH) is None


def test_where_nothing_was_left_out_there_is_no_rest() -> None:
    whole = Exchange(question=ASKED, answer="- А\n- Б")
    assert rest_of("Выведи остальные", (OFFERED, whole), BREADTH) is None
    assert rest_of("Выведи остальные", (), BREADTH) is None


def test_a_count_that_cannot_be_goes_on_with_nothing() -> None:
    made_up = Exchange(question=ASKED, answer="- А\n\nещё 30 из 20")
    assert rest_of("Выведи остальные", (made_up,), BREADTH) is None


async def test_without_a_model_a_list_offers_its_rest_and_gives_it() -> None:
    names = [f"Договор {number}" for number in range(1, 31)]
    shelf = SearchedShelf({name: ["Неустойка 0,1 % за день."] for name in names})
    survey = SurveyBase(shelf, shelf, WORDINGS, BREADTH)
    turn = Turn(None, dialogue=RememberedDialogue(), more_tools=[survey])
    first = await turn.answer(f"{ASKED}: по всем документам")
    rest = [await turn.answer("Выведи остальные"), await turn.answer("Да, выведи")]

    assert first.text.endswith("ещё 18 из 30 (по запросу могу вывести)")
    assert rest[0].text.endswith("ещё 6 из 30 (по запросу могу вывести)")
    assert "могу вывести" not in rest[1].text
    shown = [line for answer in (first, *rest) for line in answer.text.splitlines() if line.startswith("- Договор")]
    assert len(set(shown)) == len(shown) == len(names)
