// The line under the chat's name: who the bot is, and what it is doing right now.
import { $, el } from "./dom.js";
import { t } from "./texts.js";

const BUSY_MS = 5200; // Telegram shows an action for five seconds
const timers = new Map();

/** Note what the bot does in a chat (null: nothing more) and tell `changed` when that is over. */
export function noteBusy(state, chatId, action, changed) {
  clearTimeout(timers.get(chatId));
  if (action) {
    state.busy.set(chatId, action.startsWith("upload") ? t.sending : t.typing);
    timers.set(chatId, setTimeout(() => { state.busy.delete(chatId); changed(); }, BUSY_MS));
  } else state.busy.delete(chatId);
  changed();
}

export function drawStatus(state, chat) {
  const line = $("chat-status");
  const busy = state.busy.get(chat.id);
  const calm = !state.online ? t.offline : chat.type === "private" ? t.bot : t.members(chat.people.length);
  const words = busy ?? calm;
  if (line.dataset.words === words) return; // the dots go on dancing
  line.dataset.words = words;
  line.classList.toggle("now", Boolean(busy));
  line.replaceChildren(words, ...(busy ? [el("span", { class: "dots", "aria-hidden": "true" }, el("i"), el("i"), el("i"))] : []));
}
