"""Names as they stand in a text."""

import pytest

from adapters.entities.finder import name_at


@pytest.mark.parametrize(
    ("text", "span", "name"),
    [
        ("Поставщик ООО «Ромашка» обязан", "ООО «Ромашка", "ООО «Ромашка»"),
        ('Поставщик ООО "Ромашка" обязан', 'ООО "Ромашка', 'ООО "Ромашка"'),
        ("Поставщик ООО «Ромашка» обязан", "ООО «Ромашка»", "ООО «Ромашка»"),
        ("завод «Север» и банк", "Север", "Север"),
        ('завод "Север" и банк', "Север", "Север"),
        ("Иван Петров\n» конец", "Иван Петров\n", "Иван Петров"),
        ("АО «Альфа\nБета» и", "АО «Альфа\nБета", "АО «Альфа"),
    ],
)
def test_a_name_has_the_quotation_mark_that_closes_it(text: str, span: str, name: str) -> None:
    start = text.index(span)
    assert name_at(text, start, start + len(span)) == name
