// One open chat: its history and draft, what a person does in it, and what happens to it.
import { $, avatar, el } from "./dom.js";
import { Draft } from "./draft.js";
import { History } from "./history.js";
import { get, post } from "./net.js";
import { t } from "./texts.js";

const MOST = 400; // in a long talk only so many stay in the page, so the thousandth is as quick as the first
const KEPT = 200;

export class Room {
  constructor(chat, me, scroller, actions) {
    this.chat = chat;
    this.path = `/chats/${chat.id}/messages`;
    this.scroller = scroller;
    this.scene = { me, group: chat.type !== "private", actions: { ...actions, press: (...args) => this.press(...args), jump: (id) => this.jump(id), say: (text) => this.say(text), stop: (draft) => this.stop(draft) } };
    this.history = new History($("column"), this.scene);
    this.draft = new Draft($("column"), this.scene.actions);
    this.more = false;
    this.loading = false;
  }

  async load(bot) {
    const { messages, more } = await get(this.path);
    this.more = more;
    for (const message of messages) this.history.append(message);
    this.#greet(bot);
    this.scroller.toEnd();
  }

  /** After the connection was away: take what is new, changed and gone. False when too much was missed for that. */
  async refresh() {
    const { messages } = await get(this.path);
    const joined = messages.some((message) => this.history.message(message.message_id));
    if (messages.length && !joined) return false;
    const ids = new Set(messages.map((message) => message.message_id));
    for (const known of this.history.messages()) {
      if (known.message_id >= (messages[0]?.message_id ?? Infinity) && !ids.has(known.message_id)) this.history.remove(known.message_id);
    }
    for (const message of messages) this.history.append(message);
    if (this.scroller.stuck) this.scroller.toEnd();
    return true;
  }

  async older() {
    if (!this.more || this.loading) return;
    this.loading = true;
    const { messages, more } = await get(`${this.path}?before=${this.history.firstId}`);
    this.more = more;
    this.scroller.keeping(() => this.history.prepend(messages));
    this.loading = false;
  }

  arrived(message) {
    const mine = message.from.id === this.scene.me;
    const grown = message.from.is_bot && this.draft.clear();
    this.hello?.remove();
    this.history.append(message, { fresh: !grown }); // what has just grown letter by letter must not jump in again
    if (this.history.size > MOST && this.scroller.stuck) {
      this.history.trim(KEPT);
      this.more = true;
    }
    this.scroller.arrived({ mine });
  }

  edited(message) { this.history.replace(message); }
  removed(id) { this.history.remove(id); }

  drafted(event) {
    this.history.readAll();
    this.draft.show(event);
    this.scroller.arrived({ mine: false });
  }

  say(text, replyTo) { return post(this.path, { text, reply_to: replyTo }); }
  send(said) { return post(this.path, said); }
  change(id, text) { return post(`${this.path}/${id}`, { text }); }
  press(message, row, column) { return post(`${this.path}/${message.message_id}/press`, { row, column }); }

  stop(draft) { return post(`/chats/${this.chat.id}/drafts/${draft}/stop`, {}); }

  /** Show a file that is on its way up. */
  going(node) {
    $("column").append(node);
    this.scroller.arrived({ mine: true });
  }

  async jump(id) {
    while (!this.history.node(id) && this.more) await this.older();
    const node = this.history.node(id);
    if (node) this.scroller.to(node);
  }

  lastOwn() {
    return this.history.messages().findLast((message) => message.from.id === this.scene.me);
  }

  close() { this.draft.clear(); }

  /** An empty chat says what the bot can do. */
  #greet(bot) {
    if (this.history.size) return;
    const words = this.scene.group ? t.groupHello : bot.description || bot.short_description || t.hello;
    this.hello = el("div", { class: "hello" }, avatar(bot), el("h3", {}, this.scene.group ? this.chat.title : t.helloTitle), el("p", {}, words));
    $("column").append(this.hello);
  }
}
