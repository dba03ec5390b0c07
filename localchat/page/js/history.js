// The list of messages: by day, grouped by sender, append-only. A change touches one node, so thousands stay smooth.
import { messageNode, markRead } from "./bubble.js";
import { el } from "./dom.js";
import { dayKey, dayName } from "./format.js";

const GROUP_S = 300; // messages of one sender within five minutes stand together

export class History {
  constructor(column, scene) {
    this.column = column;
    this.scene = scene;
    this.entries = new Map(); // id -> {message, node}
    this.unread = []; // nodes of own messages after which the bot has not spoken
    this.lastDay = null;
    column.classList.toggle("group", scene.group);
    column.replaceChildren();
  }

  get size() { return this.entries.size; }
  get firstId() { return this.entries.keys().next().value; }
  message(id) { return this.entries.get(id)?.message; }
  node(id) { return this.entries.get(id)?.node; }
  messages() { return [...this.entries.values()].map((entry) => entry.message); }

  /** Add a newer message at the end. */
  append(message, { fresh = false } = {}) {
    if (this.entries.has(message.message_id)) { this.replace(message); return; }
    const previous = this.lastDay?.lastElementChild;
    const node = messageNode(message, this.scene);
    this.entries.set(message.message_id, { message, node });
    this.#day(message).append(node);
    if (previous) this.#join(previous, node);
    else node.classList.add("first");
    node.classList.add("last");
    if (fresh) node.classList.add("fresh");
    if (message.from.is_bot) this.readAll();
    else if (message.from.id === this.scene.me) this.unread.push(node);
  }

  /** Add older messages (oldest first) before all others. */
  prepend(messages) {
    const later = this.entries;
    const parked = { children: [...this.column.children], unread: this.unread, lastDay: this.lastDay };
    Object.assign(this, { entries: new Map(), unread: [], lastDay: null });
    this.column.replaceChildren();
    for (const message of messages) this.append(message);
    const seam = this.lastDay?.lastElementChild;
    const [firstDay, ...rest] = parked.children;
    if (seam && this.lastDay.dataset.day === firstDay?.dataset.day) {
      this.lastDay.append(...firstDay.querySelectorAll(":scope > .message"));
      this.column.append(...rest);
      if (parked.lastDay !== firstDay) this.lastDay = parked.lastDay;
    } else {
      this.column.append(...parked.children);
      this.lastDay = parked.lastDay ?? this.lastDay;
    }
    for (const [id, entry] of later) this.entries.set(id, entry);
    if ([...later.values()].some((entry) => entry.message.from.is_bot)) this.readAll();
    this.unread.push(...parked.unread);
    const next = later.values().next().value?.node;
    if (seam && next) this.#join(seam, next);
  }

  /** Show a changed message in the place of the old one. */
  replace(message) {
    const entry = this.entries.get(message.message_id);
    if (!entry) return;
    if (JSON.stringify(entry.message) === JSON.stringify(message)) return;
    const node = messageNode(message, this.scene);
    for (const name of ["first", "last"]) node.classList.toggle(name, entry.node.classList.contains(name));
    const unread = this.unread.indexOf(entry.node);
    if (unread >= 0) this.unread[unread] = node;
    else if (entry.node.dataset.read) this.#read(node);
    entry.node.replaceWith(node);
    this.entries.set(message.message_id, { message, node });
  }

  remove(id) {
    const entry = this.entries.get(id);
    if (!entry) return;
    const { previousElementSibling: before, nextElementSibling: after } = entry.node;
    const day = entry.node.parentElement;
    entry.node.remove();
    this.entries.delete(id);
    const isMessage = (node) => node?.classList.contains("message");
    if (isMessage(before) && isMessage(after)) this.#join(before, after);
    else if (isMessage(after)) after.classList.add("first");
    else if (isMessage(before)) before.classList.add("last");
    else {
      day.remove();
      this.lastDay = [...this.column.querySelectorAll(":scope > .day")].at(-1) ?? null;
    }
  }

  /** Forget all but the newest; whoever scrolls up to them fetches them again. */
  trim(kept) {
    const old = [...this.entries].slice(0, -kept);
    for (const [id, { node }] of old) {
      const day = node.parentElement;
      node.remove();
      this.entries.delete(id);
      if (!day.querySelector(".message")) day.remove();
    }
    const first = this.entries.values().next().value;
    first?.node.classList.add("first");
  }

  /** The bot spoke after them: what the person wrote has been read. */
  readAll() {
    for (const node of this.unread) this.#read(node);
    this.unread = [];
  }

  #read(node) { node.dataset.read = "true"; markRead(node); }

  #day(message) {
    const key = dayKey(message.date);
    if (this.lastDay?.dataset.day === key) return this.lastDay;
    const day = el("section", { class: "day", "data-day": key }, el("div", { class: "date" }, dayName(message.date)));
    if (this.lastDay) this.lastDay.after(day); // a draft or an upload stays below
    else this.column.append(day);
    this.lastDay = day;
    return day;
  }

  /** Whether two neighbours stand together decides about tails, names and distances. */
  #join(before, after) {
    const one = this.message(Number(before.dataset.id));
    const other = this.message(Number(after.dataset.id));
    const together = one && other && one.from.id === other.from.id && other.date - one.date < GROUP_S
      && before.parentElement === after.parentElement;
    before.classList.toggle("last", !together);
    after.classList.toggle("first", !together);
  }
}
