// The app's own server, where the gateway's settings name one. It gets this person's token, which it made: it decides what
// this person may do there.

import { kept } from "./identity.js";

/** @typedef {{inviteUrl?: string, uploadUrl?: string, pictureOrigins?: string[]}} Settings */

/** The longest answer of it that is read, bytes; and the longest address of a picture, as servers allow. */
const LONGEST = { answer: 16 << 10, address: 2048 };

/** @type {Promise<Settings> | undefined} */
let known;

/** @returns {Promise<Settings>} what the gateway says about it, once it could be asked */
export const settings = () => (known ??= fetch("/app/settings.json").then(answer => answer.json()).catch(() => {
  known = undefined;
  return {};
}));

/** Why the app's server does not do what is asked of it, in words for a person. */
export class AppFailure extends Error {}

/** @param {number} status @returns {string} */
function advice(status) {
  if (status === 401 || status === 403) return "The app does not let you do this.";
  return status === 413 ? "It is too large for the app." : `The app's server could not do it (${status}).`;
}

/** @param {Response} answer @returns {Promise<string>} */
async function textOf(answer) {
  const reader = answer.body?.getReader(), decoder = new TextDecoder();
  let text = "";
  for (let size = 0, part = await reader?.read(); part?.value; part = await reader?.read()) {
    size += part.value.length;
    if (size > LONGEST.answer) {
      reader?.cancel();
      throw new AppFailure("The app's server answers too much.");
    }
    text += decoder.decode(part.value, { stream: true });
  }
  return text;
}

/**
 * @param {string} url @param {string} type of the body @param {BodyInit} body @param {number} patience ms
 * @returns {Promise<Record<string, any>>} its answer, an object in JSON
 */
export async function ask(url, type, body, patience) {
  try {
    const answer = await fetch(url, {
      method: "POST", body, redirect: "error", signal: /** @type {any} */ (AbortSignal).timeout(patience),
      headers: { "content-type": type, authorization: `Bearer ${kept()}` },
    });
    if (!answer.ok) throw new AppFailure(advice(answer.status));
    return Object(JSON.parse(await textOf(answer)));
  } catch (error) {
    if (error instanceof AppFailure) throw error;
    if (error instanceof SyntaxError) throw new AppFailure("The app's server answers what this page cannot read.");
    const isLate = error instanceof DOMException && error.name === "TimeoutError";
    throw new AppFailure(isLate ? "The app's server does not answer." : "The app's server cannot be reached.");
  }
}

/** @param {unknown} value of an element's field @returns {value is string} whether it is an address, and no name and no data */
export const isAddress = value => typeof value === "string" && /^https?:/i.test(value);

/**
 * @param {unknown} value @param {readonly string[]} [origins] where pictures may be @param {string} [base] for an address without a host
 * @returns {string | undefined} the address of a picture that the page may show
 */
export function pictureAt(value, origins = [], base) {
  if (typeof value !== "string" || !value) return undefined;
  try {
    const { href, origin, username, password } = new URL(value, base);
    return origins.includes(origin) && !username && !password && href.length <= LONGEST.address ? href : undefined;
  } catch {
    return undefined;
  }
}
