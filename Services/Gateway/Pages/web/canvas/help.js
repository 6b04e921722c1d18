// The help: what keys and gestures do.

import { COMMANDS } from "./commands.js";
import { shownKey, withKeys } from "./keys.js";
import { $, node } from "./page.js";

/**
 * What else the keyboard and hands do.
 * @type {[string, string][]}
 */
const GESTURES = [
  ["Drag", "move; a second finger turns and scales"],
  ["Flick", "throw; press on what flies to catch it"],
  ["Alt + drag", "pull copies off"],
  ["Ctrl + Alt + drag, three fingers", "tilt"],
  ["Shift + click, drag over the canvas", "select several"],
  ["Drag or click with a tool", "draw; press its key twice to keep it, Enter for one without a pointer"],
  ["Double click, Ctrl + click", "reach into a group"],
  ["Corners", "scale, shapes freely; Alt about the middle"],
  ["Sides", "width and height; Alt about the middle, Shift keeps the ratio"],
  ["Round handle", "turn; Shift in steps"],
  ["Ctrl while dragging", "no snapping"],
  ["Right click, hold a finger", "a menu"],
  ["Drop, paste", "texts and pictures from elsewhere"],
  ["Drag out of the upper or left edge", "a guide; back to the edge, or Delete, and it goes"],
  ["Wheel, pinch, Space + drag", "zoom and move the canvas"],
  ["Tab", "next element"],
  ["Arrows", "move by 10, with Shift by 1; without a selection the canvas"],
  ["+ −", "scale"],
  ["[ ]", "turn by 15°, with Shift a quarter"],
  ["Animate, Record", "repeats what you do next with the selected element"],
  ["Menu, Motion", "show less of it, or none: only where things end up"],
  ["Escape", "take a gesture, a recording or what you wrote back, select nothing"],
  ["Ctrl + Enter, click outside", "what you wrote is stored"],
];

/** What needs a keyboard: with fingers alone the help leaves it out. */
const TYPED = /^(Alt|Shift|Tab|Arrows|\+|\[|Escape|Ctrl while)/;

/** Fills the help. */
export function fill() {
  const line = (/** @type {string} */ keys, /** @type {string} */ text) => {
    const row = node("div", TYPED.test(keys) ? "row typed" : "row");
    row.append(node("dt", "", withKeys(keys)), node("dd", "", withKeys(text)));
    return row;
  };
  $("help-gestures").replaceChildren(...GESTURES.map(([keys, text]) => line(keys, text)));
  $("help-keys").replaceChildren(...Object.values(COMMANDS).filter(({ keys }) => keys.length).map(({ keys, label }) => line(keys.map(key => shownKey(key)).join(", "), label)));
}
