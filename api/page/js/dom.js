// Makers of elements. Texts always become text nodes.

export const $ = (id) => document.getElementById(id);

/** el("a", {href: "…", onclick: f}, child, "text"): attributes, listeners (on…) and children; null ones are left out. */
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
