// Small makers of elements. Texts always become text nodes: nothing here or elsewhere parses HTML.

export const $ = (id) => document.getElementById(id);

/** el("b", {class: "x", title: "…", onclick: f}, child, "text"): attributes, listeners (on…) and children. */
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

const SVG = "http://www.w3.org/2000/svg";

/** An icon of the sprite in index.html. */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "i");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `#i-${name}`);
  svg.append(use);
  return svg;
}

/** A ring that fills from 0 to 1; returns the element and its setter. */
export function ring() {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "ring");
  svg.setAttribute("viewBox", "0 0 40 40");
  const circle = document.createElementNS(SVG, "circle");
  for (const [name, value] of Object.entries({ cx: 20, cy: 20, r: 18, pathLength: 100 })) circle.setAttribute(name, value);
  svg.append(circle);
  const fill = (part) => {
    circle.style.strokeDasharray = "100";
    circle.style.strokeDashoffset = String(100 - Math.max(4, part * 100));
  };
  fill(0);
  return { svg, fill };
}

/** The colour of a name and its avatar; 0 is the default blue. */
export const tone = (userId) => (userId === 1001 ? 1 : (userId % 3) + 1);

export function avatar(account, size = "") {
  const bot = account.is_bot;
  const look = bot ? "bot" : `tone-${tone(account.id)}`;
  return el("span", { class: `avatar ${size} ${look}`, "aria-hidden": "true" }, bot ? "" : account.first_name.slice(0, 1));
}
