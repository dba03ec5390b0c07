// Files on their way into the base: a line for each, with its progress, until it is read or nobody wants to know.

import { $, el } from "./dom.js";
import * as net from "./net.js";
import { words } from "./texts.js";

const LOOK_MS = 700;
const ENDED = ["ready", "failed", "duplicate", "cancelled", "superseded"];
const pause = () => new Promise((resolve) => setTimeout(resolve, LOOK_MS));

function row(name) {
  const bar = el("progress", { max: "1", value: "0", "aria-label": name });
  const state = el("span", { role: "status" }, words.sending);
  const node = el("li", {}, el("span", { class: "name" }, name), bar, state);
  $("uploads").append(node);
  return { node, bar, state };
}

function ended({ node, bar, state }, text, look) {
  bar.remove();
  state.className = look;
  state.textContent = text;
  node.append(el("button", { class: "plain", type: "button", "aria-label": words.hide, onclick: () => node.remove() }, "✕"));
}

/** Which of two files of one name is to stay. */
function choice({ node, bar, state }, address) {
  state.textContent = words.choosing;
  bar.hidden = true;
  return new Promise((resolve) => {
    const choose = async (event, chosen) => {
      event.currentTarget.parentNode.remove();
      await net.post(`${address}/choice`, { choice: chosen });
      bar.hidden = false;
      resolve();
    };
    node.append(el("span", {}, ...["replace", "keep_both", "skip"].map((each) =>
      el("button", { class: "plain", type: "button", onclick: (event) => choose(event, each) }, words[each]))));
  });
}

async function follow(shown, address) {
  for (;;) {
    const document = await net.get(address);
    if (ENDED.includes(document.status)) return document;
    if (document.status === "choosing") await choice(shown, address);
    shown.state.textContent = words.reading;
    if (document.progress_total) shown.bar.value = document.progress_done / document.progress_total;
    else shown.bar.removeAttribute("value");
    await pause();
  }
}

/** Adds one file to the base; true when the base has more than before. */
export async function add(base, file) {
  const shown = row(file.name);
  try {
    const documents = `/rags/${base}/documents`;
    const { id } = await net.upload(documents, file, (part) => { shown.bar.value = part; });
    const document = await follow(shown, `${documents}/${id}`);
    const isRead = document.status === "ready";
    ended(shown, document.error || words[document.status] || words.cancelled, isRead ? "good" : "bad");
    return isRead;
  } catch (problem) {
    ended(shown, problem instanceof net.Problem ? problem.message : words.away, "bad");
    return false;
  }
}
