// A hand on elements, from the touch to the release: it turns a motion on the canvas into a gesture of the room, and
// shows beyond the limits what the rules refuse.

import { ownPoint } from "/client/projection.js";
import { gestured, shortestTurn } from "/client/touchsync.js";
import { isArrow, isTied } from "./arrows.js";
import { anchorOf, turnOf } from "./geometry.js";
import { given } from "./give.js";
import { carried, minus } from "./motion.js";
import { mayChange, ruleFor, rulesIn } from "./roomcore.js";
import { isAnnotation } from "./kinds.js";
import { restyle } from "./storing.js";

/** @typedef {import("./geometry.js").Point} Point */
/** @typedef {import("./motion.js").Motion} Motion */
/** @typedef {import("/client/touchsync.js").Element} Element */
/** @typedef {import("/client/touchsync.js").Room} Room */
/** @typedef {import("./scene.js").Scene} Scene */

/**
 * What a hand does beside moving: it resizes instead of scaling, or holds copies, which go when it lets them go back.
 * @typedef {{resizes?: boolean, copies?: {ids: string[], options: import("/client/touchsync.js").UndoOptions}}} Way
 */

/** Beyond so many elements nobody looks for the give of each. */
const MOST_GIVES = 40;

/**
 * Those that this person can move together: nothing locked, no arrow between two elements, and an annotation only alone.
 * @param {Room} room @param {string[]} ids
 */
export function movable(room, ids) {
  const free = !mayChange(room) ? [] : ids.filter(id => {
    const element = room.element(id);
    return element && !element.locked && !(isArrow(element) && isTied(element));
  });
  return free.length > 1 ? free.filter(id => !isAnnotation(room.element(id))) : free;
}

/** From how far away a tilted element is looked at that has no perspective, pixels. */
const PERSPECTIVE = 800;

const ratio = (/** @type {number} */ a, /** @type {number} */ b) => Math.abs(a) / Math.abs(b || 1e-9);

/** One gesture of this person. */
export class Hand {
  /**
   * What its only element was since the touch, if that is recorded.
   * @type {import("./recording.js").Sample[] | undefined}
   */
  recorded = undefined;

  /**
   * @param {Room} room @param {Scene} scene @param {string[]} ids what can be moved, at least one
   * @param {Point} pivot about which several turn and are scaled
   * @param {Way} [way]
   */
  constructor(room, scene, ids, pivot, way = {}) {
    this.room = room;
    this.way = way;
    this.scene = scene;
    this.ids = ids;
    this.pivot = pivot;
    this.gesture = room.begin(ids, { pivot });
    /** What the elements were when the hand touched them: what flew stops there. */
    this.start = new Map(ids.map(id => [id, { .../** @type {Element} */ (room.element(id)) }]));
  }

  /** Gives those perspective that have none, before they are tilted. Nothing of it is seen before, and undo leaves it. */
  deepen() {
    const flat = this.ids.filter(id => !this.start.get(id)?.perspective);
    const elements = flat.map(elementId => ({ elementId, perspective: PERSPECTIVE }));
    if (flat.length) this.room.transformAll(elements, { undoable: false });
  }

  /** @param {Motion} motion since the touch */
  move(motion) {
    const deltas = this.ids.length > 1 ? this.#ofGroup(motion) : this.#ofOne(motion);
    this.gesture.update(deltas);
    for (const id of this.ids.slice(0, MOST_GIVES)) this.#give(id, motion, deltas.translation);
  }

  /** Records what its only element is now. */
  record() {
    (this.recorded ??= []).push({ at: performance.now(), pose: { .../** @type {Element} */ (this.room.element(this.ids[0])) } });
  }

  /**
   * @param {Point} [velocity] with which it is thrown, pixels of the canvas a second
   * @returns {Promise<any>} the edit's result
   */
  end(velocity) {
    if (this.way.resizes || this.way.copies) return this.#commit();
    return this.gesture.end(velocity && { throwing: { velocity: this.#velocity(velocity) } });
  }

  cancel() {
    this.gesture.cancel();
    if (this.way.copies) this.room.delete(this.way.copies.ids, this.way.copies.options);
  }

  /** Stores what is shown by edits that are undone as one; the gesture has only shown it. */
  #commit() {
    const { room, way } = this, options = way.copies?.options ?? { undoGroup: `resized ${Date.now().toString(36)}` };
    const shown = this.ids.flatMap(id => ({ .../** @type {Element} */ (room.element(id)) }));
    const places = shown.map(({ id, positionX, positionY }) => ({ elementId: id, positionX, positionY }));
    const done = room.transformAll(places, options);
    this.gesture.cancel();
    for (const element of way.resizes ? shown : []) {
      const { originalWidth, originalHeight, scaleX, scaleY } = /** @type {Element} */ (this.start.get(element.id));
      const size = {
        originalWidth: Math.round(originalWidth * ratio(element.scaleX, scaleX)),
        originalHeight: Math.round(originalHeight * ratio(element.scaleY, scaleY)),
      };
      // A chosen width stays, whatever is written: texts are as high as their lines then. So does a height.
      if (element.type === "text") restyle(this, element.id, { ...size, wraps: true }, options);
      else room.update(element.id, { ...size, ...(element.least === undefined ? {} : { least: null }) }, options);
    }
    return done;
  }

  /** @param {Motion} motion */
  #ofGroup(motion) {
    const { scale, rotation, tilt } = motion;
    // A group has the pivot of its touch: a motion about another centre carries the pivot.
    return { translation: minus(carried(motion, this.pivot), this.pivot), scale, rotation, tilt };
  }

  /** @param {Motion} motion */
  #ofOne(motion) {
    const [element] = this.start.values(), parent = this.scene.parentOf(element.id);
    const mirrored = parent ? Math.sign(parent.scaleX * parent.scaleY || 1) : 1;
    const turned = motion.rotation * mirrored;
    // What the rules leave of it decides how far the anchor moves, or the element would slide under the fingers.
    const allowed = gestured(element, { scale: motion.scale, rotation: turned }, rulesIn(this.room), { isDrawn: true });
    const scale = { x: ratio(allowed.scaleX, element.scaleX), y: ratio(allowed.scaleY, element.scaleY) };
    const rotation = shortestTurn(element.rotation, allowed.rotation) * mirrored;
    const anchor = anchorOf(element, parent);
    const end = carried({ ...motion, scale, rotation }, anchor, turnOf(element, parent));
    return { translation: this.#way(anchor, end, parent), scale: motion.scale, rotation: turned, tilt: motion.tilt };
  }

  /**
   * @param {Point} from @param {Point} to on the canvas @param {Element | undefined} parent
   * @returns {Point} the way between them, in fractions of a parent, if it is not seen edge-on
   */
  #way(from, to, parent) {
    if (!parent) return minus(to, from);
    const start = ownPoint(parent, from), end = ownPoint(parent, to);
    if (!start || !end) return { x: 0, y: 0 };
    return { x: (end.x - start.x) / parent.originalWidth, y: (end.y - start.y) / parent.originalHeight };
  }

  /** @param {Point} velocity on the canvas @returns {Point} in fractions of a parent a second, where there is one */
  #velocity({ x, y }) {
    const [element] = this.start.values(), parent = this.scene.parentOf(element.id), anchor = anchorOf(element, parent);
    // The way of a ms: one of a second may leave what a tilted parent shows.
    const way = this.#way(anchor, { x: anchor.x + x / 1000, y: anchor.y + y / 1000 }, parent);
    return { x: way.x * 1000, y: way.y * 1000 };
  }

  /**
   * Shows what the rules refuse of a wish as a give.
   * @param {string} id @param {Motion} motion @param {Point} translation that was asked for
   */
  #give(id, { scale, rotation }, translation) {
    const start = this.start.get(id), shown = this.room.element(id);
    if (!start || !shown) return;
    const parent = this.scene.parentOf(id);
    const isHeld = isAnnotation(start) || start.bounds !== undefined;
    const beyond = (/** @type {"positionX" | "positionY"} */ name, /** @type {number} */ way, /** @type {number} */ pixels) =>
      (isHeld && this.ids.length === 1 ? (start[name] + way - shown[name]) * pixels : 0);
    const give = given({
      x: beyond("positionX", translation.x, parent?.originalWidth ?? 1),
      y: beyond("positionY", translation.y, parent?.originalHeight ?? 1),
      scale: typeof scale === "number" ? ratio(start.scaleX * scale, shown.scaleX) : 1,
      rotation: ruleFor(this.room, start.type)?.rotates === false ? rotation : 0,
    });
    if (give) this.scene.gives.set(id, give);
    else this.scene.gives.delete(id);
  }
}
