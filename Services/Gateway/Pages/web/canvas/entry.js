// Coming in: who this is, and a token where the server wants one. It is asked for in a form, kept for this tab alone, and
// never in the address, which others may see.

import { IndexedDBStore } from "/client/store.js";
import { TouchSync } from "/client/touchsync.js";
import { identity, keep, kept } from "./identity.js";
import { $, isCalm } from "./page.js";

/** @typedef {import("./identity.js").Identity} Identity */

/** @param {string} token @returns {string} whose it is, as far as can be seen; the server alone checks it */
function subject(token) {
  try {
    return String(JSON.parse(atob(token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/"))).sub);
  } catch {
    return "";
  }
}

/** @param {"connect" | "expires" | "refused"} reason @returns {string | null} */
function provide(reason) {
  if (reason === "refused") keep(null);
  return reason === "connect" ? kept() : null;
}

/** @param {Identity} identity */
function make({ userId, name, colour }) {
  const token = kept(), owner = token ? subject(token) : userId;
  const options = { userId, name, color: colour, store: new IndexedDBStore(), owner, motion: !isCalm() };
  return new TouchSync(token ? { ...options, token: provide } : options);
}

/** @param {string} text why it is asked for @returns {Promise<string>} what was entered */
function ask(text) {
  $("entry-text").textContent = text;
  $("entry").hidden = false;
  $("token").focus();
  return new Promise(resolve => {
    $("entry").onsubmit = (/** @type {SubmitEvent} */ event) => {
      event.preventDefault();
      const token = $("token").value.trim();
      $("token").value = "";
      if (!token) return;
      $("entry").hidden = true;
      keep(token);
      resolve(token);
    };
  });
}

/** @param {TouchSync} client @returns {Promise<boolean>} whether it came in; false when it is refused */
const enters = client => new Promise(resolve => {
  client.on("state", state => {
    if (state === "joining" || state === "live") resolve(true);
    if (state === "expired") resolve(false);
  });
});

/**
 * A client that the server let in.
 * @param {Identity} identity @returns {Promise<TouchSync>}
 */
async function enter(identity) {
  for (;;) {
    const hadToken = kept() !== null, client = make(identity);
    client.connect();
    if (await enters(client)) {
      client.on("state", state => state === "expired" && again(client));
      return client;
    }
    await client.close();
    await ask(hadToken ? "The token is not valid, or not any more. Paste another one." :
      "This server asks for a token, which the room's owner gives you. It stays in this tab, and is never in the address.");
  }
}

/**
 * The token ended while the page was open.
 * @param {TouchSync} client
 */
async function again(client) {
  const token = await ask("Your token has ended. Paste a new one to go on; your edits wait here.");
  // Somebody else has edits of his own.
  if (subject(token) !== client.options.owner) location.reload();
  else client.connect();
}

async function begin() {
  const own = await identity();
  return { own, client: await enter(own) };
}

/** Who came is let in while most of the page is still on its way. */
export const entered = begin();
// Sooner it would take the line from what lets people in.
import("./canvas.js");
