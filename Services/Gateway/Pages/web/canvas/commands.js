// The commands, one row each: what it is called, its key, what it does. Buttons, keys and the help are made from them.

/** @typedef {import("./actions.js").Actions} Actions */
/** @typedef {"Create" | "Change" | "View" | "Room" | "Help"} Group */
/**
 * @typedef {object} Command
 * @property {string} label
 * @property {Group} group
 * @property {string[]} keys as `KeyboardEvent.key`, with `Ctrl+` and `Shift+` in front; none of what is rare
 * @property {(actions: Actions, page: Page) => void} run
 * @property {boolean} [needsSelection]
 * @property {boolean} [isHarmless] though it is among those that change something
 * @property {boolean} [isForText] whether its keys work while a text is written, too
 */
/**
 * What else of the page commands act on.
 * @typedef {object} Page
 * @property {(name: import("./tools.js").ToolName) => void} tool
 * @property {() => void} help
 * @property {() => void} animate
 * @property {() => void} history
 * @property {(kind: import("./export.js").Kind) => void} export
 * @property {() => void} import
 */

/** @type {Record<string, Command>} */
export const COMMANDS = {
  note: { label: "Note", group: "Create", keys: ["n"], run: actions => actions.create("note") },
  photo: { label: "Photo", group: "Create", keys: ["i"], run: actions => actions.create("photo") },
  audio: { label: "Sound", group: "Create", keys: ["u"], run: actions => actions.create("audio") },
  video: { label: "Video", group: "Create", keys: ["v"], run: actions => actions.create("video") },
  text: { label: "Text, on the selected picture", group: "Create", keys: ["t"], run: actions => actions.text() },
  rectangle: { label: "Rectangle", group: "Create", keys: ["r"], run: (_, page) => page.tool("rectangle") },
  ellipse: { label: "Ellipse", group: "Create", keys: ["o"], run: (_, page) => page.tool("ellipse") },
  arrow: { label: "Arrow, between elements", group: "Create", keys: ["a"], run: (_, page) => page.tool("arrow") },
  pen: { label: "Pen", group: "Create", keys: ["p", "d"], run: (_, page) => page.tool("pen") },
  edit: { label: "Edit text, or play", group: "Change", keys: ["Enter"], needsSelection: true, isHarmless: true, run: actions => actions.edit() },
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
  tint: { label: "Next colour of a note", group: "Change", keys: ["c"], needsSelection: true, run: actions => actions.tint() },
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
  ink: { label: "Next colour of a text", group: "Change", keys: ["i"], needsSelection: true, run: actions => actions.ink() },
  remove: {
    label: "Delete", group: "Change", keys: ["Delete", "Backspace"], needsSelection: true, run: actions => actions.remove(),
  },
  undo: { label: "Undo", group: "Change", keys: ["Ctrl+z"], run: actions => actions.revise("undo") },
  redo: { label: "Redo", group: "Change", keys: ["Ctrl+Shift+z", "Ctrl+y"], run: actions => actions.revise("redo") },
  all: { label: "Select all", group: "Change", keys: ["Ctrl+a"], isHarmless: true, run: actions => actions.all() },
  select: { label: "Select", group: "View", keys: ["s"], run: (_, page) => page.tool("select") },
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
  help: { label: "Keys and gestures", group: "Help", keys: ["Shift+?"], run: (_, page) => page.help() },
};

/** @param {Command} command whether only those may give it who may change the room */
export const changes = ({ group, isHarmless }) => (group === "Create" || group === "Change") && !isHarmless;

/**
 * What else the keyboard and hands do, for the help.
 * @type {[string, string][]}
 */
export const GESTURES = [
  ["Drag", "move; a second finger turns and scales"],
  ["Flick", "throw; press on what flies to catch it"],
  ["Alt + drag, three fingers", "tilt"],
  ["Shift + click, drag over the canvas", "select several"],
  ["Drag or click with a tool", "draw; press its key twice to keep it, Enter for one without a pointer"],
  ["Handles", "scale, turn; Shift in steps, Alt about the middle"],
  ["Ctrl while dragging", "no snapping"],
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

/** @param {KeyboardEvent} event @returns {string} as in `keys` */
export function chord({ key, ctrlKey, metaKey, shiftKey }) {
  const name = key.length === 1 ? key.toLowerCase() : key;
  return `${ctrlKey || metaKey ? "Ctrl+" : ""}${shiftKey ? "Shift+" : ""}${name}`;
}

/** @param {string} keys @returns {string} for a person */
export const shownKey = keys => keys.replace(/^Shift\+([^a-z])$/, "$1").replace(/(^|\+)([a-z])$/, letter => letter.toUpperCase())
  .replaceAll("+", " + ");
