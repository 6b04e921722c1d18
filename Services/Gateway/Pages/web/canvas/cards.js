// What is in an element's node: one drawing for each kind. Everything comes from other people, so it is only ever text,
// or the name of something that this page has.

import { isAddress, pictureAt, settings } from "./appserver.js";
import { ownPicture } from "./bitmaps.js";
import { icon, iconButton, node } from "./page.js";
import { inkOn } from "./colours.js";
import * as shapes from "./shapes.js";
import { nameOf, PICTURES, TINTS } from "./samples.js";
import { styleOf } from "./texts.js";
import { clock, textOf } from "./values.js";

/** @typedef {import("/client/touchsync.js").Element} Element */
/** @typedef {import("./writers.js").Writer} Writer */

/** @param {any} name @returns {HTMLElement} */
function picture(name) {
  const image = /** @type {HTMLImageElement} */ (node("img", "picture"));
  const otherwise = `/app/${PICTURES.includes(name) ? name : PICTURES[0]}.svg`;
  if (isAddress(name)) settings().then(({ pictureOrigins }) => (image.src = pictureAt(name, pictureOrigins) ?? otherwise));
  else image.src = ownPicture(name) ?? otherwise;
  image.addEventListener("error", () => (image.alt = "This picture is not there now."));
  image.decoding = "async";
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

/** @param {Element} element @returns {string} one of the palette */
export const tintOf = ({ tint }) => (TINTS.includes(tint) ? tint : TINTS[0]);

/**
 * Gives a text the style of its element; `fit` decides how large it is.
 * @param {HTMLElement} words @param {Element} element
 */
export function dress(words, element) {
  const { isBold, align, ink } = styleOf(element), { style } = words;
  // Each paragraph begins on the side of its script, unless somebody has chosen.
  style.textAlign = align === "left" && element.align !== "left" ? "start" : align;
  style.fontWeight = isBold ? "750" : "";
  style.color = ink ? `var(--ink-${ink})` : "";
}

/** @param {Writer} writer @returns {HTMLElement} where somebody writes */
function caret({ name, colour }) {
  const made = node("span", "caret"), flag = node("span", "flag", name);
  made.style.background = flag.style.background = colour;
  flag.style.color = inkOn(colour);
  made.append(flag);
  return made;
}

/**
 * A text, with what others write in it at the moment.
 * @param {Element} element @param {Writer[]} writers @param {string} [otherwise] where it has none
 */
export function wordsOf(element, [writer], otherwise) {
  const stored = textOf(element.content, otherwise), text = writer?.text ?? stored, words = node("p", "words", text);
  if (writer) {
    const at = writer.text === undefined ? text.length : writer.caret;
    words.replaceChildren(text.slice(0, at), caret(writer), text.slice(at));
  }
  words.dir = "auto";
  dress(words, element);
  return words;
}

/** @type {Record<string, (element: Element, writers: Writer[]) => Node[]>} */
const DRAWINGS = {
  note: (element, writers) => [wordsOf(element, writers)],
  text: (element, writers) => [wordsOf(element, writers)],
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
  shape: (element, writers) => [shapes.shape(element), wordsOf(element, writers)],
  arrow: element => [shapes.arrow(element)],
  stroke: element => [shapes.stroke(element)],
};

/** @param {Element} element */
const other = element => [wordsOf({ ...element, content: element.content ?? element.title }, [], nameOf(element.type))];

/** The fields that a drawing depends on. */
const DRAWN = [
  "type", "content", "title", "picture", "tint", "seconds", "fontSize", "bold", "align", "ink", "locked", "shape", "fill", "stroke", "points",
];

/**
 * What a drawing depends on: values that are compared one by one, as some are large.
 * @param {Element} element @param {Writer[]} writers on it @returns {unknown[]}
 */
export function contentOf(element, writers) {
  const values = [...DRAWN.map(name => element[name]), JSON.stringify(writers)];
  if (element.type === "arrow") values.push(Math.round(element.originalWidth * 10));
  if (element.type === "stroke") values.push(Math.round((1000 * element.scaleX) / (element.scaleY || 1)));
  return values;
}

/**
 * Fills an element's node.
 * @param {HTMLElement} card @param {Element} element @param {Writer[]} [writers] others who write on it
 */
export function fill(card, element, writers = []) {
  const draw = Object.hasOwn(DRAWINGS, element.type) ? DRAWINGS[element.type] : other;
  card.replaceChildren(...draw(element, writers));
  card.dataset.kind = Object.hasOwn(DRAWINGS, element.type) ? element.type : "other";
  card.dataset.tint = tintOf(element);
  card.dataset.size = String(styleOf(element).fontSize);
  card.classList.toggle("shared", writers.length > 0);
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
export const hasText = element => element !== undefined && ["note", "text", "shape"].includes(element.type);

