// Selections in line, and with even gaps. What is moved are boxes: one element, or a group.

/** @typedef {import("./geometry.js").Box} Box */
/** @typedef {import("./geometry.js").Point} Point */
/** @typedef {"left" | "centre" | "right" | "top" | "middle" | "bottom"} Edge */

/** @type {Record<Edge, {axis: "x" | "y", share: number}>} the axis along which boxes move, and what of them meets */
const EDGES = {
  left: { axis: "x", share: 0 }, centre: { axis: "x", share: 0.5 }, right: { axis: "x", share: 1 },
  top: { axis: "y", share: 0 }, middle: { axis: "y", share: 0.5 }, bottom: { axis: "y", share: 1 },
};

/** @param {Box} box @param {"x" | "y"} axis */
const size = (box, axis) => (axis === "x" ? box.width : box.height);

/** @param {"x" | "y"} axis @param {number} way @returns {Point} */
const along = (axis, way) => (axis === "x" ? { x: way, y: 0 } : { x: 0, y: way });

/**
 * How to move boxes so that their edges, or middles, meet at those of the whole.
 * @param {Box[]} boxes @param {Edge} edge @returns {Point[]}
 */
export function inLine(boxes, edge) {
  const { axis, share } = EDGES[edge], start = Math.min(...boxes.map(box => box[axis]));
  const end = Math.max(...boxes.map(box => box[axis] + size(box, axis)));
  return boxes.map(box => along(axis, start + (end - start - size(box, axis)) * share - box[axis]));
}

/**
 * How to move boxes so that the gaps between them are equal, while the first and the last stay.
 * @param {Box[]} boxes @param {"x" | "y"} axis @returns {Point[]}
 */
export function spread(boxes, axis) {
  const order = boxes.map((box, index) => ({ box, index })).sort(({ box: a }, { box: b }) =>
    a[axis] + size(a, axis) / 2 - b[axis] - size(b, axis) / 2);
  const first = order[0].box, last = order[order.length - 1].box;
  const taken = boxes.reduce((sum, box) => sum + size(box, axis), 0);
  const gap = (last[axis] + size(last, axis) - first[axis] - taken) / (boxes.length - 1);
  const ways = boxes.map(() => along(axis, 0));
  let at = first[axis];
  for (const { box, index } of order) {
    ways[index] = along(axis, at - box[axis]);
    at += size(box, axis) + gap;
  }
  return ways;
}
