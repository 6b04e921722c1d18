// One simulated person: it reaches for an element, drags it along a curve, often with a turn, lets go, and rests.

/** @typedef {import("./geometry.js").Point} Point */
/** @typedef {import("./geometry.js").Box} Box */
/**
 * What a robot does to a room; that of the client, or of a test.
 * @typedef {object} Body
 * @property {() => {id: string, positionX: number, positionY: number}[]} elements that it may move
 * @property {(at: Point) => void} create
 * @property {(id: string) => {update: (deltas: any) => void, end: () => any}} begin
 * @property {(at: Point | null) => void} point
 */

/** In a room with fewer elements a robot adds some. */
const FEW = 24;
/** How long a stroke and a rest take, ms. */
const STROKE = [700, 1800], REST = [300, 1900];

/** @param {number} share 0 to 1 @returns {number} slow at both ends */
const eased = share => share * share * (3 - 2 * share);

export class Robot {
  /** @type {{gesture: any, from: Point, way: Point, bend: number, turn: number, since: number, length: number} | undefined} */
  #stroke = undefined;
  #restsUntil = 0;

  /** @param {Body} body @param {Box} area where it works @param {() => number} random from 0 to 1 */
  constructor(body, area, random) {
    this.body = body;
    this.area = area;
    this.random = random;
  }

  /** @param {number[]} range */
  #between([low, high]) {
    return low + (high - low) * this.random();
  }

  /** @returns {Point} somewhere in the area */
  #somewhere() {
    const { x, y, width, height } = this.area;
    return { x: x + width * this.random(), y: y + height * this.random() };
  }

  /**
   * Time passed.
   * @param {number} now ms
   */
  tick(now) {
    if (this.#stroke) this.#go(this.#stroke, now);
    else if (now >= this.#restsUntil) this.#reach(now);
  }

  /** Lets go of what it holds. */
  stop() {
    this.#stroke?.gesture.end();
    this.#stroke = undefined;
    this.body.point(null);
  }

  /** @param {number} now */
  #reach(now) {
    const elements = this.body.elements(), at = this.#somewhere();
    this.#restsUntil = now + this.#between(REST);
    if (elements.length < FEW && this.random() < 0.5) return this.body.create(at);
    const element = elements[Math.floor(this.random() * elements.length)];
    if (!element) return;
    const from = { x: element.positionX, y: element.positionY }, far = 0.25 + this.random() / 2;
    this.#stroke = {
      gesture: this.body.begin(element.id), from, since: now, length: this.#between(STROKE),
      way: { x: (at.x - from.x) * far, y: (at.y - from.y) * far }, bend: (this.random() - 0.5) * 0.6,
      turn: this.random() < 0.4 ? (this.random() - 0.5) * 40 : 0,
    };
  }

  /** @param {any} stroke @param {number} now */
  #go({ gesture, from, way, bend, turn, since, length }, now) {
    const share = eased(Math.min((now - since) / length, 1)), side = Math.sin(share * Math.PI) * bend;
    const translation = { x: way.x * share - way.y * side, y: way.y * share + way.x * side };
    gesture.update(turn ? { translation, rotation: turn * share } : { translation });
    this.body.point({ x: from.x + translation.x, y: from.y + translation.y });
    if (now < since + length) return;
    gesture.end();
    this.#stroke = undefined;
    this.#restsUntil = now + this.#between(REST);
  }
}
