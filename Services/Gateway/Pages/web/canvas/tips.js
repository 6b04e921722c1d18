// What a button without words does, and its key, at once: beside the one that the mouse is over, or that has the focus.

import { node } from "./page.js";

/** How far it is from the button, and from the window's edges, pixels. */
const GAP = 8;

const tip = node("div", "tip");
/** @type {HTMLElement | undefined} */
let owner = undefined;

/** @param {EventTarget | null} target @returns {HTMLElement | undefined} the button there that has no words of its own */
function buttonAt(target) {
  const found = target instanceof Element ? target.closest("button") : null;
  if (!found) return undefined;
  // The browser's own come late, and not with the focus.
  if (found.title) found.dataset.tip = found.title;
  found.removeAttribute("title");
  return found.dataset.tip ? found : undefined;
}

/** @returns {HTMLElement | undefined} the one that has the focus, where the keyboard gave it */
function focused() {
  const button = buttonAt(document.activeElement);
  return button?.matches(":focus-visible") ? button : undefined;
}

/** @param {HTMLElement | undefined} button */
function show(button) {
  if (button === owner) return;
  owner = button;
  tip.hidden = !button;
  if (!button) return;
  tip.replaceChildren(button.dataset.tip ?? "");
  if (button.dataset.key) tip.append(node("kbd", "", button.dataset.key));
  // What is on top of all has the tip of its buttons, too.
  (button.closest(":popover-open") ?? document.body).append(tip);
  const { left, top, bottom, width } = button.getBoundingClientRect(), { offsetWidth, offsetHeight, style } = tip;
  style.left = `${Math.max(Math.min(left + (width - offsetWidth) / 2, innerWidth - offsetWidth - GAP), GAP)}px`;
  style.top = `${top > offsetHeight + 2 * GAP ? top - offsetHeight - GAP : bottom + GAP}px`;
}

/** Shows them from now on. */
export function start() {
  tip.setAttribute("aria-hidden", "true");
  document.addEventListener("pointerover", event => {
    const button = buttonAt(event.target);
    if (event.pointerType !== "touch") show(button ?? focused());
  });
  document.addEventListener("focusin", () => show(focused()));
  for (const over of ["focusout", "pointerdown", "pointerleave"]) document.addEventListener(over, () => show(undefined));
  addEventListener("keydown", event => event.key === "Escape" && show(undefined));
}
