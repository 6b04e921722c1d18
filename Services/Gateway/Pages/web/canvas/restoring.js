// How elements become what they were: the edits that lead there from what they are.

/** @typedef {import("/client/touchsync.js").Element} Element */
/** @typedef {import("/client/touchsync.js").Data} Data */
/**
 * In the order in which they are to be made.
 * @typedef {{unlock: string[], create: Data[], transform: Data[], update: {id: string, set: Data}[]}} Edits
 */

/** What a transform sets, and what it is where it is left out. */
const GEOMETRY = {
  positionX: 0, positionY: 0, positionZ: 0, rotation: 0, rotationX: 0, rotationY: 0, scaleX: 1, scaleY: 1, perspective: 0, opacity: 1,
};
/** What the server sets, and what nobody sets later. */
const FIXED = [
  "id", "type", "createdBy", "updatedBy", "rev", "motion", "animation", "width", "height", "anchorX", "anchorY", "parentId", "space",
  "roomId", "locked", ...Object.keys(GEOMETRY),
];

/** @param {unknown} a @param {unknown} b */
const isSame = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/**
 * A lock is not copied: an undo could not delete what has one.
 * @param {Element} element @returns {Data} what makes another one like it
 */
export function copyOf(element) {
  const { createdBy, updatedBy, rev, motion, animation, width, height, roomId, locked, ...rest } = element;
  return rest;
}

/**
 * Names what arrows hold on to, and what annotations lie on, by new ids.
 * @param {Data} element @param {Map<string, string>} ids new ones by the former ones
 */
export function renamed(element, ids) {
  const end = (/** @type {any} */ value) => (ids.has(value?.element) ? { ...value, element: ids.get(value.element) } : value);
  const { id, parentId, from, to } = element;
  return {
    ...element, id: ids.get(id) ?? id, ...(parentId === undefined ? {} : { parentId: ids.get(parentId) ?? parentId }),
    ...(from === undefined ? {} : { from: end(from) }), ...(to === undefined ? {} : { to: end(to) }),
  };
}

/**
 * An id is never free again: what was deleted comes back under another one.
 * @param {Element[]} past what elements are to be, parents before what lies on them
 * @param {(id: string) => Element | undefined} living what they are
 * @param {() => string} newId
 * @returns {Edits}
 */
export function restoring(past, living, newId) {
  /** @type {Edits} */
  const edits = { unlock: [], create: [], transform: [], update: [] };
  const ids = new Map(past.filter(({ id }) => !living(id)).map(({ id }) => [id, newId()]));
  for (const element of past) {
    const now = living(element.id);
    if (now) change(element, now, edits);
    // What it lay on is gone: it comes back only with that.
    else if (element.parentId === undefined || ids.has(element.parentId) || living(element.parentId)) {
      edits.create.push(renamed(copyOf(element), ids));
    }
  }
  return edits;
}

/**
 * Locks stay as they are, unless they are in the way.
 * @param {Element} element @param {Element} now @param {Edits} edits
 */
function change(element, now, edits) {
  const { id } = element;
  const moved = Object.entries(GEOMETRY).filter(([field, value]) => (element[field] ?? value) !== (now[field] ?? value));
  const fields = new Set([...Object.keys(element), ...Object.keys(now)].filter(field => !FIXED.includes(field)));
  const set = Object.fromEntries([...fields].filter(field => !isSame(element[field], now[field])).map(field => [field, element[field] ?? null]));
  const isResized = "originalWidth" in set || "originalHeight" in set;
  if (now.locked && (moved.length || isResized)) edits.unlock.push(id);
  if (moved.length) edits.transform.push({ elementId: id, ...Object.fromEntries(moved.map(([field, value]) => [field, element[field] ?? value])) });
  if (Object.keys(set).length) edits.update.push({ id, set });
}

/** Elements of one edit at most, well below what a server allows. */
const BATCH = 200;

/** @template T @param {T[]} all @returns {T[][]} */
const parts = all => Array.from({ length: Math.ceil(all.length / BATCH) }, (_, index) => all.slice(index * BATCH, (index + 1) * BATCH));

/**
 * Makes the edits.
 * @param {import("/client/touchsync.js").Room} room @param {Edits} edits @param {object} options @param {(refusal: any) => void} failed
 * @returns {number} how many elements they change
 */
export function commit(room, { unlock, create, transform, update }, options, failed) {
  for (const id of unlock) room.update(id, { locked: false }, options).catch(failed);
  for (const batch of parts(create)) room.createAll(batch, options).catch(failed);
  for (const batch of parts(transform)) room.transformAll(/** @type {any} */ (batch), options).catch(failed);
  for (const { id, set } of update) room.update(id, set, options).catch(failed);
  return create.length + new Set([...transform.map(one => one.elementId), ...update.map(one => one.id)]).size;
}
