// The bot's answer while it is being written: one bubble that grows letter by letter and never blinks.
import { el } from "./dom.js";
import { richText } from "./richtext.js";
import { t } from "./texts.js";

const CATCH_UP_S = 0.45; // what has come is shown within this time, however much it is
const LEAST_PER_S = 60;
const calm = matchMedia("(prefers-reduced-motion: reduce)");

export class Draft {
  constructor(column, actions) {
    this.column = column;
    this.actions = actions;
    this.node = null;
  }

  /** A new state of the draft. Another id begins anew. */
  show({ draft_id: id, text, entities, seconds, can_stop: canStop, keep_on_stop: keep }) {
    if (this.stopped === id) return;
    if (!this.node || this.id !== id) this.#begin(id);
    this.#offerStop(canStop, keep);
    this.shown = Math.min(this.shown, commonStart(this.text, text));
    this.text = text;
    this.entities = entities;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.clear(), seconds * 1000);
    if (calm.matches) this.shown = text.length;
    this.#paint();
    this.#run();
  }

  /** The real message has come, or the time is over. True when there was a draft. */
  clear() {
    if (!this.node) return false;
    clearTimeout(this.timer);
    cancelAnimationFrame(this.frame);
    this.node.remove();
    this.node = null;
    this.frame = 0;
    return true;
  }

  #begin(id) {
    this.clear();
    this.id = id;
    this.text = "";
    this.shown = 0;
    this.frame = 0;
    this.button = null;
    this.body = el("div", { class: "text" });
    this.node = el("div", { class: "message other first last fresh draft", "aria-busy": "true" }, el("div", { class: "bubble" }, this.body));
    this.column.append(this.node);
  }

  /** The button ends the draft here at once; the bot sends what stays. */
  #offerStop(canStop, keep) {
    if (canStop === Boolean(this.button)) return;
    this.button?.remove();
    this.button = canStop ? el("div", { class: "buttons" }, el("div", { class: "row" }, el("button", { type: "button", onclick: () => this.#stop(keep) }, el("span", {}, t.stop)))) : null;
    this.node.classList.toggle("keyed", canStop);
    if (this.button) this.node.append(this.button);
  }

  #stop(keep) {
    this.stopped = this.id;
    this.#offerStop(false);
    if (!keep) this.clear();
    this.actions.stop(this.id).catch(() => this.actions.toast(t.failed));
  }

  #run() {
    if (this.frame || this.shown >= this.text.length) return;
    let last = performance.now();
    const step = (now) => {
      const left = this.text.length - this.shown;
      const speed = Math.max(LEAST_PER_S, left / CATCH_UP_S);
      this.shown = Math.min(this.text.length, this.shown + (speed * (now - last)) / 1000);
      last = now;
      this.#paint();
      this.frame = this.shown < this.text.length ? requestAnimationFrame(step) : 0;
    };
    this.frame = requestAnimationFrame(step);
  }

  /** One synchronous exchange of the nodes: the eye sees only the letters that were added. */
  #paint() {
    if (!this.text) { this.body.replaceChildren(el("span", { class: "thinking" }, t.thinking)); return; }
    let until = Math.floor(this.shown);
    const unit = this.text.charCodeAt(until - 1);
    if (unit >= 0xd800 && unit < 0xdc00) until += 1; // never half of an emoji
    this.body.replaceChildren(richText(this.text, this.entities, this.actions, until));
  }
}

function commonStart(one, other) {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return at;
}
