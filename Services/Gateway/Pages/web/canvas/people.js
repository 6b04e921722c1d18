// The others: who they are, where they point and look, and what they have selected.

import { Motion } from "/client/touchsync.js";
import { colourOf, initials, inkOn } from "./colours.js";
import { uniqueNames } from "./names.js";
import { $, icon, node } from "./page.js";
import { ownSid } from "./roomcore.js";
import { toScreen } from "./camera.js";

/** @typedef {import("/client/touchsync.js").Room} Room */
/** @typedef {import("./camera.js").Camera} Camera */
/** @typedef {{userId: string, name: string, colour: string}} Person */
/** @typedef {import("./geometry.js").Box} Box */
/** @typedef {Person & {selection: string[], view?: Box}} Other */
/** @typedef {{node: HTMLElement, name: HTMLElement, motion: Motion, timer: number}} Cursor */

/** How many faces are shown before a number stands for the rest. */
const FACES = 4;
/** A cursor that rests so long fades, ms. */
const RESTS = 6000;

/** @param {Person} person @param {string} [tag] @returns {HTMLElement} */
export function face({ name, colour }, tag = "span") {
  const made = node(tag, "face", initials(name));
  made.style.background = colour;
  made.style.color = inkOn(colour);
  made.title = name;
  return made;
}

/** @param {HTMLElement} label @param {Person} person */
function name(label, { name, colour }) {
  label.textContent = name;
  label.style.background = colour;
  label.style.color = inkOn(colour);
}

/** Those in the room beside this window. */
export class People {
  /**
   * By connection.
   * @type {Map<string, Other>}
   */
  #others = new Map();
  /** @type {Map<string, string>} */
  #names = new Map();
  /** @type {string | undefined} */
  #followed = undefined;
  /** @type {Map<string, Cursor>} */
  #cursors = new Map();
  count = 0;

  /** @param {Room} room @param {HTMLElement} layer of the cursors @param {() => void} changed something is to be drawn */
  constructor(room, layer, changed) {
    this.room = room;
    this.layer = layer;
    this.changed = changed;
    /**
     * Called when somebody is to be followed.
     * @type {(person: Person) => void}
     */
    this.onFollow = () => {};
    room.on("members", members => this.#met(members));
    room.on("awareness", happened => this.#attended(happened));
  }

  /** @param {string | undefined} sid @returns {Person | undefined} */
  who(sid) {
    return this.#others.get(sid ?? "");
  }

  /** @returns {[string, Other][]} */
  get others() {
    return [...this.#others];
  }

  /** Where the others look and point now, for a map. */
  get places() {
    return this.others.map(([sid, { colour, view }]) => {
      const cursor = this.#cursors.get(sid), [x, y] = cursor && !cursor.node.classList.contains("resting") ? cursor.motion.pose(performance.now()) : [];
      return { colour, view, cursor: x === undefined ? undefined : { x, y: Number(y) } };
    });
  }

  /** @param {string | undefined} userId whose view this window shows */
  follow(userId) {
    this.#followed = userId;
    this.#show();
  }

  /** @param {any} member @returns {Person} */
  #personOf({ userId, name, color }) {
    return { userId, name: this.#names.get(userId) ?? (name || userId), colour: colourOf(color, userId) };
  }

  /** @param {any[]} members */
  #met(members) {
    const own = ownSid(this.room), before = this.#others;
    this.#names = uniqueNames(/** @type {any} */ (members));
    this.#others = new Map(members.flatMap(member => member.connections
      .filter((/** @type {any} */ one) => one.sid !== own)
      .map((/** @type {any} */ one) => [one.sid, {
        ...this.#personOf(member), selection: one.selection ?? before.get(one.sid)?.selection ?? [], view: one.viewport ?? undefined,
      }])));
    this.count = members.length;
    for (const member of members) for (const one of member.connections) this.#meet(one.sid, one.cursor);
    for (const sid of this.#cursors.keys()) if (!this.#others.has(sid)) this.#point(sid, null);
    this.#show();
    this.changed();
  }

  /**
   * Somebody may have another name now; where the cursor is was known before.
   * @param {string} sid @param {{x: number, y: number} | null | undefined} at
   */
  #meet(sid, at) {
    const cursor = this.#cursors.get(sid), other = this.#others.get(sid);
    if (!cursor || !other) return this.#point(sid, at);
    name(cursor.name, other);
    cursor.node.style.color = other.colour;
    if (!at) this.#point(sid, null);
  }

  /** @param {{userId: string, sid: string, cursor?: any, selection?: string[], viewport?: any}} happened */
  #attended({ userId, sid, cursor, selection, viewport }) {
    if (sid === ownSid(this.room)) return;
    // A connection that came after its member did.
    const member = this.room.members.find((/** @type {any} */ one) => one.userId === userId);
    if (!this.#others.has(sid) && member) this.#others.set(sid, { ...this.#personOf(member), selection: [] });
    const other = this.#others.get(sid);
    if (other && selection) other.selection = selection;
    if (other && viewport !== undefined) other.view = viewport ?? undefined;
    if (cursor !== undefined) this.#point(sid, cursor);
    this.changed();
  }

  /** @param {string} sid @param {{x: number, y: number} | null | undefined} at */
  #point(sid, at) {
    const person = this.#others.get(sid), now = performance.now();
    let cursor = this.#cursors.get(sid);
    clearTimeout(cursor?.timer);
    if (!person || !at) {
      cursor?.node.remove();
      this.#cursors.delete(sid);
      return;
    }
    if (cursor) cursor.motion.receive([at.x, at.y, 0], now);
    else this.#cursors.set(sid, (cursor = this.#newCursor(person, at)));
    const { node } = cursor;
    node.classList.remove("resting");
    cursor.timer = setTimeout(() => {
      node.classList.add("resting");
      this.changed();
    }, RESTS);
  }

  /** @param {Person} person @param {{x: number, y: number}} at @returns {Cursor} */
  #newCursor(person, at) {
    const made = node("div", "cursor"), label = node("span", "name");
    made.style.color = person.colour;
    name(label, person);
    made.append(icon("cursor"), label);
    this.layer.append(made);
    return { node: made, name: label, motion: new Motion([at.x, at.y, 0]), timer: 0 };
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

  /** Shows the faces of the others, each of which can be followed, and the list of all. */
  #show() {
    const people = this.room.members.map(member => this.#personOf(member)), own = this.room.self?.userId;
    const others = people.filter(person => person.userId !== own), isMany = others.length > FACES;
    const faces = others.slice(0, FACES).map(person => this.#button(person, face(person, "button")));
    if (isMany) faces.push(node("span", "face more", `+${others.length - FACES}`));
    $("faces").replaceChildren(...faces);
    $("people").setAttribute("aria-label", `People: ${people.length}`);
    $("people-list").replaceChildren(...people.slice(0, 60).map(person => {
      const line = node("li"), isOwn = person.userId === own, row = node(isOwn ? "div" : "button", "row");
      const does = isOwn ? "you" : person.userId === this.#followed ? "followed" : "Follow";
      row.append(face(person), node("span", "", person.name), node("small", "", does));
      line.append(isOwn ? row : this.#button(person, row));
      return line;
    }));
  }

  /** @param {Person} person @param {HTMLElement} button */
  #button(person, button) {
    const isFollowed = person.userId === this.#followed, label = isFollowed ? `Stop following ${person.name}` : `Follow ${person.name}`;
    Object.assign(button, { type: "button", title: label });
    button.setAttribute("aria-label", label);
    button.setAttribute("aria-pressed", String(isFollowed));
    button.addEventListener("click", () => this.onFollow(person));
    return button;
  }
}
