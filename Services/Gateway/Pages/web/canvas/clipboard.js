// Copy, cut and paste, between rooms and windows and with other programs: by the browser's own events, which need no
// permission. What is dropped from outside is as if it was pasted there.

import { boxOf, read, written } from "./copies.js";
import { ASIDE, putAt, selectedOf } from "./copying.js";
import { freePlace, meets } from "./geometry.js";
import { mayChange } from "./roomcore.js";
import { LONGEST } from "./texts.js";

/** @typedef {import("./geometry.js").Point} Point */
/** @typedef {import("./actions.js").Actions} Actions */
/** @typedef {{html: string, text: string, files: File[]}} Content */

/** About as large is what comes from elsewhere, pixels of the canvas. */
const NOTE = { width: 200, height: 160 };

export class Clipboard {
  /**
   * What was copied in this window, while nobody was elsewhere since.
   * @type {Content | undefined}
   */
  #own = undefined;
  /** The last paste. */
  #last = { html: "", text: "", at: { x: NaN, y: NaN }, count: 0 };

  /**
   * @param {Actions} actions @param {() => Point | undefined} pointing where the pointer is, pixels of the canvas
   * @param {() => void} denied says that this person may only look
   */
  constructor(actions, pointing, denied) {
    this.actions = actions;
    this.denied = denied;
    this.pointing = pointing;
    document.addEventListener("copy", event => this.#copied(event));
    document.addEventListener("cut", event => this.#copied(event) && (mayChange(actions.room) ? actions.remove() : denied()));
    document.addEventListener("paste", event => {
      if (isText(event) || !event.clipboardData) return;
      event.preventDefault();
      this.#put(contentOf(event.clipboardData));
    });
    addEventListener("blur", () => (this.#own = undefined));
    const { surface } = actions.board;
    surface.addEventListener("dragover", event => event.preventDefault());
    surface.addEventListener("drop", event => {
      event.preventDefault();
      const { left, top } = surface.getBoundingClientRect();
      if (event.dataTransfer) this.#put(contentOf(event.dataTransfer), actions.board.place({ x: event.clientX - left, y: event.clientY - top }));
    });
  }

  /**
   * Pastes what a menu asks for: the browser may want the person to agree.
   * @param {Point} [at] pixels of the canvas
   */
  async paste(at) {
    if (this.#own) return this.#put(this.#own, at);
    const items = await navigator.clipboard?.read?.().catch(() => undefined);
    if (!items) return this.actions.say("The browser does not let menus paste: press the keys for it.");
    /** @type {Content} */
    const content = { html: "", text: "", files: [] };
    for (const item of items) {
      for (const type of item.types) {
        const blob = await item.getType(type);
        if (type === "text/html") content.html = await blob.text();
        else if (type === "text/plain") content.text = await blob.text();
        else if (type.startsWith("image/")) content.files.push(new File([blob], "picture", { type }));
      }
    }
    this.#put(content, at);
  }

  /** @param {ClipboardEvent} event @returns {boolean} whether something was copied */
  #copied(event) {
    const elements = isText(event) ? [] : selectedOf(this.actions);
    if (elements.length === 0 || !event.clipboardData) return false;
    const { html, text } = written(elements);
    event.preventDefault();
    event.clipboardData.setData("text/html", html);
    event.clipboardData.setData("text/plain", text);
    this.#own = { html, text, files: [] };
    this.#last = { html, text, at: { x: NaN, y: NaN }, count: 0 };
    return true;
  }

  /** @param {Content} content @param {Point} [place] pixels of the canvas, instead of where the pointer is */
  async #put(content, place) {
    const { actions } = this, { view, scene } = actions.board;
    if (!mayChange(actions.room)) return this.denied();
    const elements = read(content), box = elements && boxOf(elements);
    // Without a pointer, beside what was copied if that is seen.
    const at = place ?? this.pointing() ?? (box && meets(box, view) ? { x: box.x + box.width / 2 + ASIDE, y: box.y + box.height / 2 + ASIDE }
      : freePlace(box ?? NOTE, view, [...scene.boxes.values()]));
    const shift = this.#again(content, at), where = { x: at.x + shift, y: at.y + shift };
    if (elements) return putAt(actions, elements, where);
    const text = content.text.trim(), { files } = content;
    // Tables come with a picture of them, files with their names.
    if (files.length && !(text && content.html)) {
      const { placePictures } = await import("./pictures.js");
      return placePictures(actions, files, where);
    }
    if (!text) return;
    if (text.length > LONGEST) actions.say(`Only the first ${LONGEST.toLocaleString("en")} characters are in the note.`);
    actions.createAt(where, text.slice(0, LONGEST));
  }

  /**
   * Each time that the same is pasted in the same place, it lies further.
   * @param {Content} content @param {Point} at @returns {number} how far from there it belongs
   */
  #again({ html, text }, at) {
    const last = this.#last, isSame = last.html === html && last.text === text && Math.hypot(last.at.x - at.x, last.at.y - at.y) < 1;
    this.#last = { html, text, at, count: isSame ? last.count + 1 : 0 };
    return this.#last.count * ASIDE;
  }
}

/** @param {Event} event @returns {boolean} whether it belongs to a text that is written */
const isText = ({ target }) => target instanceof globalThis.Element && target.closest("input, textarea, select, [contenteditable]") !== null;

/** @param {DataTransfer} data @returns {Content} */
const contentOf = data => ({ html: data.getData("text/html"), text: data.getData("text/plain"), files: [...data.files] });
