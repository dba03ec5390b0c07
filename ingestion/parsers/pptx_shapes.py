"""Orders the shapes of a slide as people read them: bands from top to bottom, each from left to right.

In: a slide's tree, and the layout's positions of placeholders that the slide does not place. Out: shapes that may
contain text; those in groups are ordered among the others. Positions are in EMU (914,400 an inch).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ingestion.parsers.xml_trees import Element, child, local_name

EMU_OF_BAND = 350_000  # about a centimetre: shapes whose tops differ by less are side by side
FAR_BELOW = 10**9  # for a shape without a position
TITLE_TYPES = frozenset({"title", "ctrTitle"})
WORDY = frozenset({"sp", "graphicFrame", "cxnSp"})
GROUP = "grpSp"
DEEPEST_GROUP = 30
ALTERNATIVES = "AlternateContent"


@dataclass(frozen=True, kw_only=True)
class Place:
    """The upper left corner of a shape."""

    top: float
    left: float


Placeholders = Mapping[tuple[str, str], Place]
"""("idx", number) or ("type", name) -> position."""


@dataclass(frozen=True, kw_only=True)
class Shape:
    """A shape that may contain text, and its position."""

    element: Element
    place: Place
    placeholder: str | None  # its type, "" if unstated; None: no placeholder


@dataclass(frozen=True, kw_only=True)
class _Group:
    """Transforms coordinates inside a group into those of the slide."""

    left: float = 0
    top: float = 0
    scale_x: float = 1
    scale_y: float = 1

    def place(self, left: float, top: float) -> Place:
        return Place(left=self.left + left * self.scale_x, top=self.top + top * self.scale_y)


def shapes_in_order(slide: Element | None, inherited: Placeholders) -> list[Shape]:
    """The shapes of a slide or notes page; none if it does not exist."""
    tree = next(slide.iter("{*}spTree"), None) if slide is not None else None
    if tree is None:
        return []
    return _in_bands(list(_walk(tree, _Group(), inherited, depth=0)))


def placeholders(layout: Element | None) -> dict[tuple[str, str], Place]:
    """Positions of the placeholders in a layout or master."""
    places: dict[tuple[str, str], Place] = {}
    for shape in shapes_in_order(layout, {}):
        mark = _placeholder(shape.element)
        if mark is not None and shape.place.top < FAR_BELOW:
            for key in _keys(mark):
                places.setdefault(key, shape.place)
    return places


def is_title(shape: Shape) -> bool:
    """Whether the shape is the title placeholder and has text."""
    return shape.placeholder in TITLE_TYPES and any(text.text for text in shape.element.iter("{*}t"))


def _walk(container: Element, group: _Group, inherited: Placeholders, *, depth: int) -> Iterator[Shape]:
    for element in container:
        name = local_name(element)
        if name == ALTERNATIVES:
            choice = child(element, "Choice")  # the fallback is a picture of the same
            yield from _walk(choice, group, inherited, depth=depth) if choice is not None else ()
        elif name == GROUP and depth < DEEPEST_GROUP:
            yield from _walk(element, _enter(element, group), inherited, depth=depth + 1)
        elif name in WORDY:
            yield _shape(element, group, inherited)


def _shape(element: Element, group: _Group, inherited: Placeholders) -> Shape:
    mark = _placeholder(element)
    offset = _offset(element, "off")
    if offset is not None:
        place = group.place(*offset)
    else:
        keys = _keys(mark) if mark is not None else []
        place = next((inherited[key] for key in keys if key in inherited), Place(top=FAR_BELOW, left=0))
    return Shape(element=element, place=place, placeholder=mark.get("type", "") if mark is not None else None)


def _placeholder(element: Element) -> Element | None:
    return next(element.iter("{*}ph"), None)


def _keys(mark: Element) -> list[tuple[str, str]]:
    keys = [("idx", mark.get("idx"))] if mark.get("idx") else []
    kind = mark.get("type", "body")
    return [*keys, ("type", "title" if kind in TITLE_TYPES else kind)]


def _enter(element: Element, outer: _Group) -> _Group:
    properties = child(element, "grpSpPr")
    transform = child(properties, "xfrm") if properties is not None else None
    if transform is None:
        return outer
    left, top = _pair(child(transform, "off"), "x", "y") or (0, 0)
    inner_left, inner_top = _pair(child(transform, "chOff"), "x", "y") or (left, top)
    width, height = _pair(child(transform, "ext"), "cx", "cy") or (1, 1)
    inner_width, inner_height = _pair(child(transform, "chExt"), "cx", "cy") or (width, height)
    scale_x = outer.scale_x * (width / inner_width if inner_width else 1)
    scale_y = outer.scale_y * (height / inner_height if inner_height else 1)
    corner = outer.place(left, top)
    return _Group(
        left=corner.left - inner_left * scale_x, top=corner.top - inner_top * scale_y, scale_x=scale_x, scale_y=scale_y
    )


def _offset(element: Element, name: str) -> tuple[float, float] | None:
    """The offset of a shape (`spPr/xfrm`) or a frame (`xfrm`)."""
    properties = child(element, "spPr")
    transform = child(element if properties is None else properties, "xfrm")
    return None if transform is None else _pair(child(transform, name), "x", "y")


def _pair(element: Element | None, first: str, second: str) -> tuple[float, float] | None:
    try:
        return None if element is None else (float(element.get(first)), float(element.get(second)))
    except (TypeError, ValueError):
        return None


def _in_bands(shapes: list[Shape]) -> list[Shape]:
    ordered: list[Shape] = []
    band: list[Shape] = []
    for shape in sorted(shapes, key=lambda shape: shape.place.top):
        if band and shape.place.top - band[0].place.top > EMU_OF_BAND:
            ordered.extend(sorted(band, key=lambda shape: shape.place.left))
            band = []
        band.append(shape)
    return ordered + sorted(band, key=lambda shape: shape.place.left)
