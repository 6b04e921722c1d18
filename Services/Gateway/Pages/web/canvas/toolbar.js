// Buttons: each does a command, and says so.

import { ANIMATIONS } from "./animations.js";
import { hasText } from "./cards.js";
import { changes, COMMANDS } from "./commands.js";
import { shownKey } from "./keys.js";
import { $, icon, node } from "./page.js";
import { paintOf } from "./paint.js";
import { TOOLS } from "./tools.js";

/** @typedef {import("./actions.js").Actions} Actions */
/** @typedef {import("./commands.js").Page} Page */

/**
 * Wires the buttons that name a command.
 * @param {ParentNode} place where they are @param {Actions} actions @param {Page} page
 */
export function wire(place, actions, page) {
  for (const button of place.querySelectorAll("[data-command]")) {
    if (!(button instanceof HTMLButtonElement)) continue;
    const command = COMMANDS[button.dataset.command ?? ""], { label, keys, run } = command;
    if (changes(command)) button.classList.add("changes");
    button.dataset.tip = button.ariaLabel ?? label;
    button.dataset.key = keys.length ? shownKey(keys[0]) : "";
    if (!button.textContent?.trim()) button.setAttribute("aria-label", button.dataset.tip);
    button.addEventListener("click", () => {
      $("insert-box").hidePopover();
      run(actions, page);
    });
  }
}

/**
 * Shows whether there is something to undo or redo.
 * @param {Actions} actions
 */
export function showHistory({ room }) {
  for (const [name, can] of /** @type {const} */ ([["undo", room.canUndo], ["redo", room.canRedo]])) {
    const button = document.querySelector(`#history [data-command=${name}]`);
    if (button instanceof HTMLButtonElement) button.disabled = !can;
  }
}

/** @param {import("./tools.js").ToolName} tool @param {boolean} [isLocked] whether it stays */
export function showTool(tool, isLocked = false) {
  for (const name of TOOLS) {
    const button = document.querySelector(`#dock [data-command=${name}]`);
    button?.setAttribute("aria-pressed", String(tool === name));
    button?.classList.toggle("locked", isLocked && tool === name);
  }
  document.body.dataset.tool = tool;
  document.body.classList.toggle("drawing-tool", tool !== "select" && tool !== "hand");
}

/**
 * Shows what can be done with the selection.
 * @param {Actions} actions
 */
export function showSelection({ selected }) {
  const only = selected.length === 1 ? selected[0].type : "", areLocked = selected.length > 0 && selected.every(one => one.locked);
  $("selection").hidden = selected.length === 0;
  $("export-what").textContent = selected.length ? "what is selected" : "everything";
  $("selection-count").textContent = selected.length > 1 ? String(selected.length) : "";
  /** @type {Record<string, boolean>} */
  const isShown = {
    edit: selected.length === 1 && hasText(selected[0]), text: ["photo", "video"].includes(only),
    colours: selected.some(one => Object.keys(paintOf(one)).length > 0),
  };
  for (const button of document.querySelectorAll("#selection [data-command]")) {
    if (!(button instanceof HTMLButtonElement)) continue;
    const { command = "" } = button.dataset;
    if (command === "lock") showLock(button, areLocked);
    else button.hidden = isShown[command] === false || (areLocked && command !== "menu");
  }
}

/** @param {HTMLButtonElement} button @param {boolean} unlocks what it does */
function showLock(button, unlocks) {
  const label = unlocks ? "Unlock" : "Lock";
  if (button.getAttribute("aria-label") === label) return;
  button.setAttribute("aria-label", label);
  button.dataset.tip = label;
  button.replaceChildren(icon(unlocks ? "unlock" : "lock"));
}

/**
 * Offers the animations.
 * @param {Actions} actions
 */
export function fillAnimations(actions) {
  const choice = (/** @type {string} */ label, /** @type {() => void} */ run) => {
    const button = node("button", "row", label);
    button.setAttribute("type", "button");
    button.addEventListener("click", () => {
      $("animate-box").hidePopover();
      run();
    });
    return button;
  };
  const names = /** @type {import("./animations.js").AnimationName[]} */ (Object.keys(ANIMATIONS));
  $("animations").replaceChildren(
    ...names.map(name => choice(ANIMATIONS[name].label, () => actions.animate(name))), choice("Record", () => actions.record()),
    choice("Stop", () => actions.animate()));
}

/** @param {boolean} isRecording */
export function showRecording(isRecording) {
  $("recording").hidden = !isRecording;
  document.body.classList.toggle("recording", isRecording);
}
