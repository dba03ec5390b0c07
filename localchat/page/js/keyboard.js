// The bot's reply keyboard under the composer, and the button that hides and shows it.
import { $, el } from "./dom.js";
import { t } from "./texts.js";

export class Keyboard {
  constructor(composer, say) {
    this.composer = composer;
    this.say = say;
    this.box = $("keyboard");
    this.toggle = $("keys");
    this.toggle.title = t.keys;
    this.toggle.setAttribute("aria-label", t.keys);
    this.toggle.addEventListener("click", () => this.#show(this.box.hidden));
  }

  /** Null takes it away. */
  set(keyboard) {
    const rows = keyboard?.keyboard ?? [];
    this.once = keyboard?.one_time_keyboard;
    this.composer.field.placeholder = keyboard?.input_field_placeholder || t.write;
    this.toggle.hidden = rows.length === 0;
    this.box.replaceChildren(...rows.map((row) => el("div", { class: "row" }, ...row.map((button) =>
      el("button", { type: "button", onclick: () => this.#press(button.text) }, button.text)))));
    this.#show(rows.length > 0);
  }

  #press(text) {
    this.say(text);
    if (this.once) this.#show(false);
  }

  #show(shown) {
    this.box.hidden = !shown;
    this.toggle.setAttribute("aria-pressed", String(shown));
  }
}
