// Elements as SVG: what the page shows of them, for a file. It has no page, so that it is tested without one.

import { isArrow, laidAlong, lineOf } from "./arrows.js";
import { boundsOf, grown, mirrorOf, union } from "./geometry.js";
import { innerSize, placed } from "./placing.js";
import { cardOf } from "./portraits.js";
import { tag } from "./svg.js";

/** @typedef {import("/client/touchsync.js").Element} Element */
/** @typedef {import("./geometry.js").Box} Box */
/** @typedef {import("./portraits.js").Look} Look */

/** Free space around everything, pixels of the canvas. */
const MARGIN = 24;
const SHADOW = tag("filter", { id: "shadow", x: "-20%", y: "-20%", width: "140%", height: "150%" },
  tag("feDropShadow", { dx: 0, dy: 5, stdDeviation: 6, "flood-color": "#141828", "flood-opacity": 0.22 }));

/**
 * Of chosen elements and those that lie on them, the ones that are drawn, parents before what lies on them.
 * @param {readonly Element[]} elements all of a room, the lowest first @param {Set<string>} [chosen] all by default
 * @returns {Element[]}
 */
export function withAnnotations(elements, chosen) {
  const isMeant = (/** @type {Element} */ { id, parentId }) => !chosen || chosen.has(id) || chosen.has(parentId);
  const meant = new Set(elements.filter(isMeant).map(element => element.id));
  // An annotation alone is nothing without what it lies on.
  for (const { id, parentId } of elements) if (parentId !== undefined && meant.has(id)) meant.add(parentId);
  const all = elements.filter(({ id }) => meant.has(id));
  return [...all.filter(one => one.parentId === undefined), ...all.filter(one => one.parentId !== undefined)];
}

/**
 * @param {readonly Element[]} elements in their order, with the parents of annotations
 * @param {Look} look @param {readonly Element[]} [around] all of the room, on which arrows may end
 * @returns {{svg: string, width: number, height: number}} pixels of the canvas
 */
export function drawn(elements, look, around = elements) {
  const byId = new Map(around.map(element => [element.id, element]));
  const parentOf = (/** @type {Element} */ { space, parentId }) => (space === "normalized" ? byId.get(parentId) : undefined);
  const find = (/** @type {string} */ id) => {
    const element = byId.get(id);
    return element && { element, parent: parentOf(element) };
  };
  const laid = (/** @type {Element} */ element) => (isArrow(element) ? laidAlong(element, lineOf(element, find)) : element);
  const seen = elements.filter(element => element.type !== "guide").map(laid);
  const box = grown(union(seen.map(element => boundsOf(element, parentOf(element)))) ?? { x: 0, y: 0, width: 1, height: 1 }, MARGIN);
  const roots = seen.filter(element => !parentOf(element));
  let count = 0;
  const draw = (/** @type {Element} */ element) => {
    const parent = parentOf(element), name = `e${++count}`, { layers, hasShadow } = cardOf(element, innerSize(element), { ...look, mirror: mirrorOf(element, parent) }, name);
    const own = layers.map(({ markup, opacity }, layer) => tag("g", { opacity }, placed(markup, element, parent, `${name}-${layer}`))).join("");
    /** @type {string} */
    const on = seen.filter(one => parentOf(one)?.id === element.id).map(draw).join("");
    return tag("g", { opacity: element.opacity, filter: hasShadow ? "url(#shadow)" : undefined }, own) + (on && tag("g", { opacity: element.opacity }, on));
  };
  const { x, y, width, height } = box;
  const svg = tag("svg", {
    xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: [x, y, width, height].map(Math.round).join(" "), "font-family": look.font,
  }, SHADOW, look.paper ? tag("rect", { x, y, width, height, fill: look.paper }) : "", ...roots.map(draw));
  return { svg, width, height };
}
