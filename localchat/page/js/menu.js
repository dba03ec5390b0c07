// The menu of one message: right click, or a long press on a phone; and the question where to forward it.
import { originName } from "./bubble.js";
import { $, el, icon } from "./dom.js";
import { t } from "./texts.js";

const EDGE_PX = 8;

/** `find(node)` gives the message of a bubble; `deeds(message)` a list of [icon, text, action]. */
export function startMenu(find, deeds) {
  const box = $("popup");
  const close = () => { box.hidden = true; };
  $("column").addEventListener("contextmenu", (event) => {
    const message = find(event.target.closest(".message"));
    if (!message || event.target.closest("a, img") || getSelection().toString()) return;
    event.preventDefault();
    box.replaceChildren(...deeds(message).map(([name, text, action]) =>
      el("button", { type: "button", role: "menuitem", onclick: () => { close(); action(); } }, icon(name), text)));
    box.hidden = false;
    place(box, event.clientX, event.clientY);
    box.firstElementChild.focus({ preventScroll: true });
  });
  document.addEventListener("pointerdown", (event) => { if (!event.target.closest("#popup")) close(); });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") close(); });
  for (const moved of ["wheel", "touchmove"]) // not "scroll": a new message scrolls the page by itself
    $("scroll").addEventListener(moved, close, { passive: true });
}

function place(box, x, y) {
  const left = Math.min(x, innerWidth - box.offsetWidth - EDGE_PX);
  const top = Math.min(y, innerHeight - box.offsetHeight - EDGE_PX);
  box.style.left = `${Math.max(EDGE_PX, left)}px`;
  box.style.top = `${Math.max(EDGE_PX, top)}px`;
}

const choice = (value, text) => el("option", { value }, text);

/** Resolves to {to, kind, name}, or to null. `chats`: where the person can write. */
export function forwarding(message, chats) {
  const box = $("sheet");
  const to = el("select", {}, ...chats.map((chat) => choice(String(chat.id), chat.title)));
  const from = message.forward_origin ? originName(message.forward_origin) : message.from.first_name;
  const kind = el("select", {}, choice("user", from), choice("hidden_user", t.hiddenUser), choice("channel", t.channel));
  const name = el("input", { type: "text", maxlength: "64", placeholder: t.name, "aria-label": t.name, hidden: true });
  kind.addEventListener("change", () => { name.hidden = kind.value === "user"; name.required = !name.hidden; if (name.required) name.focus(); });
  return new Promise((resolve) => {
    const end = (answer) => { box.close(); box.oncancel = null; resolve(answer); };
    const send = (event) => { event.preventDefault(); end({ to: Number(to.value), kind: kind.value, name: name.value }); };
    box.replaceChildren(el("form", { class: "forwarding", onsubmit: send }, el("h3", {}, t.forward),
      el("label", {}, el("span", {}, t.forwardTo), to), el("label", {}, el("span", {}, t.forwardFrom), kind), name,
      el("div", { class: "ends" },
        el("button", { class: "flat", type: "button", onclick: () => end(null) }, t.cancel),
        el("button", { class: "solid", type: "submit" }, t.forward))));
    box.oncancel = () => end(null);
    box.showModal();
  });
}
