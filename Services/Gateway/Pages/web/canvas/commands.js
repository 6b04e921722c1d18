// The commands, one row each: what it is called, its key, what it does. Buttons, keys, menus and the help are made from
// them.

import { duplicate } from "./copying.js";
import { groupOf } from "./groups.js";

/** @typedef {import("./actions.js").Actions} Actions */
/** @typedef {"Create" | "Change" | "View" | "Room" | "Help"} Group */
/**
 * @typedef {object} Command
 * @property {string} label
 * @property {Group} group
 * @property {string[]} keys as `KeyboardEvent.key`, with `Ctrl+`, `Alt+` and `Shift+` in front; none of what is rare
 * @property {(actions: Actions, page: Page) => void} run
 * @property {boolean} [needsSelection]
 * @property {boolean} [isHarmless] though it is among those that change something
 * @property {boolean} [isForText] whether its keys work while a text is written, too
 * @property {number} [needs] so many selected elements
 * @property {(actions: Actions) => boolean} [applies] whether it does something now, if not always
 * @property {boolean} [isBrowsers] its keys make an event of the browser, which does it
 */
/**
 * What else of the page commands act on.
 * @typedef {object} Page
 * @property {(name: import("./tools.js").ToolName) => void} tool
 * @property {() => void} help
 * @property {() => void} pictures
 * @property {() => void} colours
 * @property {() => void} animate
 * @property {() => void} paste
 * @property {() => void} menu
 * @property {() => void} history
 * @property {(kind: import("./export.js").Kind) => void} export
 * @property {() => void} import
 */

const arranging = () => import("./arranging.js");

/** @param {import("./arrange.js").Edge} edge @returns {Command["run"]} */
const align = edge => async actions => (await arranging()).align(actions, edge);
/** @param {"x" | "y"} axis @returns {Command["run"]} */
const distribute = axis => async actions => (await arranging()).distribute(actions, axis);
/** @param {import("./order.js").Way} way @returns {Command["run"]} */
const restack = way => async actions => (await arranging()).restack(actions, way);

/** @type {Record<string, Command>} */
export const COMMANDS = {
  note: { label: "Note", group: "Create", keys: ["n"], run: actions => actions.create("note") },
  photo: { label: "Photo", group: "Create", keys: ["i"], run: actions => actions.create("photo") },
  picture: { label: "Picture from a file", group: "Create", keys: ["f"], run: (_, page) => page.pictures() },
  audio: { label: "Sound", group: "Create", keys: ["u"], run: actions => actions.create("audio") },
  video: { label: "Video", group: "Create", keys: [], run: actions => actions.create("video") },
  text: { label: "Text", group: "Create", keys: ["t"], run: actions => actions.text() },
  rectangle: { label: "Rectangle", group: "Create", keys: ["r"], run: (_, page) => page.tool("rectangle") },
  ellipse: { label: "Ellipse", group: "Create", keys: ["o"], run: (_, page) => page.tool("ellipse") },
  arrow: { label: "Arrow", group: "Create", keys: ["a"], run: (_, page) => page.tool("arrow") },
  pen: { label: "Pen", group: "Create", keys: ["p", "d"], run: (_, page) => page.tool("pen") },
  edit: { label: "Edit text, or play", group: "Change", keys: ["Enter"], needsSelection: true, isHarmless: true, run: actions => actions.edit() },
  cut: {
    label: "Cut", group: "Change", keys: ["Ctrl+x"], needsSelection: true, isBrowsers: true,
    run: actions => document.execCommand("copy") && actions.remove(),
  },
  copy: {
    label: "Copy", group: "Change", keys: ["Ctrl+c"], needsSelection: true, isBrowsers: true, isHarmless: true,
    run: () => document.execCommand("copy"),
  },
  paste: { label: "Paste", group: "Change", keys: ["Ctrl+v"], isBrowsers: true, run: (_, page) => page.paste() },
  duplicate: { label: "Duplicate", group: "Change", keys: ["Ctrl+d"], needsSelection: true, run: duplicate },
  group: {
    label: "Group", group: "Change", keys: ["Ctrl+g"], needs: 2, run: async actions => (await arranging()).group(actions),
  },
  ungroup: {
    label: "Ungroup", group: "Change", keys: ["Ctrl+Shift+g"], needsSelection: true,
    applies: ({ selected }) => selected.some(one => groupOf(one) !== undefined),
    run: async actions => (await arranging()).ungroup(actions),
  },
  front: { label: "Bring to front", group: "Change", keys: ["Ctrl+Shift+}"], needsSelection: true, run: restack("front") },
  forward: { label: "Bring forward", group: "Change", keys: ["Ctrl+]"], needsSelection: true, run: restack("forward") },
  backward: { label: "Send backward", group: "Change", keys: ["Ctrl+["], needsSelection: true, run: restack("backward") },
  back: { label: "Send to back", group: "Change", keys: ["Ctrl+Shift+{"], needsSelection: true, run: restack("back") },
  alignLeft: { label: "Align left", group: "Change", keys: ["Alt+a"], needs: 2, run: align("left") },
  alignCentre: { label: "Align centres", group: "Change", keys: ["Alt+h"], needs: 2, run: align("centre") },
  alignRight: { label: "Align right", group: "Change", keys: ["Alt+d"], needs: 2, run: align("right") },
  alignTop: { label: "Align top", group: "Change", keys: ["Alt+w"], needs: 2, run: align("top") },
  alignMiddle: { label: "Align middles", group: "Change", keys: ["Alt+v"], needs: 2, run: align("middle") },
  alignBottom: { label: "Align bottom", group: "Change", keys: ["Alt+s"], needs: 2, run: align("bottom") },
  spreadX: { label: "Even gaps sideways", group: "Change", keys: ["Alt+Shift+h"], needs: 3, run: distribute("x") },
  spreadY: { label: "Even gaps up and down", group: "Change", keys: ["Alt+Shift+v"], needs: 3, run: distribute("y") },
  rotateLeft: {
    label: "Quarter turn left", group: "Change", keys: ["Shift+{"], needsSelection: true, run: actions => actions.preset("rotateCCW"),
  },
  rotateRight: {
    label: "Quarter turn right", group: "Change", keys: ["Shift+}"], needsSelection: true, run: actions => actions.preset("rotateCW"),
  },
  flipX: { label: "Mirror sideways", group: "Change", keys: ["x"], needsSelection: true, run: actions => actions.preset("flipX") },
  flipY: { label: "Mirror upside down", group: "Change", keys: ["y"], needsSelection: true, run: actions => actions.preset("flipY") },
  reset: {
    label: "Reset size, rotation and tilt", group: "Change", keys: ["Shift+r"], needsSelection: true, run: actions => actions.preset("reset"),
  },
  animate: { label: "Animate", group: "Change", keys: ["m"], needsSelection: true, run: (_, page) => page.animate() },
  lock: { label: "Lock or unlock", group: "Change", keys: ["l"], needsSelection: true, run: actions => actions.lock() },
  colours: { label: "Colours", group: "Change", keys: ["c"], run: (_, page) => page.colours() },
  bold: { label: "Bold text", group: "Change", keys: ["Ctrl+b"], needsSelection: true, isForText: true, run: actions => actions.bold() },
  larger: {
    label: "Larger text", group: "Change", keys: ["Ctrl+Shift+>"], needsSelection: true, isForText: true, run: actions => actions.size(1),
  },
  smaller: {
    label: "Smaller text", group: "Change", keys: ["Ctrl+Shift+<"], needsSelection: true, isForText: true, run: actions => actions.size(-1),
  },
  align: {
    label: "Align text left, in the middle, right", group: "Change", keys: ["Ctrl+Shift+l"], needsSelection: true, isForText: true,
    run: actions => actions.align(),
  },
  ink: { label: "Next colour of a text", group: "Change", keys: ["Shift+c"], needsSelection: true, run: actions => actions.ink() },
  remove: {
    label: "Delete", group: "Change", keys: ["Delete", "Backspace"], needsSelection: true, run: actions => actions.remove(),
  },
  // By keys one follows the other faster than the server answers: what is on its way may change what can be undone.
  undo: {
    label: "Undo", group: "Change", keys: ["Ctrl+z"], applies: ({ room }) => room.canUndo || room.pending > 0,
    run: actions => actions.revise("undo"),
  },
  redo: {
    label: "Redo", group: "Change", keys: ["Ctrl+Shift+z", "Ctrl+y"], applies: ({ room }) => room.canRedo || room.pending > 0,
    run: actions => actions.revise("redo"),
  },
  all: { label: "Select all", group: "Change", keys: ["Ctrl+a"], isHarmless: true, run: actions => actions.all() },
  select: { label: "Select", group: "View", keys: ["v"], run: (_, page) => page.tool("select") },
  hand: { label: "Move the canvas", group: "View", keys: ["h"], run: (_, page) => page.tool("hand") },
  zoomIn: { label: "Zoom in", group: "View", keys: ["PageUp"], run: ({ board }) => board.zoom(1.25) },
  zoomOut: { label: "Zoom out", group: "View", keys: ["PageDown"], run: ({ board }) => board.zoom(0.8) },
  actual: { label: "Zoom to 100 %", group: "View", keys: ["0"], run: ({ board }) => board.zoom(1 / board.camera.zoom) },
  fit: { label: "Show everything", group: "View", keys: ["1"], run: ({ board }) => board.fit() },
  fitSelection: {
    label: "Show the selection", group: "View", keys: ["2"], needsSelection: true, run: ({ board }) => board.fit(board.selection.ids),
  },
  past: { label: "Play the room back", group: "Room", keys: ["Shift+h"], run: (_, page) => page.history() },
  import: { label: "Import a file", group: "Create", keys: ["Ctrl+o"], run: (_, page) => page.import() },
  exportPng: { label: "Export as PNG", group: "Room", keys: ["Ctrl+Shift+e"], run: (_, page) => page.export("png") },
  exportSvg: { label: "Export as SVG", group: "Room", keys: [], run: (_, page) => page.export("svg") },
  exportJson: { label: "Export as JSON", group: "Room", keys: [], run: (_, page) => page.export("json") },
  copyPng: { label: "Copy as a picture", group: "Room", keys: [], run: (_, page) => page.export("copy") },
  menu: { label: "What can be done here", group: "Help", keys: ["Shift+F10", "ContextMenu"], run: (_, page) => page.menu() },
  help: { label: "Keys and gestures", group: "Help", keys: ["Shift+?"], run: (_, page) => page.help() },
};

/** @param {Command} command whether only those may give it who may change the room */
export const changes = ({ group, isHarmless }) => (group === "Create" || group === "Change") && !isHarmless;

/**
 * Whether a command does something now.
 * @param {Command} command @param {Actions} actions
 */
export function isOf({ needsSelection, needs = needsSelection ? 1 : 0, applies }, actions) {
  return actions.board.selection.size >= needs && (applies?.(actions) ?? true);
}
