// The style of a text, beside the one element that has it: bold, size, alignment and colour.

import { hasText } from "./cards.js";
import { toScreen } from "./camera.js";
import { $, iconButton, node } from "./page.js";
import { mayChange } from "./roomcore.js";
import { TINTS } from "./samples.js";
import { ALIGNS, SIZES, styleOf } from "./texts.js";
import { wire } from "./toolbar.js";

/** @typedef {import("./actions.js").Actions} Actions */
/** @typedef {import("./texts.js").Style} Style */

/** How far from the frame it lies: above it there is the handle that turns, pixels. */
const AWAY = { above: 66, below: 16 };
/** @type {Record<string, string>} */
const SIDES = { left: "Align left", center: "Align in the middle", right: "Align right" };

/** @param {string} text @param {string} label @returns {HTMLButtonElement} */
function lettered(text, label) {
  const button = /** @type {HTMLButtonElement} */ (node("button", "tool", text));
  button.type = "button";
  button.title = label;
  button.setAttribute("aria-label", label);
  return button;
}

export class TextBar {
  #bar = node("div", "panel bar");
  #inks = node("div", "inks");
  /**
   * What each button stands for.
   * @type {Map<HTMLButtonElement, (style: Style) => boolean>}
   */
  #isSet = new Map();

  /** @param {Actions} actions @param {import("./commands.js").Page} page */
  constructor(actions, page) {
    this.actions = actions;
    const bar = this.#bar;
    bar.id = "style";
    bar.setAttribute("role", "toolbar");
    bar.setAttribute("aria-label", "Text style");
    bar.hidden = this.#inks.hidden = true;
    const bold = iconButton("bold", "Bold");
    bold.dataset.command = "bold";
    this.#isSet.set(bold, ({ isBold }) => isBold);
    bar.append(bold, node("i", "gap"));
    for (const [name, fontSize] of Object.entries(SIZES)) {
      this.#choice(bar, lettered(name, `Size ${name}`), { fontSize }, style => style.fontSize === fontSize);
    }
    bar.append(node("i", "gap"));
    for (const align of ALIGNS) this.#choice(bar, iconButton(align, SIDES[align]), { align }, style => style.align === align);
    bar.append(node("i", "gap"), this.#opener(), this.#inks);
    for (const ink of [undefined, ...TINTS]) {
      const button = lettered("", ink ?? "automatic"), name = ink === undefined ? "Automatic colour" : `Colour ${ink}`;
      button.setAttribute("aria-label", button.title = name);
      button.style.setProperty("--swatch", ink === undefined ? "var(--ink)" : `var(--ink-${ink})`);
      this.#choice(this.#inks, button, { ink: ink ?? null }, style => style.ink === ink);
    }
    // The text that is written keeps the keyboard.
    bar.addEventListener("mousedown", event => event.preventDefault());
    wire(bar, actions, page);
    document.body.append(bar);
  }

  /** @returns {HTMLButtonElement} that shows the colours */
  #opener() {
    const opener = lettered("A", "Colour of the text");
    opener.classList.add("opener");
    opener.setAttribute("aria-expanded", "false");
    opener.addEventListener("click", () => {
      this.#inks.hidden = !this.#inks.hidden;
      opener.setAttribute("aria-expanded", String(!this.#inks.hidden));
      this.draw();
    });
    return opener;
  }

  /**
   * @param {HTMLElement} place @param {HTMLButtonElement} button @param {import("/client/touchsync.js").Data} fields that it sets
   * @param {(style: Style) => boolean} isSet whether a text has them
   */
  #choice(place, button, fields, isSet) {
    button.addEventListener("click", () => this.actions.style(() => fields));
    this.#isSet.set(button, isSet);
    place.append(button);
  }

  /** Shows it beside the selected text, while nothing moves it. */
  draw() {
    const { actions: { board, selected }} = this, [element] = selected, frame = board.frameOf(board.selection.ids);
    const isShown = selected.length === 1 && hasText(element) && !element.locked && mayChange(board.room) && !board.hand && frame !== undefined;
    this.#bar.hidden = !isShown;
    if (!isShown) return;
    const style = styleOf(element);
    for (const [button, isSet] of this.#isSet) button.setAttribute("aria-pressed", String(isSet(style)));
    this.#bar.style.setProperty("--swatch", style.ink ? `var(--ink-${style.ink})` : "var(--ink)");
    this.#place(/** @type {import("./handles.js").Frame} */ (frame).corners.map(corner => toScreen(board.camera, corner)));
  }

  /** @param {import("./geometry.js").Point[]} corners of the text, pixels of the window */
  #place(corners) {
    const { offsetWidth: width, offsetHeight: height } = this.#bar, xs = corners.map(({ x }) => x), ys = corners.map(({ y }) => y);
    const least = $("top").getBoundingClientRect().bottom + 8, most = $("selection").getBoundingClientRect().top - 8 - height;
    const above = Math.min(...ys) - AWAY.above - height, below = Math.max(...ys) + AWAY.below;
    const wish = above >= least ? above : below <= most ? below : least, middle = (Math.min(...xs) + Math.max(...xs)) / 2;
    const x = Math.min(Math.max(middle - width / 2, 8), innerWidth - width - 8), view = $("view").getBoundingClientRect();
    const lowest = x + width > view.left - 8 ? Math.min(most, view.top - 8 - height) : most, y = Math.max(Math.min(wish, lowest), least);
    // The row of colours opens away from the text: what was pressed stays where it is.
    this.#bar.classList.toggle("above", y <= above);
    this.#bar.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px)`;
  }
}
