// What a person can do with the elements of a board, whichever button or key says so.

import { ANIMATIONS } from "./animations.js";
import { targetOf } from "./arrows.js";
import { hasText, isMedia } from "./cards.js";
import { freePlace } from "./geometry.js";
import { play } from "./media.js";
import { movable } from "./hand.js";
import { annotation, crowd, sample, TINTS } from "./samples.js";
import { STILL } from "./motion.js";
import { isCalm } from "./page.js";
import { painted } from "./paint.js";
import { animationOf } from "./recording.js";
import { mayChange, ruleFor } from "./roomcore.js";
import { restyle } from "./storing.js";
import { ALIGNS, SIZES, styleOf } from "./texts.js";
import { isAnnotation, isGuide } from "./kinds.js";
import { refused } from "./words.js";
import { newElementId } from "/client/touchsync.js";
import { ownPoint } from "/client/projection.js";

/** @typedef {import("./board.js").Board} Board */
/** @typedef {import("./samples.js").Kind} Kind */
/** @typedef {import("/client/touchsync.js").Element} Element */
/** @typedef {"rotateCW" | "rotateCCW" | "flipX" | "flipY" | "reset"} Preset */

/** Why an animation is not seen. */
const CALM = "Others see it move: here, motion is off.";

/**
 * What presets are to several.
 * @type {Record<Exclude<Preset, "reset">, Partial<import("./motion.js").Motion>>}
 */
const AS_ONE = {
  rotateCW: { rotation: 90 }, rotateCCW: { rotation: -90 }, flipX: { scale: { x: -1, y: 1 } }, flipY: { scale: { x: 1, y: -1 } },
};

let lastEdits = 0;

export class Actions {
  #made = 0;
  /**
   * Opens the text of an element, which was perhaps made for it by an edit with these options.
   * @type {(id: string, options?: import("/client/touchsync.js").UndoOptions) => void}
   */
  write = () => {};

  /** @param {Board} board @param {(text: string) => void} say */
  constructor(board, say) {
    this.board = board;
    this.say = say;
  }

  get room() {
    return this.board.room;
  }

  /** Options of edits that are undone as one. */
  together = () => ({ undoGroup: `page ${Date.now().toString(36)} ${++lastEdits}` });

  /** @returns {Element[]} */
  get selected() {
    return this.board.selection.ids.flatMap(id => this.room.element(id) ?? []);
  }

  // Making

  /** @param {Kind} kind */
  create(kind) {
    const { view, scene } = this.board, index = this.#made++, { width, height } = sample(kind, { x: 0, y: 0 }, index);
    const at = freePlace({ width, height }, view, [...scene.boxes.values()]);
    this.add(sample(kind, at, index), kind === "note" || kind === "text");
  }

  /**
   * A note where somebody double-clicked, or with a text from elsewhere.
   * @param {import("./geometry.js").Point} at pixels of the canvas @param {string} [content]
   */
  createAt(at, content) {
    const note = sample("note", at, this.#made++), options = this.together();
    if (content === undefined) return this.add(note, true);
    restyle(this.board, this.add({ ...note, content }, false, options), {}, options);
  }

  /** A text on the selected picture, or a free one. */
  text() {
    const [parent] = this.selected;
    const isOn = this.selected.length === 1 && ["photo", "video"].includes(parent.type);
    if (!isOn) return this.create("text");
    const count = this.room.elements.filter(element => element.parentId === parent.id).length;
    this.add(annotation(parent, count), true);
  }

  /**
   * Adds an element, and selects it.
   * @param {import("/client/touchsync.js").Data} element @param {boolean} [isText] whether its text is written next
   * @param {import("/client/touchsync.js").UndoOptions} [options] @returns {string} its id
   */
  add(element, isText = false, options = this.together()) {
    const id = newElementId();
    this.room.create({ id, ...element }, options);
    this.board.selection.set([id]);
    this.board.surface.focus({ preventScroll: true });
    if (isText) this.write(id, options);
    return id;
  }

  /**
   * A text that was written on an element which has gone, or is locked.
   * @param {string} content @param {Element} element
   */
  keep(content, { positionX: x, positionY: y, tint }) {
    const id = newElementId();
    this.room.create({ id, ...sample("note", { x: x + 24, y: y + 24 }, 0), ...(tint && { tint }), content });
    restyle(this.board, id, {}, this.together());
    this.board.selection.set([id]);
    this.say("Your text is in a new note.");
  }

  /** @param {import("/client/touchsync.js").Data[]} elements that one undo takes back */
  addAll(elements) {
    this.room.createAll(elements.map(element => ({ id: newElementId(), ...element })));
  }

  /** @param {number} count */
  crowd(count) {
    const { scene } = this.board, options = this.together();
    const boxes = [...scene.boxes.values()];
    const below = boxes.length ? Math.max(...boxes.map(box => box.y + box.height)) + 80 : 0;
    const corner = { x: boxes.length ? Math.min(...boxes.map(box => box.x)) : -1200, y: below };
    const parts = crowd(count, corner).map(elements => this.room.createAll(elements, options));
    return Promise.all(parts).then(() => this.board.fit());
  }

  // Changing

  /** @param {string} [id] */
  edit(id = this.board.selection.single) {
    const element = id === undefined ? undefined : this.room.element(id), card = this.board.scene.views.get(id ?? "")?.card;
    if (!element) return;
    if (isMedia(element)) return card && play(element, card);
    if (!hasText(element) || !mayChange(this.room)) return;
    if (element.locked) this.#refuse();
    else this.write(element.id);
  }

  // Texts

  /**
   * Changes the style of the selected texts.
   * @param {(style: import("./texts.js").Style) => import("/client/touchsync.js").Data} change fields from what it is
   */
  style(change) {
    const options = this.together(), texts = mayChange(this.room) ? this.selected.filter(hasText) : [];
    for (const element of texts.filter(({ locked }) => !locked)) restyle(this.board, element.id, change(styleOf(element)), options);
    if (texts.every(({ locked }) => locked)) this.#refuse();
  }

  bold() {
    const isBold = this.selected.filter(hasText).every(element => styleOf(element).isBold);
    this.style(() => ({ bold: !isBold }));
  }

  /** @param {1 | -1} way the next larger or smaller size */
  size(way) {
    const sizes = Object.values(SIZES);
    this.style(({ fontSize }) => {
      const further = way > 0 ? sizes.filter(size => size > fontSize) : sizes.filter(size => size < fontSize).reverse();
      return { fontSize: further[0] ?? fontSize };
    });
  }

  /** The next alignment of texts. */
  align() {
    this.style(({ align }) => ({ align: ALIGNS[(ALIGNS.indexOf(align) + 1) % ALIGNS.length] }));
  }

  /** The next colour of texts. */
  ink() {
    this.style(({ ink }) => ({ ink: TINTS[ink === undefined ? 0 : TINTS.indexOf(ink) + 1] ?? null }));
  }

  /** @param {Preset} preset */
  preset(preset) {
    const options = this.together(), free = this.selected.filter(element => !element.locked);
    if (free.length === 0) return this.#refuse();
    if (free.length > 1 && preset !== "reset") return this.#asOne(preset);
    for (const { id } of free) this.room.preset(id, preset, options);
  }

  /**
   * Several are one picture: they turn and are mirrored about their middle.
   * @param {Exclude<Preset, "reset">} preset
   */
  #asOne(preset) {
    const { board } = this, hand = board.hold(board.selection.ids);
    hand?.move({ ...STILL, centre: hand.pivot, ...AS_ONE[preset] });
    board.letGo();
  }

  /**
   * What the selection does from now on, one after the other, each as far as its type and its place allow.
   * @param {import("./animations.js").AnimationName} [name] nothing if it is left out
   */
  animate(name) {
    const free = this.selected.filter(element => !element.locked), options = this.together();
    if (free.length === 0) return this.#refuse();
    if (name && isCalm()) this.say(CALM);
    const animation = name && ANIMATIONS[name].animation, all = Object.keys(animation?.tracks ?? {});
    /** @type {Map<string, string[]>} */
    const byFields = new Map();
    for (const element of free) {
      const fields = all.filter(field => this.#moves(element, field)).join();
      if (fields || !animation) byFields.set(fields, [...(byFields.get(fields) ?? []), element.id]);
    }
    for (const [fields, elements] of byFields) {
      const tracks = Object.fromEntries(fields.split(",").map(field => [field, animation?.tracks[field]]));
      const body = { elements, animation: animation ? { ...animation, tracks } : null, staggerMs: 60 };
      this.room.edit("elements:animate", body, options);
    }
  }

  /** The selected element repeats what hands do to it next, on top of where it is. */
  record() {
    const { board, room, selected: [element] } = this, { single } = board.selection;
    if (single === undefined) return this.say("Select one element to record its movement.");
    if (element.locked) return this.#refuse();
    board.surface.focus({ preventScroll: true });
    board.record(samples => {
      const animation = animationOf(samples);
      if (!animation) return;
      board.record(undefined);
      room.edit("element:animate", { elementId: single, animation });
      this.say(isCalm() ? CALM : "Recorded. Animate, Stop ends it.");
    });
    this.say("Drag, turn or scale it once: it repeats that. Escape, or a tap beside it, ends the recording.");
  }

  /** @param {Element} element @param {string} field of an animation */
  #moves(element, field) {
    if (field === "rotation") return ruleFor(this.room, element.type)?.rotates !== false;
    return !isAnnotation(element) || !field.startsWith("position");
  }

  lock() {
    const { selected } = this, locked = !selected.every(element => element.locked), options = this.together();
    for (const { id } of selected) this.room.update(id, { locked }, options);
    if (selected.length) this.say(locked ? "Locked" : "Unlocked");
  }

  /** @param {import("./paint.js").Paint} paint colours for the selected elements, as far as each has them */
  paint(paint) {
    const options = this.together(), free = this.selected.filter(element => !element.locked);
    for (const element of free) {
      const set = painted(element, paint);
      if (set) this.room.update(element.id, set, options);
    }
  }

  remove() {
    const ids = this.selected.filter(element => !element.locked).map(element => element.id);
    if (ids.length === 0) return this.#refuse();
    // Annotations go with their pictures.
    const own = ids.filter(id => !(isAnnotation(this.room.element(id)) && ids.includes(this.room.element(id)?.parentId)));
    const options = this.together();
    this.#untie(new Set(own), options);
    this.room.delete(own, options);
    this.say(`Deleted ${own.length}`);
  }

  /**
   * The ends of arrows stay where they are when their elements go.
   * @param {Set<string>} gone @param {{undoGroup: string}} options
   */
  #untie(gone, options) {
    const { ties } = this.board.scene;
    for (const [id, line] of ties.lines) {
      const arrow = gone.has(id) ? undefined : this.room.element(id);
      /** @type {import("/client/touchsync.js").Data} */
      const set = {};
      for (const [index, name] of /** @type {const} */ (["from", "to"]).entries()) {
        const own = arrow && gone.has(targetOf(arrow, name) ?? "") ? ownPoint(arrow, line[index]) : undefined;
        if (own) set[name] = { x: Math.round(own.x), y: Math.round(own.y) };
      }
      if (Object.keys(set).length) this.room.update(id, set, options);
    }
  }

  /** @param {"undo" | "redo"} way */
  revise(way) {
    this.room[way]().then(result => {
      if (!(/** @type {any} */ (result).undone)) this.say(way === "undo" ? "Nothing to undo" : "Nothing to redo");
    }, refusal => this.say(refused(refusal, this.room.members)));
  }

  /** Selects what can be moved together. */
  all() {
    const { board } = this, here = this.room.elements.filter(element => !isGuide(element)).map(element => element.id);
    board.selection.set(here.filter(id => !isAnnotation(this.room.element(id))));
    if (here.length > board.selection.most) this.say(`Selected the first ${board.selection.most}`);
  }

  #refuse() {
    if (this.selected.length > movable(this.room, this.board.selection.ids).length) this.say("It is locked. Unlock it first.");
  }
}
