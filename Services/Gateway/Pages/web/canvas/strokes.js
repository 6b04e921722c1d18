// Strokes of a pen: simplified, drawn smoothly, and cut into parts that fit into elements.

/** @typedef {import("./geometry.js").Point} Point */

/** Numbers of a list at most, as the server reads JSON; and bytes of them, well below those of an element's own fields. */
const MOST = { numbers: 1000, bytes: 7000 };

/** @param {Point} point @param {Point} a @param {Point} b @returns {number} how far it is from the line between them */
function away(point, a, b) {
  const x = b.x - a.x, y = b.y - a.y, length = x * x + y * y;
  const share = length ? Math.min(Math.max(((point.x - a.x) * x + (point.y - a.y) * y) / length, 0), 1) : 0;
  return Math.hypot(point.x - a.x - x * share, point.y - a.y - y * share);
}

/**
 * The fewest points that no point is further from than a tolerance, by the algorithm of Ramer, Douglas and Peucker.
 * @param {Point[]} points @param {number} tolerance @returns {Point[]}
 */
export function simplified(points, tolerance) {
  if (points.length < 3) return points;
  const isKept = new Uint8Array(points.length), parts = [[0, points.length - 1]];
  isKept[0] = isKept[points.length - 1] = 1;
  for (let part = parts.pop(); part; part = parts.pop()) {
    const [first, last] = part;
    let furthest = 0, most = tolerance;
    for (let index = first + 1; index < last; index++) {
      const distance = away(points[index], points[first], points[last]);
      if (distance > most) [furthest, most] = [index, distance];
    }
    if (!furthest) continue;
    isKept[furthest] = 1;
    parts.push([first, furthest], [furthest, last]);
  }
  return points.filter((_, index) => isKept[index]);
}

/**
 * As many points as fit, by a tolerance that grows.
 * @param {Point[]} points @param {number} most @param {number} tolerance at first @returns {Point[]}
 */
export function reduced(points, most, tolerance) {
  let few = simplified(points, tolerance);
  for (let next = tolerance * 2; few.length > most; next *= 2) few = simplified(few, next);
  return few;
}

/**
 * A smooth path through points: through the middles between them, each point the control of a quadratic curve.
 * @param {unknown} numbers x and y in turn; what is no number is left out @param {Point} [stretch]
 * @returns {string} the `d` of a path
 */
export function smooth(numbers, stretch = { x: 1, y: 1 }) {
  const all = Array.isArray(numbers) ? numbers : [];
  /** @type {Point[]} */
  const points = [];
  for (let index = 0; index + 1 < all.length; index += 2) {
    const [x, y] = [all[index], all[index + 1]];
    if (Number.isFinite(x) && Number.isFinite(y)) points.push({ x: x * stretch.x, y: y * stretch.y });
  }
  if (points.length === 0) return "";
  const shown = (/** @type {number} */ value) => Math.round(value * 100) / 100;
  const at = (/** @type {Point} */ { x, y }) => `${shown(x)} ${shown(y)}`;
  const [first] = points, last = points[points.length - 1];
  // A point alone is a dot: a line of no length with round ends.
  if (points.length < 3) return `M${at(first)}L${at(last)}`;
  const curves = points.slice(1, -1).map((point, index) => {
    const next = points[index + 2], isLast = index === points.length - 3;
    return `Q${at(point)} ${at(isLast ? next : { x: (point.x + next.x) / 2, y: (point.y + next.y) / 2 })}`;
  });
  return `M${at(first)}${curves.join("")}`;
}

/**
 * Points in parts, each of which an element may keep; each begins where the one before ends.
 * @param {Point[]} points @returns {Point[][]}
 */
export function parted(points) {
  const parts = [];
  /** @type {Point[]} */
  let part = [], bytes = 0;
  for (const point of points) {
    const size = `${point.x},${point.y},`.length;
    if (part.length * 2 + 2 > MOST.numbers || bytes + size > MOST.bytes) {
      parts.push(part);
      [part, bytes] = [part.slice(-1), 0];
    }
    part.push(point);
    bytes += size;
  }
  return part.length ? [...parts, part] : parts;
}

/**
 * The fields of a stroke: its points in a box around them.
 * @param {Point[]} points of the canvas, at least one @param {number} grain the smallest step that is kept
 */
export function strokeThrough(points, grain) {
  const xs = points.map(({ x }) => x), ys = points.map(({ y }) => y), left = Math.min(...xs), top = Math.min(...ys);
  const width = Math.max(Math.max(...xs) - left, 1), height = Math.max(Math.max(...ys) - top, 1);
  const kept = (/** @type {number} */ value) => Math.round(Math.round(value / grain) * grain * 10) / 10;
  const numbers = points.flatMap(({ x, y }) => [kept(x - left), kept(y - top)]);
  return { type: "stroke", positionX: left + width / 2, positionY: top + height / 2, width, height, points: numbers };
}
