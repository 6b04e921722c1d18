// The whole room at a glance: where things lie, what part of it the window shows, and where the others are. A click moves
// the window there.

import { centre, grown, union } from "./geometry.js";

/** @typedef {import("./geometry.js").Box} Box */
/** @typedef {import("./geometry.js").Point} Point */
/** @typedef {{colour: string, view?: Box, cursor?: Point}} Place of somebody */

/** The room in miniature. */
export class Minimap {
  /** How the canvas lies in the picture; the same while it is held, or what is under the pointer would run away from it. */
  #map = { x: 0, y: 0, scale: 1 };
  #isHeld = false;

  /**
   * @param {HTMLCanvasElement} canvas @param {(point: Point) => void} go to a point of the canvas
   * @param {() => void} released it is to be drawn
   */
  constructor(canvas, go, released) {
    this.canvas = canvas;
    const follow = (/** @type {PointerEvent} */ event) => {
      const { left, top } = canvas.getBoundingClientRect(), { x, y, scale } = this.#map;
      go({ x: (event.clientX - left) / scale + x, y: (event.clientY - top) / scale + y });
    };
    canvas.addEventListener("pointerdown", event => {
      canvas.setPointerCapture(event.pointerId);
      this.#isHeld = true;
      follow(event);
    });
    canvas.addEventListener("pointermove", event => {
      if (canvas.hasPointerCapture(event.pointerId)) follow(event);
    });
    canvas.addEventListener("lostpointercapture", () => {
      this.#isHeld = false;
      released();
    });
  }

  /**
   * @param {Map<string, Box>} boxes @param {Box} view @param {Set<string>} moving @param {Place[]} places of the others
   * @param {Map<string, import("./arrows.js").Line>} lines what is no box
   */
  draw(boxes, view, moving, places, lines) {
    const { canvas } = this, width = canvas.clientWidth, height = canvas.clientHeight, dense = devicePixelRatio || 1;
    if (!width) return;
    if (canvas.width !== width * dense) Object.assign(canvas, { width: width * dense, height: height * dense });
    if (!this.#isHeld) this.#map = mapped(grown(/** @type {Box} */ (union([view, ...boxes.values()])), 40), width, height);
    const { scale } = this.#map;
    const brush = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d")), { color, accentColor } = getComputedStyle(canvas);
    brush.setTransform(scale * dense, 0, 0, scale * dense, -this.#map.x * scale * dense, -this.#map.y * scale * dense);
    brush.clearRect(this.#map.x, this.#map.y, width / scale, height / scale);
    const least = 2 / scale;
    for (const [id, box] of boxes) {
      if (lines.has(id)) continue;
      brush.fillStyle = moving.has(id) ? accentColor : color;
      brush.fillRect(box.x, box.y, Math.max(box.width, least), Math.max(box.height, least));
    }
    brush.lineWidth = 1.5 / scale;
    brush.strokeStyle = color;
    brush.beginPath();
    for (const [from, to] of lines.values()) {
      brush.moveTo(from.x, from.y);
      brush.lineTo(to.x, to.y);
    }
    brush.stroke();
    for (const place of places) this.#place(brush, place, scale);
    brush.strokeStyle = accentColor;
    brush.strokeRect(view.x, view.y, view.width, view.height);
  }

  /** @param {CanvasRenderingContext2D} brush @param {Place} place @param {number} scale */
  #place(brush, { colour, view, cursor }, scale) {
    brush.strokeStyle = brush.fillStyle = colour;
    if (view) brush.strokeRect(view.x, view.y, view.width, view.height);
    if (!cursor) return;
    brush.beginPath();
    brush.arc(cursor.x, cursor.y, 3 / scale, 0, 2 * Math.PI);
    brush.fill();
  }
}

/** @param {Box} all what is shown @param {number} width @param {number} height of the picture */
function mapped(all, width, height) {
  const scale = Math.min(width / all.width, height / all.height), { x, y } = centre(all);
  return { x: x - width / scale / 2, y: y - height / scale / 2, scale };
}
