// What files of other programs have in common when they become elements here. A field that is missing or of another kind
// counts as its default; what has no counterpart is counted.

import { simplified, parted, strokeThrough } from "./strokes.js";
import { arrowBetween } from "./arrows.js";

/** @typedef {import("./geometry.js").Point} Point */
/** @typedef {import("/client/touchsync.js").Data} Data */
/** @typedef {{element: string, x: number, y: number}} Tie of an arrow's end to an element, in fractions of its box */
/** @typedef {{x: number, y: number, width: number, height: number, radians: number}} Place its upper left corner before it is turned about its middle */
/**
 * Elements, the lowest first, with the file's own ids; and what was left out or changed: how often, by what it is.
 * @typedef {{elements: Data[], left: Record<string, number>}} Imported
 */

/** Elements of a file at most, characters of a text, and bytes of a picture: an element's own fields have little space. */
export const MOST = { elements: 5000, characters: 1500, picture: 128 << 10 };
/** How far a coordinate may be, pixels. */
const FAR = 1e7;
/** What the pen may leave out, pixels. */
const TOLERANCE = 0.75;

/** Six digits of the palette's colours by day, lines and fills: a foreign colour is the nearest of them. */
const INKS = {
  sun: 0x7a5403, peach: 0x974304, rose: 0xae1b40, lilac: 0x733ab9, sky: 0x005fa6, mint: 0x186b45, slate: 0x4a5364, paper: 0x171a23,
};
const TINTS = {
  sun: 0xffe593, peach: 0xffd1ac, rose: 0xfecacd, lilac: 0xdfd0ff, sky: 0xbadfff, mint: 0xb8f1cf, slate: 0xd6dde9, paper: 0xffffff,
};

/** @param {any} value @param {number} [otherwise] @returns {number} */
export const numberIn = (value, otherwise = 0) =>
  (typeof value === "number" && Number.isFinite(value) ? Math.min(Math.max(value, -FAR), FAR) : otherwise);

/** @param {any} value @returns {any[]} */
export const listIn = value => (Array.isArray(value) ? value : []);

/** @param {any} value @returns {Record<string, any>} */
export const objectIn = value => (value && typeof value === "object" ? value : {});

/** @param {any} value @returns {string} */
export const textIn = value => (typeof value === "string" ? value : "");

/**
 * @template T @param {Record<string, T>} table @param {any} name @param {T} otherwise @returns {T} what a table has under a name
 */
export const named = (table, name, otherwise) => (typeof name === "string" && Object.hasOwn(table, name) ? table[name] : otherwise);

/**
 * Halves go up, in each language.
 * @param {number} value
 */
export const whole = value => Math.floor(value + 0.5);

/** @param {number} value @returns {number} with two digits behind the point */
export const fine = value => whole(value * 100) / 100;

/** @param {Point} point @param {number} radians @returns {Point} */
export const turned = ({ x, y }, radians) =>
  ({ x: x * Math.cos(radians) - y * Math.sin(radians), y: x * Math.sin(radians) + y * Math.cos(radians) });

/** @param {number} radians @returns {number} degrees from 0 to below 360 */
export function degreesIn(radians) {
  const degrees = fine((radians * 180) / Math.PI) % 360;
  return degrees < 0 ? fine(degrees + 360) : degrees + 0;
}

/** @param {Place} place @returns {Data} the geometry of an element */
export function laid({ x, y, width, height, radians }) {
  const rotation = degreesIn(radians);
  return {
    positionX: whole(x + width / 2), positionY: whole(y + height / 2), width: Math.max(fine(Math.abs(width)), 1),
    height: Math.max(fine(Math.abs(height)), 1), ...(rotation ? { rotation } : {}),
  };
}

/**
 * @param {any} colour six digits, perhaps with two of opacity, or three
 * @param {"ink" | "tint"} kind @returns {string} the nearest one of the palette; "paper" for what is no such colour
 */
export function nearest(colour, kind) {
  const text = textIn(colour).replace(/^#([0-9a-f])([0-9a-f])([0-9a-f])$/i, "#$1$1$2$2$3$3");
  if (!/^#[0-9a-f]{6}([0-9a-f]{2})?$/i.test(text)) return "paper";
  const value = parseInt(text.slice(1, 7), 16);
  const part = (/** @type {number} */ of, /** @type {number} */ shift) => (of >> shift) & 255;
  const distance = (/** @type {number} */ other) => [16, 8, 0].reduce((sum, shift) => sum + (part(value, shift) - part(other, shift)) ** 2, 0);
  return Object.entries(kind === "ink" ? INKS : TINTS).reduce((best, next) => (distance(next[1]) < distance(best[1]) ? next : best))[0];
}

/** @param {any} url @returns {boolean} whether a picture is one that an element may bring */
export const isPicture = url => typeof url === "string" && /^data:image\/(png|jpeg|webp|gif);base64,[A-Za-z0-9+/]+=*$/.test(url);

/** Collects what comes out of a file. */
export class Harvest {
  /** @type {Data[]} */
  elements = [];
  /** @type {Record<string, number>} */
  left = {};
  #ids = new Set();

  /** @param {string} what was left out or changed, in the singular */
  leave(what) {
    this.left[what] = (this.left[what] ?? 0) + 1;
  }

  /** @param {Data} element */
  add(element) {
    if (this.elements.length >= MOST.elements) this.leave(`element beyond ${MOST.elements}`);
    else this.elements.push({ ...element, id: this.#unique(element.id) });
  }

  /** @param {string} id @returns {string} another one for the second that has it */
  #unique(id) {
    let unique = id;
    for (let count = 2; this.#ids.has(unique); count++) unique = `${id} ${count}`;
    this.#ids.add(unique);
    return unique;
  }

  /** @param {string} text @returns {string} that an element can keep */
  content(text) {
    const characters = [...text.replaceAll("\u0000", "")].map(one => (one >= "\ud800" && one <= "\udfff" && one.length === 1 ? "\ufffd" : one));
    if (characters.length > MOST.characters) this.leave(`end of a text beyond ${MOST.characters} characters`);
    return characters.slice(0, MOST.characters).join("");
  }

  /**
   * A picture, if it is one that an element can bring.
   * @param {any} url @param {Data} element
   */
  picture(url, element) {
    if (!isPicture(url)) return this.leave("picture that is not in the file");
    if (url.length > MOST.picture) return this.leave("picture that is too large");
    this.add({ ...element, type: "photo", picture: url });
  }

  /**
   * A line of a pen, in several elements of a group if it is long.
   * @param {string} id @param {Point[]} points of the canvas @param {Data} look
   */
  stroke(id, points, look) {
    if (points.length === 0) return;
    const parts = parted(simplified(points.map(({ x, y }) => ({ x: fine(x), y: fine(y) })), TOLERANCE));
    parts.forEach((part, index) => {
      const { positionX, positionY, width, height, ...rest } = strokeThrough(part, 1), groupId = look.groupId ?? (parts.length > 1 ? id : undefined);
      this.add({
        id: index ? `${id}-${index}` : id, ...rest, positionX: whole(positionX), positionY: whole(positionY), width: fine(width), height: fine(height),
        ...look, ...(groupId === undefined ? {} : { groupId }),
      });
    });
  }

  /**
   * @param {string} id @param {[Point, Point]} line on the canvas @param {{from?: Tie, to?: Tie}} ties @param {Data} look
   */
  arrow(id, [from, to], ties, look) {
    const end = (/** @type {Point} */ { x, y }) => ({ x: whole(x), y: whole(y) });
    const { positionX, positionY, ...rest } = arrowBetween([end(from), end(to)], ties);
    this.add({ id, ...rest, positionX: whole(positionX), positionY: whole(positionY), ...look });
  }

  /**
   * Arrows let go of what did not come with them.
   * @returns {Imported}
   */
  done() {
    const ids = new Set(this.elements.filter(({ type }) => type !== "arrow" && type !== "stroke").map(({ id }) => id));
    const free = (/** @type {any} */ end) => (end?.element !== undefined && !ids.has(end.element) ? end.at : end);
    const elements = this.elements.map(element => (element.type === "arrow" ? { ...element, from: free(element.from), to: free(element.to) } : element));
    return { elements, left: this.left };
  }
}
