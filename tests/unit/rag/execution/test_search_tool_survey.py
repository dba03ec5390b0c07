"""`search_each_document`: what code can say of all documents where no model reads them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from domain.ids import BaseId
from prompts.loader import load_prompts
from rag.answering.plain import PlainAnswers
from rag.answering.prompt import Assignment
from rag.execution.facts import FactsPayload
from rag.execution.search_tool import MOST_DOCUMENTS, SurveyArguments, SurveyBase
from rag.planning.plan import RenderStyle
from rag.records import Fit, RankedPassage, SearchFilter
from tests.fakes.planning import BREADTH
from tests.fakes.reading import WORDINGS, Shelf, turn

ASKED = "Сколько договоров с неустойкой?"
WITH, WITHOUT = "Неустойка 0,1 % за день.", "Оплата в течение 14 дней."


class Finder(Shelf):
    """Finds the first passage of each document that it is narrowed to; what `doubtful` ones have is not certain."""

    def __init__(
        self, texts: Mapping[str, Sequence[str]], found: Sequence[str] = (), doubtful: Collection[str] = ()
    ) -> None:
        super().__init__(texts, found)
        self.doubtful = doubtful

    async def find(self, base: BaseId, question: str, *, only: SearchFilter | None = None) -> tuple[RankedPassage, ...]:
        found = await super().find(base, question)
        if only is None:
            return found
        (name,) = only.documents
        best = RankedPassage(passage=self.passages_of(name)[0], score=1.0)
        return (replace(best, judge=lambda: Fit.RELATED if name in self.doubtful else Fit.CERTAIN),)


SHELF = Finder({"А": [WITH], "Б": [WITHOUT], "В": [WITH]}, found=("В",), doubtful=("Б",))


async def survey(shelf: Shelf) -> FactsPayload:
    return await SurveyBase(shelf, shelf, WORDINGS, BREADTH).run(SurveyArguments(query=ASKED), turn(ASKED))


async def test_documents_in_which_something_is_found_are_counted_and_their_place_is_quoted() -> None:
    payload = await survey(SHELF)
    assert payload.facts[0].title == "Найдено в документах: 2 из 3"
    assert [fact.text for fact in payload.facts[1:]] == [f"В: {WITH}", f"А: {WITH}"]
    assert all(fact.passage for fact in payload.facts[1:])


async def test_words_that_only_say_how_much_is_asked_for_are_not_searched() -> None:
    await survey(shelf := Finder({"А": [WITH]}))
    assert set(shelf.searched) == {"договоров с неустойкой"}


async def test_the_answer_without_a_model_says_that_it_is_no_count() -> None:
    plain = PlainAnswers(load_prompts(), "ru")
    shown = plain.write(Assignment(question=ASKED, facts=await survey(SHELF), style=RenderStyle.BULLETS))
    assert shown.text.startswith("- Найдено в документах: 2 из 3. Это поиск по словам вопроса, а не подсчёт")
    assert len(shown.citations) == 2


async def test_documents_with_most_of_the_words_come_first_and_are_counted() -> None:
    shelf = Finder({"А": ["Неустойка 0,1 %."], "Б": ["Договор, неустойка 5 %."], "В": ["Неустойка 1 %."]}, found=("В",))
    payload = await survey(shelf)
    assert "Найдено в документах: 3 из 3, больше всего слов вопроса — в 1 из них" in payload.facts[0].text
    assert payload.facts[1].title == "Б"


async def test_of_a_large_base_it_is_said_how_many_were_searched() -> None:
    many = Finder({f"Том {number}": [WITH] for number in range(MOST_DOCUMENTS + 5)})
    payload = await survey(many)
    assert "из 60 просмотренных (в базе их 65)" in payload.facts[0].title
    assert len(many.searched) == MOST_DOCUMENTS + 1


async def test_where_nothing_is_certain_nothing_is_said() -> None:
    assert await survey(Finder({"А": [WITHOUT]}, doubtful=("А",))) == FactsPayload()
