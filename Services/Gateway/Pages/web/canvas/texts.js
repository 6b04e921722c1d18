// Texts on elements: how they look, how small they become to fit, and what two people wrote at once.

import { seenAt } from "./geometry.js";
import { TINTS } from "./samples.js";
import { numberOf } from "./values.js";

/** @typedef {import("/client/touchsync.js").Element} Element */
/** @typedef {"left" | "center" | "right"} Align */
/** @typedef {{fontSize: number, isBold: boolean, align: Align, ink: string | undefined}} Style */

/** The longest text, in characters: some thousand bytes of the room's limit for an element's own fields. */
export const LONGEST = 1000;
/**
 * Sizes to choose from, pixels at scale 1.
 * @type {Record<string, number>}
 */
export const SIZES = { S: 14, M: 18, L: 28, XL: 44 };
/** @type {Align[]} */
export const ALIGNS = ["left", "center", "right"];

/** Each step makes a text that does not fit so much smaller. */
const STEP = 0.85;
/** The smallest, pixels: at a zoom of 800 % it can be read. */
const SMALLEST = 8;
/** So small a text becomes, as a share of the chosen size, before who writes makes the element higher. */
const LEAST_SHARE = 0.7;

/** @param {unknown} value @param {number} otherwise @returns {number} */
const sizeIn = (value, otherwise) => Math.min(Math.max(numberOf(value, otherwise), SMALLEST), 200);

/** @param {Element} element @returns {Style} any value of its fields has one */
export function styleOf({ type, parentId, fontSize, bold, align, ink }) {
  const isText = type === "text", usual = type === "shape" || (isText && parentId !== undefined) ? "center" : "left";
  return {
    fontSize: sizeIn(fontSize, isText ? 24 : SIZES.M), isBold: bold === true,
    align: ALIGNS.includes(align) ? align : usual, ink: TINTS.includes(ink) ? ink : undefined,
  };
}

/** @param {number} fontSize @returns {number[]} the sizes that are tried until the text fits, the largest first */
export function stepsFrom(fontSize) {
  const steps = [fontSize];
  for (let size = fontSize * STEP; size >= SMALLEST; size *= STEP) steps.push(size);
  return steps;
}

/**
 * The sizes among which who writes chooses: one that lies on nothing else keeps its size, others become smaller first.
 * @param {Element} element @returns {number[]}
 */
export function ownSteps(element) {
  const { fontSize } = styleOf(element), least = element.type === "text" ? 1 : LEAST_SHARE;
  return stepsFrom(fontSize).filter(size => size >= fontSize * least);
}

/** @param {Element} element @returns {number} how much of what its width differs by lies to the left of it */
export const shareOf = element => (element.type === "text" ? { left: 0, center: 0.5, right: 1 }[styleOf(element).align] : 0.5);

/**
 * How an element becomes as large as its text needs while its upper edge stays: texts on the side to which they are aligned,
 * notes in the middle.
 * @param {Element} element @param {{width: number, height: number}} size at scale 1 @param {Element} [parent]
 */
export function resized(element, { width, height }, parent) {
  // By an even number: anchors lie on whole pixels, most of them in the middle.
  const even = (/** @type {number} */ from, /** @type {number} */ to) => from + 2 * Math.ceil((to - from) / 2);
  const size = { originalWidth: even(element.originalWidth, width), originalHeight: even(element.originalHeight, height) };
  // One on a picture grows about its anchor: its place is a share of the picture.
  if (parent) return { size, place: {} };
  const after = { ...element, ...size }, share = shareOf(element);
  const [from, to] = [element, after].map(one => seenAt(one, { x: share * one.originalWidth, y: 0 }));
  return { size, place: { positionX: element.positionX + from.x - to.x, positionY: element.positionY + from.y - to.y } };
}

/** @param {string} text @returns {string} without what cannot be stored: zero characters and halves of others */
export const storable = text => text.replace(/[\0\p{Surrogate}]/gu, "");

/**
 * The text when two people changed it: what both have in common once, then theirs, then mine as a paragraph of its own.
 * @param {string} before @param {string} theirs @param {string} mine @returns {string}
 */
export function merged(before, theirs, mine) {
  if (mine === before || mine === theirs) return theirs;
  if (theirs === before) return mine;
  const areBothLonger = before !== "" && theirs.startsWith(before) && mine.startsWith(before);
  const own = areBothLonger ? mine.slice(before.length).trim() : mine;
  return theirs.trim() && own ? `${theirs}\n${own}` : theirs + own;
}
