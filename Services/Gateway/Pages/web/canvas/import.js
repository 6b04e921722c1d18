// Files that come into the room: of Excalidraw, of tldraw, and of a room that was exported.

import { fromExcalidraw, isExcalidraw } from "./excalidraw.js";
import { union } from "./geometry.js";
import { node } from "./page.js";
import { isPicture } from "./foreign.js";
import { bytesIn, dataURL, pictureOf } from "./pictures.js";
import { copyOf, renamed } from "./restoring.js";
import { fromTldraw, isTldraw } from "./tldraw.js";
import { counted, refused } from "./words.js";
import { newElementId } from "/client/touchsync.js";

/** @typedef {import("./board.js").Board} Board */
/** @typedef {import("./geometry.js").Point} Point */
/** @typedef {import("./foreign.js").Imported} Imported */
/** @typedef {import("/client/touchsync.js").Data} Data */

/** The largest file, bytes. */
const LARGEST = 50 << 20;
/** Elements of one edit at most, and bytes of them, well below what a server allows. */
const BATCH = { elements: 250, bytes: 150_000 };

/** @param {string} text @returns {any} undefined for what is no JSON */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** @param {any} file @returns {[any, string][]} what of it holds a picture, and under which name */
function picturesIn(file) {
  const held = (/** @type {unknown} */ all, /** @type {(one: any) => any} */ holder, /** @type {string} */ name) =>
    Object.values(all && typeof all === "object" ? all : {}).map(holder).filter(one => typeof one?.[name] === "string")
      .map(one => /** @type {[any, string]} */ ([one, name]));
  if (isExcalidraw(file)) return held(file.files, one => one, "dataURL");
  return held(file?.records ?? file?.document?.store ?? file?.store, one => (one?.typeName === "asset" ? one.props : undefined), "src");
}

/**
 * Makes pictures small enough for elements; one that cannot be read stays as it is, and will be left out.
 * @param {any} file @param {number} most bytes of a picture
 */
async function shrink(file, most) {
  for (const [holder, name] of picturesIn(file)) {
    const [, kind, base64] = /^data:(image\/[\w.+-]+);base64,([A-Za-z0-9+/=]+)$/.exec(holder[name]) ?? [];
    if (!base64 || (isPicture(holder[name]) && (base64.length * 3) / 4 <= most)) continue;
    const bytes = Uint8Array.from(atob(base64), character => character.charCodeAt(0));
    const small = await pictureOf(new File([bytes], "", { type: kind }), most).catch(() => undefined);
    if (small) holder[name] = await dataURL(small.blob);
  }
}

/**
 * @param {string} text of a file @param {any} [file] the same as JSON, if it is that
 * @returns {Imported | undefined} undefined for one that is none of these
 */
export function read(text, file = parsed(text)) {
  if (isExcalidraw(file)) return fromExcalidraw(file);
  if (isTldraw(file)) return fromTldraw(file);
  const [header, ...lines] = text.split("\n").filter(Boolean).map(parsed);
  if (header?.touchsyncRoom !== 1) return undefined;
  return { elements: lines.filter(one => typeof one?.id === "string" && typeof one.type === "string").map(one => ({ ...copyOf(one), id: one.id })), left: {} };
}

/**
 * Elements under new ids, moved so that their middle lies at a point.
 * @param {Data[]} elements @param {Point} at @param {() => string} newId @returns {Data[]}
 */
export function placedAt(elements, at, newId) {
  const boxes = elements.filter(({ space }) => space !== "normalized").map(({ positionX, positionY, width, height, originalWidth, originalHeight }) => {
    const size = { width: width ?? originalWidth ?? 100, height: height ?? originalHeight ?? 100 };
    return { x: positionX - size.width / 2, y: positionY - size.height / 2, ...size };
  });
  const box = union(boxes) ?? { ...at, width: 0, height: 0 };
  const way = { x: Math.round(at.x - box.x - box.width / 2), y: Math.round(at.y - box.y - box.height / 2) };
  const ids = new Map(elements.map(({ id }) => [id, newId()])), groups = new Map();
  return elements.map(element => {
    /** @type {Data} */
    const moved = renamed(element, ids), { groupId } = element;
    if (groupId !== undefined) moved.groupId = groups.get(groupId) ?? groups.set(groupId, newId()).get(groupId);
    return element.space === "normalized" ? moved : { ...moved, positionX: element.positionX + way.x, positionY: element.positionY + way.y };
  });
}

/** @param {Data[]} elements @returns {Data[][]} as large as an edit may be */
export function batches(elements) {
  /** @type {Data[][]} */
  const all = [];
  let bytes = Infinity;
  for (const element of elements) {
    const size = JSON.stringify(element).length, last = all.at(-1);
    bytes += size;
    if (last && last.length < BATCH.elements && bytes <= BATCH.bytes) last.push(element);
    else {
      all.push([element]);
      bytes = size;
    }
  }
  return all;
}

/** @param {Record<string, number>} left @returns {string} */
const told = left => Object.entries(left).map(([what, count]) => `${count} × ${what}`).join(", ");

/** @returns {Promise<File[]>} what a person chooses */
export const choose = () => new Promise(resolve => {
  const input = /** @type {HTMLInputElement} */ (node("input"));
  Object.assign(input, { type: "file", multiple: true, accept: ".excalidraw,.tldr,.json,.jsonl" });
  input.addEventListener("change", () => resolve([...(input.files ?? [])]));
  input.addEventListener("cancel", () => resolve([]));
  input.click();
});

/**
 * @param {File[]} files @param {Board} board @param {(text: string) => void} notify
 * @param {Point} at of the canvas
 */
export async function importFiles(files, board, notify, at) {
  const { room, selection } = board, options = { undoGroup: `import ${Date.now().toString(36)}` };
  board.surface.focus({ preventScroll: true });
  for (const file of files) {
    const text = file.size <= LARGEST ? await file.text() : "", content = parsed(text);
    await shrink(content, bytesIn(room)).catch(() => {});
    const found = read(text, content);
    if (!found) {
      notify(`${file.name} is no file of Excalidraw, tldraw or TouchSync.`);
      continue;
    }
    const locks = found.elements.filter(element => element.locked).length;
    // Locked elements could not be taken back.
    const elements = placedAt(found.elements.map(({ locked, ...element }) => element), at, newElementId);
    const left = told({ ...found.left, ...(locks ? { lock: locks } : {}) });
    try {
      await Promise.all(batches(elements).map(batch => room.createAll(batch, options)));
      selection.set(elements.filter(({ space }) => space !== "normalized").map(({ id }) => id));
      notify(`Imported ${counted(elements.length, "element")}.${left ? ` Left out or changed: ${left}.` : ""}`);
    } catch (refusal) {
      notify(refused(/** @type {any} */ (refusal), room.members));
    }
  }
}
