// Markdown of answers -> elements. Everything becomes text nodes: no HTML is parsed, and links lead to the web only.

import { el } from "./dom.js";

const INLINE = /`([^`]+)`|\*\*(.+?)\*\*|(?<![\w*])\*(?!\s)([^*]+?)\*(?!\w)|(?<!\w)_(?!\s)([^_]+?)_(?!\w)|\[([^\]]+)\]\((https?:\/\/[^\s)]+)\)|(https?:\/\/[^\s<>"»)]+[^\s<>"»).,;:!?])/g;

export const link = (url, text = url) => el("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, text);

/** Words of one line. */
export function inline(text) {
  const nodes = [];
  let from = 0;
  for (const found of text.matchAll(INLINE)) {
    if (found.index > from) nodes.push(text.slice(from, found.index));
    const [, code, bold, italic, lined, named, to, bare] = found;
    if (code) nodes.push(el("code", {}, code));
    else if (bold) nodes.push(el("strong", {}, ...inline(bold)));
    else if (italic || lined) nodes.push(el("em", {}, ...inline(italic || lined)));
    else nodes.push(link(to || bare, named || bare));
    from = found.index + found[0].length;
  }
  if (from < text.length) nodes.push(text.slice(from));
  return nodes;
}

const cells = (row) => row.trim().replace(/^\||\|$/g, "").split("|").map((cell) => cell.trim());
const line = (tag, row) => el("tr", {}, ...cells(row).map((cell) => el(tag, {}, ...inline(cell))));

function table([head, , ...rows]) {
  return el("div", { class: "wide", tabindex: "0" },
    el("table", {}, el("thead", {}, line("th", head)), el("tbody", {}, ...rows.map((row) => line("td", row)))));
}

const broken = (lines) => lines.flatMap((each, number) => (number ? [el("br"), ...inline(each)] : inline(each)));

const KINDS = [
  [/^```/, (lines) => el("pre", { tabindex: "0" }, el("code", {}, lines.slice(1).filter((each) => !/^```/.test(each)).join("\n")))],
  [/^#{1,6} /, (lines) => el("h3", {}, ...inline(lines[0].replace(/^#+ /, "")))],
  [/^\|/, (lines) => (lines.length > 1 ? table(lines) : el("p", {}, ...inline(lines[0])))],
  [/^> ?/, (lines) => el("blockquote", {}, ...broken(lines.map((each) => each.replace(/^> ?/, ""))))],
  [/^\s*[-*•] /, (lines) => el("ul", {}, ...lines.map((each) => el("li", {}, ...inline(each.replace(/^\s*[-*•] /, "")))))],
  [/^\s*\d+[.)] /, (lines) => el("ol", { start: parseInt(lines[0], 10) },
    ...lines.map((each) => el("li", {}, ...inline(each.replace(/^\s*\d+[.)] /, "")))))],
];
const OTHER = [/^/, (lines) => el("p", {}, ...broken(lines))];

/** Runs of lines of one kind; a fence holds whatever is in it. */
function runs(text) {
  const found = [];
  let fenced = false;
  for (const each of text.split("\n")) {
    const last = found.at(-1);
    if (fenced) {
      last.lines.push(each);
      fenced = !/^```/.test(each);
    } else if (!each.trim()) {
      found.push({ lines: [] });
    } else {
      const kind = KINDS.find(([sign]) => sign.test(each)) || OTHER;
      fenced = kind === KINDS[0];
      if (last?.kind === kind && last.lines.length && kind !== KINDS[1]) last.lines.push(each);
      else found.push({ kind, lines: [each] });
    }
  }
  return found.filter((run) => run.lines.length);
}

export const markdown = (text) => runs(text).map(({ kind, lines }) => kind[1](lines));
