// The frame around a selection, with handles: corners scale, sides resize, the round one turns.

import { corners } from "/client/projection.js";
import { boundsOf, turnOf, union } from "./geometry.js";
import { minus, ofPulling, ofTurning } from "./motion.js";

/** @typedef {import("./geometry.js").Point} Point */
/** @typedef {import("./geometry.js").Pose} Pose */
/** @typedef {[Point, Point, Point, Point]} Quad clockwise from the upper left corner */
/** @typedef {{corners: Quad, rotation: number, canStretch: boolean}} Frame */

/** Handles by name, with their places on the frame and the axes that they stretch. */
export const HANDLES = {
  nw: { x: 0, y: 0, ways: { x: 1, y: 1 } }, ne: { x: 1, y: 0, ways: { x: 1, y: 1 } },
  se: { x: 1, y: 1, ways: { x: 1, y: 1 } }, sw: { x: 0, y: 1, ways: { x: 1, y: 1 } },
  n: { x: 0.5, y: 0, ways: { x: 0, y: 1 } }, e: { x: 1, y: 0.5, ways: { x: 1, y: 0 } },
  s: { x: 0.5, y: 1, ways: { x: 0, y: 1 } }, w: { x: 0, y: 0.5, ways: { x: 1, y: 0 } },
};
/**
 * What they are called.
 * @type {Record<string, string>}
 */
export const HANDLE_NAMES = {
  nw: "Scale from the upper left", ne: "Scale from the upper right", se: "Scale from the lower right",
  sw: "Scale from the lower left", n: "Stretch upwards", e: "Stretch to the right", s: "Stretch downwards",
  w: "Stretch to the left", turn: "Rotate",
};

/**
 * The frame of one element, turned and tilted as it is. What is seen in part only has an upright one.
 * @param {Pose} element @param {Pose | undefined} parent @param {boolean} canStretch whether its axes scale apart
 * @returns {Frame}
 */
export function frameOf(element, parent, canStretch) {
  const rotation = turnOf(element, parent), seen = corners(element, parent);
  const around = seen.length === 4 ? /** @type {Quad} */ (seen) : upright(boundsOf(element, parent));
  return { corners: around, rotation: element.scaleX < 0 ? rotation + 180 : rotation, canStretch };
}

/**
 * The upright frame of several.
 * @param {import("./geometry.js").Box[]} boxes @returns {Frame | undefined}
 */
export function frameAround(boxes) {
  const box = union(boxes);
  return box && { corners: upright(box), rotation: 0, canStretch: false };
}

/** @param {import("./geometry.js").Box} box @returns {Quad} */
const upright = ({ x, y, width, height }) =>
  [{ x, y }, { x: x + width, y }, { x: x + width, y: y + height }, { x, y: y + height }];

/**
 * How the unit square is seen as four corners: x' = (ax + cy + e) / (gx + hy + 1), y' = (bx + dy + f) / (gx + hy + 1).
 * P. S. Heckbert, "Fundamentals of Texture Mapping and Image Warping", 2.2.3.
 * @param {Quad} corners @returns {[number, number, number, number, number, number, number, number]} a b c d e f g h
 */
export function squareSeenAs([origin, right, far, down]) {
  const sum = { x: origin.x - right.x + far.x - down.x, y: origin.y - right.y + far.y - down.y };
  const across = minus(right, far), along = minus(down, far), area = across.x * along.y - along.x * across.y;
  const g = area ? (sum.x * along.y - along.x * sum.y) / area : 0, h = area ? (across.x * sum.y - sum.x * across.y) / area : 0;
  return [
    right.x - origin.x + g * right.x, right.y - origin.y + g * right.y, down.x - origin.x + h * down.x,
    down.y - origin.y + h * down.y, origin.x, origin.y, g, h,
  ];
}

/** @param {Frame} frame @param {{x: number, y: number}} share 0 to 1 on each axis @returns {Point} */
export function placeOn({ corners }, { x, y }) {
  const [a, b, c, d, e, f, g, h] = squareSeenAs(corners), w = g * x + h * y + 1;
  return { x: (a * x + c * y + e) / w, y: (b * x + d * y + f) / w };
}

/** @param {Frame} frame @returns {Point} */
export const middleOf = frame => placeOn(frame, { x: 0.5, y: 0.5 });

/**
 * Whether pulling a handle of an element changes its size, and leaves what is inside as large as it is: sides of what has
 * text do, and corners of what has none that grows with it.
 * @param {string} type @param {string} handle
 */
export const resizes = (type, handle) =>
  handle !== "turn" && (type === "shape" || (handle.length === 1 && (type === "note" || type === "text")));

/**
 * What pulling a handle does.
 * @param {Frame} frame as it was at the touch @param {string} handle @param {Point} from @param {Point} to on the canvas
 * @param {{step: number, aboutMiddle: boolean, keepsRatio: boolean}} options the step of rotations; whether the middle stays;
 *   whether both axes change alike
 */
export function pulled(frame, handle, from, to, { step, aboutMiddle, keepsRatio }) {
  if (handle === "turn") return ofTurning(middleOf(frame), from, to, frame.rotation, step);
  const { x, y, ways } = /** @type {any} */ (HANDLES)[handle];
  const fixed = aboutMiddle ? middleOf(frame) : placeOn(frame, { x: 1 - x, y: 1 - y }), held = placeOn(frame, { x, y });
  // A handle may lie beside its place on the frame, and be held beside its middle.
  return ofPulling(fixed, held, { x: to.x + held.x - from.x, y: to.y + held.y - from.y }, frame.rotation, ways, keepsRatio);
}
