"""The answer without a model."""

import re
from dataclasses import replace

import pytest

from adapters.lexical import RussianEnglishAnalyzer
from bot.replies.rich import render_markdown
from rag.answering.quotes import FOLDED_CHARS, choose, compare, quote_passages, read_for_sum
from rag.records import Fit, RankedPassage
from rag.words import AskedWords
from tests.fakes.planning import BREADTH as REQUESTS
from tests.fakes.rag import make_passage, rank

FAQ = "Как войти?\n\nПо ссылке из письма, она действует сутки.\n\nКак выйти?\n\nНет. Попросите владельца."
LEASE = """Договор аренды

ООО «Меридиан» и ООО «Ромашка» заключили договор о нижеследующем.

3. Оплата

3.1. Арендная плата составляет 100 000 рублей в месяц.

3.2. Плата вносится не позднее пятого числа.

4. Расторжение

4.1. Арендодатель вправе расторгнуть договор, если плата не внесена дважды."""
PRICES = "Цены\n\n| Сорт | Вес | Цена |\n| --- | --- | --- |\n| Бразилия | 1 кг | 990 ₽ |\n| Эфиопия | 1 кг | 1 890 ₽ |"

RETURNS = """Как вернуть деньги за сертификат?

Напишите нам.

Деньги за сертификат вернутся через неделю.

Во сколько вы открываетесь?

В восемь."""


@pytest.mark.parametrize(
    ("text", "question", "lead"),
    [
        # the sentence with the rarest words of the question, not the first with any of them
        ("Договор бессрочный. Договор платный. По договору пеня 5 % в день.", "пеня по договору", "пеня 5 % в день"),
        # another form of a short word
        ("Средний Рейн течёт на север. Ущелье глубокое. Он славится своими замками.", "замки", "Он славится"),
        # what follows a question is its answer
        (FAQ, "как войти", "По ссылке из письма, она действует сутки."),
        # a sentence that says too little takes the next one along
        (FAQ, "как выйти", "Нет. Попросите владельца."),
        # what follows a heading belongs to it, and the next heading does not
        ("Платежи\n\nШтраф равен 5 %.\n\nРасторжение\n\nЗа 45 дней.", "расторжение", "За 45 дней."),
        # a short value stands under its label
        ("Телефон\n\n+7 900 000-00-00\n\nАдрес\n\nМосква", "телефон", "Телефон**\n**+7 900 000-00-00"),
        # a list that was asked for by its heading is shown whole
        ("Роль: автор.\n\nСтек\n\n- Python\n- RAG\n\nДостижения были.", "какой стек?", "- Python**\n**- RAG"),
        # so is one that a sentence announces
        ("Стек такой:\n- Python\n- RAG\nКонец.", "стек", "Стек такой:**\n**- Python**\n**- RAG"),
        # a row of a table comes with the names of its columns
        (PRICES, "сколько стоит эфиопия", "Эфиопия: вес 1 кг; цена 1 890 ₽"),
        # a stop inside a row does not end it
        (PRICES.replace("Бразилия", "Дрип, 5 шт. Бразилия"), "бразилия", "Дрип, 5 шт. Бразилия: вес 1 кг; цена 990 ₽"),
        # a short paragraph is shown whole
        ("Плата растёт. Срок оплаты пятое число.", "срок оплаты", "Плата растёт. Срок оплаты пятое число."),
        # the clause under the heading with its words, not one that mentions them beside a rarer one
        (
            "3. Арендная плата\n\n3.1. Арендная плата равна ста рублям.\n\n4. Ответственность\n\n"
            "4.1. Штраф равен арендной плате.",
            "штраф и арендная плата",
            "3.1. Арендная плата равна ста рублям.",
        ),
        # under a question that was asked word for word its first sentence, not the one with the most of its words
        (RETURNS, "Как вернуть деньги за сертификат?", "Напишите нам."),
        # of words that begin alike the nearer form
        ("Арендодатель: ИНН 63.\n\nАрендатор: ИНН 64.", "ИНН арендатора", "Арендатор: ИНН 64."),
        # a heading with nothing below it can still be all that there is
        ("Сроки поставки", "сроки", "Сроки поставки"),
    ],
)
def test_the_sentence_that_carries_the_question_comes_first(text: str, question: str, lead: str) -> None:
    shown, citations = quote_passages(rank(make_passage(text, title="Файл")), question)

    first = shown.partition("\n\n")[0].replace("\\", "")
    assert first.startswith("**")
    assert lead in first
    assert len(citations) == 1


@pytest.mark.parametrize("question", ["размер арендной платы ромашки", "арендная плта", "сколько платить за аренду?"])
def test_words_that_choose_the_document_choose_no_sentence_of_it(question: str) -> None:
    lease = replace(make_passage(LEASE, title="Договор аренды Ромашка"), searchable=3)
    shown, (citation,) = quote_passages(rank(lease), question)
    assert shown.startswith("**3.1. Арендная плата составляет 100 000")
    assert [lease.text[span.start : span.end][:4] for span in citation.carrying] == ["3.1."]
    assert "Меридиан" not in shown


CLAUSES = """Договор аренды

1. Предмет

1.1. Арендодатель сдаёт, а Арендатор принимает в аренду склад площадью 186 метров.

3. Платежи

3.1. Арендная плата составляет 100 000 рублей в месяц.

3.2. Плата вносится до пятого числа.

4. Ответственность

4.1. При задержке платежа взыскивается штраф в размере месячной арендной платы."""


@pytest.mark.parametrize(
    ("question", "clause"),
    [
        # 4.1 has all the words, but is about something else
        ("размер арендной платы", "3.1."),
        # no clause has the word; 4.1 has two that may stand for it, and they count once
        ("когда платить аренду", "3.1."),
        # the subject has the words, the price is asked for
        ("сколько стоит аренда склада", "3.1."),
        ("какой штраф", "4.1."),
        ("какой склад", "1.1."),
    ],
)
def test_the_clause_that_is_about_it_comes_first(question: str, clause: str) -> None:
    lease = replace(make_passage(CLAUSES, title="Договор аренды"), searchable=3)
    found = replace(rank(lease)[0], asked=AskedWords(terms_of=RussianEnglishAnalyzer().terms))
    asking = REQUESTS.asking_price(question)
    assert quote_passages(read_for_sum([found], question, asking), question)[0].startswith(f"**{clause}")


@pytest.mark.parametrize(
    ("question", "row"),
    [
        # every row has a price: the words of the question before choose
        ("а сколько это стоит?", "Эфиопия: вес 1 кг; цена 1 890 ₽"),
        # its own word chooses, though the other row has that of the question before
        ("а бразилия?", "Бразилия: вес 1 кг; цена 990 ₽"),
    ],
)
def test_what_a_follow_up_leaves_open_the_question_before_decides(question: str, row: str) -> None:
    found = read_for_sum(rank(make_passage(PRICES)), question, REQUESTS.asking_price(question))
    shown, _ = quote_passages(found, question, before="есть ли эфиопия")
    assert row in shown.partition("\n\n")[0]


def test_what_only_begins_like_a_word_for_a_price_asks_for_none() -> None:
    assert [
        bool(REQUESTS.asking_price(said))
        for said in ("Почём ясень?", "где центр города", "What is the costume made of?")
    ] == [
        True,
        False,
        False,
    ]


def as_the_search_reads(text: str, **rarities: float) -> RankedPassage:
    asked = AskedWords(terms_of=RussianEnglishAnalyzer().terms, rarities=rarities)
    return replace(rank(make_passage(text))[0], asked=asked)


def test_forms_of_a_short_word_are_one_as_in_the_search() -> None:
    text = "Возврат платы запрещён.\n\nПлата вносится вовремя."
    assert quote_passages([as_the_search_reads(text)], "вовремя платы")[0].startswith("**Плата вносится")


def test_words_that_only_ask_choose_no_sentence() -> None:
    text = "What the team did the day before is known.\n\nThe cup is silver."
    assert quote_passages([as_the_search_reads(text)], "what did the cup cost?")[0].startswith("**The cup")


def test_a_word_that_is_rare_in_the_base_decides() -> None:
    text = f"Насос подаёт воду.{' Вот так.' * 25}\n\nФильтр чистит воду.{' Вот и так.' * 25}"
    for rare in ("насос", "фильтр"):
        found = as_the_search_reads(text, **{"насос": 1.0, "фильтр": 1.0, rare: 5.0})
        assert quote_passages([found], "насос и фильтр")[0].startswith(f"**{rare.capitalize()}")


def test_the_rest_of_the_passage_follows_folded() -> None:
    text = f"Жильцы любят двор{' и сад' * 200}. Штраф за стоянку ночью бывает большим. Он равен пятистам."

    shown, _ = quote_passages(rank(make_passage(text)), "какой штраф за стоянку?")

    assert shown.startswith("**Штраф за стоянку ночью бывает большим.**\n\n> Он равен пятистам.")


def test_numbers_at_the_beginning_of_a_line_are_not_counted_anew() -> None:
    shown, _ = quote_passages(rank(make_passage("Слушали доклад.\n7. Закупка\n3. Отпуск\nКонец.")), "доклад")

    assert "7. Закупка\n3. Отпуск" in "".join(run.text for run in render_markdown(shown).runs)


def test_what_another_heading_heads_is_no_context() -> None:
    assert "войти" not in quote_passages(rank(make_passage(FAQ)), "выйти")[0]


def test_a_table_is_told_in_words_in_the_folded_part_too() -> None:
    shown, (citation,) = quote_passages(rank(make_passage(PRICES)), "бразилия")
    assert "|" not in shown
    assert "> Эфиопия: вес 1 кг; цена 1 890 ₽" in shown
    assert citation.quote == "| Бразилия | 1 кг | 990 ₽ |"


def test_a_long_passage_is_cut_between_words() -> None:
    text = "Ответ найден здесь и нигде больше.\n" + "слово " * FOLDED_CHARS

    shown, _ = quote_passages(rank(make_passage(text)), "где найден ответ")

    assert shown.endswith("слово …")
    assert len(shown) < 2 * FOLDED_CHARS


def test_a_sentence_without_an_end_is_cut_between_words() -> None:
    shown, _ = quote_passages(rank(make_passage("ответ " + "слово " * FOLDED_CHARS)), "ответ")

    assert shown == f"**{shown.strip('*')}**"
    assert shown.endswith("слово …**")
    assert len(shown) < FOLDED_CHARS


def test_a_second_passage_is_quoted_only_if_it_is_nearly_as_good() -> None:
    best, near, far = rank(*(make_passage("текст", number=number) for number in range(1, 4)))

    def scored(*scores: float) -> tuple[float, ...]:
        ranked = [replace(each, score=score) for each, score in zip((best, near, far), scores, strict=True)]
        return tuple(each.score for each in choose(ranked))

    assert scored(1.0, 0.8, 0.8) == (1.0, 0.8)
    assert scored(1.0, 0.6, 0.5) == (1.0,)


def test_what_is_only_related_is_quoted_where_nothing_is_certain() -> None:
    first, second = rank(make_passage("один", number=1), make_passage("два", number=2))

    related = replace(first, judge=lambda: Fit.RELATED)
    chance = replace(first, judge=lambda: Fit.CHANCE)
    assert choose((related, second)) == (second,)
    assert choose((chance, related)) == (related,)
    assert choose((chance,)) == ()


def test_alike_documents_are_named_with_what_tells_them_apart() -> None:
    opening = "Договор поставки оборудования № {} заключили Заказчик и ООО «{}»"
    found = rank(
        replace(make_passage("Штраф 1 %.", number=1, document="a"), opening=opening.format(117, "Лазурит")),
        replace(make_passage("Штраф 2 %.", number=2, document="b"), opening=opening.format(118, "Кедр")),
    )
    text, _ = quote_passages(found, "Какой штраф?")
    assert "*Договор.pdf · 117 · Лазурит*" in text
    assert "*Договор.pdf · 118 · Кедр*" in text


def test_several_documents_are_named_above_their_quotes() -> None:
    plan = make_passage("Срок май.", number=1, title="план_2*.md", document="1")
    other = make_passage("Срок март.", number=2, title="смета", document="2")

    shown, citations = quote_passages(rank(plan, other), "срок")

    assert shown == "*план\\_2\\*.md*\n**Срок май.**\n\n*смета*\n**Срок март.**"
    assert [citation.title for citation in citations] == ["план_2*.md", "смета"]


def test_a_title_inside_the_passage_is_not_repeated() -> None:
    page = make_passage("Правила двора\nСтоять можно два часа.", title="Правила двора")

    assert quote_passages(rank(page), "стоять")[0] == "**Стоять можно два часа.**"
    note = make_passage("Правила двора.\nСтоять можно два часа.", title="Правила двора")
    assert quote_passages(rank(note), "стоять")[0] == "**Стоять можно два часа.**"


def test_the_same_words_are_quoted_once() -> None:
    twins = rank(make_passage("Штраф 500.", number=1), make_passage("Штраф 500.", number=2))

    shown, citations = quote_passages(twins, "штраф")

    assert shown == "**Штраф 500.**"
    assert len(citations) == 1


FORM = """ДОГОВОР АРЕНДЫ № {number}

г. Пермь, 1 марта 2026 г.

ИП Котов и {who} заключили договор.

1.1. Передаётся {what} площадью {area} метров.

2.1. Арендная плата составляет {rent} рублей в месяц."""
WORKSHOP = FORM.format(number="31-М", who="ООО «Дуб»", what="мастерская", area=64, rent="38 500")
STORE = FORM.format(number="32-С", who="ООО «Ясень»", what="тёплый склад", area=186, rent="100 000")
CAMP = """Памятка отдыхающему
Турбаза «Три ключа», Алтай, лето 2026

Заселение начинается в 14:00, выезд до 11:30.

Час бани обойдётся в 1 200 рублей."""


def compared(question: str, *texts: str) -> list[str]:
    """The line in bold of either side."""
    found = [make_passage(text, number=n, document=str(n), title=f"файл {n}") for n, text in enumerate(texts)]
    words = AskedWords(terms_of=RussianEnglishAnalyzer().terms)
    read = read_for_sum(
        [replace(each, asked=words) for each in rank(*found)], question, REQUESTS.asking_price(question)
    )
    done = compare(read, question)
    return re.findall(r"^\*\*(.+)\*\*$", done[0], re.MULTILINE) if done else []


@pytest.mark.parametrize(
    ("question", "one", "other"),
    [
        # the subject chooses, whatever the titles say of the sides
        ("площадь по договорам 31-М и 32-С", "1.1. Передаётся мастерская", "1.1. Передаётся тёплый склад"),
        # none is named: what differs in its number alone tells them apart, and no preamble does
        ("договор 31-М и договор 32-С", "2.1. Арендная плата составляет 38", "2.1. Арендная плата составляет 100"),
    ],
)
def test_contracts_are_compared_by_the_subject_or_by_what_differs(question: str, one: str, other: str) -> None:
    first, second = compared(question, WORKSHOP, STORE)
    assert first.startswith(one)
    assert second.startswith(other)


def test_documents_without_a_like_sentence_are_compared_by_their_first_statements() -> None:
    assert compared("памятку и столешницу", CAMP, "Столешницу покройте маслом. Оно сохнет сутки.") == [
        "Заселение начинается в 14:00, выезд до 11:30.",
        "Столешницу покройте маслом. Оно сохнет сутки.",
    ]
    assert compared("памятку и прайс по цене", CAMP, "Доставка воска быстрая.\n\nВоск пчелиный стоит 380 рублей.") == [
        "Час бани обойдётся в 1 200 рублей.",
        "Воск пчелиный стоит 380 рублей.",
    ]
    assert compared("памятку", CAMP) == []


def test_an_item_of_the_agenda_gives_way_to_the_decision_on_it() -> None:
    minutes = (
        "Повестка\n\n1. Ремонт кровли.\n2. Установка велопарковки.\n\nРешили\n\nУстановка велопарковки. На 18 мест."
    )
    shown, _ = quote_passages([as_the_search_reads(minutes)], "какая установка велопарковки")
    assert "На 18 мест.**" in shown.partition("\n\n")[0]
