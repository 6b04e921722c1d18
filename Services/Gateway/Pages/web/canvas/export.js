// The room, or what is selected, as a file: a picture, or its elements as `touchsync room export` writes them.

import { isAddress, pictureAt, settings } from "./appserver.js";
import { ownPicture } from "./bitmaps.js";
import { drawn, withAnnotations } from "./drawing.js";
import { node } from "./page.js";
import { dataURL, encoded } from "./pictures.js";
import { epochOf } from "./roomcore.js";
import { PICTURES, TINTS } from "./samples.js";
import { counted } from "./words.js";

/** @typedef {import("./board.js").Board} Board */
/** @typedef {import("/client/touchsync.js").Element} Element */
/** @typedef {"png" | "svg" | "json" | "copy"} Kind */

/** Pixels of a picture for one of the canvas; fewer where it would become too large. */
const DENSITY = 2;
/** The longest side of a picture, pixels. */
const LONGEST = 8192;
/** Of pictures of the app's server: bytes and pixels in a file, and how long one may take, ms. */
const APPS = { bytes: 1 << 20, side: 2560, patience: 10_000 };

/**
 * The samples, so that a picture is complete without this server.
 * @param {readonly Element[]} elements @returns {Promise<Map<string, string>>}
 */
async function samplesIn(elements) {
  const names = new Set(elements.filter(({ type }) => type === "photo" || type === "video").map(element => sampleOf(element)));
  const load = async (/** @type {string} */ name) => /** @type {const} */ ([name, await dataURL(await (await fetch(`/app/${name}.svg`)).blob())]);
  return new Map(await Promise.all([...names].map(load)));
}

/**
 * Pictures of the app's server, as data, so that a picture is complete without that server.
 * @param {readonly Element[]} elements
 * @returns {Promise<Map<string, string | undefined>>} by their addresses; without data where they cannot be had
 */
async function appsIn(elements) {
  const { pictureOrigins } = await settings();
  const addresses = new Set(elements.map(element => element.picture).filter(one => isAddress(one) && pictureAt(one, pictureOrigins)));
  const load = async (/** @type {string} */ address) => /** @type {const} */ ([address, await copied(address).catch(() => undefined)]);
  return new Map(await Promise.all([...addresses].map(load)));
}

/** @param {string} address @returns {Promise<string | undefined>} its picture as data, if its server lets pages copy it */
async function copied(address) {
  const image = new Image();
  image.crossOrigin = "anonymous";
  await new Promise((resolve, reject) => {
    image.onload = resolve;
    image.onerror = reject;
    setTimeout(reject, APPS.patience);
    image.src = address;
  });
  const blob = await encoded(await createImageBitmap(image), APPS.bytes, APPS.side);
  return blob && dataURL(blob);
}

/** @param {Element} element @returns {string} */
const sampleOf = ({ picture }) => (PICTURES.includes(picture) ? picture : PICTURES[0]);

/** @param {readonly Element[]} elements @param {readonly Element[]} around all of the room */
async function picture(elements, around) {
  const [samples, apps] = await Promise.all([samplesIn(elements), appsIn(elements)]), style = getComputedStyle(document.documentElement);
  const brush = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
  const colour = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
  const named = (/** @type {string} */ kind) => Object.fromEntries(TINTS.map(name => [name, colour(`--${kind}-${name}`)]));
  const font = style.fontFamily;
  const drawing = drawn(elements, {
    font, tints: named("tint"), inks: named("ink"), ink: colour("--ink"), paper: colour("--paper"),
    measure(text, { size, weight }) {
      brush.font = `${weight} ${size}px ${font}`;
      return brush.measureText(text).width;
    },
    picture: element => (apps.has(element.picture) ? apps.get(element.picture) : ownPicture(element.picture) ?? samples.get(sampleOf(element))),
  }, around);
  return { ...drawing, left: [...apps.values()].filter(data => data === undefined).length };
}

/** @param {{svg: string, width: number, height: number}} drawing @returns {Promise<Blob>} */
async function rastered({ svg, width, height }) {
  const image = new Image(), canvas = document.createElement("canvas");
  const density = Math.min(DENSITY, LONGEST / width, LONGEST / height);
  // Firefox does not wait in `decode` for the pictures within a picture.
  await new Promise((resolve, reject) => {
    image.onload = resolve;
    image.onerror = () => reject(new Error("It cannot be drawn."));
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  });
  Object.assign(canvas, { width: Math.ceil(width * density), height: Math.ceil(height * density) });
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => canvas.toBlob(blob => (blob ? resolve(blob) : reject(new Error("It is too large."))), "image/png"));
}

/** @param {string} name @param {Blob} blob */
function download(name, blob) {
  const link = /** @type {HTMLAnchorElement} */ (node("a"));
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/**
 * @param {Board} board @param {readonly Element[]} elements that the server has
 * @returns {string} as `touchsync room import` reads it
 */
function linesOf({ room }, elements) {
  const header = { touchsyncRoom: 1, roomId: room.id, epoch: epochOf(room), seq: room.seq, elements: elements.length };
  return [header, ...elements].map(line => `${JSON.stringify(line)}\n`).join("");
}

/**
 * @param {Kind} kind @param {Board} board @param {(text: string) => void} notify
 */
export async function exportAs(kind, board, notify) {
  const { room, selection } = board, chosen = selection.size ? new Set(selection.ids) : undefined;
  const elements = withAnnotations(room.elements, chosen), what = counted(elements.length, "element");
  const name = `${room.id}${chosen ? "-selection" : ""}`;
  if (elements.length === 0) return notify("There is nothing to export yet.");
  try {
    if (kind === "json") {
      // What the server has not answered yet has no author and no number.
      const stored = elements.filter(element => element.rev !== undefined);
      download(`${name}.jsonl`, new Blob([linesOf(board, stored)], { type: "application/jsonl" }));
      return notify(stored.length < elements.length ? `${counted(elements.length - stored.length, "element")} not stored yet: left out.` : `Exported ${what}.`);
    }
    const drawing = picture(elements, room.elements);
    if (kind === "svg") download(`${name}.svg`, new Blob([(await drawing).svg], { type: "image/svg+xml" }));
    if (kind === "png") download(`${name}.png`, await rastered(await drawing));
    if (kind === "copy") {
      if (!navigator.clipboard?.write) return notify("This browser lets no page copy pictures here. Save a PNG instead.");
      // The promise goes in: a browser allows it only in the moment of the click.
      await navigator.clipboard.write([new ClipboardItem({ "image/png": drawing.then(rastered) })]);
    }
    const { left } = await drawing, done = kind === "copy" ? `Copied ${what} as a picture.` : `Exported ${what}.`;
    notify(left ? `${done} ${counted(left, "picture")} left out: the app's server does not let pages copy them.` : done);
  } catch (error) {
    notify(`It could not be exported: ${error instanceof Error ? error.message : error}`);
  }
}
