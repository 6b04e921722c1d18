// What can be done here, as a menu beside the pointer: the commands that apply, with their keys.

import { changes, COMMANDS, isOf } from "./commands.js";
import { shownKey } from "./keys.js";
import { icon, node } from "./page.js";
import { mayChange } from "./roomcore.js";

/** @typedef {import("./actions.js").Actions} Actions */
/** @typedef {import("./commands.js").Page} Page */
/** @typedef {import("./geometry.js").Point} Point */

/** Commands in parts; those of a list in a list are icons side by side. @type {(string | string[])[][]} */
const SELECTED = [
  ["cut", "copy", "paste", "duplicate", "remove"], ["group", "ungroup"], ["front", "forward", "backward", "back"],
  [["alignLeft", "alignCentre", "alignRight", "alignTop", "alignMiddle", "alignBottom", "spreadX", "spreadY"],
    ["rotateLeft", "rotateRight", "flipX", "flipY", "reset"]],
  ["animate", "lock", "fitSelection"],
];
/** @type {(string | string[])[][]} */
const NOTHING = [["paste"], ["note", "text", "photo"], ["undo", "redo"], ["all", "fit"]];
/** What can be done with what is locked. */
const LOCKED = ["copy", "paste", "duplicate", "lock", "fitSelection"];
/** How far the menu stays from the window's edges, pixels. */
const EDGE = 8;

/** @typedef {HTMLElement & {popover: string, showPopover: () => void, hidePopover: () => void}} Popover */

/** @type {Popover | undefined} */
let menu = undefined;

/**
 * Opens it.
 * @param {Actions} actions @param {Page} page @param {Point} at pixels of the window
 */
export function open(actions, page, at) {
  const shown = menu ??= made(), close = () => {
    shown.hidePopover();
    actions.board.surface.focus({ preventScroll: true });
  };
  shown.onkeydown = event => moveOn(event, shown, close);
  const { selected } = actions, areLocked = selected.length > 0 && selected.every(one => one.locked);
  const applies = (/** @type {string} */ name) => isOf(COMMANDS[name], actions) && (!areLocked || LOCKED.includes(name)) &&
    (!changes(COMMANDS[name]) || mayChange(actions.room));
  const item = (/** @type {string} */ name, /** @type {boolean} */ isIcon) => {
    const { label, keys, run } = COMMANDS[name], named = name === "lock" ? (areLocked ? "Unlock" : "Lock") : label;
    const button = /** @type {HTMLButtonElement} */ (node("button", isIcon ? "tool" : "row"));
    button.type = "button";
    button.tabIndex = -1;
    button.setAttribute("role", "menuitem");
    button.dataset.name = name;
    if (isIcon) {
      button.dataset.tip = named;
      button.dataset.key = keys.length ? shownKey(keys[0]) : "";
      button.setAttribute("aria-label", named);
      button.append(icon(name));
    } else {
      button.append(node("span", "", named));
      if (keys.length) button.append(node("kbd", "", shownKey(keys[0])));
    }
    button.addEventListener("click", () => {
      close();
      run(actions, page);
    });
    return button;
  };
  const parts = (selected.length ? SELECTED : NOTHING).map(part => part.flatMap(entry => {
    const names = [entry].flat().filter(applies), items = names.map(name => item(name, Array.isArray(entry)));
    if (!Array.isArray(entry) || items.length === 0) return items;
    const line = node("div", "icons");
    line.append(...items);
    return [line];
  })).filter(part => part.length > 0);
  shown.replaceChildren(...parts.flatMap((part, index) => {
    const line = node("hr");
    line.setAttribute("role", "separator");
    return index ? [line, ...part] : part;
  }));
  shown.showPopover();
  place(shown, at);
  items(shown)[0]?.focus();
}

/** @param {HTMLElement} menu @returns {HTMLElement[]} */
const items = menu => [...menu.querySelectorAll("button")];

/** @returns {Popover} */
function made() {
  const shown = /** @type {Popover} */ (node("div", "context"));
  // A system that opens menus when a button is pressed would close its own at the release.
  shown.popover = "manual";
  shown.setAttribute("role", "menu");
  shown.setAttribute("aria-label", COMMANDS.menu.label);
  document.addEventListener("pointerdown", ({ target }) => target instanceof Node && !shown.contains(target) && shown.hidePopover(), true);
  for (const event of ["blur", "resize"]) addEventListener(event, () => shown.hidePopover());
  shown.addEventListener("contextmenu", event => event.preventDefault());
  document.body.append(shown);
  return shown;
}

/** @param {HTMLElement} shown @param {Point} at */
function place({ style, offsetWidth, offsetHeight }, { x, y }) {
  const within = (/** @type {number} */ start, /** @type {number} */ size, /** @type {number} */ whole) =>
    Math.max(Math.min(start, whole - size - EDGE), EDGE);
  style.left = `${within(x, offsetWidth, innerWidth)}px`;
  style.top = `${within(y, offsetHeight, innerHeight)}px`;
}

/** @type {Record<string, (at: number, count: number) => number>} */
const WAYS = {
  ArrowDown: at => at + 1, ArrowRight: at => at + 1, ArrowUp: at => at - 1, ArrowLeft: at => at - 1, Home: () => 0, End: (_, count) => count - 1,
};

/** @param {KeyboardEvent} event @param {Popover} shown @param {() => void} close */
function moveOn(event, shown, close) {
  const { key } = event, all = items(shown), at = all.findIndex(one => one === document.activeElement);
  const isOver = key === "Tab" || key === "Escape";
  if (isOver) close();
  const isLetter = key.length === 1 && key !== " " && !event.ctrlKey && !event.metaKey && !event.altKey;
  const begins = (/** @type {HTMLElement} */ one) =>
    (one.getAttribute("aria-label") ?? one.textContent ?? "").toLowerCase().startsWith(key.toLowerCase());
  const next = Object.hasOwn(WAYS, key) ? all.at(WAYS[key](at, all.length) % all.length)
    : isLetter ? [...all.slice(at + 1), ...all.slice(0, at + 1)].find(begins) : undefined;
  if (next) next.focus();
  // Its keys are no commands of the canvas.
  if (next || isOver) event.preventDefault();
  event.stopPropagation();
}
