// The pen: what a pointer does between its touch and its release becomes one stroke.

import { newElementId } from "/client/touchsync.js";
import { toCanvas } from "./camera.js";
import { parted, simplified, strokeThrough } from "./strokes.js";

/** @typedef {import("./geometry.js").Point} Point */

/** How far a stroke may lie beside the way of the pointer, pixels of the screen. */
const TOLERANCE = 0.6;

export class PenDrawing {
  /** @type {Point[]} */
  #points = [];

  /** @param {import("./tools.js").Tools} tools */
  constructor(tools) {
    this.tools = tools;
  }

  /** @param {Point} at @param {PointerEvent} event with all places since the one before */
  move(at, event) {
    const { board } = this.tools, { left, top } = board.surface.getBoundingClientRect();
    const all = event.getCoalescedEvents?.() ?? [];
    const places = all.map(({ clientX, clientY }) => toCanvas(board.camera, { x: clientX - left, y: clientY - top }));
    this.#points.push(...(places.length ? places : [at]));
    this.tools.draft("stroke", this.#points);
  }

  end() {
    const { zoom } = this.tools.board.camera, grain = zoom > 1.5 ? 0.1 : 1;
    const parts = parted(simplified(this.#points, TOLERANCE / zoom)), groupId = parts.length > 1 ? { groupId: newElementId() } : {};
    this.tools.addAll(parts.map(points => ({ ...strokeThrough(points, grain), ...groupId })));
  }

  cancel() {}
}
