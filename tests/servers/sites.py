"""Sites for the crawler to walk through: small ones as people have them, and traps.

In: a running `WebServer`. Out: replies under its paths. All words are made up.
"""

import html

from tests.servers.web import Reply, WebServer

TEXT = ("Content-Type", "text/plain; charset=utf-8")


def page(
    title: str, *, links: tuple[str, ...] = (), menu: tuple[str, ...] = (), words: str = "", head: str = ""
) -> Reply:
    """A page with an article of a few sentences of its own."""
    matter = words or f"Раздел «{title}» рассказывает о правилах, которых нет на других страницах этого сайта. "
    anchors = "".join(
        f'<li><a href="{html.escape(link)}">Подробнее о том, что здесь: {link}</a></li>' for link in links
    )
    navigation = "".join(f'<a href="{link}">{link}</a> ' for link in menu)
    body = (
        f"<!doctype html><html lang=ru><head><title>{title}</title>{head}</head><body><nav>{navigation}</nav>"
        f"<main><article><h1>{title}</h1><p>{matter * 3}</p>"
        f"<p>Слово «{title}» встречается здесь {len(title)} раз, и каждый раз к месту.</p>"
        f"<ul>{anchors}</ul></article></main><footer>Все права защищены</footer></body></html>"
    )
    return Reply(body=body.encode())


def robots(*lines: str) -> Reply:
    """A robots.txt."""
    return Reply(body="\n".join(lines).encode(), headers=(TEXT,))


def small_site(web: WebServer) -> None:
    """A front page, three articles below it, one of them two links away, and a page outside."""
    web.replies |= {
        "/robots.txt": robots("User-agent: *", "Disallow: /docs/secret"),
        "/docs/": page(
            "Документация",
            links=("/docs/start", "/docs/payment", "/docs/secret", "/docs/plan.pdf", "/news/today"),
            menu=("/", "/docs/", "/docs/index.html"),
        ),
        "/docs/start": page("Начало работы", links=("/docs/deep", "/docs/start#top", "/docs/payment?utm_source=x")),
        "/docs/payment": page("Оплата"),
        "/docs/deep": page("Глубина", links=("/docs/deeper",)),
        "/docs/deeper": page("Ещё глубже"),
        "/docs/secret": page("Тайна"),
        "/news/today": page("Новости"),
    }
