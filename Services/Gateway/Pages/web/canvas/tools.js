// The tool in the hand: select and move the canvas, or one that draws. A tool that draws is put down when it has drawn
// once, unless it was taken twice.

import { arrowBetween } from "./arrows.js";
import { current } from "./paint.js";
import { boxBetween, centre, freePlace } from "./geometry.js";
import { toCanvas } from "./camera.js";
import { aimAt, isTarget } from "./aim.js";
import { PenDrawing } from "./pen.js";

/** @typedef {import("./geometry.js").Point} Point */
/** @typedef {import("./board.js").Board} Board */
/** @typedef {"rectangle" | "ellipse" | "arrow" | "pen"} DrawingTool */
/** @typedef {"select" | "hand" | DrawingTool} ToolName */
/**
 * Something that a pointer draws.
 * @typedef {object} Drawing
 * @property {(at: Point, event: PointerEvent) => void} move points of the canvas
 * @property {() => void} end
 * @property {() => void} cancel
 */

/** @type {ToolName[]} */
export const TOOLS = ["select", "hand", "rectangle", "ellipse", "arrow", "pen"];
/** What a click makes, pixels of the canvas. */
const SIZE = { rectangle: { width: 200, height: 120 }, ellipse: { width: 180, height: 120 }, arrow: { width: 200, height: 1 } };
/** A shorter way is a click, pixels of the screen. */
const LEAST = 6;

export class Tools {
  /** @type {ToolName} */
  name = "select";
  isLocked = false;
  /** @type {Drawing | undefined} */
  #drawing = undefined;

  /**
   * @param {Board} board @param {import("./actions.js").Actions} actions
   * @param {(name: ToolName, isLocked: boolean) => void} shown
   */
  constructor(board, actions, shown) {
    this.board = board;
    this.actions = actions;
    this.shown = shown;
  }

  get draws() {
    return this.name !== "select" && this.name !== "hand";
  }

  /** @param {ToolName} name */
  choose(name) {
    this.cancel();
    // Who takes a pen writes more than a line.
    this.isLocked = name === "pen" || (name === this.name && !this.isLocked && this.draws);
    this.name = name;
    this.shown(name, this.isLocked);
  }

  /** Puts down a tool that has drawn, if it is to be used once. */
  done() {
    this.#drawing = undefined;
    this.board.drafts.show();
    this.board.aim = undefined;
    if (this.draws && !this.isLocked) this.choose("select");
  }

  /**
   * @param {Point} at pixels of the window @param {PointerEvent} event
   */
  begin(at, event) {
    const { board } = this, from = toCanvas(board.camera, at), { name } = this;
    board.selection.clear();
    if (name === "pen") this.#drawing = new PenDrawing(this);
    else if (name === "arrow") this.#drawing = new ArrowDrawing(this, from);
    else if (name === "rectangle" || name === "ellipse") this.#drawing = new ShapeDrawing(this, name, from);
    this.#drawing?.move(from, event);
  }

  /** @param {Point} at pixels of the window @param {PointerEvent} event */
  move(at, event) {
    this.#drawing?.move(toCanvas(this.board.camera, at), event);
  }

  end() {
    const drawing = this.#drawing;
    this.#drawing = undefined;
    drawing?.end();
    this.done();
  }

  /** @returns {boolean} whether something was being drawn */
  cancel() {
    const was = this.#drawing !== undefined;
    this.#drawing?.cancel();
    this.#drawing = undefined;
    if (was) this.board.drafts.show();
    this.board.aim = undefined;
    return was;
  }

  /** Makes what the tool makes without a pointer: in a free place, or an arrow between two selected elements. */
  make() {
    const { board, name } = this, { view, scene } = board;
    if (!this.draws || name === "pen") return false;
    const tied = board.selection.ids.filter(id => isTarget(board, id));
    if (name === "arrow" && tied.length === 2) {
      const [from, to] = tied.map(element => ({ element, x: 0.5, y: 0.5 })), boxes = tied.map(id => scene.boxes.get(id) ?? view);
      this.add(arrowBetween([centre(boxes[0]), centre(boxes[1])], { from, to }));
    } else {
      const size = SIZE[/** @type {keyof typeof SIZE} */ (name)], at = freePlace(size, view, [...scene.boxes.values()]);
      if (name === "arrow") this.add(arrowBetween([{ x: at.x - size.width / 2, y: at.y }, { x: at.x + size.width / 2, y: at.y }], {}));
      else this.add(shapeIn(/** @type {"rectangle"} */ (name), at, size));
    }
    this.done();
    return true;
  }

  /** @param {import("/client/touchsync.js").Data} element in the colours of this person */
  add(element) {
    const { stroke, fill } = current;
    this.actions.add(element.type === "shape" ? { ...element, stroke, fill } : { ...element, stroke });
  }

  /** @param {import("/client/touchsync.js").Data[]} elements made at once, so that one undo takes them back */
  addAll(elements) {
    const { stroke } = current;
    this.actions.addAll(elements.map(element => ({ ...element, stroke })));
  }

  /** @param {import("./drafts.js").Draft["kind"]} kind @param {Point[]} points */
  draft(kind, points) {
    const { stroke, fill } = current;
    this.board.drafts.show({ kind, points, stroke, fill });
    this.board.frames.want();
  }

  /** @param {Point} a @param {Point} b on the canvas @returns {boolean} whether a pointer went no further than in a click */
  isClick(a, b) {
    return Math.hypot(a.x - b.x, a.y - b.y) * this.board.camera.zoom < LEAST;
  }
}

/** @param {"rectangle" | "ellipse"} shape @param {Point} middle @param {{width: number, height: number}} size */
function shapeIn(shape, { x, y }, { width, height }) {
  const whole = Math.round;
  return { type: "shape", shape, content: "", positionX: whole(x), positionY: whole(y), width: Math.max(whole(width), 1), height: Math.max(whole(height), 1) };
}

/** A shape between two corners; with Shift both sides are as long, with Alt the first point is its middle. */
class ShapeDrawing {
  /** @type {[Point, Point]} */
  #corners;

  /** @param {Tools} tools @param {"rectangle" | "ellipse"} name @param {Point} from */
  constructor(tools, name, from) {
    this.tools = tools;
    this.name = name;
    this.from = from;
    this.#corners = [from, from];
  }

  /** @param {Point} at @param {PointerEvent} event */
  move(at, { shiftKey, altKey }) {
    const { from } = this, way = { x: at.x - from.x, y: at.y - from.y }, side = Math.max(Math.abs(way.x), Math.abs(way.y));
    const { x, y } = shiftKey ? { x: side * Math.sign(way.x || 1), y: side * Math.sign(way.y || 1) } : way;
    this.#corners = [altKey ? { x: from.x - x, y: from.y - y } : from, { x: from.x + x, y: from.y + y }];
    if (!this.tools.isClick(...this.#corners)) this.tools.draft(this.name, this.#corners);
  }

  end() {
    const isClick = this.tools.isClick(...this.#corners), box = boxBetween(...this.#corners);
    this.tools.add(isClick ? shapeIn(this.name, this.from, SIZE[this.name]) : shapeIn(this.name, centre(box), box));
  }

  cancel() {}
}

/** An arrow between two points, each perhaps on an element. */
class ArrowDrawing {
  /** @param {Tools} tools @param {Point} from */
  constructor(tools, from) {
    this.tools = tools;
    this.from = this.to = from;
    this.start = aimAt(tools.board, from);
    this.aim = this.start;
  }

  /** @param {Point} at */
  move(at) {
    const { tools, from } = this;
    this.to = at;
    this.aim = aimAt(tools.board, at);
    // An arrow from an element to itself would have no length: its ends are free.
    if (this.aim?.element === this.start?.element) this.aim = undefined;
    tools.board.aim = this.aim?.element ?? this.start?.element;
    if (!tools.isClick(from, at)) tools.draft("arrow", [from, at]);
  }

  end() {
    const { tools, from } = this;
    if (tools.isClick(from, this.to)) return tools.add(arrowBetween([from, { x: from.x + SIZE.arrow.width, y: from.y }], {}));
    tools.add(arrowBetween([from, this.to], { from: this.start, to: this.aim }));
  }

  cancel() {}
}
