// The line where the person writes: grows with the text, sends on Enter, answers or changes a message.
import { $, el, icon } from "./dom.js";
import { replyNode } from "./bubble.js";
import { t } from "./texts.js";

export class Composer {
  /** `room` gives {say(text, replyTo), change(id, text), lastOwn(), scene()}, each about the open chat. */
  constructor(room, toast) {
    this.room = room;
    this.toast = toast;
    this.field = $("text");
    this.context = null; // {kind: "reply" | "edit", message}
    this.field.placeholder = t.write;
    this.field.setAttribute("aria-label", t.write);
    this.field.addEventListener("input", () => this.changed());
    this.field.addEventListener("keydown", (event) => this.#key(event));
    $("composer").addEventListener("submit", (event) => { event.preventDefault(); this.submit(); });
    document.addEventListener("keydown", (event) => this.#typedElsewhere(event));
    this.listeners = [];
    this.changed();
  }

  onChange(listener) { this.listeners.push(listener); }

  get text() { return this.field.value; }
  set text(value) { this.field.value = value; this.changed(); }

  focus() { if (matchMedia("(hover: hover)").matches) this.field.focus(); }

  reply(message) { this.#begin({ kind: "reply", message }); }
  edit(message) {
    this.#begin({ kind: "edit", message });
    this.text = message.text ?? message.caption ?? "";
  }

  async submit() {
    const text = this.text.trim();
    if (!text) return;
    const context = this.context;
    const written = this.text;
    this.text = "";
    this.stopContext({ keepText: true });
    try {
      if (context?.kind === "edit") await this.room.change(context.message.message_id, text);
      else await this.room.say(text, context?.message.message_id);
    } catch {
      if (context?.kind === "edit") return; // nothing was changed in it
      this.text = written;
      this.toast(t.failed);
    }
  }

  stopContext({ keepText = false } = {}) {
    if (this.context?.kind === "edit" && !keepText) this.text = "";
    this.context = null;
    $("context").hidden = true;
  }

  changed() {
    const { field } = this;
    field.style.height = "auto";
    field.style.height = `${Math.max(40, field.scrollHeight)}px`;
    $("send").disabled = !this.text.trim();
    field.closest(".input").classList.toggle("busy", Boolean(this.text));
    for (const listener of this.listeners ?? []) listener(this.text);
  }

  #begin(context) {
    this.stopContext();
    this.context = context;
    const title = context.kind === "edit" ? t.editing : null;
    const quote = replyNode(context.message, this.room.scene());
    if (title) quote.querySelector("b").textContent = title;
    const cancel = el("button", { class: "icon", type: "button", "aria-label": t.cancel, onclick: () => this.stopContext() }, icon("cross"));
    $("context").replaceChildren(icon(context.kind === "edit" ? "pen" : "reply"), quote, cancel);
    $("context").hidden = false;
    this.field.focus();
  }

  #key(event) {
    if (event.isComposing || event.defaultPrevented) return;
    if (event.key === "Enter" && !event.shiftKey) { event.preventDefault(); this.submit(); }
    if (event.key === "Escape") this.stopContext();
    if (event.key === "ArrowUp" && !this.text) {
      const own = this.room.lastOwn();
      if (own) { event.preventDefault(); this.edit(own); }
    }
  }

  /** As in Telegram, typing anywhere begins a message. */
  #typedElsewhere(event) {
    const free = document.activeElement === document.body || document.activeElement === $("scroll");
    const plain = event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey;
    if (free && plain && !document.querySelector("dialog[open]")) this.field.focus();
  }
}
