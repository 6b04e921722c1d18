// Colours of elements: a fill and a line, each a name of the palette.

import { browser, isText } from "./storage.js";
import { TINTS } from "./samples.js";

/** @typedef {import("/client/touchsync.js").Element} Element */
/** @typedef {{fill?: string, stroke?: string}} Paint names of the palette; a fill may be "none" */

/** @param {any} name @param {string} otherwise @returns {string} a colour of the palette, or none */
const colourNamed = (name, otherwise) => (name === "none" || TINTS.includes(name) ? name : otherwise);

/** What a line has that nobody has coloured. */
export const LINE = "slate";

/** @param {any} name of the palette @returns {string} */
export const inkOf = name => `var(--ink-${TINTS.includes(name) ? name : LINE})`;

/** @param {any} name of the palette, or none @returns {string} */
export function fillOf(name) {
  const known = colourNamed(name, "paper");
  return known === "none" ? "none" : `var(--tint-${known})`;
}

/** @param {Element} element @returns {Paint} what it has of a fill and a line */
export function paintOf({ type, tint, fill, stroke, ink }) {
  if (type === "note") return { fill: TINTS.includes(tint) ? tint : TINTS[0] };
  if (type === "shape") return { fill: colourNamed(fill, "paper"), stroke: TINTS.includes(stroke) ? stroke : LINE };
  if (type === "text") return TINTS.includes(ink) ? { stroke: ink } : {};
  return type === "arrow" || type === "stroke" ? { stroke: TINTS.includes(stroke) ? stroke : LINE } : {};
}

/**
 * The fields that give an element a colour, as far as its type has it.
 * @param {Element} element @param {Paint} paint @returns {import("/client/touchsync.js").Data | undefined} undefined where none differs
 */
export function painted(element, { fill, stroke }) {
  const { type } = element, now = paintOf(element);
  /** @type {import("/client/touchsync.js").Data} */
  const set = {};
  if (fill && fill !== now.fill && type === "shape") set.fill = fill;
  if (fill && fill !== now.fill && fill !== "none" && type === "note") set.tint = fill;
  if (stroke && stroke !== now.stroke && ["shape", "arrow", "stroke"].includes(type)) set.stroke = stroke;
  if (stroke && stroke !== now.stroke && type === "text") set.ink = stroke;
  return Object.keys(set).length ? set : undefined;
}

/** The colours in which this person draws, remembered. */
export const current = {
  get fill() {
    return colourNamed(browser.read("fill", isText), "paper");
  },
  get stroke() {
    const stroke = browser.read("stroke", isText);
    return stroke && TINTS.includes(stroke) ? stroke : LINE;
  },
  /** @param {Paint} paint */
  set({ fill, stroke }) {
    if (fill) browser.write("fill", fill);
    if (stroke) browser.write("stroke", stroke);
  },
};
