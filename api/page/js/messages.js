// Messages of a dialogue as elements: a question, an answer that grows, its sources with their proof.

import { $, el } from "./dom.js";
import { inline, link, markdown } from "./markdown.js";
import * as net from "./net.js";
import { place, words } from "./texts.js";

const scroll = $("scroll");
const isAtEnd = () => scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < 80;
export const toEnd = () => { scroll.scrollTop = scroll.scrollHeight; };

const who = (name) => el("h3", { class: "unseen" }, name);

export const question = (text) => el("li", { class: "message mine" }, who(words.you), text);

async function download(address, name) {
  const url = URL.createObjectURL(await net.file(address));
  el("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

function proof(source, base) {
  const address = source.url || (/^https?:\/\//.test(source.identifier || "") ? source.identifier : null);
  const get = async (event) => {
    const pressed = event.currentTarget;
    try {
      await download(`/rags/${base}/documents/${source.document_id}/original`, source.title);
    } catch (problem) {
      pressed.replaceWith(el("span", { role: "alert", class: "problem" }, problem.message));
    }
  };
  return el("div", { class: "proof" },
    el("blockquote", {}, source.quote),
    /^https?:\/\//.test(address || "") ? link(address, words.site) : null,
    source.type === "file" ? el("button", { class: "plain", type: "button", onclick: get }, words.original) : null);
}

function sourceList(sources, base) {
  return el("section", { class: "sources", "aria-label": words.sources },
    el("h3", {}, words.sources),
    ...sources.map((source, index) => {
      const where = place(source.locator || {});
      return el("details", {},
        el("summary", {}, `${source.number || index + 1}. ${source.title}`, where ? el("span", { class: "place" }, `, ${where}`) : null),
        proof(source, base));
    }));
}

/** An answer. `write` shows the text so far, `steps` the plan, `end` the sources. */
export function answer(base) {
  const text = el("div", { class: "text waiting" });
  const plan = el("ul", { class: "steps" });
  const node = el("li", { class: "message" }, who(words.base), plan, text);
  const kept = (change) => {
    const follows = isAtEnd();
    change();
    if (follows) toEnd();
  };
  return {
    node,
    write: (shown) => kept(() => text.replaceChildren(...markdown(shown))),
    steps: (steps) => kept(() => plan.replaceChildren(...steps.map((step) =>
      el("li", {}, step.state === "done" ? "✓ " : "· ", ...inline(step.about || step.action))))),
    end: (sources) => kept(() => {
      text.classList.remove("waiting");
      plan.remove();
      if (sources.length) node.append(sourceList(sources, base));
    }),
  };
}

export function stored(message, base) {
  if (message.role === "user") return question(message.content);
  const shown = answer(base);
  shown.write(message.content);
  shown.end(message.sources);
  return shown.node;
}
