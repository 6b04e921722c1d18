// The elements as nodes of the page. Nodes exist for what is in the window, and move by transforms alone.

import { contentOf, fill, fillPlain } from "./cards.js";
import { factorOf, fit, laidOut } from "./fitting.js";
import { cssTransform } from "/client/projection.js";
import { isArrow } from "./arrows.js";
import { boundsOf, centre, innerFactor, meets, mirrorOf, stretchOf } from "./geometry.js";
import { resizes } from "./handles.js";
import { isAnnotation, isGuide } from "./kinds.js";
import { node } from "./page.js";
import { Ties } from "./ties.js";
import { named } from "./words.js";

/** @typedef {import("./geometry.js").Box} Box */
/** @typedef {import("./give.js").Give} Give */
/** @typedef {import("/client/touchsync.js").Element} Element */
/** @typedef {import("/client/touchsync.js").Room} Room */
/** @typedef {{node: HTMLElement, card: HTMLElement, content: unknown[], size: unknown[], opacity?: number, mirror?: string, annotations: Set<string>, level?: number}} View */

/** So far from the world's corner a view is not, pixels of the canvas. */
const FAR = 1e5;

let lastName = 0;

/** @returns {View} */
function newView() {
  const outer = node("div", "element"), card = node("div", "card");
  outer.id = `element-${++lastName}`;
  outer.setAttribute("role", "group");
  outer.append(card);
  return { node: outer, card, content: [], size: [], annotations: new Set() };
}

/** @param {unknown[]} a @param {unknown[]} b */
const isSame = (a, b) => a.length === b.length && a.every((value, index) => value === b[index]);

/** Draws a room's elements into a node. */
export class Scene {
  /**
   * Those in the window.
   * @type {Map<string, View>}
   */
  views = new Map();
  /**
   * Where each element is drawn.
   * @type {Map<string, Box>}
   */
  boxes = new Map();
  /**
   * Those that are lines, as they are to be drawn.
   * @type {Map<string, Element>}
   */
  guides = new Map();
  /**
   * What is shown beyond the limits.
   * @type {Map<string, Give>}
   */
  gives = new Map();
  /**
   * What is in the window, pixels of the canvas.
   * @type {Box}
   */
  window = { x: 0, y: 0, width: 0, height: 0 };
  /**
   * The point of the canvas at the world's corner: browsers draw what lies far from it inexactly, and beyond some 33 million
   * pixels all at one place.
   */
  origin = { x: 0, y: 0 };
  /**
   * The annotations of each element.
   * @type {Map<string, Set<string>>}
   */
  #annotations = new Map();
  /**
   * Those whose text or size changed since texts were fitted.
   * @type {Set<string>}
   */
  #unfitted = new Set();
  #hasComplained = false;
  /** Arrows, and what they follow. */
  ties = new Ties(id => {
    const element = this.room.drawn(id);
    return element && { element, parent: this.parentOf(id) };
  });

  /**
   * @param {HTMLElement} world @param {Room} room
   * @param {{on: (id: string) => import("./writers.js").Writer[]}} [writers] others who write on an element
   */
  constructor(world, room, writers = { on: () => [] }) {
    this.world = world;
    this.room = room;
    this.writers = writers;
  }

  /** @param {string} id @returns {Element | undefined} the one that an annotation lies on */
  parentOf(id) {
    const element = this.room.element(id);
    return element && isAnnotation(element) ? this.room.drawn(element.parentId) : undefined;
  }

  /**
   * The element that a node belongs to.
   * @param {EventTarget | null} target @returns {string | undefined}
   */
  idAt(target) {
    const found = target instanceof Element ? target.closest(".element") : null;
    return found instanceof HTMLElement ? found.dataset.id : undefined;
  }

  /**
   * Draws an element, and what lies on it. One that cannot be drawn is plain, and costs the others nothing.
   * @param {string} id
   */
  draw(id) {
    const element = this.shown(id);
    if (!element) this.#forget(id);
    else this.#drawOne(id, element);
    for (const annotation of this.#annotations.get(id) ?? []) this.draw(annotation);
    for (const arrow of this.ties.of(id)) this.draw(arrow);
  }

  /**
   * An element as it is drawn now: an arrow lies along the line between its ends.
   * @param {string} id @returns {Element | undefined}
   */
  shown(id) {
    const element = this.room.drawn(id);
    return element && isArrow(element) ? this.ties.laid(id, element) : element;
  }

  /** @param {string} id @param {Element} element */
  #drawOne(id, element) {
    if (isGuide(element)) return void this.guides.set(id, element);
    try {
      this.#draw(id, element);
    } catch (error) {
      this.#failed(id, error);
    }
  }

  /** @param {string} id @param {unknown} error why it cannot be drawn, for a developer: the first is enough */
  #failed(id, error) {
    const view = this.views.get(id);
    if (view) fillPlain(view.card);
    if (!this.#hasComplained) console.error(`The element ${id} cannot be drawn.`, error);
    this.#hasComplained = true;
  }

  /** @param {string} id @param {Element} element */
  #draw(id, element) {
    const parent = isAnnotation(element) ? this.parentOf(id) : undefined;
    if (isAnnotation(element)) this.#onParent(element.parentId, id);
    this.boxes.set(id, boundsOf(element, parent));
    if (this.#isSeen(id, element)) this.#show(id, element, parent);
    else this.#hide(id);
  }

  /**
   * Shows what came into the window, and removes what left it.
   * @param {Box} window
   */
  look(window) {
    this.window = window;
    const { x, y } = centre(window);
    if (Math.max(Math.abs(x - this.origin.x), Math.abs(y - this.origin.y)) > FAR) {
      this.origin = { x: Math.round(x), y: Math.round(y) };
      for (const id of this.views.keys()) this.draw(id);
    }
    for (const [id, box] of this.boxes) {
      if (this.views.has(id) !== meets(box, window)) this.draw(id);
    }
  }

  /** Lays the elements on each other in the room's order. */
  stack() {
    this.room.elements.forEach(({ id }, index) => {
      const view = this.views.get(id);
      if (view) view.node.style.zIndex = String(index);
    });
  }

  /** Makes texts that changed as large as their elements hold. */
  fit() {
    if (this.#unfitted.size) fit([...this.#unfitted].flatMap(id => this.views.get(id)?.card ?? []));
    this.#unfitted.clear();
  }

  /** @param {string} id @param {boolean} isMoving whether somebody moves it */
  mark(id, isMoving) {
    this.views.get(id)?.node.classList.toggle("moving", isMoving);
  }

  /** @param {string} id @param {Element} element */
  #isSeen(id, element) {
    if (isAnnotation(element)) return this.views.has(element.parentId);
    const box = this.boxes.get(id);
    return box !== undefined && meets(box, this.window);
  }

  /** @param {string} parentId @param {string} id */
  #onParent(parentId, id) {
    const all = this.#annotations.get(parentId) ?? new Set();
    this.#annotations.set(parentId, all.add(id));
  }

  /** @param {string} id @param {Element} element @param {Element | undefined} parent */
  #show(id, element, parent) {
    let view = this.views.get(id);
    if (!view) {
      view = newView();
      view.node.dataset.id = id;
      this.views.set(id, view);
      const place = isAnnotation(element) ? this.views.get(element.parentId)?.node : this.world;
      (place ?? this.world).append(view.node);
      this.onRestack();
    }
    if (view.level !== element.zIndex) {
      view.level = element.zIndex;
      this.onRestack();
    }
    this.#place(view, element, parent);
    const writers = this.writers.on(id), content = contentOf(element, writers);
    if (!isSame(content, view.content)) {
      view.content = content;
      fill(view.card, element, writers);
      this.onFill(id, view.card);
      this.#unfitted.add(id);
      view.node.setAttribute("aria-label", named(element));
      view.node.classList.toggle("annotation", isAnnotation(element));
    }
  }

  /**
   * Called when what is in a card was drawn anew.
   * @type {(id: string, card: HTMLElement) => void}
   */
  onFill = () => {};
  /** Called when a node may lie elsewhere among the others than before: it was added, or its element's `zIndex` changed. */
  onRestack = () => {};

  /**
   * What an own hand that holds an element took hold of.
   * @type {(id: string) => Element | undefined}
   */
  held = () => undefined;

  /** @param {Element} element as it is drawn @returns {number} how large what is inside is drawn */
  #factor(element) {
    const isResized = resizes(element.type, "e"), before = this.held(element.id) ?? this.room.element(element.id);
    return isResized && before ? innerFactor(element, before) : factorOf(element);
  }

  /** @param {View} view @param {Element} element @param {Element | undefined} parent */
  #place(view, element, parent) {
    const { scaleX, scaleY, anchorX, anchorY, rotation } = element;
    // One factor for what is inside, so that no text is stretched; the rest is in the size.
    const factor = this.#factor(element), { width, height } = laidOut(element, factor);
    const stretch = parent ? stretchOf(parent) : { x: 1, y: 1 };
    const { style } = view.node, size = [Math.round(width * 100), Math.round(height * 100), anchorX, anchorY];
    if (!isSame(view.size, size)) {
      view.size = size;
      this.#unfitted.add(element.id);
      style.width = `${width}px`;
      style.height = `${height}px`;
      style.transformOrigin = `${anchorX * 100}% ${anchorY * 100}%`;
    }
    const opacity = element.opacity ?? 1;
    // To write the same again costs a browser as much.
    if (view.opacity !== opacity) style.opacity = String(view.opacity = opacity);
    const { x: across, y: along } = mirrorOf(element, parent), mirror = `${across} ${along}`;
    if (view.mirror !== mirror) style.setProperty("--mirror", view.mirror = mirror);
    const give = this.gives.get(element.id);
    const from = parent ? { x: 0, y: 0 } : this.origin;
    const x = element.positionX * (parent?.originalWidth ?? 1) * stretch.x - from.x - anchorX * width + (give?.x ?? 0);
    const y = element.positionY * (parent?.originalHeight ?? 1) * stretch.y - from.y - anchorY * height + (give?.y ?? 0);
    const shown = factor * (give?.scale ?? 1), turn = rotation + (give?.rotation ?? 0);
    const sized = { ...element, rotation: turn, scaleX: shown * Math.sign(scaleX || 1), scaleY: shown * Math.sign(scaleY || 1) };
    style.transform = `translate(${x}px, ${y}px) ${cssTransform(sized)}`;
  }

  /** @param {string} id */
  #hide(id) {
    this.views.get(id)?.node.remove();
    this.views.delete(id);
  }

  /** @param {string} id */
  #forget(id) {
    this.#hide(id);
    this.boxes.delete(id);
    this.guides.delete(id);
    this.gives.delete(id);
    this.ties.forget(id);
    for (const all of this.#annotations.values()) all.delete(id);
    this.#annotations.delete(id);
  }
}
