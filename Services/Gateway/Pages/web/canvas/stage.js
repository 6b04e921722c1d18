// What pointers do on the board.

import { EndPull } from "./aim.js";
import { isLine, touches } from "./arrows.js";
import { pinched, toCanvas } from "./camera.js";
import { isMedia } from "./cards.js";
import { corners } from "/client/projection.js";
import { boxBetween, caught, meetsOutline, union } from "./geometry.js";
import { groupOf, withGroups } from "./groups.js";
import { aligned } from "./guides.js";
import { pulled, resizes } from "./handles.js";
import { play } from "./media.js";
import { ofTilting, STILL } from "./motion.js";
import { isCalm } from "./page.js";
import { mayShow } from "./roomcore.js";
import { isAnnotation } from "./kinds.js";
import { Wheel } from "./wheel.js";

/** @typedef {import("./board.js").Board} Board */
/** @typedef {import("./geometry.js").Point} Point */

/** How near something must be to snap, pixels of the screen. */
const REACH = 6;
/** A finger that rested so long before it moves draws a marquee, ms. */
const RESTED = 350;
/** A drag that ends faster throws, pixels of the screen a second. */
const FLICK = 600;
/** The step of rotations with Shift, degrees. */
const STEP = 15;
/** Two taps within this time open a text, ms. */
const DOUBLE = 350;

/** The board under pointers: the `Stage` of `pointer.js`. */
export class BoardStage {
  /** Whether the hand tool is chosen, or the space bar held: then everything moves the canvas. */
  isPanning = false;
  /**
   * What draws instead of all else.
   * @type {import("./tools.js").Tools | undefined}
   */
  tools = undefined;
  /** @type {EndPull | undefined} */
  #end = undefined;
  /**
   * Where the pointer is over the canvas, pixels of the window.
   * @type {Point | null}
   */
  pointing = null;
  /** The last tap. */
  #tapped = { id: "", at: -Infinity };
  /**
   * The group inside which elements are taken one by one.
   * @type {string | undefined}
   */
  #entered = undefined;
  /**
   * What a drag began with.
   * @type {{box: import("./geometry.js").Box | undefined, others: import("./geometry.js").Box[], guides: import("./guides.js").Guide[]}}
   */
  #drag = { box: undefined, others: [], guides: [] };
  /** @type {{frame: import("./handles.js").Frame, handle: string, from: Point} | undefined} */
  #pull = undefined;
  #wheel = new Wheel();

  /**
   * @param {Board} board
   * @param {{locked: () => void, edit: (id: string) => void, ask: (at: Point) => void,
   *   copy: () => import("./hand.js").Way["copies"]}} heard what the page does about it; `copy` puts copies where the
   *   selection is, and selects them
   */
  constructor(board, heard) {
    this.board = board;
    this.heard = heard;
  }

  /** @param {PointerEvent} event */
  at(event) {
    const { left, top } = this.board.surface.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  }

  /** @param {PointerEvent} event */
  hit(event) {
    if (this.isPanning || event.button === 1) return {};
    if (this.tools?.draws) return { tool: this.tools };
    const handle = this.board.overlay.handleAt(event.target), id = this.board.scene.idAt(event.target);
    return handle ? { handle } : id ? { id } : {};
  }

  /** @param {PointerEvent} event @param {number} waited */
  pans({ pointerType, button }, waited) {
    return this.isPanning || button === 1 || (pointerType === "touch" && waited < RESTED);
  }

  /**
   * What flies stops where it is touched. What an animation repeats can be selected meanwhile: a drag stops that.
   * @param {string} id
   */
  press(id) {
    const { board } = this, { room, selection } = board;
    if (!room.isMoving(id) || room.element(id)?.animation) return;
    board.hold(selection.has(id) ? selection.ids : [id]);
    board.letGo();
  }

  /** @param {string} id @param {PointerEvent} event */
  tap(id, event) {
    const { selection, scene, room } = this.board, element = room.element(id), group = groupOf(element);
    const isDouble = this.#tapped.id === id && event.timeStamp - this.#tapped.at < DOUBLE;
    this.#tapped = { id, at: event.timeStamp };
    const enters = group !== this.#entered && (event.ctrlKey || event.metaKey || isDouble);
    if (enters) this.#entered = group;
    if (event.shiftKey) return selection.toggle(this.#taken([id]));
    const card = scene.views.get(id)?.card;
    if (element && card && isMedia(element) && event.target instanceof globalThis.Element && event.target.closest(".play")) {
      return play(element, card);
    }
    selection.set(this.#taken([id]));
    if (isDouble && !(enters && group)) this.heard.edit(id);
  }

  /**
   * What is taken with some elements: their groups, except the one that somebody looks into.
   * @param {string[]} ids @returns {string[]}
   */
  #taken(ids) {
    const { room } = this.board, groups = ids.map(id => groupOf(room.element(id)));
    if (!groups.includes(this.#entered)) this.#entered = undefined;
    const isIn = this.#entered !== undefined;
    return isIn ? ids : withGroups(room.elements, ids);
  }

  /** @param {PointerEvent} event */
  tapNothing(event) {
    this.#entered = undefined;
    if (!event.shiftKey) this.board.selection.clear();
  }

  /**
   * Selects what lies there, unless it is selected, and asks what to do with it.
   * @param {Point} at pixels of the window @param {string} [id]
   */
  ask(at, id) {
    const { selection } = this.board;
    if (id === undefined) selection.clear();
    else if (!selection.has(id)) selection.set(this.#taken([id]));
    this.heard.ask(at);
  }

  /** @param {string} id @param {PointerEvent} event */
  grab(id, event) {
    const { board } = this, { selection } = board;
    if (!selection.has(id)) selection.set([...(event.shiftKey ? selection.ids : []), ...this.#taken([id])]);
    // What is pulled off with Alt are copies.
    const copies = event.altKey && !event.ctrlKey && !event.metaKey ? this.heard.copy() : undefined;
    const hand = board.hold(selection.ids, { copies });
    if (!hand) this.heard.locked();
    const held = new Set(hand?.ids);
    const isFree = (/** @type {string} */ other) =>
      !held.has(other) && !isAnnotation(board.room.element(other)) && !isLine(board.room.element(other));
    this.#drag = {
      box: hand && !isAnnotation(board.room.element(hand.ids[0])) ? union(hand.ids.flatMap(one => board.scene.boxes.get(one) ?? [])) : undefined,
      others: [...board.scene.views.keys()].filter(isFree).flatMap(other => board.scene.boxes.get(other) ?? []),
      guides: [...board.scene.guides.values()].map(({ axis, positionX, positionY }) => ({ axis, at: axis === "x" ? positionX : positionY })),
    };
    return hand !== undefined;
  }

  /** @param {string} id @param {PointerEvent} event */
  grabToTilt(id, event) {
    if (!this.grab(id, event)) return false;
    this.board.hand?.deepen();
    return true;
  }

  /** @param {Point} way pixels of the screen */
  tilt(way) {
    this.board.hand?.move(ofTilting(way));
    this.board.frames.want();
  }

  /** @param {import("./motion.js").Motion} motion pixels of the screen @param {PointerEvent} event */
  drag(motion, event) {
    const { board } = this, { zoom } = board.camera, { x, y } = motion.translation;
    const translation = { x: x / zoom, y: y / zoom }, centre = toCanvas(board.camera, motion.centre);
    board.guides = [];
    if (motion.scale === 1 && motion.rotation === 0 && !event.ctrlKey && !event.metaKey && !board.recorder) this.#snap(translation);
    board.hand?.move({ ...motion, centre, translation });
    board.frames.want();
  }

  /**
   * Aligns a drag with what lies around it.
   * @param {Point} translation
   */
  #snap(translation) {
    const { box, others, guides } = this.#drag;
    if (!box) return;
    const moved = { ...box, x: box.x + translation.x, y: box.y + translation.y };
    const { x, y, lines } = aligned(moved, others, REACH / this.board.camera.zoom, guides);
    translation.x += x;
    translation.y += y;
    this.board.guides = lines;
  }

  /** @param {string} handle @param {Point} from */
  pull(handle, from) {
    const { board } = this, { single = "" } = board.selection, element = board.room.element(single);
    if (element && (handle === "from" || handle === "to")) {
      this.#end = new EndPull(board, single, handle);
      return true;
    }
    const hand = board.hold(board.selection.ids, { resizes: element && resizes(element.type, handle) });
    const frame = board.frameOf(hand?.ids ?? []);
    if (!hand || !frame) {
      this.heard.locked();
      return false;
    }
    this.#pull = { frame, handle, from: toCanvas(board.camera, from) };
    return true;
  }

  /** @param {Point} at @param {PointerEvent} event */
  pulled(at, event) {
    if (this.#end) return this.#end.move(at);
    if (!this.#pull) return;
    const { frame, handle, from } = this.#pull, isCorner = handle.length === 2;
    const keepsRatio = event.shiftKey || (isCorner && !this.board.hand?.way.resizes);
    const options = { step: event.shiftKey ? STEP : 0, aboutMiddle: event.altKey, keepsRatio };
    this.board.hand?.move(pulled(frame, handle, from, toCanvas(this.board.camera, at), options));
    this.board.frames.want();
  }

  /** @param {Point} velocity pixels of the screen a second */
  release(velocity = STILL.translation) {
    const { board } = this, { zoom } = board.camera, { x, y } = velocity;
    // What snapped is where it belongs.
    const isThrown = !board.hand?.way.copies && Math.hypot(x, y) > FLICK && board.guides.length === 0 && !isCalm();
    this.#end?.end();
    this.#end = this.#pull = undefined;
    board.letGo(isThrown ? { x: x / zoom, y: y / zoom } : undefined);
  }

  cancel() {
    this.#end?.cancel();
    this.#end = this.#pull = undefined;
    this.board.drop();
  }

  /** @param {Point} from @param {Point} to */
  marquee(from, to) {
    const box = boxBetween(from, to);
    this.board.marquee = box.width || box.height ? box : undefined;
    this.board.frames.want();
  }

  /** @param {Point} from @param {Point} to @param {PointerEvent} event */
  caught(from, to, event) {
    const { board } = this, { camera, scene, selection, room } = board;
    const box = boxBetween(toCanvas(camera, from), toCanvas(camera, to));
    const isTouched = (/** @type {string} */ id) => {
      const line = scene.ties.lines.get(id), element = room.drawn(id);
      if (line || !element) return line !== undefined && touches(line, box);
      // What is seen in part only has a box alone.
      const outline = corners(element);
      return outline.length < 3 || meetsOutline(box, outline);
    };
    const found = caught(box, scene.boxes).filter(id => !isAnnotation(room.element(id)) && isTouched(id));
    this.marquee(from, from);
    selection.set([...(event.shiftKey ? selection.ids : []), ...withGroups(room.elements, found)]);
  }

  /** @param {[Point, Point]} from @param {[Point, Point]} to */
  pinch(from, to) {
    this.board.look(pinched(this.board.camera, from, to));
  }

  /** @param {Point} way */
  pan(way) {
    this.board.pan(way);
  }

  /** @param {Point | null} at */
  hover(at) {
    this.pointing = at;
    if (mayShow(this.board.room)) this.board.room.point(at && toCanvas(this.board.camera, at));
  }

  /**
   * A mouse wheel's notch zooms towards the pointer, as fingers on a trackpad that pinch; their scrolling pans.
   * @param {WheelEvent} event
   */
  wheel(event) {
    event.preventDefault();
    const { left, top } = this.board.surface.getBoundingClientRect();
    const isNotch = this.#wheel.isNotched(event);
    if (!isNotch && !event.ctrlKey && !event.metaKey) return this.board.pan({ x: -event.deltaX, y: -event.deltaY });
    const pixels = event.deltaMode === 0 ? event.deltaY : event.deltaY * 40;
    const way = Math.max(Math.min(pixels, 120), -120);
    this.board.zoom(Math.exp(-way * (event.ctrlKey && !isNotch ? 0.01 : 0.002)), { x: event.clientX - left, y: event.clientY - top });
  }
}
