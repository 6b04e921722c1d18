// Where a drawing of an element lies in SVG, which knows no perspective: what is tilted is laid out in cells, each of which
// is flat, small enough that no eye sees it.

import { planeOf } from "/client/projection.js";
import { short, tag } from "./svg.js";

/** @typedef {import("/client/touchsync.js").Element} Element */
/** @typedef {import("/client/projection.js").Plane} Plane */
/** @typedef {{width: number, height: number}} Size */

/** How far a cell may be off at its edge, pixels of the canvas. */
const SLACK = 0.3;
/** Cells in a row at most. */
const MOST_CELLS = 24;
/** What is nearer to the viewer is not drawn. */
const NEAREST = 0.01;

/**
 * The size of what is in an element: one factor scales it, so that no text is stretched; the rest is in the size.
 * @param {Element} element @returns {Size}
 */
export function innerSize({ originalWidth, originalHeight, scaleX, scaleY }) {
  const factor = Math.min(Math.abs(scaleX), Math.abs(scaleY)) || 1;
  return { width: (originalWidth * Math.abs(scaleX)) / factor, height: (originalHeight * Math.abs(scaleY)) / factor };
}

/** @param {Element} element @param {Element} [parent] @returns {Plane} of the inner pixels */
export function innerPlane(element, parent) {
  const { width, height } = innerSize(element), [right, down, origin] = planeOf(element, parent);
  const across = element.originalWidth / width || 0, along = element.originalHeight / height || 0;
  return [[right[0] * across, right[1] * across, right[2] * across], [down[0] * along, down[1] * along, down[2] * along], origin];
}

/** @param {Plane} plane @param {number} u @param {number} v @returns {number} how near it is: beyond 0, before the viewer */
const depth = ([right, down, origin], u, v) => right[2] * u + down[2] * v + origin[2];

/**
 * The flat image of a plane that is right at one point, as a `matrix()` of SVG.
 * @param {Plane} plane @param {number} u @param {number} v
 */
function flat([right, down, origin], u, v) {
  const [x, y, w] = [0, 1, 2].map(row => right[row] * u + down[row] * v + origin[row]);
  const slope = (/** @type {import("/client/projection.js").Vector} */ axis) =>
    [(axis[0] - (axis[2] * x) / w) / w, (axis[1] - (axis[2] * y) / w) / w];
  const [a, b] = slope(right), [c, d] = slope(down);
  // Factors have six digits: they are multiplied by the size.
  const long = (/** @type {number} */ factor) => Math.round(factor * 1e6) / 1e6 || 0;
  return `matrix(${[a, b, c, d].map(long).join(" ")} ${short(x / w - a * u - c * v)} ${short(y / w - b * u - d * v)})`;
}

/** @param {Plane} plane @param {Size} size @returns {number} cells in a row and in a column; 1 where it is not seen in perspective */
export function cellsOf(plane, { width, height }) {
  const corners = [[0, 0], [width, 0], [width, height], [0, height]].map(([u, v]) => depth(plane, u, v));
  const nearest = Math.min(...corners), range = Math.max(...corners) - nearest;
  if (range < 1e-9) return 1;
  const bend = range / Math.max(nearest, NEAREST), length = Math.max(width, height) / Math.max(nearest, NEAREST);
  return Math.min(Math.max(Math.ceil(Math.sqrt((length * bend) / (4 * SLACK))), 2), MOST_CELLS);
}

/**
 * Lays a drawing of an element's inner pixels where the element is seen.
 * @param {string} drawing @param {Element} element @param {Element | undefined} parent @param {string} name no other drawing's
 * @returns {string}
 */
export function placed(drawing, element, parent, name) {
  const plane = innerPlane(element, parent), size = innerSize(element), count = cellsOf(plane, size);
  if (count === 1) {
    return depth(plane, 0, 0) < NEAREST ? "" : tag("g", { transform: flat(plane, 0, 0) }, drawing);
  }
  const width = size.width / count, height = size.height / count, cells = [];
  for (let row = 0; row < count; row++) {
    for (let column = 0; column < count; column++) {
      const u = (column + 0.5) * width, v = (row + 0.5) * height;
      const corners = [[-1, -1], [1, -1], [1, 1], [-1, 1]].map(([x, y]) => depth(plane, u + (x * width) / 2, v + (y * height) / 2));
      if (Math.min(...corners) < NEAREST) continue;
      // Cells lie over their neighbours a little: between two edges that are both smoothed one would see through.
      const over = 0.6 * depth(plane, u, v), x = u - width / 2 - over, y = v - height / 2 - over;
      const box = { x, y, width: width + 2 * over, height: height + 2 * over };
      const viewBox = [box.x, box.y, box.width, box.height].map(short).join(" ");
      // One layer, cut out as a whole: what lies below in the card would shine through at its edges.
      const layer = tag("use", { href: `#${name}`, opacity: 0.999 });
      cells.push(tag("g", { transform: flat(plane, u, v) }, tag("svg", { ...box, viewBox }, layer)));
    }
  }
  return tag("defs", {}, tag("g", { id: name }, drawing)) + cells.join("");
}
