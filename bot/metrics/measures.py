"""What can be told about the work of this process. In: plain calls. Out: nothing, until `prometheus` keeps it.

`Measures` forgets everything: it stands where nobody scrapes, so that nobody else has to ask whether somebody does.
"""

from collections.abc import Callable, Mapping

from domain.documents import DocumentStatus
from domain.statistics import QueueState
from ingestion.metering import Outcome
from rag.metering import ModelCall, TurnMetrics

Resting = Callable[[], Mapping[str, bool]]
"""Model -> whether it is left alone for a while (`adapters.llm.fallback`)."""


class Measures:
    """Meets `ingestion.ports.WorkMeter` too; forgets what it hears."""

    def turn_ended(self, turn: TurnMetrics) -> None:
        """A question was answered."""

    def answer_rated(self, rating: int) -> None:
        """A thumb was pressed under an answer: up is above 0."""

    def search_ended(self, seconds: float) -> None:
        """One search, with its embedding and reranking."""

    def model_called(self, role: str, call: ModelCall) -> None:
        """One call; `role` is what the model is for: answer, planner, reading, vision."""

    def watch_models(self, role: str, resting: Resting) -> None:
        """Ask `resting` whenever somebody wants to know."""

    def stage_ended(self, status: DocumentStatus, seconds: float) -> None:
        """A document was in this stage for so long."""

    def document_ended(self, outcome: Outcome, code: str = "") -> None:
        """An attempt at a document has ended; `code`: why it failed or is made again."""

    def bot_api_failed(self, method: str, error: str) -> None:
        """One request to the Bot API; `error` is the name of aiogram's exception."""

    def queue_seen(self, queue: QueueState) -> None:
        """The queue as it is now."""
