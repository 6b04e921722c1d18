// Alignment while something moves: edges and middles that nearly meet guides or those of others snap to them, and gaps
// become equal that nearly are.

/** @typedef {import("./geometry.js").Box} Box */
/** @typedef {"x" | "y"} Axis */
/** @typedef {{axis: Axis, at: number}} Guide upright for `x`, level for `y` */
/**
 * Upright for `x`, level for `y`; a gap lies along its axis, at `at` of the other one.
 * @typedef {{axis: Axis, at: number, from: number, to: number, isGap?: true}} Line
 */
/** @typedef {{start: number, end: number, box: Box}} Span */

/** @param {Axis} axis @returns {"width" | "height"} */
const sideOn = axis => (axis === "x" ? "width" : "height");
/** @param {Axis} axis @returns {Axis} the other one */
const across = axis => (axis === "x" ? "y" : "x");

/** @param {Box} box @param {Axis} axis @returns {Span} */
const spanOf = (box, axis) => ({ start: box[axis], end: box[axis] + box[sideOn(axis)], box });

/** @param {Box} box @param {Axis} axis */
const marks = (box, axis) => [0, 0.5, 1].map(share => box[axis] + share * box[sideOn(axis)]);

/**
 * The neighbours beside a box on one axis: two before it and two behind it, the nearer ones in the middle.
 * @param {Axis} axis @param {Box} box @param {Box[]} others @returns {(Span | undefined)[]}
 */
function neighbours(axis, box, others) {
  const own = spanOf(box, across(axis)), middle = box[axis] + box[sideOn(axis)] / 2;
  const beside = others.filter(other => {
    const { start, end } = spanOf(other, across(axis));
    return start < own.end && own.start < end;
  }).map(other => spanOf(other, axis));
  const before = (/** @type {number} */ place) =>
    beside.filter(({ end }) => end <= place).sort((a, b) => b.end - a.end).at(0);
  const behind = (/** @type {number} */ place) =>
    beside.filter(({ start }) => start >= place).sort((a, b) => a.start - b.start).at(0);
  const left = before(middle), right = behind(middle);
  return [left && before(left.start), left, right, right && behind(right.end)];
}

/**
 * Where a box starts when the gaps beside it are equal.
 * @param {Axis} axis @param {Box} box @param {Box[]} others
 */
function evenStarts(axis, box, others) {
  const [second, left, right, fourth] = neighbours(axis, box, others), size = box[sideOn(axis)], starts = [];
  if (left && right && right.start - left.end > size) starts.push((left.end + right.start - size) / 2);
  if (left && second && left.start > second.end) starts.push(left.end + left.start - second.end);
  if (right && fourth && fourth.start > right.end) starts.push(right.start - (fourth.start - right.end) - size);
  return starts;
}

/**
 * How to move a box so that it is aligned with others and with guides, and the lines that show why.
 * @param {Box} box @param {Box[]} others @param {number} reach how far it snaps, pixels of the canvas
 * @param {Guide[]} [guides] @returns {{x: number, y: number, lines: Line[]}}
 */
export function aligned(box, others, reach, guides = []) {
  // A guide is as long as the box.
  const met = (/** @type {Axis} */ axis, /** @type {Box} */ by) => [
    ...guides.filter(guide => guide.axis === axis).map(({ at }) => ({ ...by, [axis]: at, [sideOn(axis)]: 0 })), ...others,
  ];
  const way = (/** @type {Axis} */ axis) => {
    const places = met(axis, box).flatMap(other => marks(other, axis));
    const ways = marks(box, axis).flatMap(mark => places.map(place => place - mark));
    const even = evenStarts(axis, box, others).map(start => start - box[axis]);
    return [...ways, ...even].reduce((best, one) => (Math.abs(one) < Math.abs(best) ? one : best), reach);
  };
  const ways = [way("x"), way("y")], [x, y] = ways.map(one => (one === reach ? 0 : one));
  const moved = { ...box, x: box.x + x, y: box.y + y };
  const lines = /** @type {Axis[]} */ (["x", "y"]).flatMap(axis =>
    [...linesOn(axis, moved, met(axis, moved)), ...gapsOn(axis, moved, others)]);
  return { x, y, lines };
}

const isSame = (/** @type {number} */ a, /** @type {number} */ b) => Math.abs(a - b) < 0.01;

/** @param {Axis} axis @param {Box} box @param {Box[]} others @returns {Line[]} one for each mark that meets others */
function linesOn(axis, box, others) {
  return marks(box, axis).flatMap(at => {
    const found = others.filter(other => marks(other, axis).some(mark => isSame(mark, at)));
    if (found.length === 0) return [];
    const spans = [box, ...found].map(one => spanOf(one, across(axis)));
    return [{ axis, at, from: Math.min(...spans.map(({ start }) => start)), to: Math.max(...spans.map(({ end }) => end)) }];
  });
}

/** @param {Axis} axis @param {Box} box @param {Box[]} others @returns {Line[]} the gaps beside a box that equal the next one */
function gapsOn(axis, box, others) {
  const [second, left, right, fourth] = neighbours(axis, box, others), own = spanOf(box, axis);
  const gaps = [[second, left], [left, own], [own, right], [right, fourth]].map(([a, b]) => a && b && gapBetween(axis, a, b));
  return gaps.flatMap((gap, index) => {
    const isEven = [gaps[index - 1], gaps[index + 1]].some(next => gap && next && isSame(gap.to - gap.from, next.to - next.from));
    return gap && isEven ? [gap] : [];
  });
}

/** @param {Axis} axis @param {Span} one @param {Span} next @returns {Line | undefined} undefined when they touch */
function gapBetween(axis, one, next) {
  const [a, b] = [one, next].map(({ box }) => spanOf(box, across(axis)));
  const at = (Math.max(a.start, b.start) + Math.min(a.end, b.end)) / 2;
  return next.start - one.end > 0.01 ? { axis, at, from: one.end, to: next.start, isGap: true } : undefined;
}
