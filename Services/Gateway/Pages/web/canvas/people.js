// The others: who they are, where they point, and what they have selected.

import { Motion } from "/client/touchsync.js";
import { colourOf, initials, inkOn } from "./colours.js";
import { $, icon, node } from "./page.js";
import { ownSid } from "./roomcore.js";
import { toScreen } from "./camera.js";

/** @typedef {import("/client/touchsync.js").Room} Room */
/** @typedef {import("./camera.js").Camera} Camera */
/** @typedef {{userId: string, name: string, colour: string}} Person */
/** @typedef {{node: HTMLElement, motion: Motion}} Cursor */

/** How many faces are shown before a number stands for the rest. */
const FACES = 5;

/** @param {Person} person @param {string} [className] @returns {HTMLElement} */
export function face({ name, colour }, className = "face") {
  const made = node("span", className, initials(name));
  made.style.background = colour;
  made.style.color = inkOn(colour);
  made.title = name;
  return made;
}

/** @param {any} member @returns {Person} */
const personOf = ({ userId, name, color }) =>
  ({ userId, name: name || userId, colour: colourOf(color, userId) });

/** Those in the room beside this window. */
export class People {
  /**
   * By connection.
   * @type {Map<string, Person & {selection: string[]}>}
   */
  #others = new Map();
  /** @type {Map<string, Cursor>} */
  #cursors = new Map();
  count = 0;

  /** @param {Room} room @param {HTMLElement} layer of the cursors @param {() => void} changed something is to be drawn */
  constructor(room, layer, changed) {
    this.room = room;
    this.layer = layer;
    this.changed = changed;
    room.on("members", members => this.#met(members));
    room.on("awareness", happened => this.#attended(happened));
  }

  /** @param {string | undefined} sid @returns {Person | undefined} */
  who(sid) {
    return this.#others.get(sid ?? "");
  }

  /** @returns {[string, Person & {selection: string[]}][]} */
  get others() {
    return [...this.#others];
  }

  /** @param {any[]} members */
  #met(members) {
    const own = ownSid(this.room), before = this.#others;
    this.#others = new Map(members.flatMap(member => member.connections
      .filter((/** @type {any} */ one) => one.sid !== own)
      .map((/** @type {any} */ one) => [one.sid, { ...personOf(member), selection: one.selection ?? before.get(one.sid)?.selection ?? [] }])));
    this.count = members.length;
    for (const member of members) for (const one of member.connections) this.#point(one.sid, one.cursor);
    for (const sid of this.#cursors.keys()) if (!this.#others.has(sid)) this.#point(sid, null);
    this.#faces(members.map(personOf));
    this.changed();
  }

  /** @param {{userId: string, sid: string, cursor?: any, selection?: string[]}} happened */
  #attended({ userId, sid, cursor, selection }) {
    if (sid === ownSid(this.room)) return;
    // A connection that came after its member did.
    const member = this.room.members.find((/** @type {any} */ one) => one.userId === userId);
    if (!this.#others.has(sid) && member) this.#others.set(sid, { ...personOf(member), selection: [] });
    const other = this.#others.get(sid);
    if (other && selection) other.selection = selection;
    if (cursor !== undefined) this.#point(sid, cursor);
    this.changed();
  }

  /** @param {string} sid @param {{x: number, y: number} | null | undefined} at */
  #point(sid, at) {
    const person = this.#others.get(sid), now = performance.now();
    if (!person || !at) {
      this.#cursors.get(sid)?.node.remove();
      this.#cursors.delete(sid);
      return;
    }
    const known = this.#cursors.get(sid);
    if (known) return known.motion.receive([at.x, at.y, 0], now);
    const made = node("div", "cursor"), name = node("span", "name", person.name);
    made.style.color = person.colour;
    name.style.background = person.colour;
    name.style.color = inkOn(person.colour);
    made.append(icon("cursor"), name);
    this.layer.append(made);
    this.#cursors.set(sid, { node: made, motion: new Motion([at.x, at.y, 0]) });
  }

  /**
   * Places the cursors.
   * @param {Camera} camera @param {number} now @param {Set<string | undefined>} publishers whose names stand elsewhere
   * @returns {boolean} whether one is on its way
   */
  draw(camera, now, publishers) {
    let isMoving = false;
    for (const [sid, { node, motion }] of this.#cursors) {
      node.classList.toggle("named", publishers.has(sid));
      const [x, y] = motion.pose(now), at = toScreen(camera, { x, y });
      node.style.transform = `translate(${at.x}px, ${at.y}px)`;
      isMoving ||= !motion.isAtRest(now);
    }
    return isMoving;
  }

  /** @param {Person[]} people */
  #faces(people) {
    const shown = people.slice(0, FACES).map(person => face(person));
    if (people.length > FACES) shown.push(node("span", "face more", `+${people.length - FACES}`));
    $("faces").replaceChildren(...shown);
    $("people-list").replaceChildren(...people.slice(0, 60).map(person => {
      const line = node("li");
      line.append(face(person), node("span", "", person.name));
      return line;
    }));
  }
}
