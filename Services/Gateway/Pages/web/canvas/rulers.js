// Guides as a person sees them: lines over everything that are dragged out of the window's upper and left edge, moved,
// and dragged back to go. They are elements of the room, so everybody has them.

import { toCanvas, toScreen } from "./camera.js";
import { node } from "./page.js";
import { newElementId } from "/client/touchsync.js";

/** @typedef {import("./board.js").Board} Board */
/** @typedef {import("./guides.js").Axis} Axis */
/** @typedef {import("/client/touchsync.js").Element} Element */
/** @typedef {{id: string, axis: Axis, way: number, gesture: import("/client/touchsync.js").Gesture}} Held */

/** The edges, pixels of the screen. */
const EDGE = 12;
/** Steps of keys, pixels of the canvas. */
const STEPS = { way: 10, fine: 1 };
/** @type {Record<Axis, {name: string, position: "positionX" | "positionY", client: "clientX" | "clientY", keys: Record<string, number>}>} */
const AXES = {
  x: { name: "Upright guide", position: "positionX", client: "clientX", keys: { ArrowLeft: -1, ArrowRight: 1 } },
  y: { name: "Level guide", position: "positionY", client: "clientY", keys: { ArrowUp: -1, ArrowDown: 1 } },
};

export class Rulers {
  /** @type {Map<string, HTMLElement>} */
  #lines = new Map();
  /** @type {Held | undefined} */
  #held = undefined;

  /**
   * @param {Board} board @param {HTMLElement} layer
   * @param {{say: (text: string) => void, locked: () => void}} page
   */
  constructor(board, layer, page) {
    this.board = board;
    this.layer = layer;
    this.page = page;
    for (const axis of /** @type {Axis[]} */ (["y", "x"])) this.#addRuler(axis);
  }

  /** Draws the guides where they are now. */
  draw() {
    const { guides } = this.board.scene;
    for (const [id, line] of this.#lines) {
      if (guides.has(id)) continue;
      line.remove();
      this.#lines.delete(id);
    }
    for (const [id, element] of guides) this.#draw(this.#lines.get(id) ?? this.#addLine(id, element.axis), element);
  }

  /** @param {HTMLElement} line @param {Element} element */
  #draw(line, { axis, positionX, positionY }) {
    const { name, position } = AXES[/** @type {Axis} */ (axis)], at = Math.round({ positionX, positionY }[position]);
    this.#place(line, axis, toScreen(this.board.camera, { x: positionX, y: positionY })[/** @type {Axis} */ (axis)]);
    if (line.ariaValueNow === String(at)) return;
    line.ariaValueNow = String(at);
    line.ariaLabel = name;
    line.ariaValueText = `at ${at}`;
  }

  /** @param {HTMLElement} line @param {Axis} axis @param {number} at pixels of the screen */
  #place(line, axis, at) {
    line.style.transform = axis === "x" ? `translateX(${at}px)` : `translateY(${at}px)`;
    line.classList.toggle("leaving", at < EDGE);
  }

  /** @param {Axis} axis */
  #newLine(axis) {
    return this.layer.appendChild(node("div", `ruled ${axis}`));
  }

  /** @param {string} id @param {Axis} axis */
  #addLine(id, axis) {
    const line = this.#newLine(axis);
    line.tabIndex = 0;
    line.setAttribute("role", "slider");
    line.ariaOrientation = axis === "x" ? "horizontal" : "vertical";
    line.addEventListener("pointerdown", event => this.#press(event, line, id, axis));
    line.addEventListener("pointermove", event => this.#moved(event, axis));
    for (const name of ["pointerup", "pointercancel"]) {
      line.addEventListener(name, event => this.#release(/** @type {PointerEvent} */ (event), axis));
    }
    line.addEventListener("dblclick", event => event.stopPropagation());
    line.addEventListener("keydown", event => this.#key(event, id, axis));
    line.addEventListener("keyup", () => this.#letGo());
    line.addEventListener("blur", () => this.#letGo());
    this.#lines.set(id, line);
    return line;
  }

  // Moving

  /** @param {string} id @param {Axis} axis @returns {boolean} */
  #hold(id, axis) {
    if (this.#held?.id === id) return true;
    this.#letGo();
    if (this.board.room.element(id)?.locked) {
      this.page.locked();
      return false;
    }
    this.#held = { id, axis, way: 0, gesture: this.board.room.begin([id]) };
    return true;
  }

  /** @param {number} way since it was taken, pixels of the canvas */
  #move(way) {
    if (!this.#held) return;
    const { axis, gesture } = this.#held;
    this.#held.way = way;
    gesture.update({ translation: { x: 0, y: 0, [axis]: way } });
    this.board.frames.want();
  }

  #letGo() {
    this.#held?.gesture.end();
    this.#held = undefined;
  }

  #start = 0;

  /** @param {PointerEvent} event @param {HTMLElement} line @param {string} id @param {Axis} axis */
  #press(event, line, id, axis) {
    event.stopPropagation();
    if (event.button > 0 || !this.#hold(id, axis)) return;
    line.setPointerCapture(event.pointerId);
    this.#start = event[AXES[axis].client];
  }

  /** @param {PointerEvent} event @param {Axis} axis */
  #moved(event, axis) {
    if (event.buttons) this.#move((event[AXES[axis].client] - this.#start) / this.board.camera.zoom);
    else this.#letGo();
  }

  /** @param {PointerEvent} event @param {Axis} axis */
  #release(event, axis) {
    if (!this.#held) return;
    const { id } = this.#held, isBack = this.#placeOf(event, axis) < EDGE;
    if (event.type === "pointerup" && !isBack) return this.#letGo();
    this.#drop();
    if (event.type === "pointerup") this.#remove(id);
  }

  /** @returns {boolean} whether something was held, which goes back */
  #drop() {
    const held = this.#held;
    this.#held = undefined;
    held?.gesture.cancel();
    return held !== undefined;
  }

  /** @param {KeyboardEvent} event @param {string} id @param {Axis} axis */
  #key(event, id, axis) {
    if (event.key === "Escape" && this.#drop()) return event.stopPropagation();
    const step = AXES[axis].keys[event.key], isRemoval = event.key === "Delete" || event.key === "Backspace";
    if (!step && !isRemoval) return;
    event.preventDefault();
    if (isRemoval) return this.#remove(id);
    if (this.#hold(id, axis)) this.#move((this.#held?.way ?? 0) + step * (event.shiftKey ? STEPS.fine : STEPS.way));
  }

  /** @param {string} id */
  #remove(id) {
    if (this.board.room.element(id)?.locked) return this.page.locked();
    this.board.room.delete([id]);
    this.board.surface.focus({ preventScroll: true });
    this.page.say("Deleted a guide");
  }

  // Making

  /** @param {Axis} axis */
  #addRuler(axis) {
    const ruler = /** @type {HTMLButtonElement} */ (node("button", `ruler ${axis}`));
    ruler.type = "button";
    ruler.ariaLabel = `New ${AXES[axis].name.toLowerCase()}`;
    ruler.title = "Drag a guide out of the edge";
    /** @type {HTMLElement | undefined} */
    let line;
    ruler.addEventListener("pointerdown", event => {
      event.stopPropagation();
      if (event.button > 0) return;
      ruler.setPointerCapture(event.pointerId);
      line = this.#newLine(axis);
      this.#place(line, axis, this.#placeOf(event, axis));
    });
    const drop = () => {
      line?.remove();
      line = undefined;
    };
    ruler.addEventListener("pointermove", event => {
      // Its release may not have been heard.
      if (event.buttons === 0) drop();
      if (line) this.#place(line, axis, this.#placeOf(event, axis));
    });
    ruler.addEventListener("pointerup", event => {
      const at = this.#placeOf(event, axis);
      if (line && at >= EDGE) this.#create(axis, at);
      drop();
    });
    ruler.addEventListener("pointercancel", drop);
    ruler.addEventListener("dblclick", event => event.stopPropagation());
    // By a key: in the middle.
    ruler.addEventListener("click", event => event.detail === 0 && this.#create(axis, this.board.size[axis === "x" ? "width" : "height"] / 2));
    this.layer.append(ruler);
  }

  /** @param {Axis} axis @param {number} at pixels of the screen */
  #create(axis, at) {
    const { board } = this, place = Math.round(toCanvas(board.camera, { x: at, y: at })[axis]);
    board.room.create({ id: newElementId(), type: "guide", axis, [AXES[axis].position]: place });
    this.page.say(`${AXES[axis].name} at ${place}`);
  }

  /** @param {PointerEvent} event @param {Axis} axis @returns {number} pixels of the screen */
  #placeOf(event, axis) {
    const { left, top } = this.board.surface.getBoundingClientRect();
    return event[AXES[axis].client] - (axis === "x" ? left : top);
  }
}
