# Режим «Чат»: ответы, источники, оценки.

answer-general-label = Не из вашей базы:
answer-quotes-label = Вот что нашлось в базе:
answer-sources-label = Информация взята из:
answer-nothing = В базе об этом ничего не нашлось. Спросите другими словами или добавьте документ в режиме «База».
answer-cut = Ответ оборвался: сервис перестал отвечать. Спросите ещё раз.
answer-full-answers = Полные ответы появятся, когда будет настроена модель: задайте LLM_API_KEY или LLM_BASE_URL.

place-pages = стр. { $pages }
place-section = раздел «{ $section }»
place-moment = с { $start }

question-or-document = Это вопрос или документ для базы?
button-keep = Добавить в базу
original-gone = Исходное сообщение не найдено. Пришлите его ещё раз в режиме «База».
question-is-not-text = Отвечать могу только на текст. Напишите вопрос словами.

source-gone = Этого фрагмента больше нет в базе.
feedback-saved = Спасибо, учту.

button-more = Показать ещё { $count }
ask-more = Выведи остальное, что не поместилось в список.
dialogs-none = Прежних разговоров нет. Этот начат заново или он первый.
dialogs-choose = С каким разговором продолжить?
dialog-resumed = Продолжаем разговор «{ $title }». Спрашивайте.
dialog-gone = Этого разговора больше нет.

answer-still-read = Документ «{ $title }» ещё читается: прочитано { $percent } %.

place-slides = слайд { $slides }
place-rows = строки { $rows }
place-rows-of = строки { $rows } листа «{ $sheet }»
place-stretch = { $start }–{ $end }
place-member = { $file }

voice-understood = 🎙 { $question }
voice-not-heard = Голосовые вопросы здесь не слушаю: не настроена модель речи. Напишите вопрос словами.
voice-without-speech = Не расслышал вопроса. Скажите ещё раз или напишите словами.
voice-away = Не получается послушать прямо сейчас. Напишите вопрос словами или повторите через минуту.

steps-title = Разбираюсь по шагам:
step-search = Ищу «{ $about }»
step-known = Смотрю, что известно: { $about }
step-list = Смотрю, какие документы есть
step-read-one = Читаю «{ $about }»
step-read = Читаю документы
step-rows = Собираю таблицу: { $about }
step-think = Обдумываю найденное
step-other = Делаю следующий шаг
step-progress = { $done } из { $total }
button-enough = Остановить
enough-heard = Хватит так хватит: отвечаю по тому, что уже известно.
enough-too-late = Ответ уже готов.
answer-documents-read =
    { $total ->
        [one] Прочитано { $read } из { $total } документа
       *[other] Прочитано { $read } из { $total } документов
    }{ $without ->
        [0] .
       *[other] ; в { $without } данных нет.
    }
answer-documents-failed =
    { $count ->
        [one] Не удалось разобрать { $count } документ: сервис не ответил.
        [few] Не удалось разобрать { $count } документа: сервис не ответил.
       *[other] Не удалось разобрать { $count } документов: сервис не ответил.
    }
answer-steps-failed = Не получилось: { $steps }. Ответ без этого неполный.
answer-spent-stopped = Остановлено по вашей просьбе: ответ по тому, что успел узнать.
answer-spent-seconds = Время на вопрос вышло: ответ по тому, что успел узнать. Спросите о части, чтобы узнать больше.
answer-spent-model-calls = Вопрос слишком велик для одного раза: ответ по тому, что успел узнать. Спросите о части.
answer-spent-tokens = Вопрос слишком велик для одного раза: ответ по тому, что успел узнать. Спросите о части.
answer-spent-cost = Вопрос слишком дорог для одного раза: ответ по тому, что успел узнать. Спросите о части.
button-table = Таблица XLSX
table-gone = Этой таблицы больше нет: документы с тех пор менялись. Спросите ещё раз.
table-source = Источник
