// Words for a moment, and an alert that waits to be read.
import { $, el } from "./dom.js";
import { t } from "./texts.js";

const SHORT_MS = 2600;
const PER_LETTER_MS = 45;

export function toast(text) {
  const node = el("div", { class: "toast" }, text);
  $("toasts").replaceChildren(node);
  const stay = SHORT_MS + text.length * PER_LETTER_MS;
  setTimeout(() => node.classList.add("gone"), stay);
  setTimeout(() => node.remove(), stay + 300);
}

/** Resolves to true when the person agrees; with no question there is just one button. */
export function ask(text, { title, yes } = {}) {
  const box = $("alert");
  return new Promise((resolve) => {
    const end = (answer) => () => { box.close(); resolve(answer); };
    const buttons = yes
      ? [el("button", { class: "flat", type: "button", onclick: end(false) }, t.cancel), el("button", { class: "flat", type: "button", onclick: end(true) }, yes)]
      : [el("button", { class: "flat", type: "button", onclick: end(true) }, t.ok)];
    box.replaceChildren(...(title ? [el("h3", {}, title)] : []), el("p", {}, text), el("div", { class: "ends" }, ...buttons));
    box.oncancel = () => resolve(false);
    box.showModal();
  });
}
