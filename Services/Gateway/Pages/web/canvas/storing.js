// What a person wrote is stored with the size that it needs; when others wrote at the same time, both texts are.

import { needed, original } from "./fitting.js";
import { merged, resized } from "./texts.js";
import { numberOf, textOf } from "./values.js";

/** @typedef {import("/client/touchsync.js").Element} Element */
/** @typedef {import("/client/touchsync.js").Data} Data */
/** @typedef {import("./board.js").Board} Board */

/** Sizes that differ by less are the same, pixels. */
const SAME = 1;

/**
 * The height that an element has with little text, pixels as it is laid out: texts are as high as their lines.
 * @param {Element} element @returns {number}
 */
export function leastHeight(element) {
  if (element.type === "text") return 0;
  const { scaleX, scaleY, originalHeight, least } = element, factor = Math.min(Math.abs(scaleX), Math.abs(scaleY)) || 1;
  return (Math.min(Math.max(numberOf(least, originalHeight), 1), originalHeight) * Math.abs(scaleY)) / factor;
}

/**
 * The size that an element has with other fields, and its place then.
 * @param {Pick<Board, "room" | "scene">} board @param {Element} element @param {Data} set
 */
function grown({ scene }, element, set) {
  const next = { ...element, ...set }, { size, place } = resized(next, original(next, needed(next, leastHeight(next))), scene.parentOf(element.id));
  const isSame = Math.abs(size.originalWidth - element.originalWidth) <= SAME && Math.abs(size.originalHeight - element.originalHeight) <= SAME;
  if (isSame) return { size: {}, place: {} };
  // What became higher knows how high it was, and gets lower again.
  const usual = element.type === "text" ? undefined : numberOf(element.least, element.originalHeight);
  const least = usual === undefined ? {} : { least: size.originalHeight > usual ? usual : null };
  return { size: { ...size, ...least }, place };
}

/**
 * Stores fields that decide how large an element's text is.
 * @param {Pick<Board, "room" | "scene">} board @param {string} id @param {Data} set @param {Data} options of the edit
 * @returns {Promise<any>} its result
 */
export function restyle(board, id, set, options) {
  const element = /** @type {Element} */ (board.room.element(id)), { size, place } = grown(board, element, set);
  const result = board.room.update(id, { ...set, ...size }, options);
  if (Object.keys(place).length) board.room.transform(id, place, options);
  return result;
}

/**
 * Stores a text. Where somebody else's came in between, unseen by this window, both are stored.
 * @param {Board} board @param {string} id @param {string} content
 */
export async function store(board, id, content) {
  const { room } = board, { seq } = room, before = textOf(room.element(id)?.content);
  const options = { undoGroup: `text ${Date.now().toString(36)}` }, result = await restyle(board, id, { content }, options);
  if (result.seq <= seq + 1) return;
  const { entries: [entry] } = await room.history({ after: result.seq - 1, limit: 1 });
  const replaced = entry?.changes.find((/** @type {any} */ change) => change.elementId === id)?.before;
  const both = merged(before, textOf(replaced?.content), content);
  if (replaced && both !== content && room.element(id)) await restyle(board, id, { content: both }, options);
}
