// Names that tell people apart: several may have chosen the same one.

/**
 * The same name for the same people in each window.
 * @param {Iterable<{userId: string, name?: unknown}>} people @returns {Map<string, string>} by user: "Ada", "Ada 2"
 */
export function uniqueNames(people) {
  const names = new Map(), taken = new Set();
  const sorted = [...people].sort((a, b) => (a.userId < b.userId ? -1 : 1));
  for (const { userId, name } of sorted) {
    const own = (typeof name === "string" && name.trim()) || userId;
    let unique = own;
    for (let count = 2; taken.has(unique); count++) unique = `${own} ${count}`;
    taken.add(unique);
    names.set(userId, unique);
  }
  return names;
}
