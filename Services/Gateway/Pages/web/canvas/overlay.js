// What lies on top of the elements, in pixels of the screen: the frame with its handles, boxes around what others move
// or have selected, guides and the marquee.

import { toScreen } from "./camera.js";
import { inkOn } from "./colours.js";
import { HANDLES, HANDLE_NAMES, squareSeenAs } from "./handles.js";
import { minus } from "./motion.js";
import { node } from "./page.js";

/** @typedef {import("./geometry.js").Point} Point */
/** @typedef {import("./camera.js").Camera} Camera */
/** @typedef {import("./handles.js").Frame} Frame */
/** @typedef {{key: string, frame: Frame, colour: string, name?: string, isMoving: boolean}} Outline */

/** On a smaller frame, in pixels, handles lie outside: what is within it can be dragged. */
const SMALL = matchMedia("(pointer: coarse)").matches ? 96 : 60;

/** On a smaller frame, in pixels, there is no place for a handle between two corners. */
const TINY = 26;

/** Draws over the elements. */
export class Overlay {
  #frame = node("div", "frame");
  #marquee = node("div", "marquee");
  /**
   * The handles at the ends of an arrow.
   * @type {Record<"from" | "to", HTMLElement>}
   */
  #ends = { from: node("button", "handle end"), to: node("button", "handle end") };
  /** @type {Map<string, HTMLElement>} */
  #outlines = new Map();
  /** @type {HTMLElement[]} */
  #lines = [];

  /** @param {HTMLElement} layer */
  constructor(layer) {
    this.layer = layer;
    for (const [name, { x, y, ways }] of Object.entries({ ...HANDLES, turn: { x: 0.5, y: 0, ways: { x: 0, y: 0 } } })) {
      const handle = /** @type {HTMLButtonElement} */ (node("button", `handle ${ways.x && ways.y ? "corner" : name === "turn" ? "turn" : "side"}`));
      handle.type = "button";
      handle.tabIndex = -1;
      handle.dataset.handle = name;
      handle.setAttribute("aria-label", HANDLE_NAMES[name]);
      handle.style.left = `${x * 100}%`;
      handle.style.top = `${y * 100}%`;
      this.#frame.append(handle);
    }
    for (const [name, handle] of Object.entries(this.#ends)) {
      handle.dataset.handle = name;
      handle.tabIndex = -1;
      handle.hidden = true;
      handle.setAttribute("aria-label", name === "from" ? "Move the arrow's tail" : "Move the arrow's head");
    }
    this.#frame.hidden = this.#marquee.hidden = true;
    layer.append(this.#frame, this.#marquee, ...Object.values(this.#ends));
  }

  /** @param {EventTarget | null} target @returns {string | undefined} the handle there */
  handleAt(target) {
    return target instanceof HTMLElement ? target.dataset.handle : undefined;
  }

  /** @param {Camera} camera @param {Frame | undefined} frame @param {{isLocked: boolean, isPlain: boolean}} kind */
  frame(camera, frame, { isLocked, isPlain }) {
    this.#frame.hidden = !frame;
    if (!frame) return;
    lay(this.#frame, camera, frame);
    this.#frame.classList.toggle("locked", isLocked);
    this.#frame.classList.toggle("plain", isPlain);
    this.#frame.classList.toggle("stretchable", frame.canStretch);
    const { width, height } = this.#frame.style, side = Math.min(parseFloat(width), parseFloat(height));
    this.#frame.classList.toggle("small", side < SMALL);
    this.#frame.classList.toggle("tiny", side < TINY);
  }

  /** @param {Camera} camera @param {import("./arrows.js").Line | undefined} line of the only selected arrow */
  ends(camera, line) {
    for (const [index, handle] of Object.values(this.#ends).entries()) {
      handle.hidden = !line;
      if (!line) continue;
      const { x, y } = toScreen(camera, line[index]);
      handle.style.transform = `translate(${x}px, ${y}px)`;
    }
  }

  /** @param {Camera} camera @param {Outline[]} outlines */
  outlines(camera, outlines) {
    const keys = new Set(outlines.map(outline => outline.key));
    for (const [key, box] of this.#outlines) {
      if (keys.has(key)) continue;
      box.remove();
      this.#outlines.delete(key);
    }
    for (const outline of outlines) this.#outline(camera, outline);
  }

  /** @param {Camera} camera @param {Outline} outline */
  #outline(camera, { key, frame, colour, name, isMoving }) {
    let box = this.#outlines.get(key);
    if (!box) {
      box = node("div", "outline");
      this.#outlines.set(key, box);
      this.layer.prepend(box);
    }
    lay(box, camera, frame);
    box.style.borderColor = colour;
    box.classList.toggle("moving", isMoving);
    const label = /** @type {HTMLElement | null} */ (box.firstElementChild);
    if (!name) return label?.remove();
    const shown = label ?? box.appendChild(node("span", "name"));
    shown.textContent = name;
    shown.style.background = colour;
    shown.style.color = inkOn(colour);
    // However the element is turned, its name stands upright above it.
    const corners = frame.corners.map(corner => toScreen(camera, corner)), [x, y] = (/** @type {const} */ (["x", "y"])).map(axis => Math.min(...corners.map(corner => corner[axis])));
    shown.style.transform = `${new DOMMatrix(box.style.transform).inverse()} translate(${x}px, ${y - 6}px) translateY(-100%)`;
  }

  /** @param {Camera} camera @param {import("./guides.js").Line[]} lines */
  guides(camera, lines) {
    for (const line of this.#lines) line.remove();
    this.#lines = lines.map(({ axis, at, from, to, isGap }) => {
      const line = node("div", `${isGap ? "spacing" : "guide"} ${axis}`), isUpright = (axis === "x") !== (isGap ?? false);
      const start = toScreen(camera, isUpright ? { x: at, y: from } : { x: from, y: at });
      line.style.transform = `translate(${start.x}px, ${start.y}px)`;
      line.style[isUpright ? "height" : "width"] = `${(to - from) * camera.zoom}px`;
      return this.layer.appendChild(line);
    });
  }

  /** @param {import("./geometry.js").Box | undefined} box pixels of the screen */
  marquee(box) {
    this.#marquee.hidden = !box;
    if (!box) return;
    const { style } = this.#marquee;
    style.transform = `translate(${box.x}px, ${box.y}px)`;
    style.width = `${box.width}px`;
    style.height = `${box.height}px`;
  }
}

/**
 * Lays a node on a frame, turned and tilted as it is.
 * @param {HTMLElement} box @param {Camera} camera @param {Frame} frame
 * @param {{width: number, height: number}} [size] of the node where it is not as large as it is seen
 */
export function lay(box, camera, { corners }, size) {
  const quad = /** @type {import("./handles.js").Quad} */ (corners.map(corner => toScreen(camera, corner)));
  const across = minus(quad[1], quad[0]), along = minus(quad[3], quad[0]), { style } = box;
  const width = size?.width ?? (Math.hypot(across.x, across.y) || 1), height = size?.height ?? (Math.hypot(along.x, along.y) || 1);
  const [a, b, c, d, e, f, g, h] = squareSeenAs(quad);
  style.width = `${width}px`;
  style.height = `${height}px`;
  style.transform = `matrix3d(${[a / width, b / width, 0, g / width, c / height, d / height, 0, h / height, 0, 0, 1, 0, e, f, 0, 1]})`;
}
