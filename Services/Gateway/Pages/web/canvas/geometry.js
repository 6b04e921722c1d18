// Where elements lie on the canvas: what is seen of their own pixels, boxes around them, and what a marquee catches.

import { corners, planeOf } from "/client/projection.js";

/** @typedef {{x: number, y: number}} Point */
/** @typedef {{x: number, y: number, width: number, height: number}} Box upright, in pixels of the canvas */
/** @typedef {import("/client/touchsync.js").Element} Pose what of an element decides where it lies */

/** @param {Point} point @param {number} degrees clockwise @returns {Point} */
export function rotated({ x, y }, degrees) {
  const radians = (degrees * Math.PI) / 180, cosine = Math.cos(radians), sine = Math.sin(radians);
  return { x: x * cosine - y * sine, y: x * sine + y * cosine };
}

/**
 * Where a point of an element's own pixels is seen on the canvas.
 * @param {Pose} element @param {Point} point @param {Pose} [parent] of an annotation @returns {Point}
 */
export function seenAt(element, { x, y }, parent) {
  const [right, down, origin] = planeOf(element, parent);
  const [across, along, w] = [0, 1, 2].map(row => right[row] * x + down[row] * y + origin[row]);
  return { x: across / w, y: along / w };
}

/** @param {Pose} element @param {Pose} [parent] @returns {Point} its anchor on the canvas */
export const anchorOf = ({ positionX: x, positionY: y }, parent) =>
  (parent ? seenAt(parent, { x: x * parent.originalWidth, y: y * parent.originalHeight }) : { x, y });

const FLAT = { rotationX: 0, rotationY: 0, perspective: 0 };

/** @param {Pose} element @param {Pose} [parent] @returns {number} the degrees of its x axis in the plane of the canvas */
export function turnOf(element, parent) {
  const [[x, y]] = planeOf({ ...element, ...FLAT }, parent && { ...parent, ...FLAT });
  return (Math.atan2(y, x) * 180) / Math.PI;
}

/**
 * How large what is inside an element is drawn, which is never stretched. While a side is pulled it stays as large as the
 * other axis says.
 * @param {Pose} element as it is drawn @param {Pose} before as it was when somebody took hold of it @returns {number}
 */
export function innerFactor({ scaleX, scaleY }, before) {
  const [x, y] = [scaleX / before.scaleX, scaleY / before.scaleY].map(Math.abs);
  const way = Math.abs(Math.log(x)) < Math.abs(Math.log(y)) ? x : y;
  return Math.min(Math.abs(before.scaleX), Math.abs(before.scaleY)) * way || 1;
}

/** @param {Point[]} points at least one @returns {Box} */
export function boxAround(points) {
  const xs = points.map(point => point.x), ys = points.map(point => point.y);
  const x = Math.min(...xs), y = Math.min(...ys);
  return { x, y, width: Math.max(...xs) - x, height: Math.max(...ys) - y };
}

/** @param {Pose} element @param {Pose} [parent] @returns {Box} around what is seen of it; of nothing, its anchor */
export function boundsOf(element, parent) {
  const seen = corners(element, parent);
  return boxAround(seen.length ? seen : [anchorOf(parent ?? element)]);
}

/** @param {Pose} element @returns {Point} how much longer the axes of its node are, whose scale is the smaller of both */
export function stretchOf({ scaleX, scaleY }) {
  const factor = Math.min(Math.abs(scaleX), Math.abs(scaleY)) || 1;
  return { x: Math.abs(scaleX) / factor, y: Math.abs(scaleY) / factor };
}

/**
 * Texts are read from left to right, whichever way their element is mirrored.
 * @param {Pose} element @param {Pose} [parent] that it lies on @returns {{x: number, y: number}} -1 where it is mirrored
 */
export function mirrorOf(element, parent) {
  const sign = (/** @type {"scaleX" | "scaleY"} */ name) => (element[name] < 0 !== Number(parent?.[name]) < 0 ? -1 : 1);
  return { x: sign("scaleX"), y: sign("scaleY") };
}

/** @param {Box[]} boxes @returns {Box | undefined} undefined for none */
export function union(boxes) {
  if (boxes.length === 0) return undefined;
  return boxAround(boxes.flatMap(({ x, y, width, height }) => [{ x, y }, { x: x + width, y: y + height }]));
}

/** @param {Box} box @returns {Point} */
export const centre = ({ x, y, width, height }) => ({ x: x + width / 2, y: y + height / 2 });

/** @param {Box} box @param {number} by on each side @returns {Box} */
export const grown = ({ x, y, width, height }, by) => ({ x: x - by, y: y - by, width: width + 2 * by, height: height + 2 * by });

/** @param {Box} a @param {Box} b whether they have a point in common */
export const meets = (a, b) =>
  a.x <= b.x + b.width && b.x <= a.x + a.width && a.y <= b.y + b.height && b.y <= a.y + a.height;

/** @param {Point} a @param {Point} b @returns {Box} the marquee between two points */
export const boxBetween = (a, b) => boxAround([a, b]);

/**
 * Whether a box has a point in common with what has some corners: where they have none, a line along a side of either
 * separates them (S. Gottschalk, M. C. Lin, D. Manocha, "OBBTree", 1996).
 * @param {Box} box @param {Point[]} outline the corners of a convex shape in their order @returns {boolean}
 */
export function meetsOutline(box, outline) {
  const { x, y, width, height } = box, own = [{ x, y }, { x: x + width, y }, { x: x + width, y: y + height }, { x, y: y + height }];
  const ways = outline.map((from, at) => {
    const to = outline[(at + 1) % outline.length];
    return { x: from.y - to.y, y: to.x - from.x };
  });
  return [{ x: 1, y: 0 }, { x: 0, y: 1 }, ...ways].every(way => {
    const along = (/** @type {Point[]} */ points) => points.map(point => point.x * way.x + point.y * way.y);
    const [a, b] = [along(own), along(outline)];
    return Math.min(...a) <= Math.max(...b) && Math.min(...b) <= Math.max(...a);
  });
}

/**
 * The boxes that a marquee touches.
 * @param {Box} marquee @param {Iterable<[string, Box]>} boxes @returns {string[]}
 */
export const caught = (marquee, boxes) => [...boxes].filter(([, box]) => meets(marquee, box)).map(([id]) => id);

/**
 * The ids of boxes in reading order: rows from the top, in each from the left.
 * @param {Iterable<[string, Box]>} boxes @returns {string[]}
 */
export function inReadingOrder(boxes) {
  const row = (/** @type {Box} */ box) => Math.round((box.y + box.height / 2) / 120);
  return [...boxes].sort(([, a], [, b]) => row(a) - row(b) || a.x - b.x).map(([id]) => id);
}

/** How far from the middle a free place is looked for, and in which steps, pixels. */
const SEARCH = { x: 12, y: 8, step: 48 };
/** Ways from the middle, short ones first, sideways rather than up and down. */
const WAYS = Array.from({ length: (2 * SEARCH.x + 1) * (2 * SEARCH.y + 1) }, (_, index) => ({
  x: ((index % (2 * SEARCH.x + 1)) - SEARCH.x) * SEARCH.step, y: (Math.floor(index / (2 * SEARCH.x + 1)) - SEARCH.y) * SEARCH.step,
})).sort((a, b) => Math.hypot(a.x, a.y * 1.4) - Math.hypot(b.x, b.y * 1.4));

/**
 * The middle of the place nearest to the middle of a view where a box lies on no other one; its middle if there is none.
 * @param {{width: number, height: number}} size @param {Box} view @param {Box[]} taken @returns {Point}
 */
export function freePlace({ width, height }, view, taken) {
  const middle = centre(view), near = taken.filter(box => meets(box, view));
  const way = WAYS.find(({ x, y }) => {
    const place = { x: middle.x + x - width / 2, y: middle.y + y - height / 2, width, height };
    const isInside = place.x >= view.x && place.y >= view.y && place.x + width <= view.x + view.width &&
      place.y + height <= view.y + view.height;
    return isInside && !near.some(box => meets(grown(place, 14), box));
  });
  return { x: middle.x + (way?.x ?? 0), y: middle.y + (way?.y ?? 0) };
}
