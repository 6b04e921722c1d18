// Light or dark: as the system says, or as the person chose.

import { $ } from "./page.js";
import { browser, isOneOf } from "./storage.js";

/** @param {string} theme */
function show(theme) {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  for (const choice of document.querySelectorAll("input[name=theme]")) {
    if (choice instanceof HTMLInputElement) choice.checked = choice.value === theme;
  }
}

/** @param {() => void} changed */
export function start(changed) {
  show(browser.read("theme", isOneOf(["light", "dark"])) ?? "system");
  $("themes").addEventListener("change", (/** @type {any} */ { target }) => {
    browser.write("theme", target.value);
    show(target.value);
    changed();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
}
