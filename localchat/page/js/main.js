// Puts the page together: who is writing, which chat is open, and where each event of the server goes.
import { Attach } from "./attach.js";
import { settle } from "./buttons.js";
import { Commands } from "./commands.js";
import { Composer } from "./composer.js";
import { $, el, icon } from "./dom.js";
import { Keyboard } from "./keyboard.js";
import { forwarding, startMenu } from "./menu.js";
import { actAs, get, listen, post } from "./net.js";
import { copy } from "./richtext.js";
import { Room } from "./room.js";
import { Scroller } from "./scroller.js";
import { chatFace, drawSidebar } from "./sidebar.js";
import { drawStatus, noteBusy } from "./status.js";
import { language, t } from "./texts.js";
import { startTheme } from "./theme.js";
import { ask, toast } from "./toast.js";

const YOU = 1001;
const state = { me: YOU, chatId: YOU, view: null, unread: new Map(), busy: new Map(), online: true };
let room = null;
let stop = () => {};

const chat = () => state.view.chats.find((one) => one.id === state.chatId);
const say = (text) => room.say(text).catch(() => toast(t.failed));
const actions = {
  toast,
  say,
  mention: (text) => { composer.text = `${text} ${composer.text}`; composer.focus(); },
};

const scroller = new Scroller({ onTop: () => room?.older() });
const composer = new Composer({
  say: (text, replyTo) => room.say(text, replyTo),
  change: (id, text) => room.change(id, text),
  lastOwn: () => room.lastOwn(),
  scene: () => room.scene,
}, toast);
const commands = new Commands(composer, say);
const keyboard = new Keyboard(composer, say);
new Attach({ here: () => room });

let drawing = 0;

/** Many events of one moment draw the list once. */
function drawSide() {
  cancelAnimationFrame(drawing);
  drawing = requestAnimationFrame(() => drawSidebar(state, openChat));
}

function drawHeader() {
  const open = chat();
  $("chat-name").textContent = open.title;
  $("chat-avatar").replaceWith(Object.assign(chatFace(open, state.view.bot, ""), { id: "chat-avatar" }));
  const people = open.people.length > 1 ? state.view.people : [];
  $("speakers").hidden = people.length === 0;
  $("speakers").replaceChildren(...people.map((person) =>
    el("button", { type: "button", role: "radio", "aria-checked": String(person.id === state.me), onclick: () => speakAs(person.id) },
      person.id === YOU ? t.you : person.first_name)));
  drawStatus(state, open);
}

let opening = Promise.resolve();
const openChat = (id) => { opening = show(id); return opening; };

async function show(id) {
  if (!state.view.chats.find((one) => one.id === id).people.includes(state.me)) await become(YOU);
  state.chatId = id;
  state.unread.delete(id);
  $("frame").dataset.open = "chat";
  room?.close();
  composer.stopContext();
  room = new Room(chat(), state.me, scroller, actions);
  drawSide();
  drawHeader();
  commands.set(chat().commands);
  keyboard.set(chat().keyboard);
  await room.load(state.view.bot);
  $("start").hidden = room.history.size > 0 || chat().type !== "private";
  composer.focus();
}

async function speakAs(userId) {
  await become(userId);
  await openChat(state.chatId);
}

async function become(userId) {
  state.me = userId;
  actAs(userId);
  await post("/language", { language });
  state.view = await get("");
  stop();
  stop = listen(hear, () => setOnline(false));
}

function setOnline(online) {
  state.online = online;
  if (state.view) drawStatus(state, chat());
}

/** The stream is heard (again): whatever came between the history and now is read once more. */
async function greeted() {
  setOnline(true);
  await opening;
  await catchUp();
  document.body.dataset.live = "true";
}

async function catchUp() {
  await reload();
  if (room && !(await room.refresh())) await openChat(state.chatId);
}

async function reload() {
  state.view = await get("");
  drawSide();
  drawHeader();
  commands.set(chat().commands);
}

function noteLast(event) {
  const place = state.view.chats.find((one) => one.id === event.chat_id);
  if (event.type === "message") place.last = event.message;
  if (event.type === "edit" && place.last?.message_id === event.message.message_id) place.last = event.message;
  const away = event.chat_id !== state.chatId;
  if (event.type === "message" && away) state.unread.set(event.chat_id, (state.unread.get(event.chat_id) ?? 0) + 1);
  drawSide();
}

const redraw = () => { drawSide(); drawStatus(state, chat()); };
const HERE = {
  message: (event) => { $("start").hidden = true; room.arrived(event.message); },
  edit: (event) => room.edited(event.message),
  delete: (event) => room.removed(event.message_id),
  draft: (event) => room.drafted(event),
  keyboard: (event) => keyboard.set(event.keyboard),
};

function hear(event) {
  if (event.type === "hello") { greeted(); return; }
  if (event.type === "profile") { reload(); return; }
  if (event.type === "answer") { answered(event); return; }
  if (event.type === "action" || event.type === "draft") noteBusy(state, event.chat_id, event.action ?? "typing", redraw);
  if (event.type === "message" && event.message.from.is_bot) noteBusy(state, event.chat_id, null, redraw);
  if (event.type === "message" || event.type === "edit") noteLast(event);
  if (event.type === "keyboard") state.view.chats.find((one) => one.id === event.chat_id).keyboard = event.keyboard;
  if (event.chat_id === state.chatId) HERE[event.type]?.(event);
}

function answered(event) {
  settle(event.query_id);
  if (event.user_id !== state.me || !event.text) return;
  if (event.alert) ask(event.text, { title: state.view.bot.first_name });
  else toast(event.text);
}

function label(id, text) { $(id).setAttribute("aria-label", text); $(id).title = text; }

function nameEverything() {
  document.documentElement.lang = language;
  document.title = t.title;
  $("banner").textContent = t.banner;
  $("side-title").textContent = t.chats;
  $("side").setAttribute("aria-label", t.chats);
  $("speakers").setAttribute("aria-label", t.speaker);
  $("start").textContent = t.start;
  label("back", t.back);
  label("send", t.send);
  label("jump", t.down);
}

function deeds(message) {
  const text = message.text ?? message.caption;
  const own = message.from.id === state.me;
  return [
    ["reply", t.reply, () => composer.reply(message)],
    ["forward", t.forward, () => forward(message)],
    ...(text ? [["copy", t.copy, () => copy(text, actions)]] : []),
    ...(own && text ? [["pen", t.edit, () => composer.edit(message)]] : []),
  ];
}

async function forward(message) {
  const chats = state.view.chats.filter((one) => one.people.includes(state.me));
  const said = await forwarding(message, chats);
  if (!said) return;
  try {
    await post(`/chats/${said.to}/forwarded`, { ...said, chat_id: state.chatId, message_id: message.message_id });
    if (said.to !== state.chatId) await openChat(said.to);
  } catch { toast(t.failed); }
}

const messageOf = (node) => (node ? room.history.message(Number(node.dataset.id)) : undefined);

async function start() {
  startTheme();
  nameEverything();
  $("back").append(icon("back"));
  $("back").addEventListener("click", () => { $("frame").dataset.open = "list"; });
  $("start").addEventListener("click", () => say("/start"));
  $("column").addEventListener("dblclick", (event) => {
    const message = event.target.closest(".bubble") && messageOf(event.target.closest(".message"));
    if (message && !event.target.closest("button, a, pre")) { getSelection().removeAllRanges(); composer.reply(message); }
  });
  startMenu(messageOf, deeds);
  await become(YOU);
  await openChat(YOU);
}

start();
