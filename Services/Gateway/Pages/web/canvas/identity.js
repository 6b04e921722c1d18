// Who sits at this window: each window of a browser is a person of its own, and the same one again after a reload or
// the next day, so that edits which were not sent yet find their owner.

/** @typedef {{userId: string, name: string, colour: string}} Identity */

import { PALETTE } from "./colours.js";

const NAMES = ["Ada", "Grace", "Linus", "Margaret", "Alan", "Barbara", "Dennis", "Radia", "Edsger", "Frances"];
const SEATS = 64;

/**
 * A storage that may be forbidden or full: then nothing is kept.
 * @param {"localStorage" | "sessionStorage"} kind
 */
const kept = kind => ({
  /** @param {string} key @returns {any} */
  read(key) {
    try {
      return JSON.parse(globalThis[kind].getItem(key) ?? "null");
    } catch {
      return null;
    }
  },
  /** @param {string} key @param {any} value */
  write(key, value) {
    try {
      globalThis[kind].setItem(key, JSON.stringify(value));
    } catch {
      // It is asked for again next time.
    }
  },
});

/** Kept for this browser. */
export const browser = kept("localStorage");
/** Kept for this window. */
export const tab = kept("sessionStorage");

/**
 * Somebody whose name and colour nobody else has in this browser, while there are any left.
 * @param {Identity[]} others @returns {Identity}
 */
function someone(others) {
  const [part] = crypto.getRandomValues(new Uint32Array(1));
  const name = free(NAMES, part, others.map(each => each.name));
  const colour = free(PALETTE, part, others.map(each => each.colour));
  return { userId: `${name.toLowerCase()}-${part.toString(36)}`, name, colour };
}

/**
 * @param {string[]} all @param {number} start where to begin looking @param {string[]} taken
 * @returns {string} one that is not taken; the first one looked at when all are
 */
const free = (all, start, taken) => {
  const inOrder = all.map((_, place) => all[(start + place) % all.length]);
  return inOrder.find(each => !taken.includes(each)) ?? inOrder[0];
};

/**
 * Does something while no other window of this browser does it.
 * @template T @param {() => T} work @returns {Promise<T>}
 */
const alone = async work => navigator.locks ? navigator.locks.request("touchsync people", work) : work();

/**
 * Takes a seat until the window closes, by a lock of the browser.
 * @param {number} seat @param {LockOptions} options @returns {Promise<boolean>} false when another window has it
 */
const take = (seat, options) => new Promise(resolve => {
  if (!navigator.locks) return resolve(true);
  navigator.locks.request(`touchsync seat ${seat}`, options, lock => {
    resolve(lock !== null);
    return lock && new Promise(() => {});
  }).catch(() => resolve(false));
});

/** @returns {Promise<number>} a seat that no other window of this browser has */
async function seat() {
  const former = tab.read("seat");
  // The page before a reload may take a moment to leave.
  if (former !== null && await take(former, { signal: /** @type {any} */ (AbortSignal).timeout(500) })) return former;
  for (let seat = 0; seat < SEATS; seat++) if (await take(seat, { ifAvailable: true })) return seat;
  return SEATS;
}

/** @returns {Promise<Identity & {seat: number}>} */
export async function identity() {
  const own = await seat();
  tab.write("seat", own);
  return alone(() => {
    const people = browser.read("people") ?? {};
    people[own] ??= someone(Object.values(people));
    browser.write("people", people);
    return { ...people[own], seat: own };
  });
}

/** @param {number} seat @param {Partial<Identity>} changes from the next start on */
export const rename = (seat, changes) => alone(() => {
  const people = browser.read("people") ?? {};
  people[seat] = { ...people[seat], ...changes };
  browser.write("people", people);
});
