// Short messages: seen for a moment, and read aloud by screen readers.

import { $ } from "./page.js";

/** How long a message stays, ms: the longer, the more there is to read. */
const stay = (/** @type {string} */ text) => 2200 + text.length * 45;

let timer = 0;

/**
 * Says something to screen readers alone.
 * @param {string} text
 */
export function say(text) {
  // The same text twice is news, too.
  $("live").textContent = $("live").textContent === text ? `${text}\u00a0` : text;
}

/** @param {string} text */
export function notify(text) {
  const toast = $("toast");
  toast.textContent = text;
  toast.hidden = false;
  clearTimeout(timer);
  timer = setTimeout(() => (toast.hidden = true), stay(text));
}
