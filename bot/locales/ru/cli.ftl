# Тексты командной строки.

cli-page = База: { $page }
cli-worker = База: читаю документы
cli-data = Данные: { $home }
cli-missing = Не настроено: { $missing }
cli-complete = Всё настроено.
cli-open-to-all = ALLOWED_USERS пуст: бот отвечает всем
cli-open-unbounded = ALLOWED_USERS пуст: бот отвечает всем, и расходы на них ничем не ограничены (PERSON_DAILY_COST, PERSON_DAILY_QUESTIONS, BASE_PASSAGES)

cli-added = ✓ { $title }: { $passages } { $passages ->
    [one] фрагмент
    [few] фрагмента
   *[many] фрагментов
  }, { $seconds } с
cli-duplicate = ✓ { $title }: уже в базе
cli-document = { $id }  { $status }  { $title } ({ $passages })
cli-no-such-file = Файла { $path } нет, его нельзя прочитать, или в папке нет файлов. Проверьте путь.
cli-migrating = Миграции
cli-migrated = { $functions ->
    [none] { $count ->
        [0] База данных уже соответствует этой версии.
       *[other] Применено миграций: { $count }.
    }
   *[other] Применено миграций: { $count }. Обновлены функции: { $functions }.
  }

cli-reindexing = { $base }: фрагментов { $done } из { $total }
cli-own-base = личная база { $id }
cli-stopped = остановлено
cli-reindexed = { $model ->
    [none] { $base }: поиск теперь по словам, без модели
   *[other] { $base }: поиск теперь по модели { $model }
  }
cli-reindexed-restart = Бот, который работает сейчас, ищет прежней моделью, то есть только по словам. Перезапустите его: baza run
cli-nothing-to-reindex = { $model ->
    [none] Переносить нечего: модель не настроена, поиск и так по словам.
   *[other] Переносить нечего: у всех фрагментов векторы модели { $model }.
  }

missing-token = нет BOT_TOKEN: разговор идёт в локальном чате
missing-model = нет ключа LLM: отвечаю цитатами
missing-speech = нет WHISPER_MODEL: голосовые, аудио и видео не слушаю
missing-recognition = нет tesseract и VISION_MODEL: слова на фото и сканах не читаю
missing-jina = нет ни ключа Jina, ни модели: ищу по словам и их формам (поиск по смыслу на этой машине: baza models add search)
missing-reranker = нет ключа Jina: найденное не пересортировывается
doctor-database = { $kind }
doctor-altered = Применённые миграции отличаются от тех, что в этой версии: { $versions }. Поставьте ту Базу, которая их применила, или восстановите копию.
doctor-sandbox-holds = чужие файлы читаются взаперти: { $held }
doctor-sandbox-lacks = здесь нет: { $lacking }; есть: { $held } (docs/operations.md, «Confinement»)
doctor-telegram = Telegram отказал: { $reason }. Проверьте BOT_TOKEN.

cli-token = Токен (показывается один раз): { $token }
  Номер { $id }, база { $base }

cli-model = { $task }: { $name }, { $megabytes } МБ, { $licence }, языки: { $languages }. { $state ->
    [used] Работает.
    [here] Скачана, но в настройках названа другая.
   *[no] Добавить: baza models add { $task }
  }
      { $brings }
cli-model-search = Поиск по смыслу: находит ответ и тогда, когда в вопросе другие слова или другой язык.
cli-model-rerank = Порядок найденного: каждый фрагмент сверяется с вопросом, лучшие становятся первыми. Ответ медленнее.
cli-model-speech = Речь: голосовые, аудио и видео становятся текстом, который можно найти.
cli-model-fetching = Скачиваю { $name } ({ $megabytes } МБ). Можно прервать: та же команда продолжит.
cli-model-fetched = Скачано { $done } из { $total } МБ
cli-model-set = Записано в { $file }: { $name }={ $value }
cli-model-overruled = Но в окружении или в .env { $name } задано иначе, и это важнее. Уберите его оттуда.
cli-model-jina = Но задан JINA_API_KEY, и ищет Jina. Уберите ключ, чтобы искала эта модель, затем: baza reindex
cli-model-restart = Перезапустите Базу, чтобы она начала пользоваться моделью: baza run
cli-adding = Читаю
cli-dialogue = Спрашивайте; Ctrl-D заканчивает разговор.
