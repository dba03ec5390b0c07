// What the page says, in Russian or English as the browser prefers, and places of sources in words.

const RU = {
  about: "Вопросы к вашим документам. Токен открывает одну базу или все ваши: его даёт бот по команде /api или baza token add.",
  token: "Токен", enter: "Войти", leave: "Выйти", dark: "Тёмная тема", light: "Светлая тема",
  base: "База", dialogues: "Диалоги", fresh: "Новый диалог", open: "Открыть список диалогов", close: "Закрыть список диалогов",
  ask: "Вопрос", send: "Спросить", stop: "Остановить", attach: "Добавить файл", drop: "Отпустите файлы, и они попадут в базу",
  empty: "Спросите о своих документах. Файлы можно просто перетащить сюда.", earlier: "Показать более ранние",
  you: "Вы", answering: "Ищу ответ", answered: "Ответ готов", stopped: "Остановлено.", sources: "Информация взята из:",
  original: "Скачать файл", site: "Открыть на сайте", away: "Нет связи с сервером. Попробуйте ещё раз.",
  sending: "отправляю", reading: "читаю", ready: "в базе", duplicate: "такой уже есть в базе", cancelled: "не добавлен",
  choosing: "файл с этим именем уже есть, содержание другое", replace: "Заменить", keep_both: "Оставить оба", skip: "Пропустить",
  hide: "Убрать из списка", page: "стр.", slide: "слайд", row: "строка",
  reads: " (только чтение)", counts: (documents) => `Документов: ${documents}`,
  opened: (name, documents) => `Открыта «${name}». Документов: ${documents}`,
};
const EN = {
  about: "Questions to your documents. A token opens one base or all of yours: the bot gives it with /api, or baza token add.",
  token: "Token", enter: "Enter", leave: "Leave", dark: "Dark theme", light: "Light theme",
  base: "Base", dialogues: "Dialogues", fresh: "New dialogue", open: "Open the list of dialogues", close: "Close the list of dialogues",
  ask: "Question", send: "Ask", stop: "Stop", attach: "Add a file", drop: "Drop the files to add them to the base",
  empty: "Ask about your documents. Files can be dropped here.", earlier: "Show earlier ones",
  you: "You", answering: "Looking for the answer", answered: "The answer is here", stopped: "Stopped.", sources: "Taken from:",
  original: "Download the file", site: "Open the site", away: "The server cannot be reached. Try again.",
  sending: "sending", reading: "reading", ready: "in the base", duplicate: "the base holds it already", cancelled: "not added",
  choosing: "there is a file of this name with other content", replace: "Replace", keep_both: "Keep both", skip: "Skip",
  hide: "Take off the list", page: "p.", slide: "slide", row: "row",
  reads: " (read only)", counts: (documents) => `Documents: ${documents}`,
  opened: (name, documents) => `“${name}” is open. Documents: ${documents}`,
};

export const language = (navigator.language || "").toLowerCase().startsWith("ru") ? "ru" : "en";
export const words = language === "ru" ? RU : EN;

const range = (first, last) => (last && last !== first ? `${first}–${last}` : first);
const clock = (seconds) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;

/** The most exact place that is known: «стр. 7», «3:20», a heading. */
export function place(locator) {
  if (locator.page) return `${words.page} ${range(locator.page, locator.page_end)}`;
  if (locator.slide) return `${words.slide} ${locator.slide}`;
  if (locator.row) return `${words.row} ${range(locator.row, locator.row_end)}`;
  if (locator.start_s !== undefined) return clock(locator.start_s);
  return [locator.member, locator.headings?.at(-1)].filter(Boolean).join(", ");
}
