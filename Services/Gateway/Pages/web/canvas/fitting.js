// Texts as large as they were chosen, and smaller where their element would not hold them: measured as they are drawn.

import { node } from "./page.js";
import { fill } from "./cards.js";
import { ownSteps, stepsFrom, styleOf } from "./texts.js";

/** @typedef {import("/client/touchsync.js").Element} Element */

/** The longest line of a text whose box grows with it, pixels. */
const WIDEST = 480;

/** @param {HTMLElement} card @param {HTMLElement} words whether the card does not hold them */
function isOver(card, words) {
  const { paddingTop, paddingBottom } = getComputedStyle(card);
  return words.offsetHeight > card.clientHeight - parseFloat(paddingTop) - parseFloat(paddingBottom) + 1;
}

/**
 * Makes texts smaller until their cards hold them. All are measured before one is changed: a layout for each step.
 * @param {HTMLElement[]} cards
 */
export function fit(cards) {
  let open = cards.flatMap(card => {
    const words = card.querySelector(".words"), { size } = card.dataset;
    return words instanceof HTMLElement && size ? [{ card, words, steps: stepsFrom(Number(size)) }] : [];
  });
  for (const { words, steps, card } of open) {
    words.style.fontSize = `${steps[0]}px`;
    card.classList.remove("clipped");
  }
  for (let step = 1; open.length > 0; step++) {
    open = open.filter(({ card, words }) => isOver(card, words));
    for (const { words, steps } of open) if (step < steps.length) words.style.fontSize = `${steps[step]}px`;
    // Nothing is smaller: what is below is faded out, and can be read where the text is edited.
    for (const { card } of open.filter(({ steps }) => step >= steps.length)) card.classList.add("clipped");
    open = open.filter(({ steps }) => step < steps.length);
  }
}

/** @param {Element} element @returns {number} one factor for what is inside; the rest of its scales is in its size */
export const factorOf = ({ scaleX, scaleY }) => Math.min(Math.abs(scaleX), Math.abs(scaleY)) || 1;

/** @param {Element} element @param {number} [factor] @returns {{width: number, height: number}} as its node is laid out */
export function laidOut(element, factor = factorOf(element)) {
  const { scaleX, scaleY, originalWidth, originalHeight } = element;
  return { width: (originalWidth * Math.abs(scaleX)) / factor, height: (originalHeight * Math.abs(scaleY)) / factor };
}

/** @param {Element} element whose width follows its text: nobody has stretched it, or chosen a width */
const isFree = ({ type, scaleX, scaleY, parentId, wraps }) =>
  type === "text" && parentId === undefined && wraps !== true && Math.abs(scaleX) === Math.abs(scaleY);

/**
 * What the text of an element needs.
 * @param {Element} element with the text @param {number} least height, pixels as it is laid out
 * @returns {{fontSize: number, width: number, height: number}} the size as it is laid out
 */
export function needed(element, least) {
  const card = node("div", "card measured"), { width } = laidOut(element), steps = ownSteps(element);
  fill(card, element);
  const words = /** @type {HTMLElement} */ (card.querySelector(".words"));
  // The end of an empty line has a place, too.
  words.append("\u200b");
  card.style.width = isFree(element) ? "max-content" : `${width}px`;
  card.style.maxWidth = isFree(element) ? `${WIDEST}px` : "";
  document.body.append(card);
  let fontSize = steps[0];
  for (const step of steps) {
    words.style.fontSize = `${fontSize = step}px`;
    if (card.offsetHeight <= least) break;
  }
  const { width: wide, height } = card.getBoundingClientRect();
  card.remove();
  // A fraction of a pixel less, and its last word would be on a line of its own.
  return { fontSize, width: isFree(element) ? Math.ceil(wide) + 1 : width, height: Math.max(Math.ceil(height), least) };
}

/** @param {Element} element @param {{width: number, height: number}} size as it is laid out @returns {{width: number, height: number}} at scale 1 */
export function original(element, { width, height }) {
  const factor = factorOf(element);
  return { width: (width * factor) / Math.abs(element.scaleX || 1), height: (height * factor) / Math.abs(element.scaleY || 1) };
}
