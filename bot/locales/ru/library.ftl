# Документы и очистка.

library-title = 🗂 <b>Документы: { $count }</b>
library-choices = ждут выбора: { $count }
library-waiting = ещё читаю: { $count }
library-failures = ⚠️ <b>Не прочитаны: { $count }</b>
button-dismiss = Убрать непрочитанные
library-page = стр. { $page } из { $pages }
library-empty = В базе пока пусто. Пришлите первый документ в режиме «База».
library-pages = { $count } стр.
library-failed = не прочитан
library-working = читаю
library-choosing = ждёт вашего выбора
button-back = ‹ К списку
button-original = Оригинал
button-delete = Удалить
button-delete-sure = Да, удалить
button-no = Отмена

card-published = от { $day }
card-added = добавлен { $day }
delete-sure = Удалить <b>{ $title }</b>? Вернуть его нельзя.
deleted = Удалено: <b>{ $title }</b>
document-gone = Этого документа в базе нет.

clean-what = Что очистить?
button-clean-chat = Разговор
button-clean-base = Базу
clean-base-sure = Очистить базу? { $count ->
    [1] Будет удалён 1 документ и всё, что из него прочитано. Вернуть его нельзя.
    [one] Будет удалён { $count } документ и всё, что из них прочитано. Вернуть их нельзя.
    [few] Будут удалены { $count } документа и всё, что из них прочитано. Вернуть их нельзя.
   *[other] Будет удалено { $count } документов и всё, что из них прочитано. Вернуть их нельзя.
}
button-clean-base-sure = Удалить всё
clean-base-done = База пуста: { $documents ->
    [one] удалён { $documents } документ
    [few] удалены { $documents } документа
   *[other] удалено { $documents } документов
} ({ $passages ->
    [one] { $passages } фрагмент
    [few] { $passages } фрагмента
   *[other] { $passages } фрагментов
}).
clean-base-others = И непрочитанные: { $count }.
clean-base-empty = База и так пуста.
clean-chat-sure = Очистить чат? Я забуду разговор (документы останутся).
button-clean-chat-sure = Очистить
clean-chat-done = Разговор забыт: { $messages ->
    [one] удалено { $messages } сообщение
    [few] удалены { $messages } сообщения
   *[other] удалено { $messages } сообщений
}. Документы на месте.
button-clean-all = Всё обо мне
clean-all-sure =
    Удалить всё ваше? Вернуть ничего нельзя.

    • базы: { $bases }, документы в них: { $documents }{ $others ->
        [0] { "" }
       *[other] ; вместе с вами их потеряют и другие участники ({ $others })
    }
    • разговоры, ссылки-приглашения, токены и адреса для уведомлений

    Из чужих баз вы выйдете; присланное туда останется там без вашего имени. В Telegram переписка остаётся: её удаляете вы.
button-clean-all-sure = Удалить всё моё
clean-all-done = Всё ваше удалено: базы — { $bases }, документы — { $documents }. Если напишете снова, начнём с чистого листа.
clean-cancelled = Ничего не удалено.

library-line = { $sign } { $title }
library-day = { $day }
card-title = <b>{ $title }</b>
card-source = { $source }

library-named = «{ $name }»
library-none = Документов с «{ $name }» в названии нет. Поищите по другому слову.
library-search = Какие слова есть в названии?
button-text = Текст
button-rename = Переименовать
button-refresh = Обновить
button-versions = Версии: { $count }
button-open = Открыть
button-to-card = ‹ К документу
card-version = версия { $number }
card-author = Автор: { $author }
card-not-refreshed = ⚠️ Последнее обновление не удалось.
rename-question = Как назвать <b>{ $title }</b>?
rename-unreadable = В названии нужна хотя бы одна буква или цифра. Как назвать документ?
renamed = Теперь это <b>{ $title }</b>.
text-none = Текста нет.
versions-title = Версии <b>{ $title }</b>
version-line = { $number } · { $day }
original-text = Само сообщение уже не открыть; вот что я из него прочитал.
only-administrators = В группе удалять могут только её администраторы.
