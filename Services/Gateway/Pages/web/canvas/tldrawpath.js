// The points of tldraw's pen: a list, or bytes in base64: the first point in floats of 32 bits, each further one as the way
// from the one before, in floats of 16; each point has a third number, how hard the pen was pressed.

import { listIn, numberIn, textIn } from "./foreign.js";

/** @typedef {import("./geometry.js").Point} Point */

/** Points of a segment at most. */
const MOST = 20000;

/** @param {number} bits of a float of 16 bits (IEEE 754) @returns {number} 0 for what is no number */
export function halfOf(bits) {
  const sign = bits & 0x8000 ? -1 : 1, exponent = (bits >> 10) & 31, fraction = bits & 1023;
  if (exponent === 31) return 0;
  return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : 2 ** -14 * (fraction / 1024));
}

/** @param {string} text @returns {Uint8Array} nothing of what is no base64 */
function bytesOf(text) {
  try {
    return Uint8Array.from(atob(text), character => character.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}

/** @param {any} segment @returns {Point[]} */
export function pathOf(segment) {
  if (Array.isArray(segment?.points)) return listIn(segment.points).slice(0, MOST).map(point => ({ x: numberIn(point?.x), y: numberIn(point?.y) }));
  const isDelta = typeof segment?.path === "string", bytes = bytesOf(textIn(isDelta ? segment.path : segment?.points));
  const view = new DataView(bytes.buffer), points = [], half = (/** @type {number} */ at) => halfOf(view.getUint16(at, true));
  let at = 0, x = 0, y = 0;
  if (isDelta && bytes.length >= 12) {
    [x, y, at] = [numberIn(view.getFloat32(0, true)), numberIn(view.getFloat32(4, true)), 12];
    points.push({ x, y });
  }
  for (; at + 6 <= bytes.length && points.length < MOST; at += 6) {
    [x, y] = isDelta ? [x + half(at), y + half(at + 2)] : [half(at), half(at + 2)];
    points.push({ x, y });
  }
  return points;
}
