// Times, dates and sizes as people read them, in the page's language.
import { language, t } from "./texts.js";

const CLOCK = new Intl.DateTimeFormat(language, { hour: "2-digit", minute: "2-digit" });
const DAY = new Intl.DateTimeFormat(language, { day: "numeric", month: "long" });
const DAY_OF_YEAR = new Intl.DateTimeFormat(language, { day: "numeric", month: "long", year: "numeric" });
const SHORT_DAY = new Intl.DateTimeFormat(language, { day: "numeric", month: "short" });

export const clock = (seconds) => CLOCK.format(seconds * 1000);

/** A key that is equal within one day of this time zone. */
export const dayKey = (seconds) => new Date(seconds * 1000).toDateString();

export function dayName(seconds) {
  const date = new Date(seconds * 1000);
  const now = new Date();
  if (date.toDateString() === now.toDateString()) return t.today;
  if (date.toDateString() === new Date(now - 86_400_000).toDateString()) return t.yesterday;
  return (date.getFullYear() === now.getFullYear() ? DAY : DAY_OF_YEAR).format(date);
}

/** For the list of chats: the time of today's message, the day of an older one. */
export const shortTime = (seconds) =>
  dayKey(seconds) === new Date().toDateString() ? clock(seconds) : SHORT_DAY.format(seconds * 1000);

export function size(bytes) {
  let power = 0;
  while (bytes >= 1024 && power < t.units.length - 1) { bytes /= 1024; power += 1; }
  const shown = bytes.toLocaleString(language, { maximumFractionDigits: power && bytes < 100 ? 1 : 0 });
  return `${shown}\u00a0${t.units[power]}`;
}
