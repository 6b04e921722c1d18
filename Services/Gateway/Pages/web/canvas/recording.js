// A movement that a hand showed once, as an animation that repeats it.

/** @typedef {import("/client/touchsync.js").Data} Data */
/** @typedef {{at: number, pose: Record<string, any>}} Sample what an element was at a time, ms */
/** @typedef {{at: number, value: number}} Keyframe */

/** What hands change of an element. */
const FIELDS = ["positionX", "positionY", "rotation", "rotationX", "rotationY", "scaleX", "scaleY"];
/** Keyframes of a track, and of all of them: the text of an animation has at most 8 KiB. */
const MOST = { track: 64, all: 150 };
/** A field that moves less rests, whatever its unit. */
const LEAST = 0.001;
/** How far from its way a movement may be shown, and how far from its start a round may end, as shares of its extent. */
const TOLERANCE = 0.005, ROUND = 0.15;

/**
 * The animation that repeats a movement, on top of where the element is stored: a round goes on for ever, any other way
 * goes to and fro.
 * @param {Sample[]} samples from the start on, at least one @returns {Data | undefined} undefined when nothing moved
 */
export function animationOf(samples) {
  const ways = FIELDS.map(field => ({ field, way: wayOf(samples, field) })).filter(({ way }) => extentOf(way) > LEAST);
  if (ways.length === 0) return undefined;
  const isRound = ways.every(({ field, way }) => Math.abs(gapOf(field, way)) < ROUND * extentOf(way));
  const most = Math.min(MOST.track, Math.floor(MOST.all / ways.length));
  const tracks = Object.fromEntries(ways.map(({ field, way }) => {
    const gap = isRound ? gapOf(field, way) : 0, closed = way.map(({ at, value }) => ({ at, value: value - gap * at }));
    return [field, simplified(closed, TOLERANCE * extentOf(way), most).map(rounded)];
  }));
  const ms = Math.max(Math.round(samples[samples.length - 1].at - samples[0].at), 16);
  return { ms, iterations: "infinite", direction: isRound ? "normal" : "alternate", composite: "add", tracks };
}

/** @param {string} field */
const isAngle = field => field.startsWith("rotation");

/** @param {Sample[]} samples @param {string} field @returns {Keyframe[]} turns are counted on */
function wayOf(samples, field) {
  const [{ at: start, pose: first }] = samples, length = samples[samples.length - 1].at - start || 1;
  let value = 0, last = first[field] ?? 0;
  return samples.map(({ at, pose }) => {
    const next = pose[field] ?? 0, change = next - last;
    value += isAngle(field) ? change - 360 * Math.round(change / 360) : change;
    last = next;
    return { at: (at - start) / length, value };
  });
}

/** @param {Keyframe[]} way */
function extentOf(way) {
  const values = way.map(({ value }) => value);
  return Math.max(...values) - Math.min(...values);
}

/** @param {string} field @param {Keyframe[]} way @returns {number} from where it began to where it ended, whole turns apart */
function gapOf(field, way) {
  const { value } = way[way.length - 1];
  return isAngle(field) ? value - 360 * Math.round(value / 360) : value;
}

/** @param {Keyframe} keyframe @returns {Keyframe} */
const rounded = ({ at, value }) => ({ at: Math.round(at * 1e4) / 1e4, value: Math.round(value * 1e4) / 1e4 });

/**
 * The ends of a way, and those between that are furthest from the straight lines, until all others are near to these.
 * @param {Keyframe[]} way @param {number} tolerance @param {number} most @returns {Keyframe[]}
 */
export function simplified(way, tolerance, most) {
  const kept = [0, way.length - 1];
  while (kept.length < most) {
    let furthest = tolerance, found = 0;
    for (let index = 1, end = 1; index < way.length; index++) {
      if (index > kept[end]) end++;
      const from = way[kept[end - 1]], to = way[kept[end]], { at, value } = way[index];
      const away = Math.abs(value - from.value - (to.value - from.value) * (at - from.at) / (to.at - from.at));
      if (away > furthest) [furthest, found] = [away, index];
    }
    if (found === 0) break;
    kept.push(found);
    kept.sort((a, b) => a - b);
  }
  return kept.map(index => way[index]);
}
