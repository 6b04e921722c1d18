// What an arrow's end takes hold of: the uppermost element under a point.

import { contains, ownPoint } from "/client/projection.js";
import { isLine, takenAt } from "./arrows.js";
import { toCanvas } from "./camera.js";

/** @typedef {import("./geometry.js").Point} Point */
/** @typedef {import("./board.js").Board} Board */
/** @typedef {import("./arrows.js").EndName} EndName */

/** @param {Board} board @param {string} id whether arrows may end on it */
export function isTarget({ room }, id) {
  const element = room.element(id);
  return element !== undefined && !isLine(element) && element.type !== "guide";
}

/** @param {Board} board @param {Point} point of the canvas @returns {{element: string, x: number, y: number} | undefined} */
export function aimAt(board, point) {
  const { scene, room } = board;
  const near = [...scene.views].filter(([id]) => {
    const { x, y, width, height } = scene.boxes.get(id) ?? { x: 0, y: 0, width: -1, height: -1 };
    return point.x >= x && point.y >= y && point.x <= x + width && point.y <= y + height && isTarget(board, id);
  });
  const found = near.filter(([id]) => {
    const element = room.drawn(id);
    return element && contains(element, point, scene.parentOf(id));
  }).sort(([, a], [, b]) => Number(b.node.style.zIndex) - Number(a.node.style.zIndex))[0];
  const element = found && room.drawn(found[0]), own = element && ownPoint(element, point, scene.parentOf(found[0]));
  return element && own && { element: found[0], ...takenAt(own, element) };
}

/** A hand on one end of an arrow. */
export class EndPull {
  /** @type {import("./arrows.js").End | undefined} */
  #end = undefined;

  /** @param {Board} board @param {string} id @param {EndName} name */
  constructor(board, id, name) {
    this.board = board;
    this.id = id;
    this.name = name;
  }

  /** @param {Point} at pixels of the window */
  move(at) {
    const { board, id, name } = this, arrow = board.room.element(id), point = toCanvas(board.camera, at);
    const own = arrow && ownPoint(arrow, point);
    if (!arrow || !own) return;
    const other = arrow[name === "from" ? "to" : "from"]?.element, aim = aimAt(board, point), place = { x: Math.round(own.x), y: Math.round(own.y) };
    this.#end = aim && aim.element !== other ? { ...aim, at: place } : place;
    board.aim = "element" in this.#end ? this.#end.element : undefined;
    board.scene.ties.held = { id, ends: { [name]: this.#end } };
    board.redraw(id);
    const line = board.scene.ties.lines.get(id);
    if (line) board.drafts.tell({ kind: "arrow", points: line, stroke: arrow.stroke });
  }

  end() {
    const { board, id, name } = this;
    this.#release();
    if (this.#end && board.room.element(id)) board.room.update(id, { [name]: this.#end });
  }

  cancel() {
    this.#release();
  }

  #release() {
    const { board } = this;
    board.scene.ties.held = board.aim = undefined;
    board.drafts.tell();
    board.redraw(this.id);
  }
}
