// What hands do: a movement about a centre, from fingers and from handles. All in pixels of the canvas.

import { rotated } from "./geometry.js";

/** @typedef {import("./geometry.js").Point} Point */
/** @typedef {{centre: Point, translation: Point, scale: number | Point, rotation: number, tilt?: Point}} Motion */

/** @type {Motion} */
export const STILL = { centre: { x: 0, y: 0 }, translation: { x: 0, y: 0 }, scale: 1, rotation: 0 };

/** @param {Point} a @param {Point} b @returns {Point} */
const between = (a, b) => ({ x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 });
/** @param {Point} a @param {Point} b @returns {Point} the way from b to a */
export const minus = (a, b) => ({ x: a.x - b.x, y: a.y - b.y });
const angle = (/** @type {Point} */ { x, y }) => (Math.atan2(y, x) * 180) / Math.PI;
const half = (/** @type {number} */ degrees) => ((degrees + 540) % 360) - 180;

/**
 * What two fingers did since they touched: they carry, turn and stretch what lies under them.
 * @param {[Point, Point]} from @param {[Point, Point]} to @returns {Motion}
 */
export function ofFingers(from, to) {
  const centre = between(...from), was = minus(from[1], from[0]), is = minus(to[1], to[0]);
  return {
    centre, translation: minus(between(...to), centre),
    scale: Math.hypot(is.x, is.y) / (Math.hypot(was.x, was.y) || 1), rotation: half(angle(is) - angle(was)),
  };
}

/** A pointer's velocity is that of its last so many ms; after so long a rest it has none. */
const TRAIL = 100, STOPPED = 40;

/**
 * How fast a pointer is that is lifted.
 * @param {{at: number, point: Point}[]} trail where it was, the latest last @param {number} now ms
 * @returns {Point} pixels a second
 */
export function velocityOf(trail, now) {
  const first = trail.find(({ at }) => at >= now - TRAIL), last = trail.at(-1);
  if (!first || !last || now - last.at > STOPPED) return STILL.translation;
  const way = minus(last.point, first.point), seconds = Math.max(now - first.at, 1) / 1000;
  return { x: way.x / seconds, y: way.y / seconds };
}

/** Degrees for each pixel of a tilt. */
const TILT = 0.4;

/**
 * Hands that push the surface of something, which hangs in its middle: to the right, its left edge comes nearer.
 * @param {Point} way @returns {Motion}
 */
export const ofTilting = way => ({ ...STILL, tilt: { x: -way.y * TILT + 0, y: way.x * TILT } });

/**
 * A pointer that turns something about its centre.
 * @param {Point} centre @param {Point} from @param {Point} to @param {number} start the rotation before
 * @param {number} step in which the result goes, 0 for none @returns {Motion}
 */
export function ofTurning(centre, from, to, start, step) {
  const turned = half(angle(minus(to, centre)) - angle(minus(from, centre)));
  const rotation = step ? Math.round((start + turned) / step) * step - start : turned;
  return { ...STILL, centre, rotation };
}

/**
 * A pointer that pulls a corner or a side, while the opposite one stays.
 * @param {Point} fixed @param {Point} from where the pointer was @param {Point} to @param {number} rotation of the axes
 * @param {Point} ways 1 for the axes that are pulled @param {boolean} keepsRatio whether both axes change alike
 * @returns {Motion}
 */
export function ofPulling(fixed, from, to, rotation, ways, keepsRatio) {
  const was = rotated(minus(from, fixed), -rotation), is = rotated(minus(to, fixed), -rotation), least = 0.01;
  const x = Math.max(is.x / (was.x || 1), least), y = Math.max(is.y / (was.y || 1), least);
  const length = was.x * was.x + was.y * was.y || 1, alike = Math.max((was.x * is.x + was.y * is.y) / length, least);
  const scale = !keepsRatio ? { x: ways.x ? x : 1, y: ways.y ? y : 1 } : ways.x && ways.y ? alike : ways.x ? x : y;
  return { ...STILL, centre: fixed, scale };
}

/**
 * Where a motion takes a point of something whose axes have a rotation.
 * @param {Motion} motion @param {Point} point @param {number} [axes] degrees @returns {Point}
 */
export function carried({ centre, translation, scale, rotation }, point, axes = 0) {
  const factors = typeof scale === "number" ? { x: scale, y: scale } : scale;
  const arm = rotated(minus(point, centre), -axes);
  const turned = rotated({ x: arm.x * factors.x, y: arm.y * factors.y }, axes + rotation);
  return { x: centre.x + turned.x + translation.x, y: centre.y + turned.y + translation.y };
}
