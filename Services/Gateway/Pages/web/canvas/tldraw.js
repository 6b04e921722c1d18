// Files of tldraw (.tldr) and its snapshots as elements.

import { fine, Harvest, laid, listIn, named, numberIn, objectIn, textIn, turned } from "./foreign.js";
import { pathOf } from "./tldrawpath.js";

/** @typedef {import("./geometry.js").Point} Point */
/** @typedef {import("/client/touchsync.js").Data} Data */
/** @typedef {{x: number, y: number, radians: number, opacity: number, isLocked: boolean, groupId?: string}} Frame where a parent puts its children */

/**
 * Colours by their names.
 * @type {Record<string, string>}
 */
const COLOURS = {
  black: "paper", grey: "slate", "light-violet": "lilac", violet: "lilac", blue: "sky", "light-blue": "sky", yellow: "sun", orange: "peach",
  green: "mint", "light-green": "mint", "light-red": "rose", red: "rose", white: "paper",
};
/**
 * Sizes of texts, and of what is written on something.
 * @type {Record<string, Record<string, number>>}
 */
const SIZES = { text: { s: 18, m: 24, l: 36, xl: 44 }, label: { s: 18, m: 22, l: 26, xl: 32 } };
/** @type {Record<string, string>} */
const ALIGNS = { start: "left", "start-legacy": "left", middle: "center", "middle-legacy": "center", end: "right", "end-legacy": "right" };
/** The side of a note. */
const NOTE = 200;
/** Parents above each other at most. */
const DEEPEST = 30;
/**
 * What is left out, by what it is.
 * @type {Record<string, string>}
 */
const LEFT = { video: "video", embed: "embedded page", bookmark: "bookmark", frame: "frame" };

/** @param {any} file @returns {any[] | undefined} its records */
function recordsOf(file) {
  if (Array.isArray(file?.records)) return file.records;
  const store = file?.document?.store ?? file?.store;
  return store && typeof store === "object" ? Object.values(store) : undefined;
}

/** @param {any} file @returns {boolean} */
export const isTldraw = file => recordsOf(file) !== undefined;

/** @param {any} a @param {any} b by their indexes, which are texts */
const byIndex = (a, b) => (textIn(a.index) < textIn(b.index) ? -1 : textIn(a.index) > textIn(b.index) ? 1 : 0);

/** @param {any} file @returns {import("./foreign.js").Imported} */
export function fromTldraw(file) {
  const harvest = new Harvest(), records = (recordsOf(file) ?? []).filter(one => one && typeof one === "object");
  const pages = records.filter(one => one.typeName === "page").sort(byIndex), shapes = records.filter(one => one.typeName === "shape").sort(byIndex);
  /** @type {Map<string, any[]>} */
  const children = new Map();
  for (const shape of shapes) children.set(shape.parentId, [...(children.get(shape.parentId) ?? []), shape]);
  const around = {
    children, byId: new Map(shapes.map(one => [one.id, one])),
    assets: new Map(records.filter(one => one.typeName === "asset").map(one => [one.id, one])),
    bindings: records.filter(one => one.typeName === "binding" && one.type === "arrow"),
  };
  const frame = { x: 0, y: 0, radians: 0, opacity: 1, isLocked: false };
  for (const shape of children.get(pages[0]?.id) ?? []) put(shape, frame, harvest, around, 0);
  for (const page of pages.slice(1)) for (const _ of children.get(page.id) ?? []) harvest.leave("thing on another page");
  return harvest.done();
}

/** @typedef {{children: Map<string, any[]>, byId: Map<string, any>, assets: Map<string, any>, bindings: any[]}} Around */

/** @param {any} shape @param {Frame} frame @param {Harvest} harvest @param {Around} around @param {number} depth */
function put(shape, frame, harvest, around, depth) {
  const way = turned({ x: numberIn(shape.x), y: numberIn(shape.y) }, frame.radians);
  /** @type {Frame} */
  const own = {
    x: frame.x + way.x, y: frame.y + way.y, radians: frame.radians + numberIn(shape.rotation), groupId: frame.groupId,
    opacity: frame.opacity * Math.min(Math.max(numberIn(shape.opacity, 1), 0), 1), isLocked: frame.isLocked || shape.isLocked === true,
  };
  if (shape.type !== "group" && shape.type !== "frame") return thing(shape, own, harvest, around);
  if (shape.type === "frame") harvest.leave("frame");
  else own.groupId ??= textIn(shape.id);
  if (depth >= DEEPEST) return harvest.leave("thing in too many groups");
  for (const child of around.children.get(shape.id) ?? []) put(child, own, harvest, around, depth + 1);
}

/** @param {any} shape @param {Frame} frame @param {Harvest} harvest @param {Around} around */
function thing(shape, frame, harvest, around) {
  const props = objectIn(shape.props), id = textIn(shape.id), scale = Math.max(numberIn(props.scale, 1), 0.01);
  const colour = named(COLOURS, props.color, "paper"), look = commonOf(frame), content = harvest.content(wordsOf(props));
  const label = { fontSize: fine(Math.min(Math.max(named(SIZES.label, props.size, 22) * scale, 12), 72)), align: named(ALIGNS, props.align, "center") };
  switch (shape.type) {
    case "geo": {
      const isRound = props.geo === "ellipse" || props.geo === "oval", fill = props.fill === undefined || props.fill === "none" ? "none" : props.fill === "semi" ? "paper" : colour;
      if (!isRound && props.geo !== "rectangle") harvest.leave("other shape, as a rectangle");
      const box = laid(corner(frame, numberIn(props.w, 100), numberIn(props.h, 100) + numberIn(props.growY)));
      return harvest.add({ id, ...box, ...look, type: "shape", shape: isRound ? "ellipse" : "rectangle", fill, stroke: colour, ...(content ? { content, ...label } : {}) });
    }
    case "note": {
      const box = laid(corner(frame, NOTE * scale, (NOTE + numberIn(props.growY)) * scale));
      return harvest.add({ id, ...box, ...look, type: "note", tint: colour === "paper" ? "sun" : colour, content, ...label });
    }
    case "text": return text(id, props, content, frame, harvest, { ...look, ink: colour });
    case "draw": case "highlight": {
      const points = listIn(props.segments).flatMap(pathOf), stretch = { x: scale * numberIn(props.scaleX, 1), y: scale * numberIn(props.scaleY, 1) };
      if (props.isClosed === true && points.length) points.push(points[0]);
      return harvest.stroke(id, points.map(({ x, y }) => on(frame, { x: x * stretch.x, y: y * stretch.y })), { ...look, stroke: colour });
    }
    case "line": {
      const points = Object.values(objectIn(props.points ?? props.handles)).filter(one => one && typeof one === "object").sort(byIndex);
      return harvest.stroke(id, points.map(point => on(frame, { x: numberIn(point.x), y: numberIn(point.y) })), { ...look, stroke: colour });
    }
    case "arrow": {
      if (content) harvest.leave("text on an arrow");
      if (numberIn(props.bend) !== 0) harvest.leave("bent arrow, as a straight one");
      return arrow(shape, frame, harvest, around, { ...look, stroke: colour });
    }
    case "image": {
      const mirrored = { ...(props.flipX === true ? { scaleX: -1 } : {}), ...(props.flipY === true ? { scaleY: -1 } : {}) };
      const box = laid(corner(frame, numberIn(props.w, 100), numberIn(props.h, 100)));
      return harvest.picture(around.assets.get(props.assetId)?.props?.src, { id, ...box, ...look, ...mirrored });
    }
    default: return harvest.leave(named(LEFT, shape.type, "unknown thing"));
  }
}

/** @param {Frame} frame @returns {Data} what all have */
const commonOf = ({ opacity, isLocked, groupId }) =>
  ({ ...(opacity < 1 ? { opacity: fine(opacity) } : {}), ...(isLocked ? { locked: true } : {}), ...(groupId === undefined ? {} : { groupId }) });

/** @param {Frame} frame @param {Point} point of a shape @returns {Point} on the canvas */
function on({ x, y, radians }, point) {
  const way = turned(point, radians);
  return { x: x + way.x, y: y + way.y };
}

/**
 * A shape turns about its corner, an element about its middle.
 * @param {Frame} frame @param {number} width @param {number} height
 */
function corner(frame, width, height) {
  const middle = on(frame, { x: width / 2, y: height / 2 });
  return { x: middle.x - width / 2, y: middle.y - height / 2, width, height, radians: frame.radians };
}

/** @param {any} props @returns {string} its text, which newer files have as a document */
function wordsOf({ text, richText }) {
  if (typeof text === "string") return text;
  /** @param {any} node @param {number} depth @returns {string} */
  const words = (node, depth) => {
    if (!node || typeof node !== "object" || depth > DEEPEST) return "";
    if (typeof node.text === "string") return node.text;
    if (node.type === "hardBreak") return "\n";
    return listIn(node.content).map(child => words(child, depth + 1)).join(node.type === "paragraph" || node.type === "heading" ? "" : "\n");
  };
  return words(richText, 0);
}

/** @param {string} id @param {any} props @param {string} content @param {Frame} frame @param {Harvest} harvest @param {Data} look */
function text(id, props, content, frame, harvest, look) {
  const scale = Math.max(numberIn(props.scale, 1), 0.01), fontSize = fine(Math.min(Math.max(named(SIZES.text, props.size, 24) * scale, 12), 72));
  const lines = content.split("\n"), longest = lines.reduce((most, line) => Math.max(most, [...line].length), 0);
  // Files do not say how large a text is: letters are about 0.6 of their size wide.
  const isFree = props.autoSize !== false, width = isFree ? longest * fontSize * 0.62 + 24 : numberIn(props.w, 200) * scale;
  const count = isFree ? lines.length : lines.reduce((sum, line) => sum + Math.max(Math.ceil(([...line].length * fontSize * 0.62) / Math.max(width, 1)), 1), 0);
  const box = laid(corner(frame, width, count * fontSize * 1.2 + 12));
  harvest.add({ id, ...box, ...look, type: "text", content, fontSize, align: named(ALIGNS, props.textAlign ?? props.align, "left") });
}

/** @param {any} shape @param {Frame} frame @param {Harvest} harvest @param {Around} around @param {Data} look */
function arrow(shape, frame, harvest, { byId, bindings }, look) {
  const props = objectIn(shape.props), ends = [props.start, props.end], names = ["start", "end"];
  const points = ends.map(end => on(frame, { x: numberIn(end?.x), y: numberIn(end?.y) }));
  const ties = names.map((name, index) => {
    const bound = bindings.find(one => one.fromId === shape.id && one.props?.terminal === name);
    // Older files have the binding in the arrow.
    const inside = ends[index]?.type === "binding" ? ends[index] : undefined;
    const element = textIn(bound?.toId ?? inside?.boundShapeId), target = byId.get(element);
    if (!element || !target || ["group", "frame", "arrow", "line", "draw", "highlight"].includes(target.type)) return undefined;
    const isExact = bound ? bound.props.isPrecise !== false : true, at = (bound?.props ?? inside)?.normalizedAnchor;
    const share = (/** @type {"x" | "y"} */ axis) => (isExact ? fine(Math.min(Math.max(numberIn(at?.[axis], 0.5), 0), 1)) : 0.5);
    return { element, x: share("x"), y: share("y") };
  });
  const head = (/** @type {any} */ name, /** @type {string} */ otherwise) => (textIn(name) || otherwise) !== "none";
  const isBackward = head(props.arrowheadStart, "none") && !head(props.arrowheadEnd, "arrow");
  const order = isBackward ? [1, 0] : [0, 1];
  harvest.arrow(textIn(shape.id), [points[order[0]], points[order[1]]], { from: ties[order[0]], to: ties[order[1]] }, look);
}
