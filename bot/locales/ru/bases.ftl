# Несколько баз, общие базы.

base-left = База «{ $name }» больше не открыта для вас. Сейчас открыта ваша собственная.
base-closed = Этой базы больше нет, или её для вас закрыли. Ваши базы: /bases
base-read-only = В этой базе вам разрешено не всё: так решил её владелец. Ваши базы: /bases
base-only-read = В базе «{ $name }» вы читаете и спрашиваете, добавляет в неё владелец и те, кому он разрешил. Положить это в вашу базу?

notice-base = 📚 { $name }
bases-title = 📚 <b>Ваши базы</b>
base-line = { $number }. { $sign } { $name } · { $facts }
base-card = 📚 <b>{ $name }</b> · { $facts }
base-own = Личная
base-of = База: { $owner }
base-owner = владелец { $owner }
base-documents = { $count ->
    [one] { NUMBER($count) } документ
    [few] { NUMBER($count) } документа
   *[other] { NUMBER($count) } документов
}
base-others = { $count ->
    [one] ещё { NUMBER($count) } участник
    [few] ещё { NUMBER($count) } участника
   *[other] ещё { NUMBER($count) } участников
}
base-until = до { $day }
role-reader = только чтение
role-writer = чтение и добавление
role-owner = владелец

base-opened = Открыта база «{ $name }». Всё, что вы пришлёте или спросите, теперь о ней.
base-name-question = Как назвать базу?
base-unnamed = Так базу не назвать: нужна хотя бы одна буква. Попробуйте ещё раз: /bases
base-renamed = База называется теперь «{ $name }».
bases-too-many = Больше баз завести нельзя: удалите ту, что не нужна. /bases
base-delete-sure = Удалить базу «{ $name }»? Вместе с ней исчезнут документы ({ $count }), разговоры по ним и доступ тех, с кем вы ей делитесь ({ $others }). Вернуть их нельзя.
base-deleted = База «{ $name }» удалена, документов в ней было: { $count }.
base-first-stays = Первую базу удалить нельзя. Её можно очистить: /clean
base-leave-sure = Выйти из базы «{ $name }»? Вернуться можно будет только по новой ссылке.
base-quit = Вы вышли из базы «{ $name }».

button-bases = ‹ Базы
button-new-base = ➕ Новая
button-base-share = 🔗 Поделиться
button-base-members = 👥 Участники
button-base-groups = Открыть в группе
button-base-rename = ✏️ Переименовать
button-base-delete = 🗑 Удалить
button-base-erase = Удалить базу
button-base-quit = Выйти
button-leave-base = Выйти из базы
button-make-link = Создать ссылку
button-revoke = Отозвать: { $link }
button-revoke-this = Отозвать
button-take-off = Исключить: { $name }

share-choose = Ссылка на базу «{ $name }». Что она разрешит, скольким людям и надолго ли?
share-read = читать и спрашивать
share-write = и добавлять
share-many = многим
share-once = одному
share-days-0 = без срока
share-days-7 = неделя
share-days-30 = месяц
share-made = Ссылка на базу «{ $name }» ({ $what }):
    { $address }
    Больше я её не покажу. Доступ получит каждый, кто перейдёт по ней, пока вы её не отзовёте.
share-revoked = Ссылка больше не работает. Кто уже вошёл, остаётся: см. «Участники».
share-gone = Эта ссылка не работает: её отозвали, она истекла или по ней уже вошли. Попросите новую.
share-own = Это ссылка на вашу собственную базу «{ $name }», делиться ей с собой не нужно.
share-joined-reader = Вы вошли в базу «{ $name }», её владелец: { $owner }. В ней можно читать и спрашивать.
share-joined-writer = Вы вошли в базу «{ $name }», её владелец: { $owner }. В ней можно читать, спрашивать и добавлять.
members-none = Кроме вас, в базе никого нет.
members-title = 👥 <b>Участники</b>
member-line = { $number }. { $name } · { $facts }
member-gone = Исключено. Базу этот участник больше не видит.

base-groups = В какой группе открыть базу «{ $name }»? Читать её и добавлять в неё сможет каждый, кто пишет мне в группе.
base-groups-none = Добавьте меня в группу и напишите мне там что-нибудь: тогда базу «{ $name }» можно будет открыть в ней.
base-bound = База «{ $name }» открыта в группе «{ $group }». Закрыть: «Участники», «Исключить».
base-bound-group = В этой группе открыта теперь база «{ $name }». Вернуться к базе группы: /bases
only-administrators-choose = Какая база открыта в группе, решают только её администраторы.
only-administrators-bind = Открыть свою базу в группе может только её администратор.

button-send-over = 📚 В другую базу
button-send-copy = Копировать: { $name }
button-send-move = Переместить: { $name }
send-where = Куда отправить <b>{ $title }</b>? Заново читать его не придётся.
send-nowhere = Отправить <b>{ $title }</b> пока некуда: других баз, в которые вы можете добавлять, нет. Завести новую: /bases
send-copied = <b>{ $title }</b> есть теперь и в базе «{ $name }».
send-moved = <b>{ $title }</b> теперь в базе «{ $name }».
send-there = <b>{ $title }</b> в базе «{ $name }» уже есть. Ничего не изменилось.
send-no-room = В базе «{ $name }» для этого документа не хватает места.

tokens-title = 🔑 <b>Доступ для программ</b>. Токен открывает базу по HTTP и MCP; адрес знает тот, кто запустил Базу. Показываю токен один раз.
tokens-private = Токены выдаю только в личном чате.
tokens-too-many = Токенов уже слишком много: отзовите те, что не нужны.
token-line = { $number }. { $what }
token-all = все мои базы
token-used = последний запрос { $day }
token-made = Новый токен, больше я его не покажу:
    <code>{ $token }</code>
    Не пересылайте его никому: кто его знает, видит то же, что и вы.
token-revoked = Токен больше не работает.
button-token-base-read = Открытая база: читать
button-token-base-write = и добавлять
button-token-all-read = Все базы: читать
button-token-all-write = и менять
button-token-revoke = Отозвать { $number }
