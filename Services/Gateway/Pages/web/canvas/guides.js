// Alignment while something moves: edges and middles that nearly meet those of others snap to them.

/** @typedef {import("./geometry.js").Box} Box */
/** @typedef {{axis: "x" | "y", at: number, from: number, to: number}} Line upright for `x`, level for `y` */

/** @param {number} start @param {number} length */
const marks = (start, length) => [start, start + length / 2, start + length];

/**
 * The shortest way within reach from one of the marks to one of the others'.
 * @param {number[]} own @param {number[]} others @param {number} reach
 */
function nearest(own, others, reach) {
  let best = 0, distance = reach;
  for (const mark of own) {
    for (const other of others) {
      const way = other - mark;
      if (Math.abs(way) < distance) [best, distance] = [way, Math.abs(way)];
    }
  }
  return best;
}

/**
 * How to move a box so that it is aligned with others, and the lines that show why.
 * @param {Box} box @param {Box[]} others @param {number} reach how far it snaps, pixels of the canvas
 * @returns {{x: number, y: number, lines: Line[]}}
 */
export function aligned(box, others, reach) {
  const x = nearest(marks(box.x, box.width), others.flatMap(other => marks(other.x, other.width)), reach);
  const y = nearest(marks(box.y, box.height), others.flatMap(other => marks(other.y, other.height)), reach);
  const moved = { ...box, x: box.x + x, y: box.y + y };
  return { x, y, lines: [...linesOn("x", moved, others), ...linesOn("y", moved, others)] };
}

/** @param {"x" | "y"} axis @param {Box} box @param {Box[]} others @returns {Line[]} one for each mark that meets others */
function linesOn(axis, box, others) {
  const across = axis === "x" ? "y" : "x";
  const size = (/** @type {Box} */ one, /** @type {"x" | "y"} */ way) => (way === "x" ? one.width : one.height);
  return marks(box[axis], size(box, axis)).flatMap(at => {
    const met = others.filter(other => marks(other[axis], size(other, axis)).some(mark => Math.abs(mark - at) < 0.01));
    if (met.length === 0) return [];
    const all = [box, ...met];
    const from = Math.min(...all.map(one => one[across])), to = Math.max(...all.map(one => one[across] + size(one, across)));
    return [{ axis, at, from, to }];
  });
}
