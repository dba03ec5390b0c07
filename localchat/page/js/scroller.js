// Keeps the place in the chat: at the bottom while one is there, where one reads otherwise, with a way down.
import { $ } from "./dom.js";

const NEAR_PX = 90;
const FLOAT_PX = 14; // further from the day's beginning than its margin
const REST_MS = 900; // the date that floats over messages goes when the scrolling has stopped
const TOP_PX = 500; // older messages are fetched before the reader reaches the edge

export class Scroller {
  constructor({ onTop }) {
    this.box = $("scroll");
    this.jump = $("jump");
    this.stuck = true;
    this.missed = 0;
    this.box.addEventListener("scroll", () => this.#moved(onTop), { passive: true });
    this.jump.addEventListener("click", () => this.toEnd({ smooth: true }));
    // Composer, keyboard and window change the room; whoever was at the bottom stays there
    const keep = new ResizeObserver(() => { if (this.stuck) this.toEnd(); });
    keep.observe(this.box);
    keep.observe($("column"));
  }

  toEnd({ smooth = false } = {}) {
    this.stuck = true;
    this.box.scrollTo({ top: this.box.scrollHeight, behavior: smooth ? "smooth" : "instant" });
    this.#show();
  }

  /** Something new came; `mine` always leads down to it. */
  arrived({ mine }) {
    if (this.stuck || mine) requestAnimationFrame(() => this.toEnd({ smooth: !this.stuck }));
    else { this.missed += 1; this.#show(); }
  }

  /** Change the list above the reader without moving what is read. */
  keeping(change) {
    const fromEnd = this.box.scrollHeight - this.box.scrollTop;
    change();
    this.box.scrollTop = this.box.scrollHeight - fromEnd;
  }

  to(node) {
    this.stuck = false;
    node.scrollIntoView({ block: "center", behavior: "smooth" });
    node.classList.remove("found");
    requestAnimationFrame(() => node.classList.add("found"));
    setTimeout(() => node.classList.remove("found"), 1700);
  }

  #moved(onTop) {
    const left = this.box.scrollHeight - this.box.scrollTop - this.box.clientHeight;
    this.stuck = left < NEAR_PX;
    if (this.box.scrollTop < TOP_PX) onTop();
    this.#show();
    this.#floatDates();
  }

  /** A date in its own place always shows; one that floats shows while one scrolls. */
  #floatDates() {
    const dates = [...this.box.querySelectorAll(".date")];
    for (const date of dates) date.classList.remove("rests");
    clearTimeout(this.rest);
    this.rest = setTimeout(() => {
      for (const date of dates) {
        const floats = date.getBoundingClientRect().top - date.parentElement.getBoundingClientRect().top > FLOAT_PX;
        date.classList.toggle("rests", floats);
      }
    }, REST_MS);
  }

  #show() {
    if (this.stuck) this.missed = 0;
    this.jump.hidden = this.stuck;
    const count = $("jump-count");
    count.hidden = this.missed === 0;
    count.textContent = String(this.missed);
  }
}
