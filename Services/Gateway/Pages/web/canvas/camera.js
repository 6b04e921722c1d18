// What part of the canvas the window shows.

import { centre } from "./geometry.js";

/** @typedef {import("./geometry.js").Point} Point */
/** @typedef {import("./geometry.js").Box} Box */
/** @typedef {{x: number, y: number, zoom: number}} Camera the point of the canvas in the window's upper left corner */
/** @typedef {{width: number, height: number}} Size of the window, pixels of the screen */

/** From a room of thousands at a glance to a single word. */
export const ZOOMS = { least: 0.05, most: 8 };

const within = (/** @type {number} */ zoom) => Math.min(Math.max(zoom, ZOOMS.least), ZOOMS.most);

/** @param {any} value @returns {value is Camera} */
export const isCamera = value =>
  value !== null && [value?.x, value?.y, value?.zoom].every(Number.isFinite) && value.zoom === within(value.zoom);

/** @param {Camera} camera @param {Point} point of the canvas @returns {Point} */
export const toScreen = ({ x, y, zoom }, point) => ({ x: (point.x - x) * zoom, y: (point.y - y) * zoom });

/** @param {Camera} camera @param {Point} point of the screen @returns {Point} */
export const toCanvas = ({ x, y, zoom }, point) => ({ x: x + point.x / zoom, y: y + point.y / zoom });

/** @param {Camera} camera @param {Point} way of the content, pixels of the screen @returns {Camera} */
export const panned = ({ x, y, zoom }, way) => ({ x: x - way.x / zoom, y: y - way.y / zoom, zoom });

/**
 * Zooms while what lies under a point stays there.
 * @param {Camera} camera @param {number} factor @param {Point} point of the screen @returns {Camera}
 */
export function zoomed(camera, factor, point) {
  const zoom = within(camera.zoom * factor), held = toCanvas(camera, point);
  return { x: held.x - point.x / zoom, y: held.y - point.y / zoom, zoom };
}

/**
 * Moves and zooms so that what lay under two fingers stays under them.
 * @param {Camera} camera @param {[Point, Point]} from @param {[Point, Point]} to @returns {Camera}
 */
export function pinched(camera, from, to) {
  const middle = ([a, b] = from) => ({ x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 });
  const length = ([a, b] = from) => Math.hypot(a.x - b.x, a.y - b.y) || 1;
  const start = middle(from), end = middle(to);
  return zoomed(panned(camera, { x: end.x - start.x, y: end.y - start.y }), length(to) / length(from), end);
}

/** @param {Camera} camera @param {Size} size @returns {Box} what is seen */
export const seen = ({ x, y, zoom }, { width, height }) => ({ x, y, width: width / zoom, height: height / zoom });

/**
 * Shows a box as a whole, not larger than `most`.
 * @param {Box} box @param {Size} size @param {Point} margin pixels of the screen that stay free on each side
 * @param {number} [most] @returns {Camera}
 */
export function fitted(box, size, margin, most = 1) {
  const width = Math.max(size.width - 2 * margin.x, 1), height = Math.max(size.height - 2 * margin.y, 1);
  const zoom = within(Math.min(width / Math.max(box.width, 1), height / Math.max(box.height, 1), most));
  const { x, y } = centre(box);
  return { x: x - size.width / zoom / 2, y: y - size.height / zoom / 2, zoom };
}

/**
 * Moves as little as possible so that a box is seen, its upper left corner if it is larger than the window.
 * @param {Camera} camera @param {Box} box @param {Size} size @param {number} margin pixels of the screen @returns {Camera}
 */
export function revealed(camera, box, size, margin) {
  const view = seen(camera, size), room = margin / camera.zoom;
  const shift = (/** @type {number} */ low, /** @type {number} */ high, /** @type {number} */ from, /** @type {number} */ to) =>
    (low < from + room ? low - from - room : high > to - room ? Math.min(high - to + room, low - from - room) : 0);
  return {
    x: camera.x + shift(box.x, box.x + box.width, view.x, view.x + view.width),
    y: camera.y + shift(box.y, box.y + box.height, view.y, view.y + view.height),
    zoom: camera.zoom,
  };
}
