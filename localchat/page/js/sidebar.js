// The list of chats with their last words and what is unread.
import { attachmentName } from "./attachments.js";
import { $, avatar, el } from "./dom.js";
import { shortTime } from "./format.js";
import { t } from "./texts.js";

export const chatFace = (chat, bot, size) =>
  chat.type === "private" ? avatar(bot, size) : el("span", { class: `avatar ${size} tone-2`, "aria-hidden": "true" }, chat.title.slice(0, 1));

/** Draw it anew: two chats, so nothing finer is needed. `state`: {view, chatId, unread, busy, me}. */
export function drawSidebar(state, open) {
  $("chats").replaceChildren(...state.view.chats.map((chat) => itemNode(chat, state, open)));
}

function itemNode(chat, state, open) {
  const { last } = chat;
  const unread = state.unread.get(chat.id) ?? 0;
  const busy = state.busy.get(chat.id);
  const words = busy ? `${busy}…` : last ? lastWords(last, chat, state.me) : t.empty;
  return el("button", { class: "chat-item", type: "button", "aria-current": String(chat.id === state.chatId), onclick: () => open(chat.id) },
    chatFace(chat, state.view.bot, "large"),
    el("span", { class: "body" },
      el("span", { class: "row" }, el("b", {}, chat.title), last ? el("time", {}, shortTime(last.date)) : null),
      el("span", { class: "row" }, el("span", { class: `last${busy ? " now" : ""}` }, words),
        unread ? el("span", { class: "badge" }, String(unread)) : null)));
}

function lastWords(message, chat, me) {
  const words = message.text ?? message.caption ?? attachmentName(message);
  const mine = message.from.id === me;
  const who = mine ? t.you : chat.type === "private" ? "" : message.from.first_name;
  return `${who ? `${who}: ` : ""}${words.slice(0, 120).replaceAll("\n", " ")}`;
}
