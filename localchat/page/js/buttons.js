// Inline keyboards under bubbles. A pressed button shines until the bot answers the press.
import { el } from "./dom.js";
import { t } from "./texts.js";

const PATIENCE_MS = 30_000; // then the button rests again; Telegram's clients give up as well
const waiting = new Map(); // query id -> what to do when it is answered
const early = new Set(); // answers that overtook the response to the press itself

/** The keyboard of a message, null when it has none. */
export function buttonsNode(message, actions) {
  const rows = message.reply_markup?.inline_keyboard;
  if (!rows) return null;
  return el("div", { class: "buttons" }, ...rows.map((row, r) =>
    el("div", { class: "row" }, ...row.map((button, c) => buttonNode(button, message, r, c, actions)))));
}

function buttonNode(button, message, row, column, actions) {
  const node = el("button", { type: "button", "data-style": button.style }, el("span", {}, button.text));
  node.addEventListener("click", () => press(node, message, row, column, actions));
  return node;
}

async function press(node, message, row, column, actions) {
  if (node.getAttribute("aria-busy") === "true") return;
  node.setAttribute("aria-busy", "true");
  const rest = () => node.removeAttribute("aria-busy");
  try {
    const { query_id: id } = await actions.press(message, row, column);
    if (early.delete(id)) { rest(); return; }
    const timer = setTimeout(() => settle(id), PATIENCE_MS);
    waiting.set(id, () => { clearTimeout(timer); rest(); });
  } catch {
    rest();
    actions.toast(t.failed);
  }
}

/** The bot answered (or time is over): let the button rest. */
export function settle(queryId) {
  const done = waiting.get(queryId);
  waiting.delete(queryId);
  if (done) done();
  else early.add(queryId);
}
