// What the bar of the past shows: who did what when, and a line for each change in the colour of who made it.

import { colourOf } from "./colours.js";
import { deed } from "./history.js";
import { node } from "./page.js";
import { face } from "./people.js";

/** @typedef {import("./history.js").Entry} Entry */
/** @typedef {import("/client/touchsync.js").Room} Room */

/** @param {string} userId @param {Room} room */
function personOf(userId, room) {
  const member = room.members.find(one => one.userId === userId);
  return { userId, name: member?.name || userId.replace(/-[a-z0-9]{6,7}$/, ""), colour: colourOf(member?.color, userId) };
}

/** @param {Entry} entry @param {Room} room @returns {Node[]} */
export function told(entry, room) {
  const person = personOf(entry.userId, room), at = new Date(entry.at);
  const isToday = at.toDateString() === new Date().toDateString();
  const time = node("time", "", at.toLocaleString("en", isToday ? { timeStyle: "medium" } : { dateStyle: "medium", timeStyle: "short" }));
  return [face(person), node("b", "", person.name), node("span", "deed", ` ${deed(entry)} `), time];
}

/** @param {HTMLCanvasElement} canvas @param {Entry[]} entries @param {Room} room */
export function strip(canvas, entries, room) {
  const { clientWidth: width, clientHeight: height } = canvas, dense = devicePixelRatio || 1, step = width / entries.length;
  if (!width) return;
  Object.assign(canvas, { width: width * dense, height: height * dense });
  const brush = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d")), colours = new Map();
  brush.scale(dense, dense);
  entries.forEach(({ userId }, index) => {
    if (!colours.has(userId)) colours.set(userId, personOf(userId, room).colour);
    brush.fillStyle = colours.get(userId);
    brush.fillRect(index * step, 0, Math.max(step - (step > 3 ? 1 : 0), 0.5), height);
  });
}
