// Dark or light: the system's wish until the person chooses, then theirs.
import { $, icon } from "./dom.js";
import { t } from "./texts.js";

const KEY = "baza-theme";
const system = matchMedia("(prefers-color-scheme: dark)");
const now = () => localStorage.getItem(KEY) ?? (system.matches ? "dark" : "light");

function apply() {
  const dark = now() === "dark";
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  const button = $("theme");
  button.replaceChildren(icon(dark ? "sun" : "moon"));
  button.title = dark ? t.light : t.dark;
  button.setAttribute("aria-label", button.title);
}

export function startTheme() {
  apply();
  system.addEventListener("change", apply);
  $("theme").addEventListener("click", () => {
    localStorage.setItem(KEY, now() === "dark" ? "light" : "dark");
    apply();
  });
}
