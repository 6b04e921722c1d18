// What is in an element's card, as SVG in the card's own pixels: one portrait for each kind, as `cards` has for the page.

import { clock, textOf } from "./values.js";
import { stretchOf } from "./geometry.js";
import { nameOf, TINTS } from "./samples.js";
import { arrowPath } from "./shapes.js";
import { smooth } from "./strokes.js";
import { escaped, short, tag } from "./svg.js";
import { stepsFrom, styleOf } from "./texts.js";
import { wrapped } from "./wrapping.js";

/** @typedef {import("/client/touchsync.js").Element} Element */
/** @typedef {import("./placing.js").Size} Size */
/**
 * What a portrait needs of the page.
 * @typedef {object} Look
 * @property {(text: string, font: {size: number, weight: number}) => number} measure the width of a text
 * @property {Record<string, string>} tints @property {Record<string, string>} inks colours by their names
 * @property {string} ink of texts
 * @property {string} [paper] behind everything; nothing by default
 * @property {string} font
 * @property {{x: number, y: number}} [mirror] of what is drawn, where texts stay as they are read
 * @property {(element: Element) => string | undefined} picture its address, as a data URL
 */
/** @typedef {{content: string, box: {x: number, y: number, width: number, height: number}, size: number, leading: number, weight: number, align: string, isMiddle: boolean, ink: string}} Words */

/** The colour of what stands on pictures and players, whatever the theme. */
const BRIGHT = "#ffffff";
/** How thick lines are, pixels. */
const LINE = 3;
/** Where a line's letters stand below its middle, in sizes. */
const BASELINE = 0.35;

/** @param {unknown} name @param {Record<string, string>} colours @param {string} otherwise a name @returns {string} */
export const coloured = (name, colours, otherwise) => colours[typeof name === "string" && Object.hasOwn(colours, name) ? name : otherwise];

/** @param {Words} words @param {Look} look */
function lines({ content, box, size: chosen, leading, weight, align, isMiddle, ink }, { measure, mirror = { x: 1, y: 1 } }) {
  const sizes = stepsFrom(chosen), inLines = (/** @type {number} */ size) => wrapped(content, box.width, text => measure(text, { size, weight }));
  // As on the page: smaller where its element would not hold it.
  const size = sizes.find(size => inLines(size).length * size * leading <= box.height + 1) ?? sizes[sizes.length - 1];
  const all = inLines(size), height = size * leading;
  const top = isMiddle ? box.y + (box.height - all.length * height) / 2 : box.y;
  const place = { left: 0, center: 0.5, right: 1 }[align] ?? 0, anchor = ["start", "middle", "end"][place * 2];
  const spans = all.map((line, index) => tag("tspan", {
    x: box.x + box.width * place, y: top + (index + 0.5) * height + size * BASELINE,
  }, escaped(line.trimEnd())));
  const isMirrored = mirror.x + mirror.y < 2, moved = [(1 - mirror.x) * (box.x + box.width / 2), (1 - mirror.y) * (top + (all.length * height) / 2)];
  const transform = isMirrored ? `matrix(${[mirror.x, 0, 0, mirror.y, ...moved.map(short)].join(" ")})` : undefined;
  return tag("text", { transform, "font-size": size, "font-weight": weight, fill: ink, "text-anchor": anchor, "xml:space": "preserve" }, ...spans);
}

/** @param {string} id @param {string} tint @param {string} paper */
const gradient = (id, tint, paper) => tag("linearGradient", { id, x1: 0, y1: 0, x2: 0.2, y2: 1 },
  tag("stop", { offset: 0, "stop-color": mixed(tint, paper) }), tag("stop", { offset: 1, "stop-color": tint }));

/** @param {string} colour @param {string} other six digits each @returns {string} with 30 % of the other one */
function mixed(colour, other) {
  const part = (/** @type {string} */ text, /** @type {number} */ at) => parseInt(text.slice(at, at + 2), 16) || 0;
  return `#${[1, 3, 5].map(at => Math.round(part(colour, at) * 0.7 + part(other, at) * 0.3).toString(16).padStart(2, "0")).join("")}`;
}

/** @param {Size} size @param {number} radius */
const rounded = ({ width, height }, radius) => ({ width, height, rx: Math.min(radius, width / 2, height / 2) });

/**
 * A picture that covers a box.
 * @param {Element} element @param {Look} look @param {{x: number, y: number, width: number, height: number}} box
 */
const picture = (element, look, box) => tag("image", { ...box, href: look.picture(element), preserveAspectRatio: "xMidYMid slice" });

/** @param {string} markup @param {string} outline @param {string} name @returns {string} clipped to the card */
const clipped = (markup, outline, name) =>
  tag("clipPath", { id: `${name}c` }, outline) + tag("g", { "clip-path": `url(#${name}c)` }, markup);

/** @param {Size} size @param {string} [fill] @returns {string} the paper of a note, with its lower right corner turned up */
function sheet({ width, height }, fill) {
  const [small, large] = [3, 14].map(radius => Math.min(radius, width / 2, height / 2));
  const d = `M${small} 0H${width - small}q${small} 0 ${small} ${small}V${height - large}q0 ${large} ${-large} ${large}H${small}` +
    `q${-small} 0 ${-small} ${-small}V${small}q0 ${-small} ${small} ${-small}Z`;
  return tag("path", { d, fill });
}

/** @param {number} x @param {number} y @param {number} radius @param {string} fill */
const playButton = (x, y, radius, fill) => tag("circle", { cx: x, cy: y, r: radius, fill }) +
  tag("path", { d: `M${x - radius * 0.28} ${y - radius * 0.42}L${x + radius * 0.5} ${y}L${x - radius * 0.28} ${y + radius * 0.42}Z`, fill: BRIGHT });

/** @typedef {(element: Element, size: Size, look: Look, name: string) => string} Portrait */

/** @type {Portrait} */
function note(element, size, look, name) {
  const box = { x: 16, y: 16, width: Math.max(size.width - 32, 1), height: Math.max(size.height - 32, 1) };
  const tint = coloured(element.tint, look.tints, TINTS[0]), { fontSize, isBold, align, ink } = styleOf(element);
  const content = textOf(element.content ?? (element.type === "note" ? "" : element.title), element.type === "note" ? "" : nameOf(element.type));
  return gradient(`${name}g`, tint, look.tints.paper) + clipped(
    sheet(size, `url(#${name}g)`) + lines({
      content, box, size: fontSize, leading: 1.35, weight: isBold ? 750 : 500, align, isMiddle: false, ink: ink ? look.inks[ink] : look.ink,
    }, look), sheet(size), name);
}

/** @type {Portrait} */
function text(element, size, look) {
  const box = { x: 10, y: 4, width: Math.max(size.width - 20, 1), height: size.height - 8 }, { fontSize, isBold, align, ink } = styleOf(element);
  return lines({
    content: textOf(element.content), box, size: fontSize, leading: 1.2, weight: isBold ? 750 : 650, align, isMiddle: true,
    ink: ink ? look.inks[ink] : look.ink,
  }, look);
}

/** @type {Portrait} */
function shape(element, size, look) {
  const { width, height } = size, { fontSize, isBold, align, ink } = styleOf(element), half = LINE / 2;
  const drawn = { fill: element.fill === "none" ? "none" : coloured(element.fill, look.tints, "paper"), ...lineIn(element, look) };
  const form = element.shape === "ellipse"
    ? tag("ellipse", { cx: width / 2, cy: height / 2, rx: Math.max(width / 2 - half, 0), ry: Math.max(height / 2 - half, 0), ...drawn })
    : tag("rect", { x: half, y: half, width: Math.max(width - LINE, 0), height: Math.max(height - LINE, 0), rx: 10, ...drawn });
  const box = { x: 14, y: 10, width: Math.max(width - 28, 1), height: Math.max(height - 20, 1) };
  return form + lines({
    content: textOf(element.content), box, size: fontSize, leading: 1.35, weight: isBold ? 750 : 500, align, isMiddle: true,
    ink: look.inks[ink ?? "paper"],
  }, look);
}

/** @param {Element} element @param {Look} look */
const lineIn = ({ stroke }, { inks }) =>
  ({ stroke: coloured(stroke, inks, "slate"), "stroke-width": LINE, "stroke-linecap": "round", "stroke-linejoin": "round" });

/** @param {string} d @param {Element} element @param {Look} look */
const path = (d, element, look) => tag("path", { d, fill: "none", ...lineIn(element, look) });

/** @type {Record<string, Portrait>} */
const PORTRAITS = {
  note, text, shape,
  arrow: (element, size, look) => path(arrowPath(Math.round(size.width * 10) / 10), element, look),
  stroke: (element, size, look) => path(smooth(element.points, stretchOf(element)), element, look),
  photo: (element, size, look) => tag("rect", { ...rounded(size, 6), fill: BRIGHT }) +
    picture(element, look, { x: 8, y: 8, width: Math.max(size.width - 16, 1), height: Math.max(size.height - 16, 1) }),
  video: (element, size, look, name) => {
    const { width, height } = size, y = height - 24, font = { "font-size": 14, "font-weight": 600, fill: BRIGHT };
    return tag("linearGradient", { id: `${name}g`, x1: 0, y1: 0.55, x2: 0, y2: 1 },
      tag("stop", { offset: 0, "stop-color": "#080a12", "stop-opacity": 0 }), tag("stop", { offset: 1, "stop-color": "#080a12", "stop-opacity": 0.8 })) +
      clipped(tag("rect", { width, height, fill: "#0e1016" }) + picture(element, look, { x: 0, y: 0, width, height }) +
        tag("rect", { width, height, fill: `url(#${name}g)` }), tag("rect", rounded(size, 12)), name) +
      tag("text", { x: 14, y, ...font }, escaped(textOf(element.title, "Video"))) +
      tag("text", { x: width - 14, y, ...font, "text-anchor": "end" }, clock(element.seconds)) + playButton(width / 2, height / 2, 30, "#0a0c12");
  },
  audio: (element, size, look) => {
    const { width, height } = size, middle = height / 2;
    const bars = Array.from({ length: 28 }, (_, index) => {
      const length = 24 * (0.25 + 0.7 * Math.abs(Math.sin(index * 1.7) * Math.cos(index * 0.45))), step = Math.max(width - 98, 28) / 28;
      return tag("rect", { x: 80 + index * step, y: middle + 15 - length / 2, width: Math.max(step - 3, 1), height: length, rx: 2, fill: "#8d8fd8" });
    });
    return tag("rect", { ...rounded(size, 16), fill: look.tints.paper }) + playButton(40, middle, 26, "#4338ca") + bars.join("") +
      tag("text", { x: 80, y: middle - 8, "font-size": 14, "font-weight": 600, fill: look.ink }, escaped(textOf(element.title, "Sound"))) +
      tag("text", { x: width - 18, y: middle - 8, "font-size": 14, "font-weight": 500, fill: look.inks.slate, "text-anchor": "end" }, clock(element.seconds));
  },
};
/** Those that lie on the canvas without paper. */
const BARE = ["text", "shape", "arrow", "stroke"];
/** How much is seen of what lies behind a text on a picture. */
const PLATE = 0.88;

/**
 * The layers of a card, the lowest first.
 * @param {Element} element @param {Size} size @param {Look} look @param {string} name no other element's
 * @returns {{layers: {markup: string, opacity?: number}[], hasShadow: boolean}}
 */
export function cardOf(element, size, look, name) {
  const portrait = Object.hasOwn(PORTRAITS, element.type) ? PORTRAITS[element.type] : note;
  const card = { markup: portrait(element, size, look, name) };
  const plate = { markup: tag("rect", { ...rounded(size, 8), fill: look.tints.paper }), opacity: PLATE };
  const isOnPicture = element.type === "text" && element.parentId !== undefined;
  return { layers: isOnPicture ? [plate, card] : [card], hasShadow: !BARE.includes(element.type) };
}
