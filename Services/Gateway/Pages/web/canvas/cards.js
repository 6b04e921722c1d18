// What is in an element's node: one drawing for each kind. Everything comes from other people, so it is only ever text,
// or the name of something that this page has.

import { icon, iconButton, node } from "./page.js";
import { nameOf, PICTURES, TINTS } from "./samples.js";
import { clock, numberOf, textOf } from "./values.js";

/** @typedef {import("/client/touchsync.js").Element} Element */

/** @param {any} name @returns {HTMLElement} */
function picture(name) {
  const image = /** @type {HTMLImageElement} */ (node("img", "picture"));
  image.src = `/app/${PICTURES.includes(name) ? name : PICTURES[0]}.svg`;
  image.alt = "";
  image.draggable = false;
  return image;
}

/** @returns {HTMLElement[]} */
function wave() {
  return Array.from({ length: 28 }, (_, index) => {
    const bar = node("i");
    bar.style.height = `${25 + 70 * Math.abs(Math.sin(index * 1.7) * Math.cos(index * 0.45))}%`;
    return bar;
  });
}

/** @type {Record<string, (element: Element) => Node[]>} */
const DRAWINGS = {
  note: element => [node("p", "words", textOf(element.content))],
  text: element => {
    const words = node("p", "words", textOf(element.content));
    words.style.fontSize = `${Math.min(Math.max(numberOf(element.fontSize, 24), 12), 72)}px`;
    return [words];
  },
  photo: element => [picture(element.picture)],
  video: element => {
    const bar = node("span", "bar"), foot = node("span", "foot");
    foot.append(node("span", "title", textOf(element.title, "Video")), node("span", "clock", clock(element.seconds)));
    return [picture(element.picture), bar, foot, iconButton("play", "Play", "play")];
  },
  audio: element => {
    const text = node("span", "side"), line = node("span", "line"), bars = node("span", "wave");
    line.append(node("span", "title", textOf(element.title, "Sound")), node("span", "clock", clock(element.seconds)));
    bars.append(...wave());
    text.append(line, bars);
    return [iconButton("play", "Play", "play"), text];
  },
};

/** @param {Element} element */
const other = element => [node("p", "words", textOf(element.content ?? element.title, nameOf(element.type)))];

/**
 * What of an element its drawing depends on.
 * @param {Element} element @returns {string}
 */
export const contentKey = ({ content, title, picture, tint, seconds, fontSize, locked }) =>
  JSON.stringify([content, title, picture, tint, seconds, fontSize, locked]);

/**
 * Fills an element's node.
 * @param {HTMLElement} card @param {Element} element
 */
export function fill(card, element) {
  const draw = Object.hasOwn(DRAWINGS, element.type) ? DRAWINGS[element.type] : other;
  card.replaceChildren(...draw(element));
  card.dataset.kind = Object.hasOwn(DRAWINGS, element.type) ? element.type : "other";
  card.dataset.tint = TINTS.includes(element.tint) ? element.tint : TINTS[0];
  for (const button of card.querySelectorAll("button")) button.tabIndex = -1;
  if (element.locked) {
    const badge = node("span", "lock");
    badge.append(icon("lock"));
    card.append(badge);
  }
}

/**
 * Fills the node of an element that cannot be drawn.
 * @param {HTMLElement} card
 */
export function fillPlain(card) {
  card.replaceChildren(node("p", "words", "It cannot be drawn."));
  card.dataset.kind = "other";
}

/**
 * Whether something can be played.
 * @param {Element | undefined} element
 */
export const isMedia = element => element?.type === "audio" || element?.type === "video";

/**
 * Whether its text can be edited.
 * @param {Element | undefined} element
 */
export const hasText = element => element?.type === "note" || element?.type === "text";

