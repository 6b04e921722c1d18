// The log of a room, read in pages from the server.

/** @typedef {import("/client/touchsync.js").Room} Room */
/** @typedef {import("./history.js").Entry} Entry */

/** Changes of a page, as many as the server gives; pages at most: each change has its elements before and after it. */
const PAGE = 200, PAGES = 20;

/**
 * The latest changes of a room, from the oldest that is kept on, unless they are too many.
 * @param {Room} room @returns {Promise<{entries: Entry[], isWhole: boolean}>} whether it reaches back to the room's first change
 */
export async function latest(room) {
  const { oldest } = await room.history({ limit: 1 });
  const entries = await since(room, Math.max((oldest ?? 1) - 1, room.seq - PAGE * PAGES, 0));
  return { entries, isWhole: entries.length === 0 || entries[0].seq === 1 };
}

/** @param {Room} room @param {number} after @returns {Promise<Entry[]>} */
export async function since(room, after) {
  /** @type {Entry[]} */
  const entries = [];
  /** @type {number | null} */
  let next = after;
  for (let page = 0; next !== null && page <= PAGES; page++) {
    /** @type {{entries: Entry[], next: number | null}} */
    const found = /** @type {any} */ (await room.history({ after: next, limit: PAGE }));
    entries.push(...found.entries);
    next = found.next;
  }
  return entries;
}
