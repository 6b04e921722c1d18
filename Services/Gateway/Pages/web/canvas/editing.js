// The text of a note or an annotation, edited in place.

import { textOf } from "./values.js";

/** @typedef {import("/client/touchsync.js").Room} Room */

/** The longest text, in characters: some thousand bytes of the room's limit for an element's own fields. */
const LONGEST = 1000;

/**
 * Opens the text of an element.
 * @param {Room} room @param {string} id @param {HTMLElement} card @param {() => void} closed
 */
export function edit(room, id, card, closed) {
  const before = textOf(room.element(id)?.content), field = document.createElement("textarea");
  const words = card.querySelector(".words");
  if (!words || card.querySelector("textarea")) return;
  field.className = "words";
  field.value = before;
  field.maxLength = LONGEST;
  field.setAttribute("aria-label", "Text. Escape ends editing.");
  if (words instanceof HTMLElement) field.style.fontSize = words.style.fontSize;
  words.replaceWith(field);
  const close = () => {
    field.replaceWith(words);
    if (field.value !== before && room.element(id)) room.update(id, { content: field.value });
    closed();
  };
  field.addEventListener("blur", close, { once: true });
  field.addEventListener("keydown", event => {
    event.stopPropagation();
    if (event.key === "Escape" || (event.key === "Enter" && (event.ctrlKey || event.metaKey))) field.blur();
  });
  field.focus({ preventScroll: true });
  field.select();
}
