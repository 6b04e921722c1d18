// How elements are seen, for web pages that draw them as nodes, find out what lies under a pointer, or draw around elements
// that leave their plane. Shared/Client/README.md describes it.

import { direction } from "./touchsync.js";

/** @typedef {import("./touchsync.js").Element} Element */
/** @typedef {import("./touchsync.js").Point} Point */

/** What is nearer to the viewer than a hundredth of the way from the canvas is not seen. */
const NEAREST = 0.01;

/**
 * @typedef {[number, number, number]} Vector
 *   A point of the canvas before the division: x · w, y · w, w.
 * @typedef {[Vector, Vector, Vector]} Plane
 *   How an element's own pixels are seen: the images of its x axis, its y axis and its upper left corner.
 */

/**
 * The CSS transform of a node that has an element's size at scale 1, lies where that is at scale 1, and has its anchor as
 * `transform-origin`.
 * @param {Element} element
 */
export function cssTransform({ perspective, positionZ = 0, rotationX = 0, rotationY = 0, rotation, scaleX, scaleY }) {
  const tilt = `translateZ(${positionZ}px) rotateX(${rotationX}deg) rotateY(${rotationY}deg) `;
  return (perspective ? `perspective(${perspective}px) ` : "") + (positionZ || rotationX || rotationY ? tilt : "") +
    `rotate(${rotation}deg) scale(${scaleX}, ${scaleY})`;
}

/** @param {Plane} plane @param {Vector} vector @returns {Vector} */
const seenFrom = ([a, b, c], [x, y, w]) =>
  /** @type {Vector} */ ([0, 1, 2].map(row => a[row] * x + b[row] * y + c[row] * w));

/**
 * How an element's pixels at scale 1 are seen on the canvas, in the terms of CSS: translate(position) perspective()
 * translateZ() rotateX() rotateY() rotateZ() scale() about its anchor.
 * @param {Element} element @param {Element} [parent] of an annotation @returns {Plane}
 */
export function planeOf(element, parent) {
  const { rotationX = 0, rotationY = 0, positionZ = 0, perspective, scaleX, scaleY } = element;
  const [cosine, sine] = direction(element.rotation), [cosineX, sineX] = direction(rotationX);
  const [cosineY, sineY] = direction(rotationY), nearer = perspective ? 1 / perspective : 0;
  const left = element.anchorX * element.originalWidth, top = element.anchorY * element.originalHeight;
  const x = element.positionX * (parent?.originalWidth ?? 1), y = element.positionY * (parent?.originalHeight ?? 1);
  // What was turned and scaled in its plane, about the anchor.
  const turned = (/** @type {number} */ u, /** @type {number} */ v, w = 0) => {
    const shown = w - nearer * (v * sineX - u * sineY * cosineX + w * positionZ);
    return /** @type {Vector} */ ([u * cosineY + x * shown, v * cosineX + u * sineY * sineX + y * shown, shown]);
  };
  const right = turned(scaleX * cosine, scaleX * sine), down = turned(-scaleY * sine, scaleY * cosine);
  /** @type {Plane} */
  const plane = [right, down, seenFrom([right, down, turned(0, 0, 1)], [-left, -top, 1])];
  return parent ? /** @type {Plane} */ (plane.map(vector => seenFrom(planeOf(parent), vector))) : plane;
}

/**
 * The corners of what is seen of an element: upper left, upper right, lower right, lower left, unless the near plane cuts
 * some off; none of what is behind the viewer.
 * @param {Element} element @param {Element} [parent] of an annotation @returns {Point[]}
 */
export function corners(element, parent) {
  const plane = planeOf(element, parent), { originalWidth: width, originalHeight: height } = element;
  const all = [[0, 0], [width, 0], [width, height], [0, height]].map(([x, y]) => seenFrom(plane, [x, y, 1]));
  return all.flatMap((corner, index) => {
    const next = all[(index + 1) % 4], isSeen = corner[2] >= NEAREST, seen = isSeen ? [corner] : [];
    const share = (NEAREST - corner[2]) / (next[2] - corner[2]);
    if (isSeen !== next[2] >= NEAREST) {
      const [x, y] = [0, 1].map(row => corner[row] + (next[row] - corner[row]) * share);
      seen.push([x, y, NEAREST]);
    }
    return seen.map(([x, y, w]) => ({ x: x / w, y: y / w }));
  });
}

/**
 * What of an element is seen at a point of the canvas, in its own pixels; undefined where it is seen edge-on.
 * @param {Element} element @param {Point} point @param {Element} [parent] of an annotation @returns {Point | undefined}
 */
export function ownPoint(element, { x, y }, parent) {
  const plane = planeOf(element, parent), [right, down, origin] = plane;
  // Two linear equations, from the two images without their division.
  const a = right[0] - x * right[2], b = right[1] - y * right[2], c = down[0] - x * down[2], d = down[1] - y * down[2];
  const e = x * origin[2] - origin[0], f = y * origin[2] - origin[1], determinant = a * d - b * c;
  const own = { x: (d * e - c * f) / determinant, y: (a * f - b * e) / determinant };
  return seenFrom(plane, [own.x, own.y, 1])[2] >= NEAREST ? own : undefined;
}

/**
 * Whether a point of the canvas is on an element as it is seen.
 * @param {Element} element @param {Point} point @param {Element} [parent] of an annotation
 */
export function contains(element, point, parent) {
  const { x, y } = ownPoint(element, point, parent) ?? { x: -1, y: -1 };
  return x >= 0 && y >= 0 && x <= element.originalWidth && y <= element.originalHeight;
}
