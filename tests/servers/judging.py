"""A checker of answers by script: it believes every statement but those that it was told to refuse.

In: the last message of a support check. Out: the reply as JSON. It quotes the first line of the text that a statement
cites, or else of the first source.
"""

import json
import re
from collections.abc import Mapping

_SOURCE = re.compile(r"<(text-[0-9a-f]{8}) source=(\d+)>\n(?P<text>.*?)\n</\1>", re.DOTALL)
_STATEMENT = re.compile(r"^(\d+)\. (?:\((?:cites (?P<cited>[\d, ]+))?[^)\n]*\) )?(?P<text>.*)$", re.MULTILINE)
_STATEMENTS = "\n# Statements\n"


def judge(task: str, refused: Mapping[str, str] | None = None) -> str:
    """The reply. `refused`: a part of a statement, and why it is not believed; a reason that begins with «!» makes it
    `contradicted`, any other `absent`."""
    sources = {int(match[2]): match["text"] for match in _SOURCE.finditer(task)}
    statements = _STATEMENT.finditer(task.partition(_STATEMENTS)[2])
    return json.dumps({"statements": [_judged(each, sources, refused or {}) for each in statements]})


def _judged(statement: re.Match[str], sources: Mapping[int, str], refused: Mapping[str, str]) -> dict[str, object]:
    why = next((why for part, why in refused.items() if part in statement["text"]), None)
    cited = int((statement["cited"] or "0").split(",")[0])
    number = cited if cited in sources else next(iter(sources))
    text = sources[number].rpartition("\nText:\n")[2]
    words = next(line for line in text.splitlines() if re.search(r"\w", line)).partition(" … ")[0]
    verdict = "supported" if why is None else "contradicted" if why.startswith("!") else "absent"
    evidence = [{"source": number, "words": words}] if verdict != "absent" else []
    return {"statement": int(statement[1]), "evidence": evidence, "verdict": verdict, "why": (why or "").lstrip("!")}
