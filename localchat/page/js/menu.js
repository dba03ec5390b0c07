// The menu of one message: right click, or a long press on a phone.
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
  $("scroll").addEventListener("scroll", close, { passive: true });
}

function place(box, x, y) {
  const left = Math.min(x, innerWidth - box.offsetWidth - EDGE_PX);
  const top = Math.min(y, innerHeight - box.offsetHeight - EDGE_PX);
  box.style.left = `${Math.max(EDGE_PX, left)}px`;
  box.style.top = `${Math.max(EDGE_PX, top)}px`;
}
