// The page: who is here, which dialogue is open, what is asked. Everything it shows comes from the API.

import { $, el } from "./dom.js";
import * as messages from "./messages.js";
import * as net from "./net.js";
import { language, words } from "./texts.js";
import { add } from "./uploads.js";

const PAGE = 50;
const OPEN = "baza-dialogue";
const BASE = "baza-base"; // the choice of this browser, for a token that opens several
const THEME = "baza-theme";
const SMALL = matchMedia("(max-width: 720px)");
let bases = []; // that the token opens
let base = null;
let session = null; // null: the next question begins a dialogue
let asking = null; // the AbortController of the question that is being answered

const say = (text) => { $("live").textContent = text; };
const complain = (problem) => {
  if (problem.status === 401) return leave(problem.message);
  $("problem").textContent = problem instanceof net.Problem ? problem.message : words.away;
};
/** What an event starts; its problem is shown. */
const safely = (work) => async (...given) => {
  $("problem").textContent = "";
  try {
    await work(...given);
  } catch (problem) {
    complain(problem);
  }
};

function label() {
  document.documentElement.lang = language;
  for (const [id, text] of Object.entries({
    "login-about": words.about, "token-label": words.token, enter: words.enter, leave: words.leave,
    "bases-label": words.base, new: words.fresh, empty: words.empty, earlier: words.earlier, drop: words.drop, send: words.send,
  })) $(id).textContent = text;
  $("dialogues").firstChild.textContent = words.dialogues;
  $("dialogues").setAttribute("aria-label", words.dialogues);
  document.querySelector('label[for="text"]').textContent = words.ask;
  $("text").placeholder = words.ask;
  $("scroll").setAttribute("aria-label", words.base);
  for (const [id, text] of [["attach", words.attach], ["open-side", words.open], ["shade", words.close]]) {
    $(id).setAttribute("aria-label", text);
    $(id).title = text;
  }
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  $("theme").textContent = theme === "dark" ? words.light : words.dark;
}

function leave(reason = "") {
  asking?.abort();
  net.setToken("");
  sessionStorage.clear(); // the dialogue of each base that was opened
  base = session = null;
  bases = [];
  $("uploads").replaceChildren();
  $("frame").hidden = true;
  $("login").hidden = false;
  $("login-problem").textContent = reason;
  $("token").value = "";
  $("token").focus();
}

const nameOf = ({ name }) => name || words.base;
const openKey = () => `${OPEN}-${base.id}`; // each base has a dialogue of its own

async function showBase() {
  bases = await net.get("/rags");
  const wanted = base?.id || localStorage.getItem(BASE);
  base = bases.find(({ id }) => id === wanted) || bases[0];
  const isOne = bases.length === 1;
  $("base-name").textContent = nameOf(base);
  $("base-name").className = isOne ? "" : "unseen";
  $("choice").hidden = isOne;
  const names = bases.map((each) => nameOf(each) + (each.read_only ? words.reads : ""));
  if ([...$("bases").options].map(({ text }) => text).join("\n") !== names.join("\n")) { // else it may be open just now
    $("bases").replaceChildren(...bases.map(({ id }, number) => el("option", { value: id }, names[number])));
  }
  $("bases").value = base.id;
  $("base-counts").textContent = words.counts(base.documents);
  $("attach").hidden = base.read_only;
}

async function openBase(id) {
  base = bases.find((each) => each.id === id);
  localStorage.setItem(BASE, id);
  await openDialogue(sessionStorage.getItem(openKey()));
  await Promise.all([showBase(), listDialogues()]);
  say(words.opened(nameOf(base), base.documents));
}

async function enter() {
  await showBase();
  $("login").hidden = true;
  $("frame").hidden = false;
  await openDialogue(sessionStorage.getItem(openKey()));
  await listDialogues();
  $("text").focus();
}

async function listDialogues() {
  const asked = base;
  const found = await net.get(`/rags/${asked.id}/chat/sessions`);
  if (base?.id !== asked.id) return; // another base was opened meanwhile
  $("dialogues").lastChild.replaceChildren(...found.map(({ id, title }) => el("li", {},
    el("button", {
      type: "button", title, "aria-current": id === session ? "true" : null,
      onclick: safely(async () => { openSide(false); await openDialogue(id); await listDialogues(); $("text").focus(); }),
    }, title))));
  const title = found.find(({ id }) => id === session)?.title || words.fresh;
  $("title").textContent = bases.length > 1 ? `${nameOf(base)} · ${title}` : title;
}

async function openDialogue(id) {
  asking?.abort();
  session = id;
  if (id) sessionStorage.setItem(openKey(), id);
  else sessionStorage.removeItem(openKey());
  $("said").replaceChildren();
  $("earlier").hidden = true;
  if (id) await showBefore(null);
  messages.toEnd();
}

async function showBefore(first) {
  const asked = session;
  const found = await net.get(`/rags/${base.id}/chat/messages?session_id=${asked}&limit=${PAGE}${first ? `&before=${first}` : ""}`);
  if (session !== asked) return; // another dialogue was opened meanwhile
  $("said").prepend(...found.map((message) => messages.stored(message, base.id)));
  $("earlier").hidden = found.length < PAGE;
  $("earlier").onclick = safely(() => showBefore(found[0].id));
}

function openSide(open) {
  $("side").classList.toggle("open", open);
  $("shade").hidden = !open;
  $("main").inert = open;
  $("open-side").setAttribute("aria-expanded", String(open));
  if (open) (bases.length > 1 ? $("bases") : $("new")).focus();
}

/** Whether the button sends or stops. */
function setAsking(controller) {
  asking = controller;
  $("send").textContent = controller ? words.stop : words.send;
}

async function ask() {
  const text = $("text").value.trim();
  if (!text || asking) return;
  $("text").value = "";
  grow();
  const shown = messages.answer(base.id);
  $("said").append(messages.question(text), shown.node);
  messages.toEnd();
  say(words.answering);
  setAsking(new AbortController());
  const mine = asking;
  try {
    await answered(text, shown, mine.signal);
  } catch (problem) {
    shown.end([]);
    if (!mine.signal.aborted) complain(problem);
    else if (!shown.node.textContent.includes(words.stopped)) shown.node.append(el("p", { class: "place" }, words.stopped));
  } finally {
    if (asking === mine) setAsking(null);
  }
}

async function answered(question, shown, signal) {
  let text = "";
  await net.stream(`/rags/${base.id}/chat`, { question, session_id: session, stream: true }, signal, {
    steps: ({ steps }) => shown.steps(steps),
    delta: (grown) => { text = grown.text ?? text + grown.delta; shown.write(text); },
    error: ({ status, detail }) => { throw new net.Problem(status, detail); },
    done: (reply) => {
      shown.write(reply.answer);
      shown.end(reply.sources);
      session = reply.session_id;
      sessionStorage.setItem(openKey(), session);
      say(`${words.answered}. ${shown.node.querySelector(".text").textContent}`);
    },
  });
  await listDialogues();
}

function grow() {
  const area = $("text");
  area.style.height = "auto";
  area.style.height = `${area.scrollHeight + 2}px`;
}

async function addFiles(files) {
  if (base.read_only) return;
  const added = await Promise.all([...files].map((file) => add(base.id, file)));
  if (added.some(Boolean)) await showBase();
}

function listenToFiles() {
  const hasFiles = (event) => base && !base.read_only && event.dataTransfer.types.includes("Files");
  let depth = 0;
  const show = (change) => { depth = Math.max(0, depth + change); $("drop").hidden = depth === 0; };
  const main = $("main");
  main.addEventListener("dragenter", (event) => hasFiles(event) && show(1));
  main.addEventListener("dragleave", (event) => hasFiles(event) && show(-1));
  main.addEventListener("dragover", (event) => hasFiles(event) && event.preventDefault());
  main.addEventListener("drop", safely(async (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    show(-depth);
    await addFiles(event.dataTransfer.files);
  }));
  $("attach").onclick = () => $("file").click();
  $("file").onchange = safely(async () => {
    const chosen = [...$("file").files];
    $("file").value = "";
    await addFiles(chosen);
  });
}

function listen() {
  $("login").onsubmit = async (event) => {
    event.preventDefault();
    net.setToken($("token").value.trim());
    try {
      await enter();
    } catch (problem) {
      leave(problem instanceof net.Problem ? problem.message : words.away);
    }
  };
  $("composer").onsubmit = safely(async (event) => {
    event.preventDefault();
    if (asking) asking.abort();
    else await ask();
  });
  $("text").oninput = grow;
  $("text").onkeydown = (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    if (!asking) $("composer").requestSubmit();
  };
  $("bases").onchange = safely(() => openBase($("bases").value));
  $("new").onclick = safely(async () => { openSide(false); await openDialogue(null); await listDialogues(); $("text").focus(); });
  $("leave").onclick = () => leave();
  $("theme").onclick = () => {
    const theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    localStorage.setItem(THEME, theme);
    setTheme(theme);
  };
  $("open-side").onclick = () => openSide(true);
  $("shade").onclick = () => { openSide(false); $("open-side").focus(); };
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !SMALL.matches || $("shade").hidden) return;
    openSide(false);
    $("open-side").focus();
  });
}

/** `/#token=…`: a link from the bot. The token leaves the address at once, so that it is in no history. */
function tokenOfAddress() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (!given) return;
  history.replaceState(null, "", location.pathname);
  net.setToken(given);
}

label();
setTheme(localStorage.getItem(THEME) || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
listen();
listenToFiles();
tokenOfAddress();
if (net.hasToken()) enter().catch((problem) => leave(problem instanceof net.Problem ? problem.message : words.away));
else leave();
