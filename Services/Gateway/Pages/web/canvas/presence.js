// What others see of this window beside its cursor and its selection: each part of the page shows something under a name.

/** @typedef {import("/client/touchsync.js").Room} Room */

export class Presence {
  /** @type {Record<string, any>} */
  #state = {};

  /** @param {Room} room */
  constructor(room) {
    this.room = room;
  }

  /**
   * @param {string} name @param {any} [value] what is shown under it, undefined to show nothing any more; all values together
   *   have at most 1 KiB as JSON
   */
  set(name, value) {
    if (JSON.stringify(value) === JSON.stringify(this.#state[name])) return;
    this.#state = { ...this.#state, [name]: value };
    this.room.show(this.#state);
  }
}
