// The palette: the colours of what is selected, and of what is drawn next.

import { current, paintOf } from "./paint.js";
import { $, node } from "./page.js";
import { TINTS } from "./samples.js";

/** @typedef {import("./actions.js").Actions} Actions */
/** @typedef {import("./paint.js").Paint} Paint */

/** What each row is called. @type {Record<"fill" | "stroke", string>} */
const ROWS = { fill: "Fill", stroke: "Line and text" };

export class ColourBox {
  /** @type {Map<HTMLButtonElement, [("fill" | "stroke"), string]>} */
  #swatches = new Map();

  /** @param {Actions} actions */
  constructor(actions) {
    this.actions = actions;
    for (const [index, kind] of /** @type {const} */ (["fill", "stroke"]).entries()) {
      const row = node("div", "swatches"), title = node("h3", "", ROWS[kind]);
      title.id = `colours-${kind}`;
      row.setAttribute("role", "group");
      row.setAttribute("aria-labelledby", title.id);
      for (const name of index ? TINTS : ["none", ...TINTS]) row.append(this.#swatch(kind, name));
      $("colours").append(title, row);
    }
    $("colour-box").addEventListener("toggle", () => this.show());
    this.show();
  }

  /** @param {"fill" | "stroke"} kind @param {string} name */
  #swatch(kind, name) {
    const button = /** @type {HTMLButtonElement} */ (node("button", `swatch ${kind}`));
    button.type = "button";
    button.setAttribute("aria-label", button.title = name);
    button.dataset.colour = `${kind} ${name}`;
    button.style.setProperty("--swatch", name === "none" ? "transparent" : `var(--${kind === "fill" ? "tint" : "ink"}-${name})`);
    button.addEventListener("click", () => {
      current.set({ [kind]: name });
      this.actions.paint({ [kind]: name });
      this.show();
    });
    this.#swatches.set(button, [kind, name]);
    return button;
  }

  /** What is selected decides what is marked, else what is drawn next; different ones mark none. */
  show() {
    const { fill, stroke } = current, dock = $("dock").querySelector("[data-command=colours]");
    dock?.style.setProperty("--fill", fill === "none" ? "transparent" : `var(--tint-${fill})`);
    dock?.style.setProperty("--line", `var(--ink-${stroke})`);
    if (!$("colour-box").matches(":popover-open")) return;
    const { selected } = this.actions, paints = selected.map(paintOf);
    const marked = (/** @type {"fill" | "stroke"} */ kind, /** @type {string} */ otherwise) => {
      const names = new Set(paints.flatMap(paint => paint[kind] ?? []));
      return names.size ? (names.size === 1 ? [...names][0] : undefined) : selected.length ? undefined : otherwise;
    };
    const marks = { fill: marked("fill", fill), stroke: marked("stroke", stroke) };
    for (const [button, [kind, name]] of this.#swatches) button.setAttribute("aria-pressed", String(marks[kind] === name));
  }
}
