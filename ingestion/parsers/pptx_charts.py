"""Reads the data of a chart as rows of a table.

In: a chart part's tree (DrawingML charts). Out: a row of series names, then one row for each category. It reads the
chart's cached data, not the embedded workbook.
"""

from ingestion.parsers.number_formats import plain_number
from ingestion.parsers.xml_trees import Element, child, words_of

MOST_POINTS = 10_000


def chart_rows(chart: Element) -> list[list[str]]:
    """The rows; empty for a chart without data."""
    names: list[str] = []
    columns: list[dict[int, str]] = []
    categories: dict[int, str] = {}
    for series in chart.iter("{*}ser"):
        names.append(_name(child(series, "tx")))
        columns.append(_points(_first(series, "val", "yVal")))
        categories = categories or _points(_first(series, "cat", "xVal"))
    places = sorted({place for column in (categories, *columns) for place in column})[:MOST_POINTS]
    if not names or not places:
        return []
    header = ["", *names]
    return [header, *([categories.get(place, ""), *(column.get(place, "") for column in columns)] for place in places)]


def _first(series: Element, *names: str) -> Element | None:
    return next((found for name in names if (found := child(series, name)) is not None), None)


def _points(values: Element | None) -> dict[int, str]:
    if values is None:
        return {}
    points = ((point.get("idx", ""), words_of(child(point, "v"))) for point in values.iter("{*}pt"))
    return {int(place): _tidy(text) for place, text in points if place.isdecimal() and len(place) < 9}


def _name(text: Element | None) -> str:
    """The name of a series, without the formula that it comes from."""
    return "" if text is None else " ".join(words_of(value) for value in text.iter("{*}v", "{*}t"))


def _tidy(text: str) -> str:
    try:
        return plain_number(float(text))
    except ValueError:
        return text
