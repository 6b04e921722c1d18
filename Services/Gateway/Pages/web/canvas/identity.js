// Who sits at this window: each window of a browser is a person of its own, and the same one again after a reload or
// the next day, so that edits which were not sent yet find their owner.

/** @typedef {{userId: string, name: string, colour: string}} Identity */

import { PALETTE } from "./colours.js";
import { browser, isObject, isText, tab } from "./storage.js";

const NAMES = ["Ada", "Grace", "Linus", "Margaret", "Alan", "Barbara", "Dennis", "Radia", "Edsger", "Frances"];
const SEATS = 64;

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

/** A browser that keeps nothing for the page has no locks either. */
const hasLocks = () => navigator.locks?.query().then(() => true, () => false);

/**
 * Does something while no other window of this browser does it.
 * @template T @param {() => T} work @returns {Promise<T>}
 */
const alone = async work => await hasLocks() ? navigator.locks.request("touchsync people", work) : work();

/**
 * Takes a seat until the window closes, by a lock of the browser.
 * @param {number} seat @param {LockOptions} options @returns {Promise<boolean>} false when another window has it
 */
const take = (seat, options) => new Promise(resolve => {
  navigator.locks.request(`touchsync seat ${seat}`, options, lock => {
    resolve(lock !== null);
    return lock && new Promise(() => {});
  }).catch(() => resolve(false));
});

/** @param {any} value @returns {value is number} */
const isSeat = value => Number.isInteger(value) && value >= 0 && value <= SEATS;

/** @returns {Promise<number>} a seat that no other window of this browser has */
async function seat() {
  const former = tab.read("seat", isSeat);
  if (!await hasLocks()) return former ?? 0;
  // The page before a reload may take a moment to leave.
  if (former !== null && await take(former, { signal: /** @type {any} */ (AbortSignal).timeout(500) })) return former;
  for (let seat = 0; seat < SEATS; seat++) if (await take(seat, { ifAvailable: true })) return seat;
  return SEATS;
}

/** @param {any} value @returns {value is Identity} */
const isIdentity = value => isObject(value) && [value.userId, value.name, value.colour].every(isText) && value.userId !== "";

/** @returns {Record<string, Identity>} by seat */
const people = () => Object.fromEntries(Object.entries(browser.read("people", isObject) ?? {}).filter(([, one]) => isIdentity(one)));

/** @returns {Promise<Identity & {seat: number, isGuest: boolean}>} a guest is somebody else after a reload */
export async function identity() {
  const own = await seat();
  tab.write("seat", own);
  return alone(() => {
    const all = people();
    all[own] ??= someone(Object.values(all));
    browser.write("people", all);
    return { ...all[own], seat: own, isGuest: !browser.isKept };
  });
}

/** @param {number} seat @param {Partial<Identity>} changes from the next start on */
export const rename = (seat, changes) => alone(() => {
  const all = people();
  browser.write("people", { ...all, [seat]: { ...all[seat], ...changes } });
});

/**
 * The token of this tab, where the server wants one.
 * @returns {string | null}
 */
export const kept = () => tab.read("token", isText);

/** @param {string | null} token */
export const keep = token => tab.write("token", token);
