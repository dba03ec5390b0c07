"""The colours of charts, and the emoji that stand for them in captions. In and out: data only."""

from collections.abc import Mapping

BLUE, ORANGE, PURPLE, GREEN, RED = "🟦", "🟧", "🟪", "🟩", "🟥"
PAINTS: Mapping[str, str] = {BLUE: "#3478d4", ORANGE: "#f09a2a", PURPLE: "#9966cc", GREEN: "#5fae4b", RED: "#d8504a"}
BACKGROUND, GRID, INK = "#ffffff", "#e3e7ee", "#4a5261"
OTHER = "#9aa3b2"  # for kinds of answers that a later version of Baza has stored

KINDS: Mapping[str, str] = {
    "from_base": BLUE,
    "general": ORANGE,
    "quotes": PURPLE,
    "conversation": GREEN,
    "nothing": RED,
}
"""Kind of answer -> its sign; the bars are stacked in this order, bottom to top."""
