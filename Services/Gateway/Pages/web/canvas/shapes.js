// What is drawn with lines: shapes with a text in their middle, arrows, and strokes of a pen. Each is an SVG in its element's
// node, so that it turns, tilts and is animated as any other.

import { THICKNESS } from "./arrows.js";
import { stretchOf } from "./geometry.js";
import { fillOf, inkOf } from "./paint.js";
import { svg } from "./page.js";
import { smooth } from "./strokes.js";

/** @typedef {import("/client/touchsync.js").Element} Element */

/** How long the two lines of an arrow's head are along it, pixels. */
const HEAD = 13;

/**
 * A line, and around it what takes pointers.
 * @param {string} d @param {any} stroke @returns {SVGElement[]}
 */
function line(d, stroke) {
  const seen = svg("path", { class: "line", d });
  seen.style.stroke = inkOf(stroke);
  return [svg("path", { class: "touch", d }), seen];
}

/** @param {...SVGElement} parts */
function drawing(...parts) {
  const made = svg("svg", { class: "drawing", "aria-hidden": "true" });
  made.append(...parts);
  return made;
}

/** @param {Element} element @returns {SVGElement} its form, as large as its node whatever that is */
export function shape({ shape, fill, stroke }) {
  const made = (/** @type {string} */ name) => svg(shape === "ellipse" ? "ellipse" : "rect", { class: name });
  const seen = made("form"), touched = made(fill === "none" ? "touch" : "whole");
  seen.style.fill = fillOf(fill);
  seen.style.stroke = inkOf(stroke);
  return drawing(touched, seen);
}

/** @param {number} length @returns {string} an arrow along its node */
export function arrowPath(length) {
  const middle = THICKNESS / 2, head = Math.min(HEAD, length * 0.7), wide = head * 0.55;
  return `M0 ${middle}H${length}M${length - head} ${middle - wide}L${length} ${middle}L${length - head} ${middle + wide}`;
}

/** @param {Element} element laid along its line */
export const arrow = ({ originalWidth, stroke }) => drawing(...line(arrowPath(Math.round(originalWidth * 10) / 10), stroke));

/** @param {Element} element */
export const stroke = element => drawing(...line(smooth(element.points, stretchOf(element)), element.stroke));
