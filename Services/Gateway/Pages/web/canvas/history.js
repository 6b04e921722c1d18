// What a room was: its elements after each change that the server keeps, and who did what.

import { nameOf } from "./samples.js";
import { counted, named } from "./words.js";

/** @typedef {import("/client/touchsync.js").Element} Element */
/** @typedef {{elementId: string, before: Element | null, after: Element | null}} Change */
/** @typedef {{seq: number, at: string, event: string, userId: string, cause?: string, changes: Change[]}} Entry */

/**
 * The order of a room: by level, then by id.
 * @param {Element} a @param {Element} b
 */
const inOrder = (a, b) => (a.zIndex ?? 0) - (b.zIndex ?? 0) || (a.id < b.id ? -1 : 1);

/** A room in the past, after any of its changes: for a `Scene` it is a room. */
export class Past {
  /** How many of the changes have happened. */
  at;
  /** @type {Map<string, Element>} */
  #elements = new Map();
  /** @type {Element[] | undefined} */
  #sorted = undefined;

  /**
   * At its last change.
   * @param {Iterable<Element>} living the room's elements, not older than the last of the changes
   * @param {Entry[]} entries all changes from some moment on
   */
  constructor(living, entries) {
    this.entries = entries;
    // What no change names has always been so. Before the first change that names an element it was what that one found.
    const known = new Set(entries.flatMap(entry => entry.changes.map(change => change.elementId)));
    for (const element of living) if (!known.has(element.id)) this.#elements.set(element.id, element);
    const found = new Set();
    for (const { changes } of entries) {
      for (const { elementId, before } of changes) {
        if (!found.has(elementId) && before) this.#elements.set(elementId, before);
        found.add(elementId);
      }
    }
    this.at = 0;
    this.go(entries.length);
  }

  /**
   * Goes to another moment.
   * @param {number} at how many of the changes have happened @returns {Set<string>} ids of what differs
   */
  go(at) {
    const changed = new Set(), to = Math.min(Math.max(Math.round(at) || 0, 0), this.entries.length);
    for (; this.at < to; this.at++) for (const change of this.entries[this.at].changes) this.#put(change.elementId, change.after, changed);
    while (this.at > to) for (const change of this.entries[--this.at].changes) this.#put(change.elementId, change.before, changed);
    if (changed.size) this.#sorted = undefined;
    return changed;
  }

  /** @param {string} id @param {Element | null} element @param {Set<string>} changed */
  #put(id, element, changed) {
    if (element) this.#elements.set(id, element);
    else this.#elements.delete(id);
    changed.add(id);
  }

  /**
   * More has happened meanwhile.
   * @param {Entry[]} entries
   */
  append(entries) {
    const last = this.entries.at(-1)?.seq ?? 0;
    this.entries.push(...entries.filter(entry => entry.seq > last));
  }

  /** The change that led to what is shown. */
  get entry() {
    return this.at > 0 ? this.entries[this.at - 1] : undefined;
  }

  get elements() {
    return (this.#sorted ??= [...this.#elements.values()].sort(inOrder));
  }

  /** @param {string} id */
  element(id) {
    return this.#elements.get(id);
  }

  /** @param {string} id */
  drawn(id) {
    return this.#elements.get(id);
  }

  isMoving() {
    return false;
  }
}

/**
 * What a change of these fields is called, the first that fits.
 * @type {[string[], string][]}
 */
const VERBS = [
  [["content", "title"], "wrote on"], [["scaleX", "scaleY", "originalWidth", "originalHeight"], "resized"],
  [["positionX", "positionY", "from", "to"], "moved"], [["rotation"], "turned"], [["rotationX", "rotationY", "perspective"], "tilted"],
  [["tint", "fill", "stroke", "ink"], "coloured"], [["animation"], "animated"], [["zIndex"], "restacked"], [["groupId"], "grouped"],
];

/** @param {Change} change @returns {string} */
function verb({ before, after }) {
  if (!before) return "added";
  if (!after) return "deleted";
  if (Boolean(before.locked) !== Boolean(after.locked)) return after.locked ? "locked" : "unlocked";
  const differs = (/** @type {string} */ field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]);
  return VERBS.find(([fields]) => fields.some(differs))?.[1] ?? "changed";
}

/** @param {Entry} entry @returns {string} what was done, such as: moved Note “Hello” */
export function deed({ changes, cause }) {
  const [first] = changes, back = cause === "undo" ? "took back: " : cause === "redo" ? "did again: " : "";
  if (!first) return "changed nothing";
  const verbs = new Set(changes.map(verb)), types = new Set(changes.map(change => (change.after ?? change.before)?.type));
  // An annotation that goes with its picture is no deed of its own.
  const done = verbs.size === 1 ? [...verbs][0] : "changed";
  if (changes.length === 1) return `${back}${done} ${named(/** @type {Element} */ (first.after ?? first.before))}`;
  const one = types.size === 1 ? nameOf(String([...types][0])).toLowerCase() : "element";
  return `${back}${done} ${counted(changes.length, one)}`;
}
