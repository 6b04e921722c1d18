// The keyboard alone is enough: it goes from element to element, and moves, scales and turns what is selected. While a
// key is held this is one gesture, as a finger's.

import { inReadingOrder } from "./geometry.js";
import { STILL } from "./motion.js";
import { changes, COMMANDS, isOf } from "./commands.js";
import { chord, latin } from "./keys.js";
import { mayChange } from "./roomcore.js";
import { counted, named } from "./words.js";

/** @typedef {import("./board.js").Board} Board */
/** @typedef {import("./motion.js").Motion} Motion */

/** After this long without a key a gesture ends, ms. */
const REST = 600;
/** Steps: pixels of the canvas, a factor, degrees. */
const STEPS = { way: 10, fine: 1, scale: 1.1, turn: 15, pan: 80 };

/** @type {Record<string, [number, number]>} */
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
/** @type {Record<string, Partial<Motion>>} */
const CHANGES = {
  "+": { scale: STEPS.scale }, "=": { scale: STEPS.scale }, "-": { scale: 1 / STEPS.scale },
  "[": { rotation: -STEPS.turn }, "]": { rotation: STEPS.turn },
};

export class Keyboard {
  /**
   * What the keys did since the gesture began.
   * @type {Motion | undefined}
   */
  #motion = undefined;
  #timer = 0;

  /**
   * @param {Board} board @param {import("./actions.js").Actions} actions
   * @param {import("./commands.js").Page & {say: (text: string) => void, escape: () => void, space: (isDown: boolean) => void, make: () => boolean, locked: () => void}} page
   */
  constructor(board, actions, page) {
    this.board = board;
    this.actions = actions;
    this.page = page;
    addEventListener("keydown", event => this.#down(event));
    addEventListener("keyup", event => {
      const key = latin(event);
      if (key === " ") page.space(false);
      if (key in ARROWS || key in CHANGES) this.#release();
    });
    addEventListener("blur", () => page.space(false));
  }

  /** @param {KeyboardEvent} event */
  #down(event) {
    const { target } = event, key = latin(event);
    // An input method has keys of its own: 229 where a browser says so alone.
    if (!(target instanceof HTMLElement) || event.defaultPrevented || event.isComposing || event.keyCode === 229) return;
    // A control has its own keys; single letters act on the canvas alone.
    const isHere = target === this.board.surface || target === document.body;
    if (["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName)) return;
    // What is open on top of the canvas closes first.
    if (key === "Escape") return document.querySelector(":popover-open") ? undefined : this.page.escape();
    if (!isHere && !(event.ctrlKey || event.metaKey || key === "?")) return;
    if (this.#act(event, isHere)) event.preventDefault();
  }

  /** @param {KeyboardEvent} event @param {boolean} isHere @returns {boolean} whether it meant something */
  #act(event, isHere) {
    return (!event.altKey && this.#hold(event, isHere)) || this.#command(event);
  }

  /** @param {KeyboardEvent} event @param {boolean} isHere @returns {boolean} */
  #hold(event, isHere) {
    const key = latin(event);
    if (key === "Tab") return this.#next(event.shiftKey ? -1 : 1);
    if (key === " ") {
      this.page.space(true);
      return true;
    }
    if (key in ARROWS && isHere) return this.#arrow(ARROWS[key], event.shiftKey ? STEPS.fine : STEPS.way);
    if (key in CHANGES && isHere && !event.ctrlKey && !event.metaKey) return this.#change(CHANGES[key]);
    if (key === "Enter" && isHere && this.page.make()) return true;
    return false;
  }

  /** @param {KeyboardEvent} event @returns {boolean} */
  #command(event) {
    const name = chord(event), found = Object.values(COMMANDS).find(command => command.keys.includes(name));
    if (!found || found.isBrowsers) return false;
    // Where it does nothing the browser would do something else.
    if (!isOf(found, this.actions)) return event.ctrlKey || event.metaKey;
    this.#release();
    if (changes(found) && !mayChange(this.board.room)) this.page.locked();
    else found.run(this.actions, this.page);
    return true;
  }

  /** @param {1 | -1} way @returns {boolean} false behind the last element, where focus goes on */
  #next(way) {
    const { board } = this, order = inReadingOrder(board.scene.boxes), { ids } = board.selection;
    const at = ids.length ? order.indexOf(ids[ids.length - 1]) + way : way > 0 ? 0 : order.length - 1;
    const id = order[at], element = id === undefined ? undefined : board.room.element(id);
    this.#release();
    if (!element) {
      board.selection.clear();
      return false;
    }
    board.selection.set([id]);
    board.reveal(id);
    this.page.say(`${named(element)}, ${at + 1} of ${counted(order.length, "element")}`);
    return true;
  }

  /** @param {[number, number]} way @param {number} step */
  #arrow([x, y], step) {
    if (this.board.selection.size === 0) this.board.pan({ x: -x * STEPS.pan, y: -y * STEPS.pan });
    else this.#change({ translation: { x: x * step, y: y * step } });
    return true;
  }

  /** @param {Partial<Motion>} by */
  #change({ translation = STILL.translation, scale = 1, rotation = 0 }) {
    const { board } = this;
    if (board.selection.size === 0) {
      if (scale !== 1) board.zoom(Number(scale) ** 2);
      return true;
    }
    if (!this.#motion || !board.hand) {
      const hand = board.hold(board.selection.ids);
      if (!hand) {
        this.page.locked();
        return true;
      }
      this.#motion = { ...STILL, centre: hand.pivot };
    }
    const so = this.#motion;
    this.#motion = {
      ...so, rotation: so.rotation + rotation, scale: Number(so.scale) * Number(scale),
      translation: { x: so.translation.x + translation.x, y: so.translation.y + translation.y },
    };
    board.hand?.move(this.#motion);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#release(), REST);
    return true;
  }

  #release() {
    clearTimeout(this.#timer);
    if (!this.#motion) return;
    this.#motion = undefined;
    this.board.letGo();
  }
}
