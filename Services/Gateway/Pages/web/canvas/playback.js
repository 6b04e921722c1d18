// The room played back: a bar with all that was done, and above it the room as it was then. Nothing of it can be changed;
// the room itself goes on behind. What is chosen there can be brought back.

import { toScreen } from "./camera.js";
import { withAnnotations } from "./drawing.js";
import { grown } from "./geometry.js";
import { Past } from "./history.js";
import { latest, since } from "./log.js";
import { strip, told } from "./moment.js";
import { $, iconButton, node, paced } from "./page.js";
import { Pointers } from "./pointer.js";
import { commit, restoring } from "./restoring.js";
import { mayChange } from "./roomcore.js";
import { Scene } from "./scene.js";
import { counted, refused } from "./words.js";
import { newElementId } from "/client/touchsync.js";

/** @typedef {import("./board.js").Board} Board */
/** @typedef {import("./history.js").Entry} Entry */
/** @typedef {{notify: (text: string) => void, say: (text: string) => void, stage: import("./stage.js").BoardStage}} Page */

/** Changes a second, and how many times as many. */
const RATE = 4, SPEEDS = [1, 4, 16, 64];
/** What is drawn around the window, pixels of the screen. */
const AROUND = 120;
/** How often it is asked for what happens meanwhile at most, ms. */
const EVERY = 1000;

/**
 * @param {Board} board @param {Page} page
 * @returns {Promise<Playback | undefined>} undefined when there is nothing to be shown
 */
export async function open(board, page) {
  const { room } = board;
  try {
    const living = [...room.elements], { entries, isWhole } = await latest(room);
    if (entries.length === 0) return void page.notify("Nothing has happened in this room yet.");
    // What the server has not answered yet is no history.
    return new Playback(board, page, new Past(living.filter(element => element.rev !== undefined), entries), isWhole);
  } catch {
    return void page.notify("The history cannot be read now. Try again in a moment.");
  }
}

export class Playback {
  /** @type {Set<string>} */
  chosen = new Set();
  /** Called when the room is shown again. */
  onClose = () => {};
  #speed = 0;
  #timer = 0;
  #layer = node("div", "past");
  #world = node("div", "world");
  #bar = node("section", "panel playback");
  #slider = /** @type {HTMLInputElement} */ (node("input"));
  #strip = /** @type {HTMLCanvasElement} */ (node("canvas", "strip"));
  #what = node("p", "what");
  #play = iconButton("play", "Play");
  #pace = /** @type {HTMLButtonElement} */ (node("button", "tool value", "1×"));
  #restore = /** @type {HTMLButtonElement} */ (node("button", "button", "Restore"));
  #over = new AbortController();
  /** @type {(() => void)[]} */
  #ends = [];

  /** @param {Board} board @param {Page} page @param {Past} past @param {boolean} isWhole */
  constructor(board, page, past, isWhole) {
    this.board = board;
    this.page = page;
    this.past = past;
    this.isWhole = isWhole;
    this.scene = board.past = new Scene(this.#world, /** @type {any} */ (past));
    this.#build();
    this.#listen();
    board.letGo();
    for (const id of board.selection.ids) this.chosen.add(id);
    board.selection.clear();
    document.body.classList.add("in-the-past");
    $("canvas").after(this.#layer);
    this.#layer.after(this.#bar);
    this.#slider.focus();
    this.#look();
    this.#show(new Set(past.elements.map(element => element.id)));
    this.#drawStrip();
    page.say("The room in the past. Arrows go through what was done, Space plays it, Escape returns.");
  }

  #build() {
    const now = node("button", "button primary", "Now"), track = node("div", "track"), line = node("div", "line");
    this.#layer.append(this.#world);
    this.#bar.setAttribute("role", "toolbar");
    this.#bar.setAttribute("aria-label", "History of the room");
    Object.assign(this.#slider, { type: "range", min: "0", step: "1", max: String(this.past.entries.length), value: String(this.past.at) });
    this.#slider.setAttribute("aria-label", "Moment");
    this.#pace.title = "Speed";
    for (const button of [now, this.#pace, this.#restore]) button.setAttribute("type", "button");
    this.#restore.hidden = !mayChange(this.board.room);
    this.#play.addEventListener("click", () => this.toggle());
    this.#pace.addEventListener("click", () => this.#faster());
    this.#restore.addEventListener("click", () => this.restore());
    now.addEventListener("click", () => this.close());
    this.#slider.addEventListener("input", () => {
      this.pause();
      this.go(Number(this.#slider.value));
    });
    track.append(this.#strip, this.#slider);
    line.append(this.#play, this.#pace, track, this.#restore, now);
    this.#bar.append(line, this.#what);
  }

  #listen() {
    const { signal } = this.#over, { board, page } = this, { stage } = page;
    board.surface.addEventListener("camera", () => this.#look(), { signal });
    this.#layer.addEventListener("wheel", event => stage.wheel(event), { passive: false, signal });
    addEventListener("keydown", event => this.#key(event), { capture: true, signal });
    for (const name of ["copy", "cut", "paste", "drop"]) addEventListener(name, event => event.stopPropagation(), { capture: true, signal });
    addEventListener("resize", () => this.#drawStrip(), { signal });
    // Nothing can be taken hold of: what is dragged is the canvas.
    new Pointers(this.#layer, /** @type {any} */ (/** @type {Partial<import("./pointer.js").Stage>} */ ({
      at: event => stage.at(event), hit: () => ({}), pans: () => true, pan: way => stage.pan(way), tapNothing: event => this.#pick(event),
      pinch: (from, to) => stage.pinch(from, to), release() {}, hover() {},
    })));
    const follow = paced(EVERY, () => this.#append());
    this.#ends.push(board.room.on("change", follow));
  }

  /** What happens meanwhile lengthens the bar. */
  async #append() {
    const found = await since(this.board.room, this.past.entries.at(-1)?.seq ?? 0).catch(() => []);
    if (found.length === 0 || this.#over.signal.aborted) return;
    this.past.append(found);
    this.#slider.max = String(this.past.entries.length);
    this.#drawStrip();
  }

  /** @param {KeyboardEvent} event no key reaches the room behind */
  #key(event) {
    const { key, target } = event, isControl = target instanceof HTMLElement && this.#bar.contains(target);
    if (key === "Tab" || (isControl && key !== "Escape" && target !== this.#slider && [" ", "Enter"].includes(key))) return;
    event.stopPropagation();
    const step = { ArrowLeft: -1, ArrowRight: 1 }[key];
    if (key === "Escape") this.close();
    else if (key === " ") this.toggle();
    else if (step) this.step(step);
    else if (key === "Home" || key === "End") this.step(key === "End" ? Infinity : -Infinity);
    else return;
    event.preventDefault();
  }

  /** @param {number} by changes, by a person */
  step(by) {
    this.pause();
    this.go(Math.min(Math.max(this.past.at + by, 0), this.past.entries.length));
    this.page.say(this.#what.textContent ?? "");
  }

  /** @param {number} at how many of the changes have happened */
  go(at) {
    this.#show(this.past.go(at));
  }

  toggle() {
    if (this.#timer) return this.pause();
    if (this.past.at >= this.past.entries.length) this.go(0);
    const step = () => {
      this.go(this.past.at + 1);
      if (this.past.at >= this.past.entries.length) this.pause();
    };
    this.#timer = setInterval(step, 1000 / RATE / SPEEDS[this.#speed]);
    this.#play.setAttribute("aria-pressed", "true");
    this.#play.setAttribute("aria-label", "Pause");
  }

  pause() {
    clearInterval(this.#timer);
    this.#timer = 0;
    this.#play.setAttribute("aria-pressed", "false");
    this.#play.setAttribute("aria-label", "Play");
  }

  #faster() {
    const isPlaying = this.#timer !== 0;
    this.#speed = (this.#speed + 1) % SPEEDS.length;
    this.#pace.textContent = `${SPEEDS[this.#speed]}×`;
    if (!isPlaying) return;
    this.pause();
    this.toggle();
  }

  // Drawing

  #look() {
    const { camera, view } = this.board;
    this.scene.look(grown(view, AROUND / camera.zoom));
    const origin = toScreen(camera, this.scene.origin);
    this.#world.style.transform = `translate(${origin.x}px, ${origin.y}px) scale(${camera.zoom})`;
    this.scene.fit();
    this.#mark();
  }

  /** @param {Set<string>} changed */
  #show(changed) {
    for (const id of changed) this.scene.draw(id);
    this.scene.stack();
    this.scene.fit();
    this.#mark();
    const { entry } = this.past, text = entry ? "" : this.isWhole ? "The room was empty." : "Changes before this one are not kept.";
    this.#slider.value = String(this.past.at);
    this.#what.replaceChildren(...(entry ? told(entry, this.board.room) : [text]));
    this.#slider.setAttribute("aria-valuetext", this.#what.textContent ?? "");
    this.board.frames.want();
  }

  #drawStrip() {
    strip(this.#strip, this.past.entries, this.board.room);
  }

  #mark() {
    for (const [id, { node }] of this.scene.views) node.classList.toggle("chosen", this.chosen.has(id));
    const here = [...this.chosen].filter(id => this.past.element(id)).length;
    this.#restore.disabled = here === 0;
    this.#restore.textContent = here > 1 ? `Restore ${here}` : "Restore";
    this.#restore.title = here ? "Brings back what is chosen as it was then" : "Click what is to come back";
  }

  // Choosing and restoring

  /** @param {PointerEvent} event */
  #pick(event) {
    const id = this.scene.idAt(event.target);
    if (!event.shiftKey) this.chosen.clear();
    if (id !== undefined) this.chosen.add(id);
    this.#mark();
  }

  /** Brings back what is chosen, as one edit that can be taken back, and returns to the room. */
  restore() {
    const { room, selection } = this.board, options = { undoGroup: `restore ${Date.now().toString(36)}` };
    const chosen = new Set([...this.chosen].filter(id => this.past.element(id)));
    const edits = restoring(withAnnotations(this.past.elements, chosen), id => room.element(id), newElementId);
    const count = commit(room, edits, options, refusal => this.page.notify(refused(refusal, room.members)));
    this.close();
    selection.set([...edits.create.map(one => one.id), ...[...chosen].filter(id => room.element(id))]);
    this.page.notify(count ? `Restored ${counted(count, "element")}. Undo takes it back.` : "It is as it was then.");
  }

  close() {
    this.pause();
    this.#over.abort();
    for (const end of this.#ends) end();
    this.#layer.remove();
    this.#bar.remove();
    document.body.classList.remove("in-the-past");
    this.board.past = undefined;
    this.board.frames.want();
    this.board.surface.focus({ preventScroll: true });
    this.onClose();
  }
}
