// What this person has selected; others see it, too.

/** The selected elements, in the order in which they were chosen. */
export class Selection {
  /** @type {Set<string>} */
  #ids = new Set();

  /**
   * @param {(ids: string[]) => void} changed called after each change
   * @param {number} [most] elements at most, as many as one edit may name
   */
  constructor(changed, most = 500) {
    this.changed = changed;
    this.most = most;
  }

  /** @returns {string[]} */
  get ids() {
    return [...this.#ids];
  }

  get size() {
    return this.#ids.size;
  }

  /**
   * The only selected element.
   * @returns {string | undefined}
   */
  get single() {
    return this.size === 1 ? this.ids[0] : undefined;
  }

  /** @param {string} id */
  has(id) {
    return this.#ids.has(id);
  }

  /** @param {Iterable<string>} ids */
  set(ids) {
    const next = new Set([...ids].slice(0, this.most));
    if (next.size === this.size && [...next].every(id => this.has(id))) return;
    this.#ids = next;
    this.changed(this.ids);
  }

  /** @param {string[]} ids come all, or go all if all were there */
  toggle(ids) {
    const isThere = ids.every(id => this.has(id));
    this.set(isThere ? this.ids.filter(other => !ids.includes(other)) : [...this.ids, ...ids]);
  }

  clear() {
    this.set([]);
  }

  /**
   * Forgets what is not there any more.
   * @param {(id: string) => boolean} isThere
   */
  keep(isThere) {
    this.set(this.ids.filter(isThere));
  }
}
