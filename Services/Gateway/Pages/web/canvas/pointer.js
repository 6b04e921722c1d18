// Fingers, pens and the mouse. One pointer selects, drags, draws a marquee or pans; two carry, turn and stretch what
// lies under them: elements, or the canvas; three, or one with Ctrl and Alt, tilt elements. A pointer must move a little
// before a touch becomes a gesture; a finger that rests, and is lifted, asks what can be done there.

import { ofFingers, STILL, minus, velocityOf } from "./motion.js";

/** @typedef {import("./geometry.js").Point} Point */
/** @typedef {import("./motion.js").Motion} Motion */
/**
 * What pointers act on.
 * @typedef {object} Stage
 * @property {(event: PointerEvent) => Point} at where an event is, pixels of the window
 * @property {(event: PointerEvent) => Target} hit what lies there
 * @property {(event: PointerEvent, waited: number) => boolean} pans whether a drag of nothing moves the canvas, the pointer
 *   having rested for so many ms, instead of drawing a marquee
 * @property {(id: string) => void} press an element is touched
 * @property {(id: string, event: PointerEvent) => void} tap an element was touched and not moved
 * @property {(event: PointerEvent) => void} tapNothing
 * @property {(id: string, event: PointerEvent) => boolean} grab a drag of an element begins; false when it may not be moved
 * @property {(motion: Motion, event: PointerEvent) => void} drag pixels of the window
 * @property {(id: string, event: PointerEvent) => boolean} grabToTilt
 * @property {(way: Point) => void} tilt
 * @property {(handle: string, at: Point) => boolean} pull a handle is pulled
 * @property {(at: Point, event: PointerEvent) => void} pulled
 * @property {(velocity?: Point) => void} release what was grabbed or pulled; how fast one pointer dragged it, pixels a second
 * @property {(at: Point, id?: string) => void} ask a finger rested there
 * @property {() => void} cancel everything is as before
 * @property {(from: Point, to: Point) => void} marquee
 * @property {(from: Point, to: Point, event: PointerEvent) => void} caught the marquee is drawn
 * @property {(from: [Point, Point], to: [Point, Point]) => void} pinch of the canvas, since the last call
 * @property {(way: Point) => void} pan since the last call
 * @property {(at: Point | null) => void} hover
 */
/** @typedef {{begin: (at: Point, event: PointerEvent) => void, move: (at: Point, event: PointerEvent) => void, end: () => void, cancel: () => boolean}} Tool */
/** @typedef {{tool: Tool} | {handle: string} | {id: string} | {}} Target */
/** @typedef {{id: number, from: Point, at: Point, target: any, event: PointerEvent, places: {at: number, point: Point}[]}} Finger */
/** @typedef {"idle" | "touch" | "tool" | "drag" | "tilt" | "pull" | "marquee" | "pan" | "pinch" | "stretch"} Mode */

/**
 * How far a pointer may move and still be a tap, pixels of the screen.
 * @type {Record<string, number>}
 */
const THRESHOLD = { mouse: 3, pen: 5, touch: 9 };

/** A finger that rests so long asks, ms. */
const LONG = 500;

/** So many places of a pointer are known: at 240 frames a second those of 100 ms. */
const LATELY = 24;

/** @param {PointerEvent} event with Alt and one of the keys for commands */
const tilts = ({ altKey, ctrlKey, metaKey }) => altKey && (ctrlKey || metaKey);

/** Turns pointer events into what they mean. */
export class Pointers {
  /** @type {Mode} */
  mode = "idle";
  /** @type {Map<number, Finger>} */
  fingers = new Map();
  /**
   * Of a drag by fingers that change in number: what was done before the present ones touched.
   * @type {Point}
   */
  #before = { x: 0, y: 0 };

  /** @param {HTMLElement} surface @param {Stage} stage */
  constructor(surface, stage) {
    this.surface = surface;
    this.stage = stage;
    surface.addEventListener("pointerdown", event => this.#down(event));
    surface.addEventListener("pointermove", event => this.#move(event));
    surface.addEventListener("pointerup", event => this.#up(event, false));
    surface.addEventListener("pointercancel", event => this.#up(event, true));
    surface.addEventListener("mousedown", event => {
      if (!(event.target instanceof Element && event.target.closest(".handle, .play"))) return;
      // A button would take the keyboard.
      event.preventDefault();
      surface.focus({ preventScroll: true });
    });
    surface.addEventListener("pointerleave", () => this.stage.hover(null));
  }

  /**
   * Ends what is under way without effect.
   * @returns {boolean} whether there was something
   */
  abort() {
    const wasBusy = ["drag", "tilt", "pull", "stretch"].includes(this.mode), wasMarquee = this.mode === "marquee";
    if (wasBusy) this.stage.cancel();
    const wasDrawing = [...this.fingers.values()].some(({ target }) => target.tool?.cancel());
    if (wasMarquee) this.stage.marquee({ x: 0, y: 0 }, { x: 0, y: 0 });
    this.#finish();
    return wasBusy || wasMarquee || wasDrawing;
  }

  #finish() {
    this.mode = "idle";
    this.fingers.clear();
  }

  /** @param {PointerEvent} event */
  #down(event) {
    // Text that is being edited keeps its pointer.
    if (event.target instanceof Element && event.target.closest(".writing, .news")) return;
    if (event.pointerType === "mouse" && event.button > 1) return;
    const at = this.stage.at(event);
    if (this.fingers.size >= 3 || (this.fingers.size === 2 && this.mode !== "stretch")) return;
    const places = [{ at: event.timeStamp, point: at }];
    /** @type {Finger} */
    const finger = { id: event.pointerId, from: at, at, target: this.stage.hit(event), event, places };
    this.fingers.set(event.pointerId, finger);
    if (this.fingers.size === 2) return this.#second();
    if (this.fingers.size === 3) return this.#third();
    const { id, tool } = finger.target;
    if (tool) return this.#draw(tool, finger, event);
    this.mode = "touch";
    if (id) this.stage.press(id);
  }

  /** @param {Tool} tool @param {Finger} finger @param {PointerEvent} event */
  #draw(tool, finger, event) {
    this.mode = "tool";
    this.surface.setPointerCapture(finger.id);
    tool.begin(finger.at, event);
  }

  /** A second finger joins: what the first one began goes on with both. */
  #second() {
    const [first, second] = this.fingers.values();
    for (const finger of [first, second]) this.surface.setPointerCapture(finger.id);
    if (this.mode === "marquee") this.stage.marquee({ x: 0, y: 0 }, { x: 0, y: 0 });
    if (this.mode === "pull") this.stage.release();
    if (this.mode === "tool") first.target.tool.cancel();
    const held = first.target.id ?? second.target.id, isDrag = this.mode === "drag";
    const carried = isDrag ? minus(first.at, first.from) : { x: 0, y: 0 };
    const isElement = isDrag || (this.mode === "touch" && held !== undefined && this.stage.grab(held, first.event));
    this.mode = isElement ? "stretch" : "pinch";
    // From here on both count from where they are; the way of the first alone stays.
    this.#before = carried;
    for (const finger of [first, second]) finger.from = finger.at;
  }

  /** A third finger joins: what the others did stays, and all three tilt. */
  #third() {
    const fingers = [...this.fingers.values()], held = fingers.find(({ target }) => target.id);
    this.stage.release();
    this.mode = held && this.stage.grabToTilt(held.target.id, held.event) ? "tilt" : "idle";
    for (const finger of fingers) {
      this.surface.setPointerCapture(finger.id);
      finger.from = finger.at;
    }
  }

  /** @returns {Point} the way that the fingers made on average */
  #way() {
    const ways = [...this.fingers.values()].map(({ at, from }) => minus(at, from)), { length } = ways;
    return { x: ways.reduce((sum, { x }) => sum + x, 0) / length, y: ways.reduce((sum, { y }) => sum + y, 0) / length };
  }

  /** @param {PointerEvent} event */
  #move(event) {
    const finger = this.fingers.get(event.pointerId), at = this.stage.at(event);
    if (this.fingers.size === 0 || event.pointerType === "mouse" || finger) this.stage.hover(at);
    if (!finger) return;
    if (event.buttons === 0) return this.#lost(finger, event);
    const last = finger.at, others = this.#both();
    finger.at = at;
    finger.places = [...finger.places.slice(-LATELY), { at: event.timeStamp, point: at }];
    if (this.mode === "touch") this.#begin(finger, event);
    switch (this.mode) {
      case "drag": return this.stage.drag({ ...STILL, centre: finger.from, translation: minus(at, finger.from) }, event);
      case "tilt": return this.stage.tilt(this.#way());
      case "tool": return finger.target.tool.move(at, event);
      case "pull": return this.stage.pulled(at, event);
      case "marquee": return this.stage.marquee(finger.from, at);
      case "pan": return this.stage.pan(minus(at, last));
      case "pinch": return this.stage.pinch(others, this.#both());
      case "stretch": return this.#stretch(event);
    }
  }

  /**
   * A button was released where the page could not hear of it: what was dragged stays where it was seen last.
   * @param {Finger} finger @param {PointerEvent} event
   */
  #lost({ from, at }, event) {
    const { mode } = this;
    this.#finish();
    if (mode === "drag" || mode === "tilt" || mode === "pull" || mode === "stretch") this.stage.release();
    else if (mode === "marquee") this.stage.caught(from, at, event);
  }

  /** @returns {[Point, Point]} where the fingers are */
  #both() {
    const [first, second = first] = this.fingers.values();
    return [first.at, second.at];
  }

  /** @param {PointerEvent} event */
  #stretch(event) {
    const [first, second = first] = this.fingers.values(), { x, y } = this.#before;
    const motion = ofFingers([first.from, second.from], [first.at, second.at]);
    // The gesture began before: its centre is where the content under the fingers lay then.
    const centre = { x: motion.centre.x - x, y: motion.centre.y - y };
    this.stage.drag({ ...motion, centre, translation: { x: motion.translation.x + x, y: motion.translation.y + y } }, event);
  }

  /**
   * The touch becomes a gesture.
   * @param {Finger} finger @param {PointerEvent} event
   */
  #begin(finger, event) {
    const { x, y } = minus(finger.at, finger.from);
    if (Math.hypot(x, y) < (THRESHOLD[event.pointerType] ?? 5)) return;
    this.surface.setPointerCapture(finger.id);
    const { handle, id } = finger.target;
    if (handle) this.mode = this.stage.pull(handle, finger.from) ? "pull" : "idle";
    else if (id && tilts(finger.event)) this.mode = this.stage.grabToTilt(id, finger.event) ? "tilt" : "idle";
    else if (id) this.mode = this.stage.grab(id, finger.event) ? "drag" : "idle";
    else this.mode = this.stage.pans(finger.event, event.timeStamp - finger.event.timeStamp) ? "pan" : "marquee";
  }

  /** @param {PointerEvent} event @param {boolean} isCancelled by the browser */
  #up(event, isCancelled) {
    const finger = this.fingers.get(event.pointerId);
    if (!finger) return;
    const { mode } = this;
    if (isCancelled) return void this.abort();
    if (mode === "stretch" || mode === "pinch") return this.#lifted(event.pointerId);
    this.#finish();
    if (mode === "tool") return finger.target.tool.end();
    const hasRested = event.pointerType === "touch" && event.timeStamp - finger.event.timeStamp > LONG;
    if (mode === "touch" && hasRested && !finger.target.handle) this.stage.ask(finger.at, finger.target.id);
    else if (mode === "touch" && finger.target.id) this.stage.tap(finger.target.id, event);
    else if (mode === "touch" && !finger.target.handle) this.stage.tapNothing(event);
    else if (mode === "drag") this.stage.release(velocityOf(finger.places, event.timeStamp));
    else if (mode === "tilt" || mode === "pull") this.stage.release();
    else if (mode === "marquee") this.stage.caught(finger.from, finger.at, event);
  }

  /**
   * One of two fingers was lifted: an element is released, the canvas follows the other one.
   * @param {number} id
   */
  #lifted(id) {
    if (this.mode === "stretch") {
      this.stage.release();
      return this.#finish();
    }
    this.fingers.delete(id);
    this.mode = this.fingers.size ? "pan" : "idle";
  }
}
