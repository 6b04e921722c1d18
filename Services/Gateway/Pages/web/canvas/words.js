// What the page says: refusals with what to do about them, and elements as they are read aloud.

import { nameOf, PICTURES } from "./samples.js";
import { textOf } from "./values.js";

/** @typedef {import("/client/touchsync.js").Element} Element */
/** @typedef {{code: string, message: string, field?: string, by?: string, entry?: object}} Refused */

/** @type {Record<string, (refusal: Refused) => string>} */
const ADVICE = {
  forbidden: ({ field }) => (field === "locked"
    ? "It is locked. Unlock it first."
    : "You may look at this room, but not change it. Ask its owner for more rights."),
  not_found: () => "It is not there any more.",
  gone: () => "Somebody deleted it meanwhile.",
  conflict: ({ message }) => `${message} Try again in a moment.`,
  too_large: ({ message }) => `${message} Delete something, or do it in smaller steps.`,
  queue_full: () => "Too many edits wait. They are sent when the connection is back; then go on.",
  forgotten: () => "The server cannot tell whether an edit from before was applied. Look, and repeat it if it is missing.",
};

/**
 * Why a change can neither be undone nor redone now.
 * @param {Refused} refusal @param {readonly Record<string, any>[]} people
 */
function obstacle({ code, field, by }, people) {
  const name = people.find(person => person.userId === by)?.name;
  if (by !== undefined) return `${name ?? "Somebody else"} has worked on it since.`;
  if (field === "locked") return "It is locked.";
  if (field === "parentId") return "What it belongs to was deleted.";
  return code === "too_large" ? "There is no space for it." : "It cannot be taken back now.";
}

/**
 * @param {Refused} refusal @param {readonly Record<string, any>[]} [people] who is here
 * @returns {string} sentences for a person
 */
export function refused(refusal, people = []) {
  if (refusal.entry) return `${obstacle(refusal, people)} Press it again to skip this step.`;
  return ADVICE[refusal.code]?.(refusal) ?? `${refusal.message} Try again; if it stays, reload the page.`;
}

/** @param {number} count @param {string} one @param {string} [many] @returns {string} "1 edit", "2 edits" */
export const counted = (count, one, many = `${one}s`) => `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

/** @param {string[]} names @returns {string} "Ada, Grace and Linus" */
export const sentence = names => names.join(", ").replace(/, ([^,]*)$/, " and $1");

/** @param {Element} element @returns {string} such as: Note "Hello", locked */
export function named(element) {
  // A picture's data says nothing.
  const picture = PICTURES.includes(element.picture) ? element.picture : undefined;
  const text = textOf(element.content ?? element.title ?? picture).trim().slice(0, 60);
  const name = `${nameOf(element.type)}${element.parentId ? " on a picture" : ""}`;
  return `${name}${text ? ` “${text}”` : ""}${element.locked ? ", locked" : ""}`;
}

/**
 * What the pill says in each state of the connection.
 * @type {Record<string, string>}
 */
export const STATES = {
  offline: "Offline", connecting: "Connecting", joining: "Joining", live: "Live", draining: "Moving over", expired: "Signed out",
};

/**
 * What the banner says when the connection does not come back, by the client's codes of failures.
 * @type {Record<string, string>}
 */
export const FAILURES = {
  unreachable: "The server cannot be reached.", not_touchsync: "What answers at this address is not TouchSync.",
  token: "The server does not take this sign-in.", version: "The server has another version: reload the page.",
};
