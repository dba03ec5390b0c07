# Режим «База»: приём, ход работы, квитанции.

progress-queued = ⏳ <b>{ $title }</b> · в очереди
progress-fetching = ⏳ <b>{ $title }</b> · загружаю
progress-parsing = ⏳ <b>{ $title }</b> · читаю
progress-parsing-of = ⏳ <b>{ $title }</b> · читаю страницы { $done } из { $total }
progress-embedding = ⏳ <b>{ $title }</b> · запоминаю
progress-embedding-of = ⏳ <b>{ $title }</b> · запоминаю { $done } из { $total }
progress-waiting =
    ⏳ <b>{ $title }</b>
    Не получается обработать прямо сейчас: { $service } не отвечает. Документ сохранён, закончу сам и сообщу.
progress-day-spent =
    ⏳ <b>{ $title }</b>
    Чтение ваших документов обошлось во столько, во сколько может за сутки. Документ сохранён и ждёт { $until } — прочитаю сам и сообщу.
service-search = сервис поиска
service-named = сервис { $name }

receipt-ready = ✅ <b>{ $title }</b> в базе
receipt-line = ✅ <b>{ $title }</b> · { $size }
receipt-only-words = прочитана только подпись
receipt-not-all = прочитано не всё
receipt-pages = { $count ->
    [one] { $count } страница
    [few] { $count } страницы
   *[other] { $count } страниц
}
receipt-passages = { $count ->
    [one] { $count } фрагмент
    [few] { $count } фрагмента
   *[other] { $count } фрагментов
}
receipt-language = { $code ->
    [ru] русский
    [en] английский
    [uk] украинский
    [be] белорусский
    [kk] казахский
    [de] немецкий
    [fr] французский
    [es] испанский
    [it] итальянский
    [zh] китайский
    [bg] болгарский
    [sr] сербский
    [pt] португальский
    [pl] польский
    [tr] турецкий
    [el] греческий
    [hy] армянский
    [he] иврит
    [ar] арабский
    [hi] хинди
    [th] тайский
    [ka] грузинский
    [ko] корейский
    [ja] японский
   *[other] язык { $code }
}
receipt-seconds = { $count } с
receipt-without-text = { $count ->
    [1] ⚠️ Страница { $pages } без текста (скан).
   *[other] ⚠️ Страницы { $pages } без текста (сканы).
}
list-and = { $first } и { $last }
list-more = { $first } и ещё { $count }

receipt-cancelled = Отменено: <b>{ $title }</b>
receipt-superseded = <b>{ $title }</b>: есть более новая версия.
receipt-removed = { $count ->
    [1] Документ удалён из базы.
    [one] { $count } документ удалён из базы.
    [few] { $count } документа удалены из базы.
   *[other] { $count } документов удалено из базы.
}
receipt-removed-too = { $count ->
    [one] Ещё { $count } документ удалён из базы.
    [few] Ещё { $count } документа удалены из базы.
   *[other] Ещё { $count } документов удалено из базы.
}
receipt-total-working = Готово { $done } из { $total }.
receipt-total = { $total ->
    [one] Всего { $total } документ, в базе { $ready }.
    [few] Всего { $total } документа, в базе { $ready }.
   *[other] Всего { $total } документов, в базе { $ready }.
}
receipt-hidden = { $count ->
    [one] … и ещё { $count } документ
    [few] … и ещё { $count } документа
   *[other] … и ещё { $count } документов
}

button-cancel = Отменить
button-cancel-one = Отменить: { $title }
button-ask = Спросить о нём
button-show = Показать
cancelled = Отменено
cancelled-too-late = Уже готово, отменять нечего.

ask-about = Режим «Чат». Отвечаю только по документу <b>{ $title }</b>. Снять ограничение: кнопка «Только: … ✕» под ответом.

nothing-to-keep = Здесь нечего сохранить. Пришлите файл, ссылку или текст.
unsupported = { $kind ->
    [sticker] Стикер в базу не положить.
    [location] Место на карте в базу не положить.
   *[other] Такое сообщение прочитать не умею.
} Пришлите файл, ссылку или текст.
file-too-large-for-telegram = <b>{ $name }</b> больше { $limit_mb } МБ, Telegram не отдаёт такие файлы ботам. Разбейте его на части или пришлите ссылку.
caption-taken = Подпись под ним взял в базу.

name-voice = Голосовое от { $day }
name-audio = Запись от { $day }
name-video = Видео от { $day }
name-video-note = Видеосообщение от { $day }
name-document = Файл от { $day }
name-photo = Фото от { $day }

progress-queued-behind = ⏳ <b>{ $title }</b> · в очереди, перед ним { $count }
progress-fetching-of = ⏳ <b>{ $title }</b> · загружаю страницы: { $done } из { $total }
progress-recognising = ⏳ <b>{ $title }</b> · распознаю
progress-recognising-of = ⏳ <b>{ $title }</b> · распознаю страницы: { $done } из { $total }
progress-listening = ⏳ <b>{ $title }</b> · слушаю
progress-listening-of = ⏳ <b>{ $title }</b> · слушаю: { $done } из { $total }
progress-searchable = Спрашивать уже можно: прочитано { $percent } %.

receipt-duration = { $length }
receipt-files = { $count ->
    [one] { $count } файл
    [few] { $count } файла
   *[other] { $count } файлов
}
receipt-site-pages = { $count ->
    [one] { $count } страница сайта
    [few] { $count } страницы сайта
   *[other] { $count } страниц сайта
}
receipt-replaced = ✅ <b>{ $title }</b>: заменил
receipt-captioned = ✅ <b>{ $title }</b> уже был в базе: добавил к нему вашу подпись
receipt-unchanged = <b>{ $title }</b>: ничего не изменилось.
receipt-asked = Такой же файл <b>{ $title }</b> уже ждёт вашего ответа.
unread-part = { $code ->
    [file-encrypted] { $name } (под паролем)
    [file-damaged] { $name } (повреждён)
    [file-unsupported] { $name } (не знаю такого формата)
    [file-too-large] { $name } (слишком велик)
    [file-too-heavy] { $name } (слишком велик)
    [page-too-large] { $name } (слишком велик)
    [file-too-slow] { $name } (не хватило времени)
    [page-too-slow] { $name } (не дождался ответа)
    [page-unreachable] { $name } (сайт не отвечает)
    [page-status] { $name } (сайт ответил ошибкой)
    [file-without-text] { $name } (нет текста)
    [file-needs-recognition] { $name } (только картинки)
    [file-without-words] { $name } (слов не разобрать)
    [file-needs-hearing] { $name } (запись, слушать не умею)
    [file-without-speech] { $name } (речи не слышно)
    [file-too-long] { $name } (слишком длинная запись)
    [file-needs-script] { $name } (собирается в браузере)
    [file-needs-login] { $name } (нужен вход)
    [file-archive-empty] { $name } (внутри ничего нет)
   *[other] { $name }
}
receipt-unread = { $count ->
    [1] ⚠️ Не прочитано: { $parts }
   *[other] ⚠️ Не прочитаны: { $parts }
}
choice-question = <b>{ $title }</b> уже есть, но содержание новое.
choice-made = Хорошо, сделаю так.
choice-too-late = Это уже решено.
button-replace = Заменить
button-take-back = Убрать
taken-back = Убрал
only-asker-or-administrators = Остановить ответ может тот, кто задал вопрос, или администратор группы.
only-sender-or-administrators = Это может сделать тот, кто прислал документ, или администратор группы.
button-keep-both = Оставить оба
button-skip = Пропустить
button-cancel-all = Отменить всё
button-section = Добавить весь раздел
section-begun = Читаю раздел, покажу отдельным сообщением.
section-known = Этот раздел я уже взял: смотрите /docs.
refresh-begun = Читаю заново.
changes = Что изменилось: { $list }.
changes-added = { $count ->
    [1] добавлен раздел { $names }
   *[other] добавлены разделы { $names }
}
changes-removed = { $count ->
    [1] убран раздел { $names }
   *[other] убраны разделы { $names }
}
changes-edit = { $kind ->
    [clause] в п. { $name } теперь
    [row] в строке «{ $name }» теперь
    [section] в разделе «{ $name }» теперь
   *[nowhere] теперь
} «{ $after }» вместо «{ $before }»
changes-paragraphs = { $count ->
    [one] изменён { $count } абзац
    [few] изменены { $count } абзаца
   *[other] изменено { $count } абзацев
}
progress-fetching-percent = ⏳ <b>{ $title }</b> · загружаю: { $percent } %

until = { $ahead ->
    [0] до { $time }
    [1] до завтра, { $time }
   *[other] до { $day }, { $time }
}
receipt-read = ✅ <b>{ $title }</b>: прочитал, спрашивайте
receipt-leaves = Останется { $until }.
receipt-read-before = <b>{ $title }</b>: уже прочитал, останется { $until }.
receipt-stays = <b>{ $title }</b> теперь в базе: раньше оставался на день.
button-stay = Оставить в базе
stays-now = Оставил в базе.
documents-gone = Этих документов в базе уже нет.
