// Who writes on which element, while nothing of it is stored yet: others see the text grow, with a caret in the writer's
// colour.

import { paced } from "./page.js";
import { colourOf, SEGMENTER } from "./colours.js";
import { LONGEST } from "./texts.js";
import { ownSid } from "./roomcore.js";

/** @typedef {import("/client/touchsync.js").Room} Room */
/** @typedef {{name: string, colour: string, text: string | undefined, caret: number}} Writer without a text where that is as it was */

/** How often others see what is written, ms. */
const EVERY = 120;
/** So many bytes of a text can be shown to others, with its element's id beside it. */
const MOST_BYTES = 640;

/** @param {string} text @returns {number} bytes as JSON, without quotes */
const sizeOf = text => new TextEncoder().encode(JSON.stringify(text)).length - 2;

/**
 * What others see of a text: its end if all is too much, or what is before the caret if that is further ahead.
 * @param {string} text @param {number} caret @returns {{text: string, caret: number}}
 */
export function shownOf(text, caret) {
  if (sizeOf(text) <= MOST_BYTES) return { text, caret };
  const characters = [...SEGMENTER.segment(text)].map(({ segment, index }) => ({ index, size: sizeOf(segment) }));
  const most = MOST_BYTES - 2 * sizeOf("…");
  const before = (/** @type {number} */ end) => {
    let start = end, size = 0;
    for (const character of characters.filter(({ index }) => index < end).reverse()) {
      if ((size += character.size) > most) break;
      start = character.index;
    }
    return start;
  };
  const fromEnd = before(text.length), end = caret < fromEnd ? caret : text.length, start = caret < fromEnd ? before(caret) : fromEnd;
  const head = start > 0 ? "…" : "", tail = end < text.length ? "…" : "";
  return { text: `${head}${text.slice(start, end)}${tail}`, caret: head.length + caret - start };
}

/** @param {any} state of a connection @returns {{element: string, text: string | undefined, caret: number} | undefined} */
function writingIn(state) {
  const writing = state?.writing;
  if (typeof writing?.element !== "string") return undefined;
  const text = typeof writing.text === "string" ? writing.text.slice(0, LONGEST) : undefined;
  const caret = Number.isInteger(writing.caret) ? Math.min(Math.max(writing.caret, 0), text?.length ?? 0) : 0;
  return { element: writing.element, text, caret };
}

/** Those who write. */
export class Writers {
  /**
   * By element, in the order in which they came into the room.
   * @type {Map<string, Writer[]>}
   */
  #all = new Map();
  /** @type {{element: string, text: string, caret: number} | undefined} */
  #own = undefined;

  /**
   * @param {Room} room @param {import("./presence.js").Presence} presence
   * @param {(id: string) => void} changed others write on an element, or not any more
   */
  constructor(room, presence, changed) {
    this.room = room;
    this.changed = changed;
    this.tell = paced(EVERY, () => {
      const own = this.#own;
      presence.set("writing", own && { element: own.element, ...shownOf(own.text, own.caret) });
    });
    room.on("members", () => this.#look());
    room.on("awareness", happened => "state" in happened && this.#look());
  }

  /** @param {string} id @returns {Writer[]} the others who write on an element */
  on(id) {
    return this.#all.get(id) ?? [];
  }

  /** @param {string} element @param {string} text @param {number} caret what this person writes */
  write(element, text, caret) {
    this.#own = { element, text, caret };
    this.tell();
  }

  /** This person does not write any more. */
  rest() {
    this.#own = undefined;
    this.tell();
  }

  #look() {
    const own = ownSid(this.room), before = this.#all, { members } = this.room;
    this.#all = new Map();
    for (const member of members) {
      for (const { sid, state } of member.connections) {
        const writing = sid === own ? undefined : writingIn(state);
        if (!writing) continue;
        const { element, text, caret } = writing, name = String(member.name || member.userId);
        const writer = { name, colour: colourOf(member.color, member.userId), text, caret };
        this.#all.set(element, [...this.on(element), writer]);
      }
    }
    for (const id of new Set([...before.keys(), ...this.#all.keys()])) {
      if (JSON.stringify(before.get(id)) !== JSON.stringify(this.#all.get(id))) this.changed(id);
    }
  }
}
