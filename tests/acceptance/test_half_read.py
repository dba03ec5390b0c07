"""A book is asked about while it is still being read."""

import re
from pathlib import Path

from tests.acceptance.conftest import Start
from tests.acceptance.test_whole_way import READ_S, enter
from tests.servers.jina import JinaServer
from tests.servers.person import Person

CHAPTERS = 700  # three calls of the embedder
SENTENCE = "Караван шёл через пустыню к дальнему городу. "


def write_book(path: Path) -> Path:
    """Its first chapter answers the question."""
    chapters = [f"Глава {number}. " + SENTENCE * 12 for number in range(1, CHAPTERS)]
    path.write_text("\n\n".join(["Погонщика верблюдов звали Фархад.", *chapters]), encoding="utf-8")
    return path


async def test_what_is_read_so_far_answers_and_the_answer_says_how_much_that_is(
    start: Start, jina: JinaServer, with_jina: dict[str, str], tmp_path: Path
) -> None:
    async with start(**with_jina) as page, Person(page) as you:
        await enter(you, "base")
        jina.delay_s = 3.0
        await you.send_file(write_book(tmp_path / "Книга.txt"))
        progress = await you.wait_for("Спрашивать уже можно", READ_S)
        jina.documents_go_on.clear()
        jina.delay_s = 0.0
        await enter(you, "chat")
        await you.say("Как звали погонщика верблюдов?")
        answer = await you.wait_for("ещё читается", READ_S)
        jina.documents_go_on.set()
        await you.wait_for("✅ Книга", READ_S)
    told = re.search(r"Документ «Книга.txt» ещё читается: прочитано (\d+)\s%", answer.text)
    assert told
    assert 0 < int(told[1]) < 100
    assert "Фархад" in answer.text
    assert re.search(r"прочитано \d+\s%", progress.text)
