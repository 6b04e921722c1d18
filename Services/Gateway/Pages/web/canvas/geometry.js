// Where elements lie on the canvas: affine maps from an element's own pixels, boxes around them, and what a point hits.

/** @typedef {{x: number, y: number}} Point */
/** @typedef {{x: number, y: number, width: number, height: number}} Box upright, in pixels of the canvas */
/** @typedef {[number, number, number, number, number, number]} Matrix (a b c d e f): x' = ax + cy + e, y' = bx + dy + f */
/**
 * What of an element decides where it lies.
 * @typedef {{positionX: number, positionY: number, rotation: number, scaleX: number, scaleY: number,
 *   originalWidth: number, originalHeight: number, anchorX: number, anchorY: number}} Pose
 */

/** @param {Point} point @param {number} degrees clockwise @returns {Point} */
export function rotated({ x, y }, degrees) {
  const radians = (degrees * Math.PI) / 180, cosine = Math.cos(radians), sine = Math.sin(radians);
  return { x: x * cosine - y * sine, y: x * sine + y * cosine };
}

/** @param {Matrix} m @param {Point} point @returns {Point} */
export const mapped = ([a, b, c, d, e, f], { x, y }) => ({ x: a * x + c * y + e, y: b * x + d * y + f });

/** @param {Matrix} m @param {Point} vector @returns {Point} the vector mapped back, without the translation */
export function unmappedVector([a, b, c, d], { x, y }) {
  const determinant = a * d - b * c || 1e-9;
  return { x: (d * x - c * y) / determinant, y: (a * y - b * x) / determinant };
}

/**
 * The map from an element's own pixels to the canvas. The position of an annotation is a fraction of its parent.
 * @param {Pose} element @param {Pose} [parent] of an annotation @returns {Matrix}
 */
export function matrixOf(element, parent) {
  const { rotation, scaleX, scaleY, originalWidth, originalHeight, anchorX, anchorY } = element;
  const x = rotated({ x: scaleX, y: 0 }, rotation), y = rotated({ x: 0, y: scaleY }, rotation);
  const [width, height] = parent ? [parent.originalWidth, parent.originalHeight] : [1, 1];
  const left = anchorX * originalWidth, top = anchorY * originalHeight;
  /** @type {Matrix} */
  const own = [
    x.x, x.y, y.x, y.y,
    element.positionX * width - x.x * left - y.x * top, element.positionY * height - x.y * left - y.y * top,
  ];
  return parent ? multiplied(matrixOf(parent), own) : own;
}

/** @param {Matrix} outer @param {Matrix} inner @returns {Matrix} first the inner map, then the outer one */
function multiplied(outer, inner) {
  const [a, b, c, d, e, f] = inner, origin = mapped(outer, { x: e, y: f });
  const [p, q, r, s] = outer;
  return [p * a + r * b, q * a + s * b, p * c + r * d, q * c + s * d, origin.x, origin.y];
}

/** @param {Matrix} m @param {number} width @param {number} height @returns {[Point, Point, Point, Point]} clockwise from the upper left one */
export function corners(m, width, height) {
  const at = (/** @type {number} */ x, /** @type {number} */ y) => mapped(m, { x, y });
  return [at(0, 0), at(width, 0), at(width, height), at(0, height)];
}

/** @param {Point[]} points at least one @returns {Box} */
export function boxAround(points) {
  const xs = points.map(point => point.x), ys = points.map(point => point.y);
  const x = Math.min(...xs), y = Math.min(...ys);
  return { x, y, width: Math.max(...xs) - x, height: Math.max(...ys) - y };
}

/** @param {Pose} element @param {Pose} [parent] @returns {Box} */
export const boundsOf = (element, parent) =>
  boxAround(corners(matrixOf(element, parent), element.originalWidth, element.originalHeight));

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
 * What a marquee catches: everything that it touches.
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
