// Pictures from files: decoded here, made small enough for an element or for the app's server, and placed. No byte of a file
// is stored as it came, but for small animations: what was in it beside the picture stays with its owner.

import { AppFailure, ask, pictureAt, settings } from "./appserver.js";
import { freePlace } from "./geometry.js";
import { pictureBytesIn } from "./roomcore.js";
import { counted, refused } from "./words.js";
import { newElementId } from "/client/touchsync.js";

/** @typedef {import("./geometry.js").Point} Point */
/** @typedef {{blob: Blob, width: number, height: number, title: string}} Picture */

/** The largest file that is read. */
const MOST_BYTES = 40 << 20;
/** As many files at once. */
const MOST_FILES = 20;
/** Characters of a data URL that are enough for a canvas, below the limit: each movement sends and logs the whole element. */
const ENOUGH = 64 << 10;
/** Bytes for the app's server at most, and how long it may take, ms. */
const UPLOAD = { bytes: 1 << 20, patience: 30_000 };
/** Longest sides and qualities that are tried, the best first. */
const SIDES = [2560, 1920, 1280, 1024, 800, 640, 480, 360, 256, 160], QUALITIES = [0.85, 0.7, 0.5];
/** The longest side in an element. */
const LONGEST = 1280;
/** The longest side of its element, pixels of the canvas; the white edge on each side of it; the gap between several. */
const SIDE = 320, EDGE = 8, GAP = 24;

/**
 * Puts files on the canvas as photos, in a row.
 * @param {import("./actions.js").Actions} actions @param {Iterable<File>} files
 * @param {Point} [at] the middle of the first one, on the canvas; by default where there is space
 * @returns {Promise<string[]>} the ids of the new elements
 */
export async function placePictures(actions, files, at) {
  const { board, room } = actions, all = [...files], upload = await uploadFor(room);
  const options = { undoGroup: `pictures ${Date.now().toString(36)}` };
  if (all.length > MOST_FILES) actions.say(`The first ${MOST_FILES} of ${all.length} files are placed.`);
  const ids = [], failures = [];
  /** @type {Point | undefined} */
  let edge = undefined;
  for (const file of all.slice(0, MOST_FILES)) {
    try {
      const picture = await pictureOf(file, upload ? UPLOAD.bytes : bytesIn(room), upload ? SIDES[0] : LONGEST), size = sizeOf(picture), id = newElementId();
      /** @type {Point} */
      const place = edge ? { x: edge.x + size.width / 2, y: edge.y } : at ?? freePlace(size, board.view, [...board.scene.boxes.values()]);
      const url = await (upload ?? dataURL)(picture.blob);
      await room.create({
        id, type: "photo", picture: url, title: picture.title, positionX: Math.round(place.x), positionY: Math.round(place.y),
        ...size,
      }, options);
      ids.push(id);
      edge = { x: place.x + size.width / 2 + GAP, y: place.y };
    } catch (error) {
      failures.push(error);
    }
  }
  if (ids.length) {
    board.selection.set(ids);
    board.surface.focus({ preventScroll: true });
  }
  if (failures.length) actions.say(told(failures));
  else if (ids.length) actions.say(`Placed ${counted(ids.length, "picture")}`);
  return ids;
}

/** @param {import("/client/touchsync.js").Room} room @returns {number} how large a picture in an element may be, bytes */
export const bytesIn = room => Math.floor(((Math.min(pictureBytesIn(room), ENOUGH) - 64) * 3) / 4);

/**
 * @param {import("/client/touchsync.js").Room} room
 * @returns {Promise<((blob: Blob) => Promise<string>) | undefined>} stores a picture with the app, where that has a place for it, and
 *   gives its address
 */
async function uploadFor(room) {
  const { uploadUrl, pictureOrigins } = await settings();
  if (!uploadUrl) return undefined;
  return async blob => {
    const url = new URL(uploadUrl);
    url.searchParams.set("room", room.id);
    const address = pictureAt((await ask(url.href, blob.type, blob, UPLOAD.patience)).url, pictureOrigins, uploadUrl);
    if (!address) throw new AppFailure("The app's server gives no address of a picture that this page may show.");
    return address;
  };
}

/** @param {any[]} failures @returns {string} */
function told([first, ...more]) {
  const why = first instanceof Unreadable || first instanceof AppFailure ? first.message : refused(first);
  return more.length ? `${why} ${counted(more.length, "more file")} failed, too.` : why;
}

/** A file that is no picture, or none that can be made small enough, in words for a person. */
class Unreadable extends Error {}

/** @param {Picture} picture @returns {{width: number, height: number}} of its element */
function sizeOf({ width, height }) {
  const factor = Math.min(SIDE / Math.max(width, height), 1), least = 24;
  return { width: Math.max(Math.round(width * factor), least) + 2 * EDGE, height: Math.max(Math.round(height * factor), least) + 2 * EDGE };
}

/** @param {string} name of a file @returns {string} without its folder and its kind */
const titleOf = name => name.replace(/^.*[\\/]/, "").replace(/\.[^.]{1,5}$/, "").trim().slice(0, 120);

/**
 * @param {File} file @param {number} most bytes of the picture @param {number} [longest] side of it, pixels
 * @returns {Promise<Picture>}
 */
export async function pictureOf(file, most, longest = LONGEST) {
  const title = titleOf(file.name), name = title ? `“${title}”` : "The file";
  if (!file.type.startsWith("image/")) throw new Unreadable(`${name} is no picture.`);
  if (file.size > MOST_BYTES) throw new Unreadable(`${name} is too large: ${MOST_BYTES >> 20} MB at most.`);
  const image = await decoded(file).catch(() => {
    throw new Unreadable(`${name} cannot be read as a picture.`);
  });
  const { width, height } = extent(image);
  const blob = file.type === "image/gif" && file.size <= most ? file : await encoded(image, most, longest);
  if (!blob) throw new Unreadable(`${name} is too large for this server.`);
  return { blob, width, height, title };
}

/** @param {Blob} blob @returns {Promise<string>} */
export const dataURL = blob => new Promise((resolve, reject) => {
  const reader = new FileReader();
  reader.onload = () => resolve(String(reader.result));
  reader.onerror = () => reject(reader.error);
  reader.readAsDataURL(blob);
});

/**
 * A drawing in SVG becomes pixels: as a picture of its own it loads nothing and runs nothing.
 * @param {File} file @returns {Promise<ImageBitmap | HTMLImageElement>}
 */
async function decoded(file) {
  if (file.type !== "image/svg+xml") return createImageBitmap(file);
  const image = new Image();
  image.src = await dataURL(file);
  await image.decode();
  return image;
}

/** @param {ImageBitmap | HTMLImageElement} image @returns {{width: number, height: number}} a drawing may have none of its own */
function extent(image) {
  const { width, height } = image instanceof HTMLImageElement ? { width: image.naturalWidth, height: image.naturalHeight } : image;
  return width && height ? { width, height } : { width: SIDE, height: SIDE };
}

/**
 * An image, as large and as good as the limits allow.
 * @param {ImageBitmap | HTMLImageElement} image @param {number} most bytes @param {number} longest side, pixels
 * @returns {Promise<Blob | undefined>}
 */
export async function encoded(image, most, longest) {
  const { width, height } = extent(image), isVector = image instanceof HTMLImageElement, canvas = document.createElement("canvas");
  const own = Math.max(width, height), sides = SIDES.filter(side => side <= longest);
  for (const side of sides.filter((side, index) => isVector || side <= own || index === sides.length - 1 || sides[index + 1] < own)) {
    const factor = isVector ? side / own : Math.min(side / own, 1);
    canvas.width = Math.max(Math.round(width * factor), 1);
    canvas.height = Math.max(Math.round(height * factor), 1);
    const brush = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    brush.imageSmoothingQuality = "high";
    brush.drawImage(image, 0, 0, canvas.width, canvas.height);
    const found = await compressed(canvas, brush, most);
    if (found) return found;
  }
  return undefined;
}

/**
 * @param {HTMLCanvasElement} canvas @param {CanvasRenderingContext2D} brush @param {number} most bytes
 * @returns {Promise<Blob | undefined>}
 */
async function compressed(canvas, brush, most) {
  for (const quality of QUALITIES) {
    let blob = await blobOf(canvas, "image/webp", quality);
    // Where a browser writes no WebP it gives PNG: right for what one can see through, else JPEG is smaller.
    if (blob?.type !== "image/webp" && !isClear(canvas, brush)) blob = await blobOf(canvas, "image/jpeg", quality);
    if (blob && blob.size <= most) return blob;
  }
  return undefined;
}

/** @param {HTMLCanvasElement} canvas @param {string} type @param {number} quality @returns {Promise<Blob | null>} */
const blobOf = (canvas, type, quality) => new Promise(resolve => canvas.toBlob(resolve, type, quality));

/** @param {HTMLCanvasElement} canvas @param {CanvasRenderingContext2D} brush whether one can see through some of it */
const isClear = ({ width, height }, brush) => brush.getImageData(0, 0, width, height).data.some((value, index) => index % 4 === 3 && value < 250);

/**
 * Lets a person choose files.
 * @param {import("./actions.js").Actions} actions
 */
export function choosePictures(actions) {
  const field = document.createElement("input");
  field.type = "file";
  field.id = "picture-files";
  field.accept = "image/*";
  field.multiple = true;
  field.hidden = true;
  // Only a field of the document has a chooser in every browser.
  document.body.append(field);
  const gone = () => field.remove();
  field.addEventListener("change", () => {
    placePictures(actions, field.files ?? []);
    gone();
  });
  field.addEventListener("cancel", gone);
  field.click();
}
