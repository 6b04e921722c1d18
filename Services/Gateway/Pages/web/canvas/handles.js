// The frame around a selection, with handles: corners and sides scale, the round one turns.

import { corners, matrixOf, union } from "./geometry.js";
import { ofPulling, ofTurning } from "./motion.js";

/** @typedef {import("./geometry.js").Point} Point */
/** @typedef {import("./geometry.js").Pose} Pose */
/** @typedef {{corners: [Point, Point, Point, Point], rotation: number, canStretch: boolean}} Frame clockwise from the upper left one */

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
 * The frame of one element, turned as it is.
 * @param {Pose} element @param {Pose | undefined} parent @param {boolean} canStretch whether its axes scale apart
 * @returns {Frame}
 */
export function frameOf(element, parent, canStretch) {
  const matrix = matrixOf(element, parent), { originalWidth, originalHeight } = element;
  const rotation = (Math.atan2(matrix[1], matrix[0]) * 180) / Math.PI;
  const around = corners(matrix, originalWidth, originalHeight);
  return { corners: around, rotation: element.scaleX < 0 ? rotation + 180 : rotation, canStretch };
}

/**
 * The upright frame of several.
 * @param {import("./geometry.js").Box[]} boxes @returns {Frame | undefined}
 */
export function frameAround(boxes) {
  const box = union(boxes);
  if (!box) return undefined;
  const { x, y, width, height } = box;
  /** @type {Frame["corners"]} */
  const around = [{ x, y }, { x: x + width, y }, { x: x + width, y: y + height }, { x, y: y + height }];
  return { corners: around, rotation: 0, canStretch: false };
}

/** @param {Frame} frame @param {{x: number, y: number}} share 0 to 1 on each axis @returns {Point} */
export function placeOn({ corners: [origin, right, , down] }, { x, y }) {
  return {
    x: origin.x + (right.x - origin.x) * x + (down.x - origin.x) * y,
    y: origin.y + (right.y - origin.y) * x + (down.y - origin.y) * y,
  };
}

/** @param {Frame} frame @returns {Point} */
export const middleOf = frame => placeOn(frame, { x: 0.5, y: 0.5 });

/**
 * What pulling a handle does.
 * @param {Frame} frame as it was at the touch @param {string} handle @param {Point} from @param {Point} to on the canvas
 * @param {{step: number, aboutMiddle: boolean}} options the step of rotations; whether the middle stays
 */
export function pulled(frame, handle, from, to, { step, aboutMiddle }) {
  if (handle === "turn") return ofTurning(middleOf(frame), from, to, frame.rotation, step);
  const { x, y, ways } = /** @type {any} */ (HANDLES)[handle];
  const fixed = aboutMiddle ? middleOf(frame) : placeOn(frame, { x: 1 - x, y: 1 - y });
  return ofPulling(fixed, from, to, frame.rotation, ways);
}
