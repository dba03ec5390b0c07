# /stats: сколько чего и как быстро. Слов и имён здесь не бывает.

stats-title = 📊 <b>Ваша база</b>
stats-title-group = 📊 <b>База этой группы</b>
stats-held = { $documents ->
    [one] { NUMBER($documents) } документ
    [few] { NUMBER($documents) } документа
   *[other] { NUMBER($documents) } документов
}, { $passages ->
    [one] { NUMBER($passages) } фрагмент
    [few] { NUMBER($passages) } фрагмента
   *[other] { NUMBER($passages) } фрагментов
}
stats-pages = Страниц в них: { NUMBER($count) }
stats-recorded = Записей и видео: { $length }
stats-not-asked = Вопросов за 30 дней не было.
stats-asked = Вопросов за 7 дней: { NUMBER($week) }, за 30 дней: { NUMBER($month) }
stats-bound-passages = Место в базе: занято { NUMBER($held) } из { NUMBER($most) } { $most ->
    [one] фрагмента
   *[other] фрагментов
}
stats-bound-questions = Вопросов к модели за сутки: { NUMBER($asked) } из { NUMBER($most) }
stats-bound-cost = Расход за сутки: { NUMBER($spent, minimumFractionDigits: 2, maximumFractionDigits: 4) } из { NUMBER($most, minimumFractionDigits: 2, maximumFractionDigits: 4) } $
stats-kind-from_base = из базы { NUMBER($count) }
stats-kind-general = из общих знаний { NUMBER($count) }
stats-kind-quotes = цитатами { NUMBER($count) }
stats-kind-conversation = разговор { NUMBER($count) }
stats-kind-nothing = не нашлось { NUMBER($count) }
stats-seconds = Ответ обычно за { NUMBER($median, maximumFractionDigits: 1) } с, 95 из 100 не дольше { NUMBER($most, maximumFractionDigits: 1) } с
stats-thumbs = Оценки ответов: 👍 { NUMBER($up) } · 👎 { NUMBER($down) }
stats-tokens = Токенов моделей: { NUMBER($tokens) }
stats-cost = Стоило: { NUMBER($dollars, minimumFractionDigits: 2, maximumFractionDigits: 4) } $
stats-steps = Вопросов в несколько шагов: { NUMBER($turns) }, в среднем { NUMBER($steps) } { $steps ->
    [one] шаг
    [few] шага
    [many] шагов
   *[other] шага
}, обычно { NUMBER($seconds, maximumFractionDigits: 0) } с

stats-all-title = 📈 <b>Все базы за { $days } дней</b>
stats-all-people = Людей: { NUMBER($people) }, спрашивали: { NUMBER($active) }, баз: { NUMBER($bases) }
stats-all-turns = Вопросов: { NUMBER($turns) }; из общих знаний { NUMBER($general) }, цитатами { NUMBER($quoted) }, не нашлось { NUMBER($unanswered) }
stats-all-calls = Вызовов моделей: { NUMBER($count) }
stats-all-slowest = Самый долгий ответ: { NUMBER($seconds, maximumFractionDigits: 1) } с
stats-all-waiting = Из времени ответов ждали поиска { $searching } %, моделей { $models } %
stats-all-facts = Фактов найдено { NUMBER($found) }, пошло в ответы { NUMBER($used) } ({ $share } %)
stats-all-plans = Шагов в планах: { NUMBER($planned) }, выполнено { NUMBER($run) }, изменено на ходу { NUMBER($adapted) }
stats-all-actions = Шаги: { $list }
stats-all-action = { $action } { NUMBER($count) } по { NUMBER($seconds, maximumFractionDigits: 1) } с{ $tokens ->
    [0] { "" }
   *[other] , токенов { NUMBER($tokens) }
}{ $failed ->
    [0] { "" }
   *[other] , не удалось { NUMBER($failed) }
}
stats-all-slowest-document = Самый долгий документ: { $length }
stats-all-documents = Документы: { $list }
stats-all-failures = Не прочитаны за эти дни: { $list }
stats-all-queue = Очередь: ждут { NUMBER($waiting) }, первый уже { $age }; читаются { NUMBER($working) }
stats-all-no-queue = Очередь пуста; читаются { NUMBER($working) }
stats-status-queued = ждут
stats-status-choosing = ждут выбора
stats-status-fetching = скачиваются
stats-status-parsing = читаются
stats-status-recognising = распознаются
stats-status-listening = слушаются
stats-status-embedding = готовятся к поиску
stats-status-ready = готовы
stats-status-failed = не прочитаны
stats-status-duplicate = уже были
stats-status-cancelled = отменены
stats-status-superseded = прежние версии

stats-chart-title = По дням:
stats-chart-asked = 🟦 Вопросы, 🟧 сколько людей спрашивало
stats-chart-documents = Документы: 🟩 прочитаны, 🟥 не прочитаны
stats-chart-tokens = 🟪 Токены моделей
stats-chart-cost = 🟧 Стоимость, $
stats-chart-seconds = Секунды ответа: 🟦 обычно, 🟧 95 из 100 не дольше
stats-chart-thumbs = Оценки, %: 🟩 👍, 🟥 👎
