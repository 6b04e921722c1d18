// Files of Excalidraw (.excalidraw) as elements.

import { degreesIn, fine, Harvest, laid, listIn, named, nearest, numberIn, objectIn, textIn, turned } from "./foreign.js";

/** @typedef {import("./geometry.js").Point} Point */
/** @typedef {import("/client/touchsync.js").Data} Data */

/** @param {any} file @returns {boolean} */
export const isExcalidraw = file => file?.type === "excalidraw" && Array.isArray(file.elements);

/**
 * What has a form here.
 * @type {Record<string, string>}
 */
const FORMS = { rectangle: "rectangle", diamond: "rectangle", ellipse: "ellipse" };
/**
 * What is left out, by what it is.
 * @type {Record<string, string>}
 */
const LEFT = { frame: "frame", magicframe: "frame", embeddable: "embedded page", iframe: "embedded page" };
/** What arrows may be tied to. */
const TARGETS = [...Object.keys(FORMS), "text", "image"];

/** @param {any} file @returns {import("./foreign.js").Imported} */
export function fromExcalidraw(file) {
  const harvest = new Harvest(), things = listIn(file.elements).filter(one => one && typeof one === "object" && !one.isDeleted);
  const byId = new Map(things.map(one => [textIn(one.id), one]));
  /** @type {Map<string, any>} */
  const labels = new Map();
  for (const one of things) {
    if (one.type === "text" && Object.hasOwn(FORMS, byId.get(one.containerId)?.type)) labels.set(one.containerId, one);
  }
  for (const one of things) {
    if (one.type === "text" && byId.has(one.containerId)) {
      if (labels.get(one.containerId) !== one) harvest.leave("text on an arrow");
    } else thing(one, harvest, { labels, byId, files: objectIn(file.files) });
  }
  return harvest.done();
}

/** @param {any} one @param {Harvest} harvest @param {{labels: Map<string, any>, byId: Map<string, any>, files: any}} around */
function thing(one, harvest, { labels, byId, files }) {
  const id = textIn(one.id), base = { id, ...laid(placeOf(one)), ...commonOf(one) }, stroke = nearest(one.strokeColor, "ink");
  if (Object.hasOwn(FORMS, one.type)) {
    if (one.type === "diamond") harvest.leave("diamond, as a rectangle");
    const fill = one.backgroundColor === undefined || one.backgroundColor === "transparent" ? "none" : nearest(one.backgroundColor, "tint");
    return harvest.add({ ...base, type: "shape", shape: FORMS[one.type], fill, stroke, ...labelOf(labels.get(id), harvest) });
  }
  switch (one.type) {
    case "text": return harvest.add({ ...base, type: "text", ...labelOf(one, harvest), ink: stroke });
    case "arrow": return arrow(one, harvest, byId, { ...commonOf(one), stroke });
    case "line": case "freedraw": return harvest.stroke(id, pointsOf(one), { ...commonOf(one), stroke });
    case "image": {
      const scale = listIn(one.scale), mirrored = { ...(scale[0] === -1 ? { scaleX: -1 } : {}), ...(scale[1] === -1 ? { scaleY: -1 } : {}) };
      return harvest.picture(Object.hasOwn(files, one.fileId) ? files[one.fileId]?.dataURL : undefined, { ...base, ...mirrored });
    }
    default: return harvest.leave(named(LEFT, one.type, "unknown thing"));
  }
}

/** @param {any} one */
const placeOf = one => ({
  x: numberIn(one.x), y: numberIn(one.y), width: numberIn(one.width, 100), height: numberIn(one.height, 100), radians: numberIn(one.angle),
});

/** @param {any} one @returns {Data} what all have */
function commonOf(one) {
  const opacity = Math.min(Math.max(numberIn(one.opacity, 100), 0), 100) / 100, groupId = listIn(one.groupIds).at(-1);
  return {
    ...(opacity < 1 ? { opacity } : {}), ...(one.locked === true ? { locked: true } : {}), ...(typeof groupId === "string" ? { groupId } : {}),
  };
}

/** @param {any} text @param {Harvest} harvest @returns {Data} */
function labelOf(text, harvest) {
  if (!text) return {};
  const align = ["left", "center", "right"].includes(text.textAlign) ? text.textAlign : "left";
  const content = harvest.content(textIn(text.originalText) || textIn(text.text));
  return { content, fontSize: Math.min(Math.max(fine(numberIn(text.fontSize, 20)), 12), 72), align };
}

/** @param {any} one @returns {Point[]} of the canvas: its box turns about its middle */
function pointsOf(one) {
  const { x, y, radians } = placeOf(one), points = listIn(one.points).map(point => ({ x: x + numberIn(point?.[0]), y: y + numberIn(point?.[1]) }));
  if (!degreesIn(radians) || points.length === 0) return points;
  const xs = points.map(point => point.x), ys = points.map(point => point.y);
  const middle = { x: (least(xs) + most(xs)) / 2, y: (least(ys) + most(ys)) / 2 };
  return points.map(point => {
    const way = turned({ x: point.x - middle.x, y: point.y - middle.y }, radians);
    return { x: middle.x + way.x, y: middle.y + way.y };
  });
}

/** @param {number[]} values */
const least = values => values.reduce((a, b) => Math.min(a, b));
/** @param {number[]} values */
const most = values => values.reduce((a, b) => Math.max(a, b));

/** @param {any} one @param {Harvest} harvest @param {Map<string, any>} byId @param {Data} look */
function arrow(one, harvest, byId, look) {
  const points = pointsOf(one);
  if (points.length < 2) return harvest.leave("arrow without a way");
  if (points.length > 2) harvest.leave("bent arrow, as a straight one");
  /** @type {[Point, Point]} */
  const line = [points[0], points[points.length - 1]];
  const ties = { from: tieOf(one.startBinding, byId), to: tieOf(one.endBinding, byId) };
  const isBackward = typeof one.startArrowhead === "string" && typeof one.endArrowhead !== "string";
  if (isBackward) harvest.arrow(textIn(one.id), [line[1], line[0]], { from: ties.to, to: ties.from }, look);
  else harvest.arrow(textIn(one.id), line, ties, look);
}

/** @param {any} binding @param {Map<string, any>} byId @returns {import("./foreign.js").Tie | undefined} */
function tieOf(binding, byId) {
  const element = textIn(binding?.elementId), target = byId.get(element);
  if (!element || !target || !TARGETS.includes(target.type) || byId.has(target.containerId)) return undefined;
  const at = (/** @type {number} */ index) => fine(Math.min(Math.max(numberIn(binding.fixedPoint?.[index], 0.5), 0), 1));
  return { element, x: at(0), y: at(1) };
}
