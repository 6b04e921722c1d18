// What the page reads of the client's core beside the room's own interface.

/** @typedef {import("/client/touchsync.js").Room} Room */
/** @typedef {import("/client/touchsync.js").TypeRules} TypeRules */

/** @param {Room} room @returns {import("/client/touchsync.js").Rules} of types, as the server applies them */
export const rulesIn = room => room.core?.rules ?? new Map();

/** @param {Room} room @param {string} type @returns {TypeRules | undefined} */
export const ruleFor = (room, type) => rulesIn(room).get(type) ?? rulesIn(room).get("*");

/** @param {Room} room @returns {string} the name of this connection in the room */
export const ownSid = room => room.core?.sid ?? "";

/** @param {Room} room @param {string} id @returns {string | undefined} whose gesture moves an element */
export const publisherOf = (room, id) => room.core?.movements.all.get(id)?.sid;

/** @param {Room} room @returns {string} the name of the database's history */
export const epochOf = room => room.core?.epoch ?? "";

/** @param {Room} room @returns {boolean} whether this person may change it, as far as is known */
export const mayChange = room => (room.self?.right ?? "commit") === "commit";

/** @param {Room} room @returns {boolean} whether others may see what this person does: where it points, looks, selects */
export const mayShow = room => (room.self?.right ?? "view") !== "view";

/** @param {Room} room @returns {number} how long a picture may be that is in an element, as a data URL */
export const pictureBytesIn = room => room.core?.limits.pictureBytes ?? 7000;
