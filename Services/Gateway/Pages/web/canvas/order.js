// What lies on what: elements are drawn by their `zIndex`, then by id. Each change of the order writes as few of them as it
// can.

/** @typedef {{id: string, level: number}} Layer an element, and its `zIndex`, 0 where it has none */
/** @typedef {"front" | "forward" | "backward" | "back"} Way */

/** More elements of one level than these are not moved apart for a single step: it goes past all of them. */
const MOST_WRITES = 60;

/**
 * Levels between two others for elements in their order: where ids ascend, one is enough.
 * @param {string[]} ids @param {number} low @param {number} high either may be infinite @returns {Map<string, number>}
 */
function between(ids, low, high) {
  const steps = ids.map((id, index) => (index > 0 && id < ids[index - 1] ? 1 : 0));
  const last = steps.reduce((/** @type {number} */ sum, step) => sum + step, 0);
  const start = low > -Infinity ? Math.floor(low) + 1 : high < Infinity ? Math.ceil(high) - 1 - last : 0;
  // Whole numbers where they fit.
  const fits = start > low && start + last < high, size = (high - low) / (last + 2);
  let step = 0;
  return new Map(ids.map((id, index) => [id, fits ? start + (step += steps[index]) : low + size * (1 + (step += steps[index]))]));
}

/**
 * The levels that bring elements elsewhere in the order, of those alone that change.
 * @param {Layer[]} layers all, the lowest first @param {Set<string>} chosen @param {Way} way
 * @param {(a: string, b: string) => boolean} [meet] whether two lie on each other: a step goes past what does
 * @returns {Map<string, number>}
 */
export function reordered(layers, chosen, way, meet = () => true) {
  const own = layers.filter(({ id }) => chosen.has(id)), others = layers.filter(({ id }) => !chosen.has(id));
  if (own.length === 0 || others.length === 0) return new Map();
  const isUp = way === "front" || way === "forward";
  if (way === "front" || way === "back") {
    const rest = isUp ? layers.slice(-own.length) : layers.slice(0, own.length);
    if (rest.every(({ id }) => chosen.has(id))) return new Map();
    const ids = own.map(({ id }) => id);
    return isUp ? between(ids, others[others.length - 1].level, Infinity) : between(ids, -Infinity, others[0].level);
  }
  return stepped(layers, chosen, isUp, meet);
}

/** @param {Layer[]} layers @param {Set<string>} chosen @param {boolean} isUp @param {(a: string, b: string) => boolean} meet */
function stepped(layers, chosen, isUp, meet) {
  const places = layers.map((_, index) => (isUp ? index : layers.length - 1 - index));
  /** @type {string[]} */
  const passing = [];
  const at = places.find(place => {
    const { id } = layers[place];
    if (chosen.has(id)) passing.push(id);
    return !chosen.has(id) && passing.some(one => meet(one, id));
  });
  if (at === undefined) return new Map();
  const ids = isUp ? passing : passing.reverse();
  const rest = layers.filter(({ id }) => !ids.includes(id)), past = rest.findIndex(({ id }) => id === layers[at].id);
  // They come between these two.
  const under = isUp ? past : past - 1, above = under + 1;
  const low = rest[under]?.level ?? -Infinity, high = rest[above]?.level ?? Infinity;
  if (low < high) return between(ids, low, high);
  // Both have one level: those above them go up with it, or those below down.
  const level = low, upper = rest.filter((one, index) => index >= above && one.level === level).map(({ id }) => id);
  const lower = rest.filter((one, index) => index <= under && one.level === level).map(({ id }) => id);
  const next = rest.find(one => one.level > level)?.level ?? Infinity, before = rest.filter(one => one.level < level).at(-1)?.level ?? -Infinity;
  if (Math.min(upper.length, lower.length) > MOST_WRITES) return isUp ? between(ids, level, next) : between(ids, before, level);
  return upper.length <= lower.length ? between([...ids, ...upper], level, next) : between([...lower, ...ids], before, level);
}
