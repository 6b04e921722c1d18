// Copies of elements: what a clipboard keeps of them, and what they become where they are put.

import { isArrow, targetOf } from "./arrows.js";
import { anchorOf, boundsOf, boxAround, seenAt, turnOf, union } from "./geometry.js";
import { isAnnotation, isGuide } from "./kinds.js";
import { numberOf, textOf } from "./values.js";
import { ownPoint } from "/client/projection.js";

/** @typedef {import("./geometry.js").Point} Point */
/** @typedef {import("/client/touchsync.js").Element} Element */
/** @typedef {import("/client/touchsync.js").Data} Data */

/** Elements at most, as many as a selection has. */
export const MOST = 500;
/** Parts are well below the message that a server takes, bytes and elements. */
const PART = { bytes: 150_000, count: 250 };
/** What the server says of an element, what follows from the rest, and a lock: nobody wants copies that stay where they are. */
const LEFT = [
  "createdBy", "updatedBy", "rev", "motion", "roomId", "seq", "userId", "sid", "n", "cause", "part", "parts", "width", "height",
  "locked",
];
/** Where the elements are in HTML. */
const MARK = "data-touchsync";

/** @param {Data} element @param {string[]} names @returns {Data} */
const without = (element, names) => Object.fromEntries(Object.entries(element).filter(([name]) => !names.includes(name)));

/** @param {any} value @returns {boolean} */
const isObject = value => typeof value === "object" && value !== null && !Array.isArray(value);

/** The ends of an arrow. */
const ENDS = /** @type {const} */ (["from", "to"]);

/**
 * What is copied of a room: the chosen elements with what lies on them, in their order.
 * @param {readonly Element[]} elements of the room, in their order @param {readonly string[]} ids
 * @param {(id: string) => Element | undefined} find @returns {Data[]}
 */
export function taken(elements, ids, find) {
  const chosen = new Set(ids);
  const all = elements.filter(one => !isGuide(one) && (chosen.has(one.id) || (isAnnotation(one) && chosen.has(one.parentId))));
  const here = new Set(all.map(({ id }) => id));
  return all.map(element => {
    const { animation, ...own } = without(isAnnotation(element) && !here.has(element.parentId) ? freed(element, find) : element, LEFT);
    // What an arrow points at stays behind: the end stays where it is seen.
    for (const end of isArrow(element) ? ENDS : []) if (!here.has(targetOf(element, end) ?? element.id)) own[end] = ownEnd(element, end, find);
    return animation ? { ...own, animation: without(animation, ["startedAt"]) } : own;
  });
}

/**
 * @param {Element} arrow @param {"from" | "to"} name of an end on an element @param {(id: string) => Element | undefined} find
 * @returns {Point} the same place in the arrow's own pixels
 */
function ownEnd(arrow, name, find) {
  const { element, at = { x: 0, y: 0 }, x, y } = arrow[name], target = find(element);
  const parent = target && isAnnotation(target) ? find(target.parentId) : undefined;
  const seen = target && seenAt(target, { x: numberOf(x, 0) * target.originalWidth, y: numberOf(y, 0) * target.originalHeight }, parent);
  return (seen && ownPoint(arrow, seen)) ?? at;
}

/**
 * A text on a picture as one of its own, where it is seen.
 * @param {Element} element @param {(id: string) => Element | undefined} find @returns {Data}
 */
function freed(element, find) {
  const parent = find(element.parentId), { x, y } = anchorOf(element, parent), scale = Math.abs(parent?.scaleX ?? 1);
  return {
    ...without(element, ["parentId", "space"]), positionX: Math.round(x), positionY: Math.round(y), rotation: turnOf(element, parent),
    scaleX: element.scaleX * scale, scaleY: element.scaleY * scale,
  };
}

/** @param {Data[]} elements @returns {string} what other programs read of them */
export const readable = elements =>
  elements.map(({ content, title }) => textOf(content ?? title).trim()).filter(text => text !== "").join("\n");

/**
 * What a clipboard gets: elements that this page finds again, and text for all others.
 * @param {Data[]} elements @returns {{html: string, text: string}}
 */
export function written(elements) {
  const json = JSON.stringify({ touchsync: elements }), text = readable(elements);
  const shown = text.replace(/[&<>]/g, sign => `&#${sign.charCodeAt(0)};`).replaceAll("\n", "<br>");
  // encodeURIComponent leaves nothing that ends an attribute.
  return { html: `<div ${MARK}="${encodeURIComponent(json)}">${shown}</div>`, text: text || json };
}

/**
 * The elements that a clipboard has, each of them sound, whoever wrote it.
 * @param {{html: string, text: string}} clipboard @returns {Data[] | undefined} undefined when it has something else
 */
export function read({ html, text }) {
  const marked = new RegExp(`${MARK}="([^"<>]+)"`).exec(html)?.[1];
  try {
    const json = marked !== undefined ? decodeURIComponent(marked) : text.startsWith('{"touchsync":') ? text : "{}";
    const elements = JSON.parse(json).touchsync;
    if (!Array.isArray(elements)) return undefined;
    const found = elements.slice(0, MOST).flatMap(one => sound(one) ?? []);
    return found.length ? found : undefined;
  } catch {
    return undefined;
  }
}

/** @type {Record<string, (value: number) => boolean>} */
const NUMBERS = {
  positionX: Number.isFinite, positionY: Number.isFinite, rotation: Number.isFinite, scaleX: value => value !== 0, scaleY: value => value !== 0,
  originalWidth: value => value > 0, originalHeight: value => value > 0, anchorX: Number.isFinite, anchorY: Number.isFinite,
};
const DEFAULTS = {
  positionX: 0, positionY: 0, rotation: 0, scaleX: 1, scaleY: 1, originalWidth: 100, originalHeight: 100, anchorX: 0.5, anchorY: 0.5,
};

/** @param {any} value @returns {Data | undefined} an element that can be put somewhere */
function sound(value) {
  if (!isObject(value) || typeof value.id !== "string" || typeof value.type !== "string" || isGuide(value)) return undefined;
  const wrong = Object.keys(NUMBERS).filter(name => !Number.isFinite(value[name]) || !NUMBERS[name](value[name]));
  return { ...DEFAULTS, ...without(value, [...LEFT, ...wrong]) };
}

/** @param {Data[]} elements @returns {import("./geometry.js").Box | undefined} around them */
export function boxOf(elements) {
  return union(/** @type {Element[]} */ (elements).filter(one => !isAnnotation(one)).flatMap(one => {
    if (!isArrow(one)) return [boundsOf(one)];
    const free = ENDS.filter(end => targetOf(one, end) === undefined).map(end => seenAt(one, pointOf(one[end])));
    return free.length ? [boxAround(free)] : [];
  }));
}

/** @param {any} value @returns {Point} */
const pointOf = value => ({ x: numberOf(value?.x, 0), y: numberOf(value?.y, 0) });

/**
 * Copies with ids of their own, which belong together as the elements did: annotations, groups, and the ends of arrows.
 * @param {Data[]} elements in their order @param {{newId: () => string, shift: Point, level?: number}} more what makes ids, in
 *   the order of drawing; how far they are from the elements; the level at which they lie above all others
 * @returns {Data[]}
 */
export function copied(elements, { newId, shift, level }) {
  // Those that others lie on come first: the room must know them.
  const inOrder = [...elements.filter(one => one.parentId === undefined), ...elements.filter(one => one.parentId !== undefined)];
  const ids = new Map(inOrder.map(({ id }) => [id, newId()]));
  /** @type {Map<any, string[]>} */
  const groups = new Map();
  for (const { id, groupId } of inOrder) if (groupId !== undefined) groups.set(groupId, [...(groups.get(groupId) ?? []), id]);
  return inOrder.map(({ zIndex, groupId, ...element }) => {
    /** @type {Data} */
    const copy = { ...element, id: ids.get(element.id) };
    if (ids.has(element.parentId)) copy.parentId = ids.get(element.parentId);
    if (!isAnnotation(/** @type {Element} */ (element))) Object.assign(copy, { positionX: element.positionX + shift.x, positionY: element.positionY + shift.y });
    const [first, second] = groups.get(groupId) ?? [];
    if (second !== undefined) copy.groupId = ids.get(first);
    for (const end of ENDS) {
      const target = ids.get(element[end]?.element);
      if (target !== undefined) copy[end] = { ...element[end], element: target };
    }
    return level ? { ...copy, zIndex: level } : copy;
  });
}

/** @param {Data[]} elements @returns {Data[][]} in their order, each part small enough for one edit */
export function inParts(elements) {
  /** @type {Data[][]} */
  const parts = [];
  let bytes = Infinity;
  for (const element of elements) {
    const { length } = new TextEncoder().encode(JSON.stringify(element));
    if (bytes + length > PART.bytes || (parts.at(-1)?.length ?? 0) >= PART.count) {
      parts.push([]);
      bytes = 0;
    }
    parts.at(-1)?.push(element);
    bytes += length;
  }
  return parts;
}
