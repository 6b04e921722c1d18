// Groups: elements that share a `groupId` are selected as one.

/** @typedef {import("/client/touchsync.js").Element} Element */

/** @param {Element | undefined} element @returns {string | undefined} the group that it belongs to */
export function groupOf(element) {
  const id = element?.groupId;
  return typeof id === "string" && id !== "" && element?.parentId === undefined ? id : undefined;
}

/**
 * Elements with all others of their groups.
 * @param {readonly Element[]} elements of the room @param {readonly string[]} ids @returns {string[]} the given ones first
 */
export function withGroups(elements, ids) {
  const chosen = new Set(ids), groups = new Set(elements.filter(({ id }) => chosen.has(id)).flatMap(one => groupOf(one) ?? []));
  if (groups.size === 0) return [...ids];
  return [...new Set([...ids, ...elements.filter(one => groups.has(groupOf(one) ?? "")).map(({ id }) => id)])];
}

/**
 * What is aligned and distributed as one: each group, and what belongs to none. What is one group alone is its elements.
 * @param {Element[]} elements @returns {string[][]} ids
 */
export function units(elements) {
  /** @type {Map<string, string[]>} */
  const found = new Map();
  for (const element of elements) {
    const group = groupOf(element), key = group === undefined ? `element ${element.id}` : `group ${group}`;
    found.set(key, [...(found.get(key) ?? []), element.id]);
  }
  return found.size === 1 ? elements.map(({ id }) => [id]) : [...found.values()];
}
