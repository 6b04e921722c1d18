// The give at limits: what a hand wants beyond a limit is shown less and less, and springs back when it lets go.

/** @typedef {{x: number, y: number, scale: number, rotation: number}} Give on top of what the rules allow */

/** How much is given at most: pixels of the canvas, the logarithm of a scale, degrees. */
const EXTENT = { way: 60, scale: 0.3, rotation: 9 };
const STIFFNESS = 0.55;
/** How long the way back takes, ms. */
const BACK = 220;

/**
 * How far something is shown beyond its limit: at first 0.55 of what is asked for, never `extent`.
 * @param {number} excess @param {number} extent
 */
export const banded = (excess, extent) =>
  Math.sign(excess) * (1 - 1 / ((Math.abs(excess) * STIFFNESS) / extent + 1)) * extent;

/**
 * What is shown of a wish beyond the limits.
 * @param {{x: number, y: number, scale: number, rotation: number}} beyond the factor and the rest that the rules refuse
 * @returns {Give | undefined} undefined when nothing was refused
 */
export function given({ x, y, scale, rotation }) {
  const excess = Math.log(scale);
  if (Math.hypot(x, y) < 0.75 && Math.abs(excess) < 1e-4 && Math.abs(rotation) < 0.01) return undefined;
  const length = Math.hypot(x, y), share = length ? banded(length, EXTENT.way) / length : 0;
  return {
    x: x * share, y: y * share, scale: Math.exp(banded(excess, EXTENT.scale)), rotation: banded(rotation, EXTENT.rotation),
  };
}

/**
 * What is left of a give some time after the hand let go.
 * @param {Give} give @param {number} elapsed ms @returns {Give | undefined} undefined at the end
 */
export function left({ x, y, scale, rotation }, elapsed) {
  if (elapsed >= BACK) return undefined;
  const rest = (1 - elapsed / BACK) ** 3;
  return { x: x * rest, y: y * rest, scale: scale ** rest, rotation: rotation * rest };
}
