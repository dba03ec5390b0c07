// A text with entities -> nodes. Offsets are UTF-16 units, which is what JavaScript strings count anyway.
import { el, icon } from "./dom.js";
import { t } from "./texts.js";

const LINK = /^(https?|ftp|tg|ton):\/\/|^(mailto|tel):/i;
const BLOCKS = new Set(["pre", "blockquote", "expandable_blockquote"]);
const FOLDED_LINES = 3;

/** Nodes for the first `until` units of the text. `actions`: say(text), toast(text). */
export function richText(text, entities = [], actions, until = text.length) {
  const root = document.createDocumentFragment();
  const spans = entities.map((entity) => ({ ...entity, end: entity.offset + entity.length }));
  spans.sort((one, other) => one.offset - other.offset || other.end - one.end);
  fill(root, text, 0, until, spans, actions);
  return root;
}

function fill(parent, text, from, until, spans, actions) {
  let at = from;
  const waiting = [...spans];
  while (waiting.length) {
    const span = waiting.shift();
    const start = Math.max(span.offset, at);
    const end = Math.min(span.end, until);
    if (end <= start) continue;
    if (start > at) parent.append(text.slice(at, start));
    const inner = takeInner(waiting, end);
    const { outer, inside } = make(span, text.slice(start, end), actions);
    fill(inside, text, start, end, inner, actions);
    parent.append(outer);
    // A block ends its line by itself; the line break that follows would make an empty line
    at = BLOCKS.has(span.type) && text[end] === "\n" ? Math.min(end + 1, until) : end;
  }
  if (until > at) parent.append(text.slice(at, until));
}

/** Spans that begin before `end`; one that goes beyond it is cut in two. */
function takeInner(waiting, end) {
  const inner = [];
  const rest = [];
  while (waiting.length && waiting[0].offset < end) {
    const span = waiting.shift();
    inner.push(span);
    if (span.end > end) rest.push({ ...span, offset: end });
  }
  waiting.unshift(...rest);
  return inner;
}

const wrap = (tag, attributes) => { const node = el(tag, attributes); return { outer: node, inside: node }; };
const link = (url) => (LINK.test(url) ? wrap("a", { href: url, target: "_blank", rel: "noopener noreferrer", title: url }) : wrap("span"));
const tap = (onclick) => wrap("button", { class: "tap", type: "button", onclick });

const MAKERS = {
  bold: () => wrap("strong"),
  italic: () => wrap("em"),
  underline: () => wrap("u"),
  strikethrough: () => wrap("s"),
  text_link: (span) => link(span.url || ""),
  url: (span, text) => link(LINK.test(text) ? text : `http://${text}`),
  email: (span, text) => link(`mailto:${text}`),
  bot_command: (span, text, actions) => tap(() => actions.say(text)),
  mention: (span, text, actions) => tap(() => actions.mention(text)),
  text_mention: (span, text, actions) => tap(() => actions.mention(text)),
  hashtag: () => wrap("span", { class: "tap" }),
  cashtag: () => wrap("span", { class: "tap" }),
  code: (span, text, actions) => wrap("code", { onclick: () => copy(text, actions) }),
  pre: (span, text, actions) => codeBlock(span, text, actions),
  blockquote: () => quote(false),
  expandable_blockquote: () => quote(true),
  spoiler: () => spoiler(),
};

const make = (span, text, actions) => (MAKERS[span.type] ?? (() => wrap("span")))(span, text, actions);

export async function copy(text, actions) {
  await navigator.clipboard.writeText(text);
  actions.toast(t.copied);
}

function codeBlock(span, text, actions) {
  const code = el("code");
  const button = el("button", { type: "button", "aria-label": t.copy, title: t.copy, onclick: () => copy(text, actions) }, icon("copy"));
  return { outer: el("pre", {}, el("div", { class: "head" }, span.language || t.code, button), code), inside: code };
}

function quote(folds) {
  const inside = el("span", { class: "inner" });
  const outer = el("blockquote", {}, inside);
  if (folds) requestAnimationFrame(() => foldIfLong(outer, inside));
  return { outer, inside };
}

/** Only now is the height known; a quote of three lines has nothing to fold. */
function foldIfLong(outer, inside) {
  inside.style.display = "block";
  const line = parseFloat(getComputedStyle(inside).lineHeight);
  if (inside.scrollHeight <= line * (FOLDED_LINES + 0.6)) return;
  const button = el("button", { class: "fold", type: "button", "aria-expanded": "false", "aria-label": t.more }, icon("down"));
  outer.classList.add("folds", "shut");
  outer.append(button);
  outer.addEventListener("click", (event) => {
    if (event.target.closest("a, .tap") || getSelection().toString()) return;
    const shut = outer.classList.toggle("shut");
    button.setAttribute("aria-expanded", String(!shut));
  });
}

function spoiler() {
  const node = el("span", { class: "spoiler shut", role: "button", tabindex: "0", "aria-label": t.spoiler });
  const show = () => { node.classList.remove("shut"); node.removeAttribute("role"); node.removeAttribute("aria-label"); };
  node.addEventListener("click", show);
  node.addEventListener("keydown", (event) => { if (event.key === "Enter") show(); });
  return { outer: node, inside: node };
}
