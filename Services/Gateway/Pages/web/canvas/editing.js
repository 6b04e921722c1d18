// The text of an element, edited in place. The editor is no part of the element's node: whatever others do to the element,
// only who writes leaves it. Others see who writes, and what.

import { chord } from "./keys.js";
import { dress, tintOf } from "./cards.js";
import { laidOut, needed } from "./fitting.js";
import { mirrorOf } from "./geometry.js";
import { toScreen } from "./camera.js";
import { lay } from "./overlay.js";
import { node } from "./page.js";
import { leastHeight, store } from "./storing.js";
import { LONGEST, merged, shareOf, storable, styleOf } from "./texts.js";
import { textOf } from "./values.js";
import { sentence } from "./words.js";

/** @typedef {import("/client/touchsync.js").Element} Element */
/** @typedef {import("/client/touchsync.js").UndoOptions} UndoOptions */
/** @typedef {import("./board.js").Board} Board */
/** @typedef {import("./handles.js").Frame} Frame */
/** @typedef {{width: number, height: number}} Size as it is laid out */
/**
 * A text that is written, and what its element was when it was seen last.
 * @typedef {{id: string, before: string, element: Element, made?: UndoOptions, frame?: Frame, layout?: string, size?: Size,
 *   stored?: {text: string, by: string}}} Work what somebody else stored meanwhile, and who
 */
/**
 * What the page does about it.
 * @typedef {object} Heard
 * @property {() => void} closed by a key
 * @property {(text: string, element: Element) => void} kept as a new note, since the element has gone or is locked
 * @property {(refusal: any) => void} refused
 * @property {(keys: string) => boolean} pressed keys of a command for texts: whether there is one
 */

/** So much of another person's text is shown beside one's own, characters. */
const MOST_SHOWN = 140;

/** @param {string} text @returns {string} its end */
const ending = text => (text.length > MOST_SHOWN ? `…${text.slice(-MOST_SHOWN)}` : text);

export class Editor {
  #field = document.createElement("textarea");
  #box = node("div", "card writing");
  #news = node("div", "news panel");
  #text = node("p");
  #keep = node("button", "button primary", "Keep my text as a new note");
  #drop = node("button", "button", "Drop it");
  /** @type {Work | undefined} */
  #work = undefined;

  /** @param {Board} board @param {HTMLElement} layer over the elements @param {Heard} heard */
  constructor(board, layer, heard) {
    this.board = board;
    this.heard = heard;
    const field = this.#field;
    field.className = "words";
    field.dir = "auto";
    field.maxLength = LONGEST;
    field.setAttribute("aria-label", "Text. Control and Enter saves it, Escape leaves it as it was.");
    this.#text.setAttribute("role", "status");
    this.#news.append(this.#text, this.#keep, this.#drop);
    this.#box.append(field);
    this.#box.hidden = this.#news.hidden = true;
    layer.append(this.#box, this.#news);
    field.addEventListener("keydown", event => this.#pressed(event));
    field.addEventListener("input", () => this.#wrote());
    for (const event of ["keyup", "pointerup"]) field.addEventListener(event, () => this.#show());
    // Beside the text and on its news a press leaves the keyboard where it is.
    for (const beside of [this.#box, this.#news]) {
      beside.addEventListener("mousedown", event => event.target !== field && event.preventDefault());
    }
    this.#keep.addEventListener("click", () => this.save());
    this.#drop.addEventListener("click", () => this.cancel());
    document.addEventListener("pointerdown", ({ target }) => this.#isOutside(target) && this.save(), { capture: true });
    document.addEventListener("focusin", ({ target }) => this.#isOutside(target) && this.save());
    addEventListener("pagehide", () => this.save());
  }

  /** The element whose text is written. */
  get id() {
    return this.#work?.id;
  }

  /** @param {EventTarget | null} target whether who goes there leaves the editor */
  #isOutside(target) {
    return this.#work !== undefined && target instanceof globalThis.Element && target !== document.body &&
      !target.closest(".writing, .news, #style");
  }

  /**
   * Opens the text of an element.
   * @param {string} id @param {string} [text] what is written there, by default what it has
   * @param {UndoOptions} [made] of the edit that made it, to be written
   */
  open(id, text, made) {
    const element = this.board.room.element(id), before = textOf(element?.content);
    if (!element || this.id === id) return this.#field.focus({ preventScroll: true });
    this.save();
    this.#work = { id, before, element, made };
    this.#field.value = text ?? before;
    this.#box.hidden = false;
    document.body.classList.add("written");
    this.draw();
    this.#field.focus({ preventScroll: true });
    this.#field.select();
    this.#show();
    this.board.frames.want();
  }

  /** What was written is stored, and everybody's text with it. */
  save() {
    const work = this.#work, mine = storable(this.#field.value);
    if (!work) return;
    this.#close(work);
    if (mine === work.before) return this.#tidy(work);
    const { id, before } = work, element = this.board.room.element(id);
    if (!element || element.locked) return mine.trim() ? this.heard.kept(mine, work.element) : undefined;
    const theirs = textOf(element.content), both = merged(before, theirs, mine);
    if (both !== theirs) store(this.board, id, both).catch(refusal => this.#refused(work, mine, refusal));
  }

  /** The text is as it was. */
  cancel() {
    const work = this.#work;
    if (!work) return;
    this.#close(work);
    this.#tidy(work);
  }

  /**
   * A text without a letter, which nobody could see or find, goes.
   * @param {Work} work
   */
  #tidy({ id, before, made }) {
    const { room } = this.board, element = room.element(id);
    if (element?.type === "text" && !element.locked && !before && !textOf(element.content)) room.delete([id], made);
  }

  /** @param {Work} work */
  #close({ id }) {
    const hadFocus = document.activeElement === this.#field;
    this.#work = undefined;
    this.#box.hidden = this.#news.hidden = true;
    document.body.classList.remove("written");
    this.board.writers.rest();
    this.board.scene.views.get(id)?.node.classList.remove("written");
    if (hadFocus) this.heard.closed();
    this.board.frames.want();
  }

  /**
   * What was written is not lost: it is written on, or kept as a note.
   * @param {Work} work @param {string} mine @param {any} refusal
   */
  #refused({ id, element }, mine, refusal) {
    const now = this.board.room.element(id);
    if (!now || now.locked) return this.heard.kept(mine, element);
    this.heard.refused(refusal);
    if (!this.#work) this.open(id, mine);
  }

  /** @param {KeyboardEvent} event */
  #pressed(event) {
    event.stopPropagation();
    // An input method has keys of its own: 229 where a browser says so alone.
    if (event.isComposing || event.keyCode === 229) return;
    const isDone = event.key === "Enter" && (event.ctrlKey || event.metaKey);
    if (event.key === "Escape") this.cancel();
    else if (isDone) this.save();
    else if (!((event.ctrlKey || event.metaKey) && this.heard.pressed(chord(event)))) return;
    event.preventDefault();
  }

  #wrote() {
    this.#show();
    this.board.frames.want();
  }

  /** Others see it. */
  #show() {
    if (this.#work) this.board.writers.write(this.#work.id, storable(this.#field.value), this.#field.selectionEnd);
  }

  /** Lays the editor on its element, wherever that is now, and says what others do with it. */
  draw() {
    const work = this.#work;
    if (!work) return;
    const { board } = this, element = board.room.drawn(work.id), view = board.scene.views.get(work.id);
    work.element = element ?? work.element;
    work.frame = (element && board.frameOf([work.id])) ?? work.frame;
    view?.node.classList.add("written");
    if (work.frame) this.#lay(work, work.frame);
    this.#tell(work);
  }

  /** @param {Work} work @param {Frame} frame */
  #lay(work, frame) {
    const { element } = work, own = laidOut(element);
    const layout = JSON.stringify([this.#field.value, own, styleOf(element), element.tint]);
    if (layout !== work.layout) work.size = this.#layOut(element);
    work.layout = layout;
    const { width, height } = /** @type {Size} */ (work.size), { style } = this.#box;
    lay(this.#box, this.board.camera, frame, own);
    style.width = `${width}px`;
    style.height = `${height}px`;
    style.setProperty("--mirror", Object.values(mirrorOf(element, this.board.scene.parentOf(work.id))).join(" "));
    style.transform += ` translateX(${(own.width - width) * shareOf(element)}px)`;
  }

  /** @param {Element} element @returns {Size} what the text needs */
  #layOut(element) {
    const field = this.#field, box = this.#box;
    const { fontSize, width, height } = needed({ ...element, content: field.value }, leastHeight(element));
    box.dataset.kind = element.type;
    box.dataset.tint = tintOf(element);
    box.classList.toggle("on-picture", element.parentId !== undefined);
    dress(field, element);
    field.style.fontSize = `${fontSize}px`;
    box.style.width = `${width}px`;
    field.style.height = "0";
    field.style.height = `${field.scrollHeight}px`;
    return { width, height };
  }

  /** @param {Work} work */
  #tell({ id, before, frame }) {
    const { board } = this, element = board.room.element(id), isLost = !element || element.locked === true;
    const news = isLost ? [element ? "It was locked meanwhile." : "It was deleted meanwhile."] : this.#changes(id, before);
    if (this.#field.value.length >= LONGEST) news.push(`A text has ${LONGEST.toLocaleString("en")} characters at most.`);
    this.#news.hidden = news.length === 0;
    this.#keep.hidden = this.#drop.hidden = !isLost;
    const text = news.join(" ");
    if (this.#text.textContent !== text) this.#text.textContent = text;
    if (!frame || this.#news.hidden) return;
    const corners = frame.corners.map(corner => toScreen(board.camera, corner)), { width, height } = board.size;
    const x = Math.min(...corners.map(corner => corner.x)), y = Math.max(...corners.map(corner => corner.y));
    const most = { x: width - this.#news.offsetWidth - 12, y: height - this.#news.offsetHeight - 140 };
    const at = { x: Math.max(Math.min(x, most.x), 12), y: Math.max(Math.min(y + 12, most.y), 120) };
    this.#news.style.transform = `translate(${at.x}px, ${at.y}px)`;
  }

  /** @param {string} stored a text of the element that is written @returns {string} who stored it, as far as is known */
  #author(stored) {
    const work = /** @type {Work} */ (this.#work), { room } = this.board;
    // Who changes something else later did not write it; who did may have left then.
    if (work.stored?.text !== stored) {
      const by = room.element(work.id)?.updatedBy, author = room.members.find(({ userId }) => userId === by);
      work.stored = { text: stored, by: author ? String(author.name || author.userId) : "Somebody" };
    }
    return work.stored.by;
  }

  /** @param {string} id @param {string} before @returns {string[]} what others write here, and wrote since the editor was opened */
  #changes(id, before) {
    const now = textOf(this.board.room.element(id)?.content), writers = this.board.writers.on(id);
    const stored = now === before ? [] : [`${this.#author(now)} stored “${ending(now)}”. Yours will stand below it.`];
    const names = [...new Set(writers.map(({ name }) => name))], draft = writers[0]?.text;
    if (!names.length) return stored;
    const theirs = draft && draft !== now ? `: “${ending(draft)}”.` : ".";
    return [...stored, `${sentence(names)} ${names.length > 1 ? "are" : "is"} writing here, too${theirs} Both texts are kept.`];
  }
}
