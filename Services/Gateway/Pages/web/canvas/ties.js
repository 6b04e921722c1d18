// The arrows of a room as they are drawn, and which elements they follow.

import { laidAlong, lineOf, targetOf } from "./arrows.js";

/** @typedef {import("./arrows.js").Line} Line */
/** @typedef {import("/client/touchsync.js").Element} Element */

export class Ties {
  /**
   * Where arrows are drawn.
   * @type {Map<string, Line>}
   */
  lines = new Map();
  /**
   * The arrow that is in the hand, with the end that it has there.
   * @type {{id: string, ends: {from?: import("./arrows.js").End, to?: import("./arrows.js").End}} | undefined}
   */
  held = undefined;
  /**
   * The arrows with an end on each element.
   * @type {Map<string, Set<string>>}
   */
  #followers = new Map();

  /** @param {import("./arrows.js").Find} find */
  constructor(find) {
    this.find = find;
  }

  /** @param {string} id @param {Element} arrow as the room draws it @returns {Element} along its line */
  laid(id, arrow) {
    const shown = this.held?.id === id ? { ...arrow, ...this.held.ends } : arrow;
    for (const name of /** @type {const} */ (["from", "to"])) {
      const target = targetOf(shown, name);
      if (target !== undefined) this.#followers.set(target, (this.#followers.get(target) ?? new Set()).add(id));
    }
    const line = lineOf(shown, this.find, this.lines.get(id));
    this.lines.set(id, line);
    return laidAlong(shown, line);
  }

  /** @param {string} id of an element @returns {string[]} the arrows that may follow it */
  of(id) {
    return [...this.#followers.get(id) ?? []].filter(arrow => arrow !== id);
  }

  /** @param {string} id of an element that is not there any more, perhaps an arrow */
  forget(id) {
    if (this.lines.delete(id)) for (const arrows of this.#followers.values()) arrows.delete(id);
  }
}
