// New elements: what each kind looks like at first, and a thousand of them.

/** @typedef {import("./geometry.js").Point} Point */
/** @typedef {import("/client/touchsync.js").Data} Data */
/** @typedef {"note" | "photo" | "audio" | "video" | "text"} Kind */

/** The palette, by the names under which elements keep its colours: a fill `--tint-NAME` and a line `--ink-NAME` (page.css). */
export const TINTS = ["sun", "peach", "rose", "lilac", "sky", "mint", "slate", "paper"];
/** The pictures that the gateway serves. */
export const PICTURES = ["mountains", "coast", "forest", "city"];
const TUNES = ["Morning loop", "Slow waltz", "Field recording"];

/** @type {Record<string, string>} */
const NAMES = { note: "Note", photo: "Photo", audio: "Sound", video: "Video", text: "Text", shape: "Shape", arrow: "Arrow", stroke: "Drawing" };

/** @param {string} type @returns {string} what a person calls an element */
export const nameOf = type => (Object.hasOwn(NAMES, type) ? NAMES[type] : type);

/** @template T @param {T[]} list @param {number} index @returns {T} */
const turn = (list, index) => list[index % list.length];

/** @type {Record<Kind, (index: number) => Data>} */
const KINDS = {
  note: index => ({ content: "", tint: turn(TINTS, index), width: 200, height: 160 }),
  photo: index => ({ picture: turn(PICTURES, index), width: 320, height: 240 }),
  video: index => ({ picture: turn(PICTURES, index + 2), title: "Sample clip", seconds: 8, width: 352, height: 220 }),
  audio: index => ({ title: turn(TUNES, index), tune: index % TUNES.length, seconds: 6, width: 320, height: 88 }),
  text: () => ({ content: "", fontSize: 28, width: 220, height: 56 }),
};

/** @param {Kind} type @param {Point} at its middle @param {number} index of its kind @returns {Data} */
export const sample = (type, at, index) =>
  ({ type, positionX: Math.round(at.x), positionY: Math.round(at.y), ...KINDS[type](index) });

/**
 * A text on an element, which moves with it.
 * @param {Data} parent @param {number} index of those on it @returns {Data}
 */
export function annotation(parent, index) {
  const width = Math.min(parent.originalWidth * 0.7, 260);
  return {
    type: "text", space: "normalized", parentId: parent.id, positionX: 0.5, positionY: 0.82 - (index % 4) * 0.2,
    content: "", fontSize: 22, width, height: 44,
  };
}

/** Elements of one edit at most, well below the sizes that a server allows. */
const BATCH = 250;

/**
 * Many small elements in a block.
 * @param {number} count @param {Point} corner the upper left one @returns {Data[][]} one list for each edit
 */
export function crowd(count, corner) {
  const columns = Math.ceil(Math.sqrt(count * 1.6)), step = { x: 140, y: 116 };
  const elements = Array.from({ length: count }, (_, index) => {
    const at = { x: corner.x + (index % columns) * step.x + 60, y: corner.y + Math.floor(index / columns) * step.y + 50 };
    const isPhoto = index % 7 === 3;
    const one = sample(isPhoto ? "photo" : "note", at, index);
    return isPhoto ? { ...one, width: 120, height: 90 } : { ...one, content: `${index + 1}`, width: 120, height: 96 };
  });
  return Array.from({ length: Math.ceil(count / BATCH) }, (_, part) => elements.slice(part * BATCH, (part + 1) * BATCH));
}
