// Copies of what is selected are put into the room.

import { boxOf, copied, inParts, taken } from "./copies.js";
import { centre } from "./geometry.js";
import { isAnnotation } from "./kinds.js";
import { mayChange } from "./roomcore.js";
import { numberOf } from "./values.js";
import { counted } from "./words.js";
import { newElementId } from "/client/touchsync.js";

/** @typedef {import("./actions.js").Actions} Actions */
/** @typedef {import("./geometry.js").Point} Point */
/** @typedef {import("/client/touchsync.js").Data} Data */
/** @typedef {import("/client/touchsync.js").UndoOptions} UndoOptions */

/** How far copies lie from what they are copies of, pixels of the canvas. */
export const ASIDE = 24;

/** @param {Actions} actions @returns {Data[]} what is copied of the selection */
export const selectedOf = ({ room, board }) => taken(room.elements, board.selection.ids, id => room.element(id));

/**
 * Puts copies into the room, above all others, and selects them.
 * @param {Actions} actions @param {Data[]} elements @param {Point} shift @param {UndoOptions} options
 * @returns {string[]} the ids of those that lie on no other one
 */
function put({ board, room }, elements, shift, options) {
  const level = Math.max(0, ...room.elements.map(({ zIndex }) => numberOf(zIndex, 0)));
  const copies = copied(elements, { newId: newElementId, shift, level });
  for (const part of inParts(copies)) room.createAll(part, options);
  // A hand may hold them before the next frame.
  for (const { id } of copies) board.scene.draw(id);
  const ids = copies.filter(one => !isAnnotation(/** @type {any} */ (one))).map(({ id }) => id);
  board.selection.set(ids);
  board.surface.focus({ preventScroll: true });
  return ids;
}

/**
 * Puts copies around a place.
 * @param {Actions} actions @param {Data[]} elements @param {Point} at pixels of the canvas
 */
export function putAt(actions, elements, at) {
  const box = boxOf(elements), middle = box ? centre(box) : at;
  put(actions, elements, { x: Math.round(at.x - middle.x), y: Math.round(at.y - middle.y) }, actions.together());
}

/**
 * Puts copies where the selection is, if this person may.
 * @param {Actions} actions @returns {import("./hand.js").Way["copies"]} they, and the options of edits that are undone with it
 */
export function pullOff(actions) {
  const elements = selectedOf(actions), options = actions.together();
  if (!mayChange(actions.room) || elements.length === 0) return undefined;
  return { ids: put(actions, elements, { x: 0, y: 0 }, options), options };
}

/** @param {Actions} actions */
export function duplicate(actions) {
  const elements = selectedOf(actions);
  if (elements.length === 0) return;
  put(actions, elements, { x: ASIDE, y: ASIDE }, actions.together());
  actions.say(`Duplicated ${counted(actions.board.selection.size, "element")}`);
}
