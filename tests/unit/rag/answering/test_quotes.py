"""The answer without a model."""

from dataclasses import replace

from rag.answering.quotes import MAX_QUOTES, choose, quote_passages
from tests.fakes.rag import make_passage, rank


def test_only_the_best_are_quoted() -> None:
    passages = rank(*(make_passage("текст", number=number) for number in range(1, 9)))

    assert choose(passages) == passages[:MAX_QUOTES]


def test_what_is_not_certain_is_not_quoted() -> None:
    first, second = rank(make_passage("один", number=1), make_passage("два", number=2))

    assert choose((replace(first, judge=lambda: False), second)) == (second,)


def test_the_only_document_is_not_named_above_its_quotes() -> None:
    text, citations = quote_passages(rank(make_passage("Строка.\nВторая.", title="план_2*.md")), "строка")

    assert text == "> Строка.\n> Вторая."
    assert [citation.quote for citation in citations] == ["Строка.\nВторая."]


def test_quotes_of_several_documents_stand_under_their_names() -> None:
    plan = make_passage("Срок май.", number=1, title="план_2*.md", document="1")
    more = make_passage("Срок июнь.", number=3, title="план_2*.md", document="1")
    other = make_passage("Срок март.", number=2, title="смета", document="2")

    text, citations = quote_passages(rank(plan, other, more), "срок")

    assert text == "**план\\_2\\*.md**\n> Срок май.\n\n> Срок июнь.\n\n**смета**\n> Срок март."
    assert [citation.title for citation in citations] == ["план_2*.md", "план_2*.md", "смета"]


def test_a_title_inside_the_passage_is_not_repeated() -> None:
    page = make_passage("Правила двора\nСтоять можно два часа.", title="Правила двора")

    assert quote_passages(rank(page), "стоять")[0] == "> Стоять можно два часа."


def test_sentences_about_something_else_are_left_out() -> None:
    text = "Жильцы любят двор. Штраф бывает. Он равен пятистам рублям. Весной сажают цветы."

    assert quote_passages(rank(make_passage(text)), "какой штраф?")[0] == "> Штраф бывает. Он равен пятистам рублям."


def test_the_sentence_with_another_form_of_a_short_word_is_quoted() -> None:
    text = "Средний Рейн течёт на север. Ущелье глубокое. Он славится своими замками."

    assert quote_passages(rank(make_passage(text)), "замки")[0] == "> Он славится своими замками."


def test_the_heading_of_the_next_part_is_left_out() -> None:
    text = "Платежи\n\nШтраф равен 5 %.\n\nРасторжение\n\nЗа 45 дней."

    assert quote_passages(rank(make_passage(text)), "какой штраф?")[0] == "> Штраф равен 5 %."


def test_the_line_below_a_label_is_quoted() -> None:
    text = "Телефон\n\n+7 900 000-00-00\n\nАдрес\n\nМосква"

    assert quote_passages(rank(make_passage(text)), "телефон")[0] == "> Телефон\n>\n> +7 900 000-00-00"


def test_a_list_that_follows_is_quoted_whole() -> None:
    text = "Роль: автор.\n\nСтек\n\n- Python\n- RAG\n- Streamlit\n\nДостижения были разные."

    assert quote_passages(rank(make_passage(text)), "какой стек?")[0] == "> Стек\n>\n> - Python\n> - RAG\n> - Streamlit"


def test_the_same_words_are_quoted_once() -> None:
    twins = rank(make_passage("Штраф 500.", number=1), make_passage("Штраф 500.", number=2))

    text, citations = quote_passages(twins, "штраф")

    assert text == "> Штраф 500."
    assert len(citations) == 1
