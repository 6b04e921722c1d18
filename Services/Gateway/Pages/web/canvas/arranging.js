// Selections are grouped, lined up, spread, and laid over or under others. Loaded when something is selected for the first
// time.

import { inLine, spread } from "./arrange.js";
import { meets, union } from "./geometry.js";
import { groupOf, units } from "./groups.js";
import { movable } from "./hand.js";
import { isAnnotation, isGuide } from "./kinds.js";
import { reordered } from "./order.js";
import { numberOf } from "./values.js";
import { newElementId } from "/client/touchsync.js";

/** @typedef {import("./actions.js").Actions} Actions */
/** @typedef {import("./geometry.js").Box} Box */
/** @typedef {import("./geometry.js").Point} Point */

/** @param {Actions} actions */
export function group({ selected, room, say, together }) {
  const all = selected.filter(one => !isAnnotation(one)), groupId = newElementId(), options = together();
  if (all.length < 2) return say("Select two or more to group them.");
  for (const { id } of all) room.update(id, { groupId }, options);
  say(`Grouped ${all.length}. A double click reaches inside.`);
}

/** @param {Actions} actions */
export function ungroup({ selected, room, say, together }) {
  const all = selected.filter(one => groupOf(one) !== undefined), options = together();
  for (const { id } of all) room.update(id, { groupId: null }, options);
  if (all.length) say(`Ungrouped ${all.length}`);
}

/**
 * Moves what is selected, as one edit.
 * @param {Actions} actions @param {number} least units that it needs @param {(boxes: Box[]) => Point[]} ways of each unit
 */
function move({ board, room, say }, least, ways) {
  const free = movable(room, board.selection.ids).flatMap(id => room.element(id) ?? []);
  const found = units(free).flatMap(ids => {
    const box = union(ids.flatMap(id => board.scene.boxes.get(id) ?? []));
    return box ? [{ ids, box }] : [];
  });
  if (found.length < least) return say(`Select ${least} or more that are not locked.`);
  const all = ways(found.map(({ box }) => box)).flatMap(({ x, y }, index) => found[index].ids.flatMap(elementId => {
    const element = room.element(elementId);
    const isStill = Math.abs(x) < 0.5 && Math.abs(y) < 0.5;
    return element && !isStill ? [{ elementId, positionX: element.positionX + x, positionY: element.positionY + y }] : [];
  }));
  if (all.length) room.transformAll(all);
}

/** @param {Actions} actions @param {import("./arrange.js").Edge} edge */
export const align = (actions, edge) => move(actions, 2, boxes => inLine(boxes, edge));

/** @param {Actions} actions @param {"x" | "y"} axis */
export const distribute = (actions, axis) => move(actions, 3, boxes => spread(boxes, axis));

/** @param {Actions} actions @param {import("./order.js").Way} way */
export function restack({ board, room, together }, way) {
  const { ids } = board.selection, first = room.element(ids[0]);
  // What lies on a picture is in an order of its own.
  const parent = isAnnotation(first) ? first?.parentId : undefined;
  const all = room.elements.filter(one => !isGuide(one) && (isAnnotation(one) ? one.parentId : undefined) === parent);
  const layers = all.map(({ id, zIndex }) => ({ id, level: numberOf(zIndex, 0) }));
  const meet = (/** @type {string} */ a, /** @type {string} */ b) => {
    const one = board.scene.boxes.get(a), other = board.scene.boxes.get(b);
    return one !== undefined && other !== undefined && meets(one, other);
  };
  const options = together();
  for (const [id, zIndex] of reordered(layers, new Set(ids), way, meet)) room.update(id, { zIndex }, options);
}
