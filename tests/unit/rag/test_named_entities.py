"""Which entities a turn looks up: beside the dialogue, and anew where the dialogue was another than expected."""

from domain.ids import BaseId
from rag.entities import RegistryResolver
from rag.records import Exchange, KnownEntity
from tests.fakes.rag import RememberedDialogue, ScriptedModel
from tests.fakes.turns import ASKED, RIGHT, Turn, planner


class Registry(RegistryResolver):
    """Knows one entity by what was asked before."""

    def __init__(self) -> None:
        self.earlier: list[str] = []

    async def resolve(self, base: BaseId, question: str, *, earlier: str = "") -> tuple[KnownEntity, ...]:
        self.earlier.append(earlier)
        return (KnownEntity(id=f"id-{earlier}", type="project", name=earlier or "никто", aliases=(), confidence=1.0),)


async def test_a_new_dialogue_is_looked_up_once() -> None:
    registry = Registry()
    await Turn(ScriptedModel(RIGHT), planner=planner(), entities=registry).answer()
    assert registry.earlier == [""]


async def test_a_dialogue_that_this_process_leads_is_looked_up_once_for_each_question() -> None:
    registry = Registry()
    turn = Turn(ScriptedModel(RIGHT), planner=planner(), entities=registry)
    await turn.answer()
    await turn.answer("А достижения там?")
    assert registry.earlier == ["", ASKED]


async def test_a_dialogue_from_before_a_restart_is_looked_up_anew() -> None:
    registry, plans = Registry(), planner()
    said = RememberedDialogue([Exchange(question="Что за АЛОР?", answer="Брокер.")])
    await Turn(ScriptedModel(RIGHT), planner=plans, dialogue=said, entities=registry).answer()
    assert registry.earlier[-1] == "Что за АЛОР?"
    assert "id-Что за АЛОР?" in str(plans.asked[0])
