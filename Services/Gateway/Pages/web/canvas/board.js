// The board: a room, the camera over it, what is selected, and the hand that moves it. It draws all of them.

import { isArrow } from "./arrows.js";
import { fitted, panned, revealed, seen, toCanvas, toScreen, zoomed } from "./camera.js";
import { Drafts } from "./drafts.js";
import { left } from "./give.js";
import { Frames } from "./frames.js";
import { boundsOf, grown, union } from "./geometry.js";
import { Hand, movable } from "./hand.js";
import { frameAround, frameOf, middleOf } from "./handles.js";
import { end, show } from "./media.js";
import { isCalm, paced } from "./page.js";
import { People } from "./people.js";
import { FEWER_EVERY } from "./quality.js";
import { Presence } from "./presence.js";
import { mayShow, publisherOf, ruleFor } from "./roomcore.js";
import { isGuide } from "./kinds.js";
import { Scene } from "./scene.js";
import { Selection } from "./selection.js";
import { Overlay } from "./overlay.js";
import { Writers } from "./writers.js";

/** @typedef {import("./geometry.js").Point} Point */
/** @typedef {import("./geometry.js").Box} Box */
/** @typedef {import("./handles.js").Frame} Frame */
/** @typedef {import("/client/touchsync.js").Room} Room */
/** @typedef {import("./quality.js").Quality} Quality */

/** What is drawn around the window, so that a small movement of the camera needs no new nodes, pixels of the screen. */
const AROUND = 120;
/** Boxes around what others do at most: beyond them nobody can read names. */
const MOST_OUTLINES = 80;
/** Nothing of the canvas is here: a viewport without previews. */
const NOWHERE = { x: -1e9, y: -1e9, width: 1, height: 1 };

export class Board {
  /** @type {import("./camera.js").Camera} */
  camera = { x: -200, y: -160, zoom: 1 };
  /**
   * Elements that others move.
   * @type {Set<string>}
   */
  moving = new Set();
  /**
   * The room at another time, while that is shown.
   * @type {Scene | undefined}
   */
  past = undefined;
  /** @type {import("./guides.js").Line[]} */
  guides = [];
  /** @type {Box | undefined} pixels of the screen */
  marquee = undefined;
  /** @type {Hand | undefined} */
  hand = undefined;
  /**
   * The element that an arrow's end is about to lie on.
   * @type {string | undefined}
   */
  aim = undefined;
  /**
   * Hears of the hand's next movements instead of the room, while they are recorded.
   * @type {((samples: import("./recording.js").Sample[]) => void) | undefined}
   */
  recorder = undefined;
  /** @type {Quality} */
  quality = "full";
  /**
   * What sprang back since when.
   * @type {Map<string, {give: import("./give.js").Give, since: number}>}
   */
  #springs = new Map();
  /** @type {Set<string>} */
  #dirty = new Set();
  #isStacked = false;
  #hasMoved = true;
  #othersAt = -Infinity;
  #isShared = true;

  /**
   * @param {Room} room
   * @param {{surface: HTMLElement, world: HTMLElement, overlay: HTMLElement, cursors: HTMLElement}} layers
   */
  constructor(room, { surface, world, overlay, cursors }) {
    this.room = room;
    this.surface = surface;
    this.world = world;
    this.frames = new Frames(now => this.#draw(now));
    this.presence = new Presence(room);
    this.drafts = new Drafts(world, room, this.presence);
    this.writers = new Writers(room, this.presence, id => {
      this.#dirty.add(id);
      this.frames.want();
    });
    this.scene = new Scene(world, room, this.writers);
    this.scene.onRestack = () => (this.#isStacked = false);
    this.scene.held = id => this.hand?.start.get(id);
    this.scene.onFill = show;
    this.overlay = new Overlay(overlay);
    this.people = new People(room, cursors, () => this.frames.want());
    this.selection = new Selection(ids => {
      this.record(undefined);
      if (mayShow(room)) room.select(ids);
      this.onSelect(ids);
      this.frames.want();
    });
    this.#tell = paced(200, () => {
      if (this.quality === "final") this.room.look(NOWHERE);
      else this.room.look(this.view, { share: this.#isShared && mayShow(room) });
    });
    room.on("joined", () => this.#tell());
    room.on("change", ids => this.#changed(ids));
    room.on("moving", id => {
      this.moving.add(id);
      this.frames.want();
    });
    new ResizeObserver(() => this.look(this.camera)).observe(surface);
  }

  // What the page hears

  /** @type {(ids: string[]) => void} */
  onSelect = () => {};
  /** @type {(isRecording: boolean) => void} */
  onRecord = () => {};
  /**
   * Called after each drawing, with the time and whether others move something.
   * @type {(now: number, isMoving: boolean) => void}
   */
  onDraw = () => {};
  /** Elements changed, came or went. */
  onChange = () => {};

  // The camera

  get size() {
    return { width: this.surface.clientWidth || 1, height: this.surface.clientHeight || 1 };
  }

  /** What the window shows, pixels of the canvas. */
  get view() {
    return seen(this.camera, this.size);
  }

  /** @param {Point} at pixels of the window @returns {Point} of the canvas */
  place(at) {
    return toCanvas(this.camera, at);
  }

  /** @param {import("./camera.js").Camera} camera */
  look(camera) {
    this.camera = camera;
    this.#hasMoved = true;
    this.frames.want();
    this.#tell();
  }

  /** @param {Point} way of the content, pixels of the screen */
  pan(way) {
    this.look(panned(this.camera, way));
  }

  /** @param {number} factor @param {Point} [at] pixels of the screen; the middle by default */
  zoom(factor, at = { x: this.size.width / 2, y: this.size.height / 2 }) {
    this.look(zoomed(this.camera, factor, at));
  }

  /**
   * Shows some elements as a whole, by default all.
   * @param {string[]} [ids]
   */
  fit(ids = this.room.elements.map(element => element.id)) {
    const box = union(ids.flatMap(id => this.#boxOf(id) ?? []));
    const { width, height } = this.size, margin = { x: Math.min(110, width / 20), y: Math.min(125, height / 5) };
    if (box) {
      const { x, y, zoom } = fitted(box, this.size, margin, Math.max(1, width / 1700));
      // Below there are more panels than above.
      this.look({ x, y: y + (width > 760 ? 44 : 12) / zoom, zoom });
    } else this.look({ x: -width / 2, y: -height / 2, zoom: 1 });
  }

  /** @param {string} id */
  reveal(id) {
    const box = this.#boxOf(id);
    if (box) this.look(revealed(this.camera, box, this.size, 90));
  }

  /**
   * Where an element lies, whether it was drawn yet or not.
   * @param {string} id
   */
  #boxOf(id) {
    const known = this.room.element(id), element = isArrow(known) ? this.scene.shown(id) : known;
    return element && !isGuide(element) ? boundsOf(element, this.scene.parentOf(id)) : undefined;
  }

  /** @param {boolean} isShared whether others may see, and follow, what this window shows */
  share(isShared) {
    this.#isShared = isShared;
    this.#tell();
  }

  /** @param {Quality} quality */
  setQuality(quality) {
    this.quality = quality;
    this.#tell();
  }

  // The hand

  /**
   * Takes elements into the hand.
   * @param {string[]} ids @param {import("./hand.js").Way} [way]
   * @returns {Hand | undefined} undefined when none of them may be moved
   */
  hold(ids, way) {
    this.letGo();
    const free = movable(this.room, ids).slice(0, this.selection.most), frame = this.frameOf(free);
    if (!frame) return undefined;
    this.hand = new Hand(this.room, this.scene, free, middleOf(frame), way);
    if (this.recorder) this.hand.record();
    return this.hand;
  }

  /**
   * What the hand holds is committed, or goes back if its movement was recorded.
   * @param {Point} [velocity] with which it is thrown, pixels of the canvas a second
   */
  letGo(velocity) {
    const hand = this.#open();
    if (!hand?.recorded) return void hand?.end(velocity);
    hand.record();
    hand.cancel();
    this.recorder?.(hand.recorded);
  }

  /** @param {Board["recorder"]} recorder of the only selected element; undefined ends a recording */
  record(recorder) {
    this.recorder = recorder;
    this.onRecord(recorder !== undefined);
  }

  /** What the hand holds goes back. */
  drop() {
    this.#open()?.cancel();
  }

  #open() {
    const { hand } = this, now = performance.now();
    this.hand = undefined;
    this.guides = [];
    for (const id of hand?.ids ?? []) {
      const give = this.scene.gives.get(id);
      if (give) this.#springs.set(id, { give, since: isCalm() ? -Infinity : now });
    }
    this.frames.want();
    return hand;
  }

  /**
   * The frame around elements as they are drawn.
   * @param {string[]} ids @returns {Frame | undefined}
   */
  frameOf(ids) {
    if (ids.length !== 1) return frameAround(ids.flatMap(id => this.scene.boxes.get(id) ?? []));
    const element = this.scene.shown(ids[0]);
    const canStretch = element !== undefined && !isArrow(element) && ruleFor(this.room, element.type)?.lockedAspect === false;
    return element && frameOf(element, this.scene.parentOf(ids[0]), canStretch);
  }

  // Drawing

  /** @param {string} id of an element that this window shows otherwise than the room */
  redraw(id) {
    this.#dirty.add(id);
    this.frames.want();
  }

  /** @param {string[]} ids */
  #changed(ids) {
    for (const id of ids) {
      this.#dirty.add(id);
      if (!this.room.element(id)) end(id);
      if (!this.scene.boxes.has(id) || !this.room.element(id)) this.#isStacked = false;
    }
    this.selection.keep(id => this.room.element(id) !== undefined);
    this.frames.want();
    this.onChange();
  }

  /** @param {number} now @returns {boolean} whether something goes on moving */
  #draw(now) {
    // Once a frame: between the events of two fingers only one of them has moved.
    if (this.hand?.recorded) this.hand.record();
    const isMoving = this.#drawOthers(performance.now()), isSpringing = this.#spring(performance.now());
    for (const id of this.#dirty) this.scene.draw(id);
    this.#dirty.clear();
    if (this.#hasMoved) this.#moveCamera();
    if (!this.#isStacked) {
      this.scene.stack();
      this.#isStacked = true;
    }
    this.scene.fit();
    const publishers = new Set([...this.moving].map(id => publisherOf(this.room, id)));
    const arePointing = this.people.draw(this.camera, performance.now(), publishers);
    this.#drawOverlay();
    this.onDraw(now, isMoving);
    return isMoving || isSpringing || arePointing;
  }

  /** @param {number} now @returns {boolean} whether others move something */
  #drawOthers(now) {
    const isDue = this.quality === "full" || now - this.#othersAt >= FEWER_EVERY;
    if (isDue) this.#othersAt = now;
    for (const id of this.moving) {
      if (!isDue && this.room.isMoving(id)) continue;
      this.scene.draw(id);
      const goesOn = this.room.isMoving(id);
      this.scene.mark(id, goesOn);
      if (!goesOn) this.moving.delete(id);
    }
    return this.moving.size > 0;
  }

  /** @param {number} now */
  #spring(now) {
    for (const [id, { give, since }] of this.#springs) {
      const rest = this.hand?.ids.includes(id) ? undefined : left(give, now - since);
      if (rest) this.scene.gives.set(id, rest);
      else this.#springs.delete(id);
      if (!rest && !this.hand?.ids.includes(id)) this.scene.gives.delete(id);
      this.#dirty.add(id);
    }
    return this.#springs.size > 0;
  }

  #moveCamera() {
    const { x, y, zoom } = this.camera;
    this.#hasMoved = false;
    this.scene.look(grown(seen(this.camera, this.size), AROUND / zoom));
    const { origin: corner } = this.scene, origin = toScreen(this.camera, corner);
    this.drafts.layer.style.translate = `${-corner.x}px ${-corner.y}px`;
    this.world.style.transform = `translate(${origin.x}px, ${origin.y}px) scale(${zoom})`;
    // The grid keeps a readable distance at each zoom.
    const step = 32 * zoom * 2 ** Math.max(Math.ceil(Math.log2(20 / (32 * zoom))), 0);
    this.surface.style.backgroundSize = `${step}px ${step}px`;
    this.surface.style.backgroundPosition = `${(-x * zoom) % step}px ${(-y * zoom) % step}px`;
    this.surface.dispatchEvent(new CustomEvent("camera"));
  }

  #drawOverlay() {
    const { selection, camera } = this, { ids } = selection, isLocked = ids.some(id => this.room.element(id)?.locked);
    const isBusy = this.hand !== undefined && this.guides.length > 0;
    const line = selection.single === undefined || isLocked ? undefined : this.scene.ties.lines.get(selection.single);
    this.overlay.frame(camera, line ? undefined : this.frameOf(ids), { isLocked, isPlain: isBusy || ids.length === 0 });
    this.overlay.ends(camera, line);
    this.overlay.guides(camera, this.guides);
    this.overlay.marquee(this.marquee);
    this.overlay.outlines(camera, this.#outlines());
  }

  /** @returns {import("./overlay.js").Outline[]} what others move, and what they have selected */
  #outlines() {
    const named = new Set();
    const moved = [...this.moving].flatMap(id => {
      const sid = publisherOf(this.room, id), person = this.people.who(sid), frame = this.#seenFrame(id);
      if (!person || !frame) return [];
      const name = named.has(sid) ? undefined : person.name;
      named.add(sid);
      return [{ key: `${id} moved`, frame, colour: person.colour, name, isMoving: true }];
    });
    const selected = this.people.others.flatMap(([sid, { selection, colour }]) => selection.slice(0, 20).flatMap(id => {
      const frame = this.moving.has(id) ? undefined : this.#seenFrame(id);
      return frame ? [{ key: `${id} ${sid}`, frame, colour, isMoving: false }] : [];
    }));
    const aim = this.aim === undefined ? undefined : this.#seenFrame(this.aim);
    const aimed = aim ? [{ key: "aim", frame: aim, colour: "var(--accent)", isMoving: true }] : [];
    return [...aimed, ...moved, ...selected].slice(0, MOST_OUTLINES);
  }

  /** @param {string} id */
  #seenFrame(id) {
    return this.scene.views.has(id) ? this.frameOf([id]) : undefined;
  }

  #tell = () => {};
}
