// Invitations that come with a right. Only the app's own server can make them, as it makes the tokens.

import { AppFailure, ask, settings } from "./appserver.js";
import { $, node } from "./page.js";

/** @typedef {import("/client/touchsync.js").Room} Room */

/** What those who come may do, by the server's names. */
const RIGHTS = { commit: "can edit", view: "can view" };
/** How long the app's server may take, ms. */
const PATIENCE = 10_000;

/** @param {string} url of the app's server @param {string} room @param {string} right @returns {Promise<string>} a link */
async function linkFor(url, room, right) {
  const { link } = await ask(url, "application/json", JSON.stringify({ room, right }), PATIENCE);
  // It is shown and copied, never followed.
  if (typeof link !== "string" || !/^https?:\/\/\S+$/.test(link)) throw new AppFailure("The app's server gives no link.");
  return link;
}

/**
 * Offers invitations, if the app makes some: none gives more than this person has.
 * @param {Room} room @param {(text: string) => void} notify
 */
export async function offer(room, notify) {
  const { inviteUrl } = await settings();
  if (typeof inviteUrl !== "string") return;
  const choice = /** @type {HTMLSelectElement} */ (node("select")), line = node("label", "setting"), field = $("link"), plain = field.value;
  const rights = Object.entries(RIGHTS).filter(([right]) => right === "view" || room.self?.right === "commit");
  choice.id = "right";
  for (const [value, text] of [["", "have a token"], ...rights]) choice.append(new Option(text, value));
  line.append(node("span", "", "Guests"), choice);
  choice.addEventListener("change", async () => {
    const { value } = choice;
    field.value = value ? "" : plain;
    if (!value) return;
    const link = await linkFor(inviteUrl, room.id, value).catch(() => undefined);
    // Something else may have been chosen meanwhile.
    if (choice.value !== value) return;
    field.value = link ?? plain;
    if (link) return;
    choice.value = "";
    notify("The app cannot make this invitation now. Try again in a moment.");
  });
  $("copy").parentElement.before(line);
}
