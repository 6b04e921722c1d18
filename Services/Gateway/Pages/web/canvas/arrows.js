// Where arrows lie: between two ends, each free or on an element. An end on an element follows it in every window, without
// a write, and stops at its edge.

import { corners } from "/client/projection.js";
import { meets, seenAt } from "./geometry.js";
import { minus } from "./motion.js";
import { numberOf } from "./values.js";

/** @typedef {import("./geometry.js").Point} Point */
/** @typedef {import("/client/touchsync.js").Element} Element */
/** @typedef {[Point, Point]} Line on the canvas */
/** @typedef {"from" | "to"} EndName */
/**
 * An end: a place in the arrow's own box, in pixels; or on an element, in fractions of that one's box, with the place where
 * it was last, for a time without the element.
 * @typedef {Point | {element: string, x: number, y: number, at?: Point}} End
 */
/** @typedef {(id: string) => {element: Element, parent: Element | undefined} | undefined} Find how an element is drawn */

/** How thick an arrow's node is: the head needs it. */
export const THICKNESS = 24;
/** What stays free between an arrow and the edge of an element. */
const GAP = 5;
/** Corners of what stands for an ellipse. */
const FACETS = 48;
/** The middle of an element takes an end from so far, in fractions of its sides. */
const MIDDLE = 0.2;

/** @param {Element | undefined} element */
export const isArrow = element => element?.type === "arrow";
/** @param {Element | undefined} element whether it is hit by its line, not by its box */
export const isLine = element => element?.type === "arrow" || element?.type === "stroke";

/** @param {any} value @returns {Point} */
const pointOf = value => ({ x: numberOf(value?.x, 0), y: numberOf(value?.y, 0) });

/** @param {Element} arrow @param {EndName} name @returns {string | undefined} the element that an end lies on */
export function targetOf(arrow, name) {
  const id = arrow[name]?.element;
  return typeof id === "string" ? id : undefined;
}

/** @param {Element} arrow whether both of its ends lie on elements: then no hand moves it */
export const isTied = arrow => targetOf(arrow, "from") !== undefined && targetOf(arrow, "to") !== undefined;

/** @param {Element} element @param {Element | undefined} parent @returns {Point[]} the corners of its edge on the canvas */
export function edgeOf(element, parent) {
  if (element.type !== "shape" || element.shape !== "ellipse") return corners(element, parent);
  const { originalWidth: width, originalHeight: height } = element;
  return Array.from({ length: FACETS }, (_, index) => {
    const angle = (2 * Math.PI * index) / FACETS;
    return seenAt(element, { x: (width / 2) * (1 + Math.cos(angle)), y: (height / 2) * (1 + Math.sin(angle)) }, parent);
  });
}

/** @param {Point} a @param {Point} b */
const cross = (a, b) => a.x * b.y - a.y * b.x;

/**
 * Where the way from one point to another crosses a line, as a share of it; undefined if it does not.
 * @param {Point} from @param {Point} to @param {Point} a @param {Point} b @returns {number | undefined}
 */
function crossing(from, to, a, b) {
  const way = minus(to, from), side = minus(b, a), area = cross(way, side), start = minus(a, from);
  const share = cross(start, side) / area, place = cross(start, way) / area;
  return area !== 0 && share >= 0 && share <= 1 && place >= 0 && place <= 1 ? share : undefined;
}

/** @param {Point[]} edge @param {Point} point whether it is inside, by the crossings of a way out */
function surrounds(edge, point) {
  const out = { x: point.x + 1e7, y: point.y + 1e5 };
  return edge.filter((corner, index) => crossing(point, out, corner, edge[(index + 1) % edge.length]) !== undefined).length % 2 === 1;
}

/**
 * Where a line that comes from outside ends at an edge; at its aim if it begins inside.
 * @param {Point} from @param {Point} aim @param {Point[]} edge @returns {Point}
 */
export function clipped(from, aim, edge) {
  if (surrounds(edge, from)) return aim;
  const shares = edge.flatMap((corner, index) => crossing(from, aim, corner, edge[(index + 1) % edge.length]) ?? []);
  if (shares.length === 0) return aim;
  const way = minus(aim, from), length = Math.hypot(way.x, way.y) || 1, share = Math.max(Math.min(...shares) - GAP / length, 0);
  return { x: from.x + way.x * share, y: from.y + way.y * share };
}

/**
 * @param {Element} arrow @param {EndName} name @param {Find} find @param {Line} [last] where it was last seen
 * @returns {{aim: Point, edge?: Point[]}} what an end aims at
 */
function aimOf(arrow, name, find, last) {
  const id = targetOf(arrow, name), end = arrow[name], target = id === undefined ? undefined : find(id);
  if (target && !isLine(target.element)) {
    const { element, parent } = target, { x, y } = pointOf(end);
    const aim = seenAt(element, { x: x * element.originalWidth, y: y * element.originalHeight }, parent);
    return { aim, edge: edgeOf(element, parent) };
  }
  // Its element was deleted: it stays where it was.
  if (id !== undefined && last) return { aim: last[name === "from" ? 0 : 1] };
  return { aim: seenAt(arrow, pointOf(id === undefined ? end : end.at)) };
}

/** @param {Element} arrow as it is drawn @param {Find} find @param {Line} [last] where it was last seen @returns {Line} */
export function lineOf(arrow, find, last) {
  const from = aimOf(arrow, "from", find, last), to = aimOf(arrow, "to", find, last);
  return [from.edge ? clipped(to.aim, from.aim, from.edge) : from.aim, to.edge ? clipped(from.aim, to.aim, to.edge) : to.aim];
}

/**
 * An arrow as an element that lies along its line.
 * @param {Element} arrow @param {Line} line @returns {Element}
 */
export function laidAlong(arrow, [from, to]) {
  const way = minus(to, from);
  return {
    ...arrow, positionX: (from.x + to.x) / 2, positionY: (from.y + to.y) / 2, anchorX: 0.5, anchorY: 0.5, scaleX: 1, scaleY: 1,
    originalWidth: Math.max(Math.hypot(way.x, way.y), 1), originalHeight: THICKNESS,
    rotation: (Math.atan2(way.y, way.x) * 180) / Math.PI, rotationX: 0, rotationY: 0, positionZ: 0, perspective: undefined,
    space: undefined, parentId: undefined,
  };
}

/** @param {Line} line @param {import("./geometry.js").Box} box whether they have a point in common */
export function touches([from, to], box) {
  const { x, y, width, height } = box, ends = { x: from.x, y: from.y, width: 0, height: 0 };
  const sides = [{ x, y }, { x: x + width, y }, { x: x + width, y: y + height }, { x, y: y + height }];
  return meets(ends, box) || sides.some((corner, index) => crossing(from, to, corner, sides[(index + 1) % 4]) !== undefined);
}

/**
 * The place on an element that a point takes: its middle from near.
 * @param {Point} own in its own pixels @param {Element} element @returns {Point} in fractions
 */
export function takenAt({ x, y }, { originalWidth, originalHeight }) {
  const share = { x: x / originalWidth, y: y / originalHeight };
  const isMiddle = Math.abs(share.x - 0.5) < MIDDLE && Math.abs(share.y - 0.5) < MIDDLE;
  const rounded = (/** @type {number} */ value) => Math.round(value * 1000) / 1000;
  return isMiddle ? { x: 0.5, y: 0.5 } : { x: rounded(share.x), y: rounded(share.y) };
}

/**
 * The fields of an arrow between two points of the canvas, each perhaps on an element.
 * @param {Line} line @param {{from?: {element: string, x: number, y: number}, to?: {element: string, x: number, y: number}}} ties
 */
export function arrowBetween([from, to], ties) {
  const x = Math.min(from.x, to.x), y = Math.min(from.y, to.y);
  const width = Math.max(Math.abs(from.x - to.x), 1), height = Math.max(Math.abs(from.y - to.y), 1);
  const own = (/** @type {Point} */ point) => ({ x: Math.round(point.x - x), y: Math.round(point.y - y) });
  return {
    type: "arrow", positionX: x + width / 2, positionY: y + height / 2, width, height,
    from: ties.from ? { ...ties.from, at: own(from) } : own(from), to: ties.to ? { ...ties.to, at: own(to) } : own(to),
  };
}
