// The bot's commands: the blue menu button, and the list that a slash opens.
import { $, el } from "./dom.js";
import { t } from "./texts.js";

export class Commands {
  constructor(composer, say) {
    this.composer = composer;
    this.say = say;
    this.all = [];
    this.shown = [];
    this.chosen = 0;
    this.box = $("commands");
    this.button = $("menu");
    this.button.querySelector("span").textContent = t.menu;
    this.button.setAttribute("aria-label", t.menu);
    this.button.setAttribute("aria-expanded", "false");
    this.button.addEventListener("click", () => (this.box.hidden ? this.#open(this.all) : this.close()));
    composer.onChange((text) => this.#filter(text));
    // Before the composer's own keys: Enter picks while the list is open
    composer.field.addEventListener("keydown", (event) => this.#key(event), true);
    document.addEventListener("pointerdown", (event) => {
      if (!event.target.closest("#commands, #menu, #composer")) this.close();
    });
  }

  set(commands) {
    this.all = commands;
    this.button.hidden = commands.length === 0;
    this.close();
  }

  close() {
    this.box.hidden = true;
    this.button.setAttribute("aria-expanded", "false");
  }

  #filter(text) {
    if (!/^\/\w*$/.test(text)) { this.close(); return; }
    const begun = text.slice(1).toLowerCase();
    this.#open(this.all.filter((one) => one.command.startsWith(begun)));
  }

  #open(commands) {
    this.shown = commands;
    this.chosen = 0;
    if (!commands.length) { this.close(); return; }
    this.box.replaceChildren(...commands.map((one, index) =>
      el("button", { type: "button", role: "option", "aria-selected": String(index === 0), onclick: () => this.#pick(one) },
        el("b", {}, `/${one.command}`), el("span", {}, one.description))));
    this.box.hidden = false;
    this.button.setAttribute("aria-expanded", "true");
  }

  #pick(one) {
    this.close();
    this.composer.text = "";
    this.say(`/${one.command}`);
    this.composer.focus();
  }

  #key(event) {
    if (this.box.hidden) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      this.chosen = (this.chosen + step + this.shown.length) % this.shown.length;
      [...this.box.children].forEach((node, index) => node.setAttribute("aria-selected", String(index === this.chosen)));
      this.box.children[this.chosen].scrollIntoView({ block: "nearest" });
    } else if (event.key === "Enter" && !event.shiftKey) this.#pick(this.shown[this.chosen]);
    else if (event.key === "Escape") this.close();
    else return;
    event.preventDefault();
  }
}
