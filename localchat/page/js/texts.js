// Every sentence of the page, in Russian and English. The browser's language chooses; Russian is the product's own.

const RU = {
  title: "База · локальный чат",
  banner: "Это локальный чат, а не Telegram. Всё остаётся на этом компьютере.",
  chats: "Чаты", bot: "бот", you: "Вы", back: "К списку чатов", write: "Сообщение", send: "Отправить",
  attach: "Прикрепить файл", menu: "Меню", keys: "Клавиатура бота", start: "Начать", down: "К последним сообщениям",
  dark: "Тёмная тема", light: "Светлая тема", today: "Сегодня", yesterday: "Вчера", edited: "изменено",
  typing: "печатает", sending: "отправляет файл", thinking: "Думаю…", stop: "Остановить", offline: "соединение…",
  speaker: "Кто пишет", members: (n) => `${n} участника, бот`, empty: "Сообщений пока нет",
  reply: "Ответить", copy: "Копировать", edit: "Изменить", cancel: "Отмена", ok: "Понятно", close: "Закрыть",
  forward: "Переслать", forwardTo: "Куда", forwardFrom: "От кого", from: (name) => `Переслано от ${name}`,
  hiddenUser: "Человек не из этих чатов", channel: "Канал", name: "Имя или название",
  editing: "Изменение", copied: "Скопировано", helloTitle: "Что умеет этот бот?", hello: "Нажмите «Начать».",
  groupHello: "Здесь вы, Анна и бот. Кто пишет, выберите вверху.",
  photo: "Фото", voice: "Голосовое", audio: "Аудио", video: "Видео", document: "Файл", album: "Альбом",
  sendFiles: (n) => (n === 1 ? "Отправить файл" : `Отправить файлы: ${n}`), caption: "Подпись",
  asFile: "Без сжатия, файлом", dropTitle: "Отпустите, чтобы отправить", dropHint: "до 10 файлов сразу",
  tooMany: "В одном сообщении не больше 10 файлов.", uploadFailed: "Не отправлено. Сервер запущен?",
  tooLarge: "Файл больше 50 МБ: столько локальный чат не принимает.",
  failed: "Не отправлено. Проверьте, что программа запущена.",
  noAnswer: "Бот не ответил на нажатие.",
  units: ["Б", "КБ", "МБ", "ГБ"], remove: "Убрать", code: "код", more: "Показать целиком", spoiler: "Скрытый текст",
};

const EN = {
  title: "Baza · local chat",
  banner: "This is a local chat, not Telegram. Everything stays on this computer.",
  chats: "Chats", bot: "bot", you: "You", back: "Back to chats", write: "Message", send: "Send",
  attach: "Attach a file", menu: "Menu", keys: "Bot keyboard", start: "Start", down: "To the latest messages",
  dark: "Dark theme", light: "Light theme", today: "Today", yesterday: "Yesterday", edited: "edited",
  typing: "typing", sending: "sending a file", thinking: "Thinking…", stop: "Stop", offline: "connecting…",
  speaker: "Who is writing", members: (n) => `${n} members, bot`, empty: "No messages yet",
  reply: "Reply", copy: "Copy", edit: "Edit", cancel: "Cancel", ok: "OK", close: "Close",
  forward: "Forward", forwardTo: "To", forwardFrom: "From", from: (name) => `Forwarded from ${name}`,
  hiddenUser: "Somebody who is not in these chats", channel: "A channel", name: "Name or title",
  editing: "Editing", copied: "Copied", helloTitle: "What can this bot do?", hello: "Press Start.",
  groupHello: "You, Anna and the bot are here. Choose above who is writing.",
  photo: "Photo", voice: "Voice message", audio: "Audio", video: "Video", document: "File", album: "Album",
  sendFiles: (n) => (n === 1 ? "Send a file" : `Send ${n} files`), caption: "Caption",
  asFile: "Uncompressed, as a file", dropTitle: "Drop to send", dropHint: "up to 10 files at once",
  tooMany: "At most 10 files in one message.", uploadFailed: "Not sent. Is the server running?",
  tooLarge: "The file is over 50 MB, more than the local chat accepts.",
  failed: "Not sent. Check that the program is running.",
  noAnswer: "The bot did not answer.",
  units: ["B", "KB", "MB", "GB"], remove: "Remove", code: "code", more: "Show all", spoiler: "Hidden text",
};

export const language = navigator.language.toLowerCase().startsWith("ru") ? "ru" : "en";
export const t = language === "ru" ? RU : EN;
