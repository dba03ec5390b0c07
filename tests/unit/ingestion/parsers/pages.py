"""Pages written after the markup of sites that people send links to; their words are made up.

In: nothing. Out: HTML. Menus, counters and side columns are there because the real ones have them.
"""

SENTENCE = "Арендатор вносит плату не позднее пятого числа каждого месяца, начиная с первого месяца аренды. "

TELEGRAM_POST = """<!DOCTYPE html><html><head><meta charset="utf-8"><title>Telegram Widget</title>
<meta property="og:title" content="Город и люди"><meta property="og:site_name" content="Telegram">
</head><body class="widget_frame_base tgme_widget body_widget_post emoji_image no_userpics nodark">
<div class="tgme_widget_message text_not_supported_wrap js-widget_message" data-post="gorod/77">
<div class="tgme_widget_message_user"><a href="https://t.me/gorod"><i class="tgme_widget_message_user_photo"></i>
</a></div>
<div class="tgme_widget_message_bubble"><div class="tgme_widget_message_author accent_color">
<a class="tgme_widget_message_owner_name" href="https://t.me/gorod"><span dir="auto">Город и люди</span></a></div>
<div class="tgme_widget_message_text js-message_text" dir="auto"><b>Мост откроют в мае</b><br/>
<br/>Движение пустят по двум
полосам, остальные достроят к осени.<br/>Объезд пока остаётся.</div>
<div class="tgme_widget_message_footer compact js-message_footer"><div class="tgme_widget_message_info short">
<span class="tgme_widget_message_views">12.3K</span><span class="tgme_widget_message_meta">
<a class="tgme_widget_message_date" href="https://t.me/gorod/77"><time datetime="2026-05-03T10:11:12+00:00"
class="datetime">May 3 at 10:11</time></a></span></div></div></div></div>
<script src="//telegram.org/js/widget-frame.js"></script></body></html>"""

TELEGRAM_PREVIEW = """<!DOCTYPE html><html><head><meta charset="utf-8"><title>Telegram: View @gorod</title>
<meta property="og:title" content="Город и люди"><meta property="og:site_name" content="Telegram">
<meta property="og:description" content="Мост откроют в мае. Движение пустят по двум полосам."></head><body>
<div class="tgme_page_wrap"><div class="tgme_page"><div class="tgme_page_widget_wrap"><script
src="https://telegram.org/js/telegram-widget.js?22" data-telegram-post="gorod/77"></script></div>
<div class="tgme_page_action">
<a class="tgme_action_button_new" href="tg://resolve?domain=gorod">View in Telegram</a></div>
<div class="tgme_page_additional">If you have <strong>Telegram</strong>, you can view and join right away.</div>
</div></div>
</body></html>"""

HABR_ARTICLE = f"""<!DOCTYPE html><html lang="ru"><head><title>Как мы считали мосты / Хабр</title>
<meta property="og:title" content="Как мы считали мосты"><meta property="og:site_name" content="Хабр">
<script type="application/ld+json">{{"@context":"http://schema.org","@type":"Article","headline":"Как мы считали
мосты",
"datePublished":"2026-04-02T09:00:00+03:00","dateModified":"2026-04-05T09:00:00+03:00",
"author":{{"@type":"Person","name":"Анна Петрова"}}}}</script></head><body><div class="tm-layout">
<header class="tm-header"><a href="/ru/feed/">Моя лента</a><a href="/ru/articles/">Все потоки</a></header>
<div class="tm-article-presenter"><div class="tm-article-snippet"><div class="tm-user-info__user">
<a class="tm-user-info__username"
href="/ru/users/anna/">anna</a><span class="tm-article-datetime-published"><time
datetime="2026-04-02T06:00:00.000Z">2 апр в 09:00</time></span></div><h1 class="tm-title">
<span>Как мы считали мосты</span></h1>
<div class="tm-article-snippet__stats"><span>12 мин</span><span>5.1K</span></div><div class="tm-publication-hubs">
<a href="/ru/hubs/python/">Python *</a></div></div>
<div class="tm-article-body"><div class="article-formatted-body article-formatted-body_version-2">
<div xmlns="http://www.w3.org/1999/xhtml"><p>{SENTENCE * 2}</p><h2>Постановка задачи</h2><p>{SENTENCE * 2}</p>
<pre><code class="python">def count(bridges):
    return len(bridges)</code></pre><p>{SENTENCE}</p><ul><li><p>раз мост</p></li><li><p>два моста</p></li></ul>
<div><div class="table"><table><tbody><tr><td><p>Город</p></td><td><p>Мостов</p></td></tr><tr><td><p>Тверь</p></td>
<td>
<p>12</p></td></tr></tbody></table></div></div></div></div></div>
<div class="tm-article-presenter__meta"><span>Теги:</span><a href="/tags/bridges">мосты</a></div></div>
<div class="tm-article-comments"><h2>Комментарии 7</h2><div class="tm-comment">
<p>Первый! Отличная статья, спасибо.</p></div></div>
<footer class="tm-footer"><a href="/docs/help/">Помощь</a></footer></div></body></html>"""

WIKIPEDIA_ARTICLE = f"""<!DOCTYPE html><html class="client-nojs" lang="ru"><head><title>Мост — Википедия</title>
<meta property="og:title" content="Мост — Википедия"><meta property="og:site_name" content="Википедия"></head>
<body class="mediawiki ltr"><div id="mw-navigation"><ul><li><a href="/wiki/Main">Заглавная страница</a></li></ul>
</div>
<div id="content" class="mw-body"><h1 id="firstHeading" class="firstHeading">Мост</h1><div id="bodyContent">
<div id="siteSub">Материал из Википедии — свободной энциклопедии</div>
<div id="mw-content-text" class="mw-body-content"><div class="mw-parser-output">
<table class="infobox"><tbody><tr><th>Длина</th><td>120 м</td></tr></tbody></table>
<p><b>Мост</b> — сооружение над препятствием<sup class="reference"><a href="#c1">[1]</a></sup>. {SENTENCE * 2}</p>
<div id="toc" class="toc"><h2>Содержание</h2><ul><li><a href="#h">1 История</a></li></ul></div>
<div class="mw-heading mw-heading2"><h2 id="h">История</h2><span class="mw-editsection">[<a href="/e">править</a> |
<a href="/e2">править код</a>]</span></div><p>{SENTENCE * 3}</p><table class="wikitable">
<caption>Мосты города</caption><tbody>
<tr><th>Название</th><th>Год</th></tr><tr><td>Старый</td><td>1900</td></tr><tr><td>Новый</td><td>2001</td></tr>
</tbody></table>
<h2>Примечания</h2><div class="reflist"><ol class="references"><li id="c1">
<span>↑</span> Иванов И. Мосты. 1999.</li></ol></div>
</div></div><div id="catlinks"><a href="/wiki/C">Категория: Мосты</a></div></div></div>
<div id="footer"><ul><li>Эта страница последний раз была отредактирована 3 мая 2026 в 12:00.</li></ul></div></body>
</html>"""

GITHUB_README = f"""<!DOCTYPE html><html lang="en"><head><title>GitHub - anna/bridges: Counts bridges</title>
<meta property="og:title" content="GitHub - anna/bridges: Counts bridges">
<meta property="og:site_name" content="GitHub">
<meta property="og:description" content="Counts bridges. Contribute to anna/bridges development by creating an
account on GitHub.">
</head><body><header><a href="/login">Sign in</a></header><main><div class="Layout"><div class="Layout-main">
<table aria-labelledby="folders-and-files"><tbody><tr><td><a href="/anna/bridges/tree/main/src">src</a></td><td>
<relative-time datetime="2026-05-01T00:00:00Z">May 1, 2026</relative-time></td></tr></tbody></table>
<div class="Box-body"><article class="markdown-body entry-content container-lg" itemprop="text">
<div class="markdown-heading"><h1 class="heading-element">Bridges</h1><a class="anchor" href="#bridges"></a></div>
<p>Counts the bridges of a town from its map, and says which of them are closed. {SENTENCE}</p>
<div class="markdown-heading"><h2 class="heading-element">Install</h2></div>
<div class="highlight highlight-source-shell notranslate"><pre>pip install bridges
bridges --town Tver</pre></div><p>Then read the <a href="/anna/bridges/wiki">manual</a>. {SENTENCE}</p>
<table><thead><tr><th>Option</th><th>Meaning</th></tr></thead><tbody><tr><td>--town</td><td>name of the town</td>
</tr></tbody>
</table></article></div></div><div class="Layout-sidebar"><h2>About</h2><p>Counts bridges</p><h3>Stars</h3>
<a>12 stars</a>
</div></div></main><footer>© 2026 GitHub, Inc.</footer></body></html>"""
