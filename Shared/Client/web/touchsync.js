// TouchSync for web pages: one module without dependencies. What decides is `Core`, a machine without a socket and
// without a clock; what acts is `TouchSync` at the end of the file. Shared/Client/README.md describes the behaviour.

/**
 * @typedef {Record<string, any>} Data What came out of JSON, or goes into it.
 * @typedef {{x: number, y: number}} Point
 * @typedef {Data & {id: string, type: string, positionX: number, positionY: number, rotation: number, scaleX: number,
 *   scaleY: number, originalWidth: number, originalHeight: number, anchorX: number, anchorY: number, positionZ?: number,
 *   rotationX?: number, rotationY?: number, perspective?: number, opacity?: number}} Element
 * @typedef {{positionX?: number, positionY?: number, rotation?: number, scaleX?: number, scaleY?: number,
 *   positionZ?: number, rotationX?: number, rotationY?: number, perspective?: number, opacity?: number}} Fields
 *   Values of a transform; what is absent stays as it is.
 * @typedef {{translation?: Point, scale?: number | Point, rotation?: number, tilt?: Point, anchor?: Point}} Deltas
 *   What fingers did since they touched an element: pixels, a factor, clockwise degrees, degrees about the x and the y axis,
 *   a point of the unit square.
 * @typedef {{minScale: number, maxScale: number, lockedAspect: boolean, rotates: boolean, depth: boolean,
 *   minWidth: number, minHeight: number, minSide: number, fontSize?: {min: number, max: number} | null}} TypeRules
 * @typedef {Map<string, TypeRules>} Rules by type; `*` has those of all other types
 * @typedef {Pick<import("./store.js").Store, "open">} Store
 * @typedef {{type: string} & Data} Output What the shell is to do, or to report.
 */

// MARK: Values from outside

/** @param {string | undefined} json @returns {any} undefined when it is none */
function parsed(json = "") {
  try {
    return JSON.parse(json);
  } catch {}
}

/**
 * What JSON has of a value from the app, which may go on changing it.
 * @param {any} value @returns {any}
 */
const copied = value => parsed(JSON.stringify(value));

const isObject = (/** @type {any} */ value) => typeof value === "object" && value !== null && !Array.isArray(value);
/**
 * A value where an object is due: an empty one when it is something else.
 * @param {any} value @returns {Data}
 */
const objectIn = value => (isObject(value) ? value : {});
/**
 * The objects of a list: none when it is something else.
 * @param {any} value @returns {any[]}
 */
const objectsIn = value => (Array.isArray(value) ? value.filter(isObject) : []);
/**
 * The texts of a list.
 * @param {any} value @returns {string[]}
 */
const textsIn = value => (Array.isArray(value) ? value.filter(text => typeof text === "string") : []);

/**
 * An object that has a value for each name.
 * @param {string[]} names @param {(name: string, index: number) => any} valueOf @returns {Data}
 */
const valuesBy = (names, valueOf) => Object.fromEntries(names.map((name, index) => [name, valueOf(name, index)]));
/** @param {Data} data @param {string[]} names */
const pick = (data, names) => valuesBy(names, name => data[name]);
/** @param {Data} data @param {string[]} names @returns {Data} */
const without = (data, names) => pick(data, Object.keys(data).filter(name => !names.includes(name)));

/** @param {string} text @returns {number} bytes in UTF-8 */
const byteCount = text => new TextEncoder().encode(text).length;

/** @param {number} value @param {number} low @param {number} high */
const clamp = (value, low, high) => (value < low ? low : value > high ? high : value);

/**
 * Reads a value of one kind: what it is taken for, undefined for one of another kind. Some follow the rules of a type.
 * @typedef {(value: any, rule?: any) => any} Reader
 */

/**
 * Values that pass a test.
 * @param {(value: any) => any} test @returns {Reader}
 */
const only = test => value => (test(value) ? value : undefined);
const flag = only(value => typeof value === "boolean");
/** @param {string[]} values */
const oneOf = (...values) => only(value => values.includes(value));
/**
 * Numbers, moved into a range.
 * @returns {Reader}
 */
const number = (low = -Infinity, high = Infinity) => value =>
  (Number.isFinite(value) ? clamp(value, low, high) : undefined);
const finite = number();
/**
 * The same of numbers above 0.
 * @param {number} [low] @param {number} [high] @returns {Reader}
 */
const positive = (low, high) => value => (value > 0 ? number(low, high)(value) : undefined);
/**
 * Only numbers in a range.
 * @param {number} low @param {number} high
 */
const within = (low, high) => only(value => number(low, high)(value) === value);
/** Times and spans, ms. */
const milliseconds = within(0, Infinity);
/**
 * Texts of at most so many bytes.
 * @param {number} most
 */
const text = most => only(value => typeof value === "string" && byteCount(value) <= most);
/** Ids of elements. */
const identifier = only(value => /^[^\0-\x1f\x7f-\x9f]+$/.test(value) && text(128)(value));

/**
 * Those of some fields that can be read.
 * @param {any} data @param {Record<string, Reader>} fields @param {TypeRules} [rule] @returns {any}
 */
function read(data, fields, rule) {
  /** @type {Data} */
  const known = {}, values = objectIn(data);
  for (const name in fields) {
    const value = fields[name](values[name], rule);
    if (value !== undefined) known[name] = value;
  }
  return known;
}

/**
 * The same, undefined unless all can be read.
 * @param {any} data @param {Record<string, Reader>} fields @returns {any}
 */
function complete(data, fields) {
  const known = read(data, fields);
  return Object.keys(fields).every(name => name in known) ? known : undefined;
}

/**
 * The same of those that are there: undefined when one of them cannot be read.
 * @param {any} data @param {Record<string, Reader>} fields @param {TypeRules} [rule] @returns {any}
 */
function optional(data, fields, rule) {
  const known = read(data, fields, rule);
  const isRead = isObject(data) && Object.keys(fields).every(name => data[name] === undefined || name in known);
  return isRead ? known : undefined;
}

/**
 * A range of numbers above 0.
 * @type {Reader}
 */
function rangeIn(value) {
  const range = complete(value, { min: positive(), max: finite });
  return range?.min <= range?.max ? range : undefined;
}

// MARK: Rules

/**
 * What is taken for the server's rules until it tells them.
 * @type {TypeRules}
 */
const FREE = {
  minScale: 0.1, maxScale: 10, lockedAspect: false, rotates: true, depth: true, minWidth: 0, minHeight: 0, minSide: 0,
  fontSize: null,
};

/** @param {Rules} rules @param {string} type */
const ruleOf = (rules, type) => rules.get(type) ?? rules.get("*") ?? FREE;

// MARK: Fields

/** @type {Reader} */
const side = value => (value >= 0 ? number(0, 2e9)(value) : undefined);
/**
 * What of an element moves: its value when nothing else is set, which an element with `isOptional` then hasn't, and what
 * is special about it. Transforms have it in `transform`, unless it `isBeside`. One with a `range` that is not 0 is clamped,
 * first rounded if it `isWhole`; one that `isDeep` takes the element out of its plane.
 * @type {Record<string, {start: number, range?: [number, number], isWhole?: true, isBeside?: true, isAngle?: true,
 *   isDeep?: true, isOptional?: true}>}
 */
const MOVING = {
  positionX: { start: 0, isBeside: true },
  positionY: { start: 0, isBeside: true },
  positionZ: { start: 0, range: [-1000000, 1000000], isWhole: true, isBeside: true, isDeep: true, isOptional: true },
  rotation: { start: 0, isAngle: true },
  rotationX: { start: 0, isAngle: true, isDeep: true, isOptional: true },
  rotationY: { start: 0, isAngle: true, isDeep: true, isOptional: true },
  scaleX: { start: 1 },
  scaleY: { start: 1 },
  perspective: { start: 0, range: [50, 100000], isDeep: true, isOptional: true },
  opacity: { start: 1, range: [0, 1], isOptional: true },
};
const POSE = Object.keys(MOVING);
const OPTIONAL = POSE.filter(name => MOVING[name].isOptional);
/** What transforms have in `transform`. */
const INSIDE = POSE.filter(name => !MOVING[name].isBeside);
const START = valuesBy(POSE.filter(name => !OPTIONAL.includes(name)), name => MOVING[name].start);
const IS_ANGLE = POSE.map(name => MOVING[name].isAngle);
const MOVES = valuesBy(POSE, () => finite);
/** @type {Reader} */
const point = value => complete(value, { x: finite, y: finite });
/** What of `Deltas` can be read. */
const DELTAS = {
  translation: point, rotation: finite, tilt: point, anchor: point,
  scale: (/** @type {any} */ value) => finite(value) ?? point(value),
};
const BOUNDS = { x: number(-1e9, 1e9), y: number(-1e9, 1e9), width: side, height: side };
const axisIn = oneOf("x", "y");
/**
 * What holds an element when it moves.
 * @type {Record<string, Reader>}
 */
const CONSTRAINTS = {
  axis: axisIn,
  rotation(value) {
    const arc = complete(value, { min: within(-360, 360), max: within(-360, 360) }), length = arc?.max - arc?.min;
    return length >= 0 && length <= 360 ? arc : undefined;
  },
  scale: rangeIn,
  grid: value => optional(value, { x: positive(), y: positive(), offsetX: finite, offsetY: finite }),
};
/**
 * What an element has apart from its geometry.
 * @type {Record<string, Reader>}
 */
const OPTIONS = {
  locked: flag,
  zIndex: finite,
  fontSize: (value, { fontSize }) => number(fontSize?.min, fontSize?.max)(value),
  snapDegrees: positive(0, 180),
  bounds: value => complete(value, BOUNDS),
  constraints: value => optional(value, CONSTRAINTS),
};
/**
 * What a new element alone sets.
 * @type {Record<string, Reader>}
 */
const CREATED = {
  id: identifier, type: text(32), parentId: identifier, space: oneOf("canvas", "normalized"),
  ...MOVES, width: positive(), height: positive(), animation: only(value => value && typeof value === "object"),
  anchorX: number(-1000, 1000), anchorY: number(-1000, 1000),
};
const FIELDS = { ...OPTIONS, ...CREATED, originalWidth: positive(0.001, 1e9), originalHeight: positive(0.001, 1e9) };
/** What the server adds to an element that it announces. */
const ENVELOPE = ["roomId", "seq", "userId", "sid", "n", "cause", "part", "parts"];
/** What the server alone sets. */
const SERVERS = ["motion", "createdBy", "updatedBy", "rev", ...ENVELOPE];
/** What an update changes, but does not remove. */
const KEPT = ["locked", "originalWidth", "originalHeight"];
/** What an update does not change. */
const FIXED = ["transform", ...SERVERS, ...Object.keys(CREATED)];

/**
 * Whether the server accepts so many of the app's own fields, of at most 8192 bytes in JSON beside a picture.
 * @param {Data} element @param {Data} limits of the server
 */
function fits(element, limits) {
  const own = without(element, [...SERVERS, ...Object.keys(FIELDS)]), { length } = Object.keys(own), { picture } = own;
  const more = /** @type {any} */ (/^data:/.test(picture) && picture.length <= limits.pictureBytes && picture.length);
  return length <= 64 && byteCount(JSON.stringify(own)) - 4 * length <= 8193 + more;
}

// MARK: Geometry

/**
 * Degrees in [0, 360): 360 is 0, −90 is 270.
 * @param {number} degrees
 */
export function normalized(degrees) {
  const rest = degrees % 360;
  const positive = rest < 0 ? rest + 360 : rest;
  return positive >= 360 ? 0 : positive + 0;
}

/**
 * The shortest rotation from one angle to another: degrees in (−180, 180].
 * @param {number} from @param {number} to
 */
export function shortestTurn(from, to) {
  const turn = normalized(to) - normalized(from);
  return turn > 180 ? turn - 360 : turn <= -180 ? turn + 360 : turn;
}

/**
 * The nearest multiple of `step` on the circle.
 * @param {number} degrees @param {number} step
 */
function snapped(degrees, step) {
  if (!(step > 0 && step <= 180)) return degrees;
  const count = Math.round(degrees / step), below = (count * step < 360 ? count : count - 1) * step;
  return 360 - degrees <= Math.abs(degrees - below) ? 0 : below;
}

/**
 * The same angle on an arc, else the nearer end of it.
 * @param {number} degrees @param {{min: number, max: number}} arc
 */
function onArc(degrees, { min, max }) {
  const past = normalized(degrees - min), length = max - min;
  return past > length ? normalized(360 - past <= past - length ? min : max) : degrees;
}

/**
 * Whole, halves away from zero.
 * @param {number} value
 */
const whole = value => Math.sign(value) * Math.round(Math.abs(value)) + 0;

/**
 * Cosine and sine, exact at quarter turns.
 * @param {number} degrees @returns {[number, number]}
 */
export function direction(degrees) {
  const turn = normalized(degrees), radians = (turn * Math.PI) / 180;
  return [turn % 180 === 90 ? 0 : Math.cos(radians), turn % 180 ? Math.sin(radians) : 0];
}

/** @param {Point} point @param {number} degrees @returns {Point} */
function rotated({ x, y }, degrees) {
  const [cosine, sine] = direction(degrees);
  return { x: x * cosine - y * sine, y: x * sine + y * cosine };
}

/**
 * The axes of a rotated element after a scaling along the canvas's axes: a mirror negates the angle; then the x axis goes
 * where the scaling takes it, y stays across it, and both get the length that the scaling gives them. Half a turn more
 * with both factors negated is the same; of the two the rotation nearer to the old one is taken, in a tie that without
 * a negative factor of x.
 * @param {number} rotation of the element @param {Point} scale @returns {Point & {rotation: number}} factors
 */
function scaledAxes(rotation, { x, y }) {
  const width = Math.abs(x), height = Math.abs(y), start = x < 0 === y < 0 ? rotation : -rotation;
  const [cosine, sine] = direction(start);
  const turn = Math.atan2((height - width) * sine * cosine, width * cosine ** 2 + height * sine ** 2);
  const turned = normalized(start + (turn * 180) / Math.PI);
  // With some room for rounding, so that a tie is one.
  const isFar = Math.abs(shortestTurn(rotation, turned)) > 90 + (x < 0 ? -1e-9 : 1e-9);
  const factor = (/** @type {number} */ sent, /** @type {number} */ a, /** @type {number} */ b) =>
    (sent < 0 === isFar ? 1 : -1) * (width === height ? width : Math.hypot(width * a, height * b));
  return {
    x: factor(x, cosine, sine), y: factor(y, sine, cosine), rotation: isFar ? normalized(turned + 180) : turned,
  };
}

/**
 * What elements, rules and points call the same thing on each axis.
 * @type {(Record<string, string> & {axis: "x" | "y"})[]}
 */
const AXES = /** @type {const} */ ([["x", "X", "Width"], ["y", "Y", "Height"]]).map(([axis, letter, side]) => ({
  axis, position: "position" + letter, scale: "scale" + letter, anchor: "anchor" + letter,
  tilt: "rotation" + letter, original: "original" + side, size: side.toLowerCase(), smallest: "min" + side,
  offset: "offset" + letter,
}));

/**
 * The nearest line of a grid, halves away from zero; the value itself where lines are closer than numbers can tell.
 * @param {number} value @param {number} step @param {number} [offset]
 */
function lineAt(value, step, offset = 0) {
  const start = offset % step, ratio = (value - start) / step;
  return Math.abs(ratio) < 1e12 ? start + whole(ratio) * step : value;
}

/**
 * One coordinate of a position under the rules: of annotations a fraction, otherwise whole pixels unless only drawn.
 * @param {number} sent @param {any} element @param {Record<string, string>} names of the coordinate
 * @param {boolean} [isDrawn] @param {any} [grid]
 */
function coordinate(sent, { space, bounds }, { axis, size, offset }, isDrawn, grid) {
  const isFraction = space === "normalized", isExact = isFraction || isDrawn;
  const edge = bounds?.[axis], end = edge + bounds?.[size], [low, high] = isFraction ? [0, 1] : [-1e9, 1e9];
  const inside = (/** @type {number} */ value) => {
    const least = isExact ? edge : Math.ceil(edge), most = isExact ? end : Math.floor(end);
    return clamp(bounds ? Math.min(Math.max(value, least), most) : value, low, high);
  };
  let value = sent;
  if (grid?.[axis]) {
    const start = inside(sent), line = lineAt(start, grid[axis], grid[offset]);
    // A whole pixel that a line rounds to stays where it is.
    value = !isExact && whole(start) === start && Math.abs(line - start) <= 0.5 ? start : line;
  }
  return inside(isExact ? value : whole(value));
}

/**
 * The smallest factor by which a number of pixels is the smallest size that a type has on an axis.
 * @param {any} rules @param {string} smallest the axis's rule @param {number} pixels
 */
function smallestFactor(rules, smallest, pixels) {
  const side = Math.max(rules[smallest], rules.minSide), factor = side / pixels;
  if (!(factor > 0)) return 0;
  return pixels * factor < side ? factor * (1 + Number.EPSILON) : factor;
}

/**
 * A magnitude in the range of a type and of constraints, of which the type's wins.
 * @param {number} value @param {any} rules @param {{min: number, max: number} | undefined} constraint
 */
function inRange(value, { minScale, maxScale }, { min, max } = { min: 0, max: Infinity }) {
  return clamp(value, clamp(min, minScale, maxScale), clamp(max, minScale, maxScale));
}

/**
 * Both scales under the rules. Order: locked aspect, range, smallest size, which wins over the range.
 * @param {any} element @param {any} sent @param {any} rules @returns {Fields}
 */
function scales(element, sent, rules) {
  const axes = AXES.map(({ scale, original, smallest }) => {
    const isSent = sent[scale] !== undefined, signed = sent[scale] ?? element[scale], value = Math.abs(signed);
    // How far it moved, in log scale.
    const way = isSent ? Math.abs(Math.log(value / Math.abs(element[scale]))) : -1;
    const least = smallestFactor(rules, smallest, element[original]);
    return { scale, isSent, sign: Math.sign(signed) || 1, value, way, least };
  });
  const [x, y] = axes;
  if (rules.lockedAspect && (x.isSent || y.isSent)) {
    const { value } = y.way > x.way ? y : x, least = Math.max(x.least, y.least);
    for (const axis of axes) Object.assign(axis, { isSent: true, value, least });
  }
  return Object.fromEntries(axes.map(({ scale, isSent, sign, value, least }) =>
    [scale, sign * (isSent ? Math.max(inRange(value, rules, element.constraints?.scale), least) : value)]));
}

/**
 * Sets an element's size, which follows from its scales.
 * @param {any} element @returns {Element}
 */
function sized(element) {
  for (const { size, original, scale } of AXES) element[size] = element[original] * Math.abs(element[scale]);
  return element;
}

/**
 * An element after a transform, under the rules of its type as the server applies them.
 * @param {Element} element @param {Fields} fields @param {Rules} rules
 * @param {boolean} isDrawn whether it is for drawing alone: then positions are not rounded
 * @param {string | null} [along] the axis along which alone it moves
 * @returns {Element}
 */
export function transformed(element, fields, rules, isDrawn = false, along = element.constraints?.axis) {
  const rule = ruleOf(rules, element.type), { rotation: arc, grid } = element.constraints ?? {};
  /** @type {any} */
  const next = { ...element, ...scales(element, fields, rule) }, sent = /** @type {any} */ (fields);
  for (const names of AXES) {
    const { axis, position } = names, value = sent[position];
    if (value !== undefined && (along ?? axis) === axis) next[position] = coordinate(value, element, names, isDrawn, grid);
  }
  if (fields.rotation !== undefined) {
    const turned = normalized(fields.rotation);
    next.rotation = rule.rotates ? snapped(arc ? onArc(turned, arc) : turned, element.snapDegrees) : 0;
  }
  const isFlat = !rule.depth || element.space === "normalized";
  for (const name of OPTIONAL) {
    const { range, isWhole, isDeep, start } = MOVING[name], value = sent[name];
    if (value !== undefined) {
      const usable = isWhole ? whole(value) : value;
      next[name] = isDeep && isFlat ? 0 : range ? usable && clamp(usable, ...range) : normalized(value);
    }
    if (next[name] === start) delete next[name];
  }
  return sized(next);
}

/**
 * An element with another anchor, visually in place.
 * @param {any} element @param {any} point @param {any} [parent] of an annotation @returns {any}
 */
function anchored(element, point, parent) {
  const next = { ...element }, way = { x: 0, y: 0 };
  for (const { axis, anchor, original, scale } of AXES) {
    next[anchor] = clamp(point[axis], -1000, 1000);
    way[axis] = (next[anchor] - element[anchor]) * element[original] * element[scale];
  }
  const turned = rotated(way, element.rotation);
  for (const { axis, position, original } of AXES) {
    next[position] += turned[axis] / (element.space === "normalized" && parent ? parent[original] : 1);
  }
  return next;
}

/**
 * An element after a gesture: first the anchor changes, then scale, rotation and translation.
 * @param {any} element @param {Deltas} deltas @param {Rules} rules
 * @param {{pivot?: any, parent?: Element, isDrawn?: boolean}} more `pivot` is that of a group
 * @returns {Element}
 */
export function gestured(element, deltas, rules, { pivot, parent, isDrawn } = {}) {
  const { anchor, scale = 1, rotation = 0, translation: shift = { x: 0, y: 0 }, tilt } = deltas;
  const held = anchor ? anchored(element, anchor, parent) : element;
  /** @type {Data} */
  const fields = {}, arm = { x: 0, y: 0 };
  const factors = typeof scale === "object" ? scale : { x: scale, y: scale };
  // In the axes of the canvas about a pivot, else in its own.
  const own = pivot ? scaledAxes(held.rotation, factors) : { ...factors, rotation: held.rotation };
  if (pivot) for (const { axis, position } of AXES) arm[axis] = (held[position] - pivot[axis]) * factors[axis];
  const turned = rotated(arm, rotation);
  const along = anchor && element.constraints?.axis;
  for (const names of AXES) {
    const { axis, position, scale, tilt: angle } = names, place = (pivot ? pivot[axis] + turned[axis] : held[position]) + shift[axis];
    if (own[axis] !== 1) fields[scale] = held[scale] * own[axis];
    if (anchor || place !== element[position]) fields[position] = place;
    if (tilt?.[axis]) fields[angle] = (held[angle] ?? 0) + tilt[axis];
    // The anchor's place on the axis that constraints ignore: the element stays, so its anchor goes.
    if (along && along !== axis) held[position] = coordinate(held[position], held, names, isDrawn);
  }
  if (rotation !== 0 || own.rotation !== held.rotation) fields.rotation = own.rotation + rotation;
  return transformed(held, fields, rules, isDrawn);
}

/** @param {number} degrees @returns {(element: Element) => Fields} */
const turn = degrees => ({ rotation }) => ({ rotation: rotation + degrees });
/** @type {Record<string, (element: Element) => Fields>} */
const PRESETS = {
  rotateCW: turn(90), rotateCCW: turn(-90), rotate180: turn(180),
  flipX: ({ scaleX }) => ({ scaleX: -scaleX }),
  flipY: ({ scaleY }) => ({ scaleY: -scaleY }),
  reset: () => ({ rotation: 0, rotationX: 0, rotationY: 0, scaleX: 1, scaleY: 1 }),
};

/**
 * What a new element looks like before the server has stored it.
 * @param {Data} sent @param {Rules} rules @param {Data} limits @returns {Element | undefined} undefined when the server refuses it
 */
function created(sent, rules, limits) {
  const rule = ruleOf(rules, sent.type), own = without(sent, SERVERS), values = optional(own, FIELDS, rule);
  const known = { ...own, ...values };
  const { type, space, parentId, axis } = known, isAdrift = space === "normalized" && !parentId;
  if (!values || type === undefined || isAdrift || (type === "guide" && !axisIn(axis)) || !fits(known, limits)) return;
  /** @type {any} */
  const element = { createdBy: "", updatedBy: "", rev: 1, anchorX: 0.5, anchorY: 0.5, ...known, ...START };
  /** @type {any} */
  const fields = { positionX: 0, positionY: 0, ...read(known, MOVES) };
  if (known.constraints?.rotation) fields.rotation ??= 0;
  for (const { scale, original, size } of AXES) {
    const drawn = known[size] / (Math.abs(known[scale] ?? 1) || rule.minScale);
    element[original] ??= drawn ? clamp(drawn, 0.001, 1e9) : 100;
    // With a locked aspect a scale that was not sent follows the other one.
    if (!rule.lockedAspect || (known.scaleX ?? known.scaleY) === undefined) fields[scale] ??= 1;
  }
  // It is put there, not moved: an axis holds it from now on.
  return transformed(element, fields, rules, false, null);
}

/**
 * An element with other values apart from position, scale, rotation and anchor, without those that are null; the same
 * when the server refuses them.
 * @param {Element} element @param {any} changes @param {Rules} rules @param {Data} limits @returns {Element}
 */
function updated(element, changes, rules, limits) {
  const rule = ruleOf(rules, element.type), set = objectIn(changes);
  const removed = Object.keys(set).filter(name => set[name] === null && !KEPT.includes(name));
  const sent = without(set, removed), values = optional(sent, FIELDS, rule);
  const isTurned = element.type === "guide" && "axis" in set && set.axis !== element.axis;
  if (!values || isTurned || FIXED.some(name => name in set)) return element;
  /** @type {any} */
  const next = { ...without(element, removed), ...sent, ...values };
  let shown = next;
  for (const { original, scale, smallest } of AXES) {
    if (!(original in values)) continue;
    if (element.locked && next.locked) return element;
    next[original] = Math.max(next[original], smallestFactor(rule, smallest, Math.abs(next[scale])));
    // A scale that only the smallest size had raised may now be beyond the largest.
    shown = sized({ ...next, ...scales({ ...next, constraints: undefined }, next, rule) });
  }
  return fits(next, limits) ? shown : element;
}

/**
 * The values of a transform in a payload, where scale and rotation may stand in `transform`.
 * @param {Data} payload @returns {Fields}
 */
const fieldsOf = payload => ({ ...read(payload, MOVES), ...read(payload.transform, MOVES) });

// MARK: Motion

/**
 * A value's way from one to another, and what moves an element in time; `startedAt` is ms since 1970 of the server's clock.
 * @typedef {{from: number, to: number, ms: number, curve: any}} Segment
 * @typedef {{startedAt: number, segments: Segment[]}} Track
 * @typedef {Record<string, Track>} Tracks by field
 */

/** @type {Record<string, number[]>} */
const BEZIERS = {
  ease: [0.25, 0.1, 0.25, 1], "ease-in": [0.42, 0, 1, 1], "ease-out": [0, 0, 0.58, 1], "ease-in-out": [0.42, 0, 0.58, 1],
};

/**
 * One coordinate of a Bézier curve from 0 to 1 at a parameter.
 * @param {number} first @param {number} second control point @param {number} s
 */
const cubic = (first, second, s) => (3 * (1 - s) * ((1 - s) * first + s * second) + s * s) * s;

/**
 * The y of a Bézier curve at an x, whose parameter is found by bisection.
 * @param {number[]} controls @param {number} x
 */
function bezierAt([x1, y1, x2, y2], x) {
  if (x <= 0 || x >= 1) return x <= 0 ? 0 : 1;
  let s = 0;
  for (let step = 0.5; step > 1e-10; step /= 2) if (cubic(x1, x2, s + step) < x) s += step;
  return cubic(y1, y2, s);
}

/** @param {number} from @param {number} to @param {number} share */
const between = (from, to, share) => (share === 1 ? to : from + (to - from) * share);

/**
 * The share of the way that an easing function of CSS has made at a share of the time.
 * @param {any} curve @param {number} share
 */
function eased(curve, share) {
  const { bezier = BEZIERS[curve], steps, jump = "end", points } = curve;
  if (bezier) return bezierAt(bezier, share);
  if (steps) {
    const jumps = steps + (jump === "none" ? -1 : jump === "both" ? 1 : 0);
    const passed = Math.floor(share * steps) + (jump === "start" || jump === "both" ? 1 : 0);
    return clamp(passed, 0, jumps) / jumps;
  }
  if (!points) return share;
  const next = points.findIndex((/** @type {number[]} */ [at]) => at > share);
  if (next < 0) return points.at(-1)[1];
  const [start, from] = points[next - 1], [end, to] = points[next];
  return between(from, to, (share - start) / (end - start));
}

/**
 * How far a spring is from where it rests.
 * @param {Data} spring @param {number} x0 how far it was in the beginning @param {number} seconds since then
 */
function displaced({ response, damping, velocity }, x0, seconds) {
  const omega = (2 * Math.PI) / response, rate = damping * omega;
  if (Math.abs(damping - 1) < 1e-6) return (x0 + (velocity + omega * x0) * seconds) * Math.exp(-omega * seconds);
  const root = omega * Math.sqrt(Math.abs(damping * damping - 1));
  if (damping < 1) {
    const phase = root * seconds;
    return Math.exp(-rate * seconds) * (x0 * Math.cos(phase) + ((velocity + rate * x0) / root) * Math.sin(phase));
  }
  const fast = -rate - root, slow = -(omega * omega) / (rate + root), part = (velocity - fast * x0) / (slow - fast);
  return (x0 - part) * Math.exp(fast * seconds) + part * Math.exp(slow * seconds);
}

/**
 * Where a segment is after a while.
 * @param {number} from @param {number} to @param {number} ms @param {any} curve @param {number} passed ms
 */
function onWay(from, to, ms, curve, passed) {
  const { spring, decay } = curve;
  if (spring) return to + displaced(spring, from - to, passed / 1000);
  const way = (/** @type {number} */ time) => 1 - Math.exp(time * Math.log(decay.rate));
  return between(from, to, decay ? way(passed) / way(ms) : eased(curve, passed / ms));
}

/**
 * How long something runs, ms; Infinity if it counts as long over because it starts too far ahead.
 * @param {{startedAt: number}} started @param {number} time
 */
const elapsed = ({ startedAt }, time) => (startedAt - time <= 60000 ? Math.max(0, time - startedAt) : Infinity);

/** @param {Data} animation */
const lengthOf = ({ ms, iterations }) => ms * (iterations === "infinite" ? Infinity : iterations);

/**
 * A value between two others; a scale between two of one sign stays on their side.
 * @param {string} field @param {number} from @param {number} to @param {number} value
 */
function kept(field, from, to, value) {
  if (!/^scale/.test(field)) return value;
  return from > 0 && to > 0 ? Math.max(value, 0.001) : from < 0 && to < 0 ? Math.min(value, -0.001) : value;
}

/**
 * What a track makes of a field at a time; what is stored once it is over.
 * @param {Track} track @param {string} field @param {number} stored @param {number} time
 */
function tracked(track, field, stored, time) {
  let passed = elapsed(track, time);
  for (const { from, to, ms, curve } of track.segments) {
    if (passed < ms) return kept(field, from, to, onWay(from, to, ms, curve, passed));
    passed -= ms;
  }
  return stored;
}

/**
 * What an animation makes of a field at a time; what is beneath unless it has an effect.
 * @param {any} animation @param {string} field @param {number} beneath @param {number} time
 */
function animated(animation, field, beneath, time) {
  const { direction, composite, delayMs, ms } = animation;
  const keyframes = animation.tracks[field], active = elapsed(animation, time) - delayMs;
  if (!keyframes || !(active >= 0 && active < lengthOf(animation))) return beneath;
  const iteration = Math.floor(active / ms), rest = active / ms - iteration;
  const isReversed = direction === "reverse" || direction === (iteration % 2 ? "alternate" : "alternate-reverse");
  const place = isReversed ? 1 - rest : rest, [base, neutral] = composite === "add" ? [beneath, 0] : [0, beneath];
  const next = keyframes.filter((/** @type {any} */ { at }) => at <= place && at < 1).length;
  const start = keyframes[next - 1] ?? { at: 0, value: neutral, curve: "linear" };
  // The last of two at the end counts there alone.
  const isLast = place >= 1 && keyframes.at(-2)?.at === 1;
  const end = isLast ? keyframes.at(-1) : keyframes[next] ?? { at: 1, value: neutral };
  const from = base + (isLast ? end : start).value, to = base + end.value;
  return kept(field, from, to, between(from, to, eased(start.curve, (place - start.at) / (end.at - start.at))));
}

/**
 * What shows of a field: what is stored, or what its track or an animation makes of it.
 * @param {string} field @param {number} stored @param {{motion?: Tracks, animation?: Data}} element
 * @param {number} time ms since 1970 of the server's clock
 */
export function shownAt(field, stored, { motion, animation }, time) {
  const track = motion?.[field], moved = track ? tracked(track, field, stored, time) : stored;
  const value = animation ? animated(animation, field, moved, time) : moved;
  return MOVING[field].isAngle ? normalized(value) : field === "opacity" ? clamp(value, 0, 1) : value;
}

// MARK: Motion of others

/** @param {Element} element @returns {number[]} what `POSE` names */
const poseOf = element => POSE.map(name => element[name] ?? MOVING[name].start);

/** @param {number[]} pose @returns {any} */
const named = pose => valuesBy(POSE, (name, index) => pose[index]);

/**
 * Moves what is drawn towards the latest update at constant speed, over the measured time between updates, angles by the
 * shortest rotation. Times are ms of any clock.
 */
export class Motion {
  /**
   * The measured time between updates.
   * @type {number | undefined}
   */
  interval;
  startedAt = -Infinity;
  /** How long the present movement lasts. */
  duration = 0;
  /**
   * What was drawn when it began, relative to the target.
   * @type {number[]}
   */
  displacement = [];

  /** @param {number[]} pose */
  constructor(pose) {
    this.target = pose;
  }

  /**
   * Starts a movement to a pose.
   * @param {number[]} pose @param {number} now @param {any} [gap] since the previous update, if it is known
   * @param {number[]} shown what is drawn now
   */
  receive(pose, now, gap, shown = this.pose(now)) {
    if (!pose.every(Number.isFinite)) return;
    const between = gap > 0 ? gap : now - this.startedAt;
    if (between > 0 && between <= 250) {
      const usable = Math.max(between, 8), { interval = usable } = this;
      this.interval = interval + (usable - interval) / 4;
    }
    this.displacement = shown.map((value, index) =>
      (POSE[index] === "perspective" ? 0 : IS_ANGLE[index] ? shortestTurn(pose[index], value) : value - pose[index]));
    this.target = pose;
    this.startedAt = now;
    this.duration = this.interval ?? 33;
  }

  /**
   * What to draw.
   * @param {number} now @param {number[]} target where it goes to, which may move by itself @returns {number[]}
   */
  pose(now, target = this.target) {
    if (this.isAtRest(now)) return target;
    const { displacement } = this, share = Math.min(1 - (now - this.startedAt) / this.duration, 1);
    return target.map((value, index) => {
      const shown = value + displacement[index] * share;
      return IS_ANGLE[index] ? normalized(shown) : shown;
    });
  }

  /** @param {number} now */
  isAtRest(now) {
    return now - this.startedAt >= this.duration;
  }
}

// MARK: Parts

/**
 * A part of the core: what happens calls its methods by name, times in `due` call theirs, and its own parts hear of
 * both. Methods for what the app and the platform do bear the types of inputs, those for the server's events their names.
 */
class Part {
  /**
   * When which methods are called, ms.
   * @type {Record<string, number>}
   */
  due = {};

  /** @param {{now: number}} clock */
  constructor(clock) {
    this.clock = clock;
  }

  /** When the present input came, ms. */
  get now() {
    return this.clock.now;
  }

  /** @returns {Part[]} */
  get parts() {
    return [];
  }

  /** @returns {number} */
  get deadline() {
    return Math.min(...Object.values(this.due), ...this.parts.map(part => part.deadline));
  }

  /** @param {string} name @param {Data} data */
  hear(name, data) {
    /** @type {any} */ (this)[name]?.(data);
    for (const part of this.parts) part.hear(name, data);
  }

  /** Calls what is due. */
  time() {
    for (const name of Object.keys(this.due)) {
      // One that was called may have changed the others' times.
      if (!(this.now >= this.due[name])) continue;
      delete this.due[name];
      /** @type {any} */ (this)[name]();
    }
    for (const part of this.parts) part.time();
  }
}

/** A part of a room. */
class RoomPart extends Part {
  /** @param {RoomCore} room */
  constructor(room) {
    super(room.clock);
    this.room = room;
  }
}

// MARK: Edits

/**
 * An edit of this user until its result is known and shown.
 * @typedef {object} Edit
 * @property {any[]} ids the app's names of it; several when edits were folded
 * @property {string} event
 * @property {Data} body without room and number
 * @property {string[]} elementIds the elements that it changes
 * @property {any} [n] its number in the session, from the first time it was sent
 * @property {number} after the room's number when it was first sent; what the edit became comes after it
 * @property {string} [doubt] the `sid` of an ended session under which it was sent as `n`, with unknown outcome
 * @property {boolean} [isSavedBare] whether what is saved of it has no number of the present session
 * @property {boolean} [isDecided] whether a later edit of that session was applied
 * @property {object} [sending] its sending over this connection that has no answer yet
 * @property {boolean} [isStored] whether what came from the server contains it, so that it is shown already
 * @property {any} [seq] its number in the room, once acknowledged
 * @property {any} [shown] where it has each element stop
 */

/** @param {string} event @param {Data} body @param {any[]} ids @returns {Edit} */
const newEdit = (event, body, ids) => ({ ids, event, body, elementIds: elementIdsOf(body), after: 0 });

/** @param {Data} body @returns {string[]} */
const elementIdsOf = ({ elementId, element, elements, elementIds = [] }) =>
  [elementId ?? element?.id ?? elements ?? elementIds].flat().map(idOf);
const idOf = (/** @type {any} */ entry) => entry?.elementId ?? entry?.id ?? entry;

/**
 * Whether an edit has a number of the present session.
 * @param {Edit} edit
 */
const isNumbered = edit => edit.n && !edit.doubt;

/**
 * Whether an edit sets absolute values of one element and was never sent, so that the next one of its kind supersedes
 * it.
 * @param {Edit} edit
 */
const canFold = edit => edit.event === "element:transform" && !edit.n;

/** The edits of one room in their order: those that were sent before those that wait. */
class EditQueue {
  /** @param {number} capacity @param {Data} record what was saved of it */
  constructor(capacity, { edits = [], nextNumber = 1 }) {
    this.capacity = capacity;
    this.nextNumber = nextNumber;
    /** @type {Edit[]} */
    this.edits = edits.map((/** @type {Edit} */ edit) => ({
      ...edit, elementIds: elementIdsOf(edit.body), isSavedBare: !isNumbered(edit),
    }));
  }

  /** Those without an answer. */
  get open() {
    return this.edits.filter(edit => edit.seq === undefined);
  }

  /** Those of an ended session. */
  get doubtful() {
    return this.edits.filter(edit => edit.doubt);
  }

  /** The number of the first edit that was sent and has no answer, else the next number. */
  get firstNumber() {
    return this.open.find(isNumbered)?.n ?? this.nextNumber;
  }

  /**
   * Appends an edit, or folds it into one that was never sent.
   * @param {Edit} edit @returns {boolean} false when full
   */
  append(edit) {
    // What names no element, as an undo, may change any.
    const earlier = this.edits.filter(({ elementIds }) =>
      !elementIds[0] || elementIds.some(id => edit.elementIds.includes(id))).pop();
    if (earlier && canFold(earlier) && canFold(edit) &&
        ["undoGroup", "undoable", "motion"].every(name => earlier.body[name] === edit.body[name])) {
      const transform = { ...earlier.body.transform, ...edit.body.transform };
      earlier.body = { ...earlier.body, ...edit.body, transform };
      earlier.ids.push(...edit.ids);
      return true;
    }
    const hasSpace = this.open.length < this.capacity;
    if (hasSpace) this.edits.push(edit);
    return hasSpace;
  }

  /** Sends the edits from a number on again. */
  resendFrom(n = 0) {
    for (const edit of this.edits) if ((edit.n ?? 0) >= n) edit.sending = undefined;
  }

  /**
   * A session ended: what was sent under it is in doubt, everything is numbered from 1 again.
   * @param {string} sid
   */
  loseSession(sid) {
    for (const edit of this.open) {
      if (isNumbered(edit)) edit.doubt = sid;
      edit.sending = edit.isStored = undefined;
    }
    this.nextNumber = 1;
  }
}

// MARK: Previews of this user

/** What others saw of a gesture of this user is repeated this often while its fingers rest, ms. */
const REPEAT = 1000;

/** What changes often: at most one message in the room's interval, of which the latest is always sent. */
class Stream extends RoomPart {
  /**
   * Before when nothing more is sent; undefined before the first message, of this user's awareness over a connection.
   * @type {number | undefined}
   */
  nextSlot;

  /** @param {RoomCore} room @param {() => any} tell sends it @param {number} rest after which it is repeated, ms */
  constructor(room, tell, rest = Infinity) {
    super(room);
    this.tell = tell;
    this.rest = rest;
  }

  /** There is something to be sent. */
  changed() {
    if (!this.room.isJoined) return;
    if (this.nextSlot && this.now < this.nextSlot) this.due.send = this.nextSlot;
    else this.send();
  }

  send() {
    this.nextSlot = this.now + this.room.throttleMs;
    this.repeat();
  }

  /** Sends the latest one, whenever the last one was sent. */
  repeat() {
    delete this.due.send;
    this.due.repeat = this.now + this.rest;
    if (this.room.isJoined) this.tell();
  }

  /**
   * The server took none: for now, and the latest is sent when it may be.
   * @param {Data} error
   */
  refused(error) {
    const pause = milliseconds(error.retryAfterMs);
    if (pause >= 0) this.due.send = this.nextSlot = this.now + pause;
    else this.room.core.link.failed(error);
  }
}

/** Fingers throw what they let go of faster than this, px/s; of annotations 0.001 is a px. */
const THROW = 50;
/** Their velocity is that of so long a time, ms. */
const TRAIL = 100;

/**
 * @typedef {{number: number, elementIds: string[], pivot?: Point, deltas: Deltas, stream: Stream,
 *   trail: {at: number, point: Point}[]}} Hand
 *   a gesture under way, and where it was lately
 */

/**
 * What of an element each part of a gesture sets.
 * @type {Record<string, string[]>}
 */
const HELD = {
  translation: ["positionX", "positionY"], rotation: ["rotation"], scale: ["scaleX", "scaleY"],
  tilt: ["rotationX", "rotationY"], anchor: [],
};

/** The gestures of this user in a room. */
class Hands extends RoomPart {
  /** @type {Map<any, Hand>} by the app's names */
  all = new Map();

  /** @param {RoomCore} room @param {number} lastNumber of the gestures before */
  constructor(room, lastNumber = 0) {
    super(room);
    this.lastNumber = lastNumber;
  }

  get parts() {
    return this.room.isJoined ? [...this.all.values()].map(hand => hand.stream) : [];
  }

  /** @param {Data} input */
  begin({ gesture, elementIds, pivot }) {
    /** @type {Hand} */
    const hand = {
      number: ++this.lastNumber, elementIds, deltas: {}, trail: [{ at: this.now, point: { x: 0, y: 0 } }],
      pivot: elementIds.length > 1 ? pivot ?? this.middle(elementIds) : undefined,
      stream: new Stream(this.room, () => this.room.send(...this.message(hand, "gesturing")), REPEAT),
    };
    this.all.set(gesture, hand);
    this.room.halt(elementIds, HELD.translation);
  }

  /**
   * The centre of the rectangle around the positions of elements.
   * @param {string[]} ids @returns {Point}
   */
  middle(ids) {
    const elements = this.room.elementsOf(ids);
    const half = (/** @type {"positionX" | "positionY"} */ name) => {
      const places = elements.map(element => element[name]);
      return (Math.min(...places) + Math.max(...places)) / 2 || 0;
    };
    return { x: half("positionX"), y: half("positionY") };
  }

  /** @param {Data} input */
  move({ gesture, deltas }) {
    const hand = this.all.get(gesture);
    if (!hand) return;
    const known = ["translation", ...Object.keys(hand.deltas)];
    hand.deltas = { ...hand.deltas, ...read(deltas, DELTAS) };
    const { translation } = hand.deltas, { now } = this;
    if (translation) hand.trail = [...hand.trail.filter(({ at }) => at >= now - TRAIL), { at: now, point: translation }];
    const fields = Object.keys(hand.deltas).filter(name => !known.includes(name)).flatMap(name => HELD[name]);
    this.room.halt(hand.elementIds, fields);
    this.room.touch(hand.elementIds);
    hand.stream.changed();
  }

  /**
   * The fingers were lifted.
   * @param {Data} input with `throwing` they throw what they hold, if they moved
   */
  end({ gesture, id, throwing }) {
    const { room } = this, hand = this.lift(gesture);
    if (!hand) return room.tell("result", { id, answer: OVER });
    const thrown = throwing && this.thrown(hand, throwing), [event, body] = thrown || this.message(hand, "gesture");
    if (thrown || Object.keys(hand.deltas)[0]) room.edit({ id, event, body });
    // Fingers that did not move leave nothing to store.
    else room.tell("result", { id, answer: { ok: true, seq: room.seq, adjusted: [] } });
  }

  /**
   * Throws what a hand holds, from where it is; undefined if it rests, or sets what a throw does not.
   * @param {Hand} hand @param {Data} throwing @returns {[string, Data] | undefined}
   */
  thrown({ elementIds, trail, number, deltas, pivot }, throwing) {
    const { room, now } = this, start = trail.find(({ at }) => at >= now - TRAIL), end = deltas.translation;
    const speed = (/** @type {"x" | "y"} */ axis) =>
      (start && end ? ((end[axis] - start.point[axis]) * 1000) / Math.max(now - start.at, 1) : 0);
    const { velocity = { x: speed("x"), y: speed("y") } } = throwing, held = room.elementsOf(elementIds);
    const unit = held[0]?.space === "normalized" ? 0.001 : 1;
    if (deltas.anchor || !held[0] || !(Math.hypot(velocity.x, velocity.y) > THROW * unit)) return;
    // About a pivot a scaling turns, too.
    const set = { translation: 0, ...deltas, ...(pivot && { rotation: 0 }) }, names = Object.keys(set).flatMap(name => HELD[name]);
    const elements = held.map(element => transformOf({ elementId: element.id, ...pick(named(poseOf(element)), names) }));
    const body = { ...throwing, velocity, gesture: number };
    return pivot ? ["elements:throw", { elements, ...body }] : ["element:throw", { ...elements[0], ...body }];
  }

  /**
   * Nothing is to change: others see the element where it is stored.
   * @param {Data} input
   */
  cancel({ gesture }) {
    const hand = this.lift(gesture);
    if (hand?.stream.nextSlot === undefined) return;
    const still = { x: 0, y: 0 };
    hand.deltas = { translation: still, scale: 1, rotation: 0, ...(hand.deltas.tilt && { tilt: still }) };
    hand.stream.repeat();
  }

  /** @param {any} key @returns {Hand | undefined} */
  lift(key) {
    const hand = this.all.get(key);
    this.all.delete(key);
    this.room.touch(hand?.elementIds ?? []);
    return hand;
  }

  /** @param {Hand} hand @param {"gesture" | "gesturing"} verb @returns {[string, Data]} */
  message({ elementIds, pivot, number, deltas }, verb) {
    if (!pivot) return [`element:${verb}`, { elementId: elementIds[0], ...deltas, gesture: number }];
    return [`elements:${verb}`, { elements: elementIds, pivot, ...deltas, anchor: undefined, gesture: number }];
  }

  /**
   * Those on an element.
   * @param {string} id
   */
  on(id) {
    return [...this.all.values()].filter(hand => hand.elementIds.includes(id));
  }
}

// MARK: Others

/** After this long without a preview somebody else's gesture counts as over, ms. */
const SILENCE = 2000;

/**
 * Somebody else's gesture on an element, or the way from it to where the element is stored.
 * @typedef {{motion: Motion, sid?: string, gesture?: number, fields: Fields}} Movement
 */

/** The gestures of others in a room. */
class Movements extends RoomPart {
  /**
   * By element.
   * @type {Map<string, Movement>}
   */
  all = new Map();
  /**
   * When each element of a gesture under way was last heard of, the one that has been silent for longest first.
   * @type {Map<string, number>}
   */
  heard = new Map();
  /**
   * What is drawn of which element, one object for all frames.
   * @type {Map<string, {element: Element, drawn: Data}>}
   */
  copies = new Map();

  get deadline() {
    const [first = Infinity] = this.heard.values();
    return first + SILENCE;
  }

  time() {
    for (const [id, heardAt] of this.heard) {
      if (this.now < heardAt + SILENCE) return;
      if (this.room.isJoined && this.isAway(id)) this.hearOf(id);
      else this.over(id);
    }
  }

  /** @param {string} id of an element whose gesture goes on */
  hearOf(id) {
    this.heard.delete(id);
    this.heard.set(id, this.now);
  }

  /**
   * Whether somebody moves an element where this user does not look: no previews come from there, only the end.
   * @param {string} id
   */
  isAway(id) {
    const { viewport } = this.room.people, [x, y] = this.all.get(id)?.motion.target ?? [];
    return viewport && this.room.shown.get(id)?.space !== "normalized" &&
      (x < viewport.x || x > viewport.x + viewport.width || y < viewport.y || y > viewport.y + viewport.height);
  }

  /** Nobody told of ends until the room was joined again. */
  joined() {
    for (const id of this.heard.keys()) if (this.isAway(id)) this.over(id);
  }

  /** Nothing of any gesture is shown any more. */
  clear() {
    for (const id of this.all.keys()) this.over(id);
  }

  /** @param {Data} data */
  "element:transforming"(data) {
    this.previewed(data, data);
  }

  /** @param {Data} data a group under one gesture */
  "elements:transforming"(data) {
    for (const preview of objectsIn(data.elements)) this.previewed(preview, data);
  }

  /** @param {Data} preview of one element @param {Data} data what is common to a group */
  previewed(preview, { sid, gesture, dt }) {
    const id = preview.elementId, element = this.room.shown.get(id);
    if (!element || !this.room.isJoined) return;
    const shown = this.pose(element, this.now);
    const movement = this.all.get(id) ?? { motion: new Motion(poseOf(element)), fields: {} };
    // Of one gesture what an earlier preview said still holds where a later one says nothing.
    const isSame = movement.sid === sid && movement.gesture === gesture;
    const fields = Object.assign(isSame ? movement.fields : {}, fieldsOf(preview));
    this.hearOf(id);
    this.all.set(id, Object.assign(movement, { sid, gesture, fields }));
    movement.motion.receive(this.aim(element, this.now), this.now, dt, shown);
    this.room.tell("moving", { elementId: id });
  }

  /** @param {Data} data */
  "gesture:ended"({ elementId, sid }) {
    if (this.all.get(elementId)?.sid === sid) this.over(elementId);
  }

  /**
   * Nothing of a gesture is shown any more: the element moves to where it is stored.
   * @param {string} id @param {number[]} [shown] what was drawn
   */
  over(id, shown = this.shown(id)) {
    const movement = this.all.get(id);
    if (!movement) return;
    this.heard.delete(id);
    movement.fields = {};
    const element = this.room.composed(id);
    if (element) movement.motion.receive(this.aim(element, this.now), this.now, undefined, shown);
    else this.all.delete(id);
    this.room.tell("moving", { elementId: id });
  }

  /**
   * What is drawn now of an element that others move.
   * @param {string} id
   */
  shown(id) {
    const element = this.all.has(id) ? this.room.shown.get(id) : undefined;
    return element && this.pose(element, this.now);
  }

  /** @param {string} id @param {number} now @returns {Movement | undefined} what of an element is under way */
  ongoing(id, now) {
    const movement = this.all.get(id);
    if (this.heard.has(id) || !movement?.motion.isAtRest(now)) return movement;
    this.all.delete(id);
  }

  /**
   * Where an element is without the way that is left of a movement.
   * @param {Element} element @param {number} now
   */
  aim(element, now) {
    const pose = this.room.playing.pose(element, now) ?? poseOf(element);
    const fields = /** @type {Data} */ (this.all.get(element.id)?.fields);
    return fields ? pose.map((value, index) => fields[POSE[index]] ?? value) : pose;
  }

  /** @param {Element} element @param {number} now */
  pose(element, now) {
    const aim = this.aim(element, now);
    return this.ongoing(element.id, now)?.motion.pose(now, aim) ?? aim;
  }

  /** @param {Element} element @param {number} now @param {any} isHeld by this user @returns {any} where it is on its way */
  drawn(element, now, isHeld) {
    const { id } = element, isMoved = !isHeld && this.ongoing(id, now);
    const pose = isMoved ? this.pose(element, now) : this.room.playing.pose(element, now);
    if (!pose) {
      this.copies.delete(id);
      return element;
    }
    // One object for all frames: copying an element with all its fields costs more than the rest of a frame.
    let copy = this.copies.get(id);
    if (copy?.element !== element) this.copies.set(id, (copy = { element, drawn: { ...element } }));
    const { drawn } = /** @type {{drawn: Data}} */ (copy);
    pose.forEach((value, index) => (drawn[POSE[index]] = value));
    return sized(drawn);
  }
}

/** A start that is told may lie this far before its arrival, ms. */
const EARLIEST = 300;

/** What moves elements of a room by itself, with the starts that it has here. */
class Playing extends RoomPart {
  /**
   * By element: as it is stored; its tracks and its animation by name, with the starts that were told and that they have
   * here; when each field and all is over by the server's clock; whether it is not yet. Once it is, only the starts count:
   * a later update may repeat them.
   * @type {Map<string, {element: Element, here: any, ends: Record<string, number>, end: number, moves: boolean}>}
   */
  all = new Map();

  /** @param {number} now @returns {number} ms since 1970 of the server's clock */
  clockAt(now) {
    return this.room.core.link.server.time(now);
  }

  /**
   * An element is stored so now. What a live update brings starts when it was told, but not after its arrival, and hardly
   * before, unless an undo brings an animation back; a start that is repeated stays as it was.
   * @param {string} id @param {any} element undefined when it is gone @param {boolean} isLive
   * @param {string} [cause] of an undo or a redo
   */
  update(id, element, isLive, cause) {
    const before = this.all.get(id), { motion, animation } = element ?? {};
    if (!this.room.core.motion || (!before && !motion && !animation)) return;
    this.all.delete(id);
    const now = this.clockAt(this.now);
    /** @type {Data} */
    const here = {};
    /** @type {Record<string, number>} */
    let ends = {};
    try {
      for (const [name, told] of Object.entries({ ...objectIn(motion), ...(animation && { animation }) })) {
        const { startedAt: toldAt, segments, delayMs, tracks } = told, known = before?.here[name];
        const isRepeated = known?.toldAt === toldAt, earliest = cause && !segments ? -Infinity : now - EARLIEST;
        const startedAt = !isLive ? toldAt : isRepeated ? known?.startedAt : clamp(toldAt, earliest, now);
        here[name] = { ...told, toldAt, startedAt };
        const length = segments?.reduce((/** @type {number} */ sum, /** @type {Segment} */ { ms }) => sum + ms, 0);
        const end = elapsed({ startedAt }, now) < Infinity ? startedAt + (length ?? delayMs + lengthOf(told)) : 0;
        for (const field of segments ? [name] : Object.keys(tracks)) ends[field] = Math.max(end, ends[field] ?? 0);
      }
    } catch {
      // Not as servers send it.
      ends = {};
    }
    const end = Math.max(0, ...Object.values(ends)), moves = end > now;
    if (motion || animation) this.all.set(id, { element, here, ends, end, moves });
    if (moves) {
      this.room.tell("moving", { elementId: id });
      this.wait(end);
    } else if (before?.moves) this.room.tell("still", { elementId: id });
  }

  /**
   * Something ends then.
   * @param {number} end
   */
  wait(end) {
    // Rounded before it is added: what is left may be too little to move a time.
    if (end < Infinity) this.due.rest = Math.min(this.due.rest ?? Infinity, this.now + Math.ceil(end - this.clockAt(this.now)));
  }

  rest() {
    const now = this.clockAt(this.now);
    for (const [id, playing] of this.all) {
      if (playing.moves && playing.end > now) this.wait(playing.end);
      else if (playing.moves) {
        playing.moves = false;
        this.room.tell("still", { elementId: id });
      }
    }
  }

  /** @param {string} id @param {string} field @param {number} now */
  moves(id, field, now) {
    return this.clockAt(now) < (this.all.get(id)?.ends[field] ?? 0);
  }

  /** @param {string} id @param {number} now */
  isMoving(id, now) {
    return this.clockAt(now) < (this.all.get(id)?.end ?? 0);
  }

  /**
   * Where an element is, undefined if nothing moves it. What this user set, and the server has not stored, shows so.
   * @param {Element} element @param {number} now @returns {number[] | undefined}
   */
  pose(element, now) {
    const playing = this.all.get(element.id), time = this.clockAt(now);
    if (!playing || !(time < playing.end)) return;
    const stored = poseOf(playing.element), { here } = playing;
    return poseOf(element).map((value, index) => {
      if (value !== stored[index]) return value;
      try {
        return finite(shownAt(POSE[index], value, { motion: here, animation: here.animation }, time)) ?? value;
      } catch {
        // Not as servers send it.
        return value;
      }
    });
  }
}

/** Who is in a room, and what is shown of them; and what this user shows. */
class People extends RoomPart {
  /**
   * By user.
   * @type {Map<string, Data>}
   */
  members = new Map();
  /**
   * The same as the app sees them, unless they changed since it asked.
   * @type {readonly Data[] | undefined}
   */
  known;
  /**
   * Who this user is, as of the last join.
   * @type {any}
   */
  self;
  /**
   * Where this user points, what is selected and seen.
   * @type {Data | undefined}
   */
  cursor;
  /** @type {Data | undefined} */
  selection;
  /** @type {Data | undefined} */
  viewport;
  /** Whether others see it. */
  share = false;
  /** @type {Data | undefined} */
  presence;

  /** @param {RoomCore} room */
  constructor(room) {
    super(room);
    this.presenting = new Stream(room, () => room.ask("presence:set", { ...this.presence }));
    this.pointing = new Stream(room, () => room.send("cursor:moving", this.cursor ?? { x: null, y: null }));
    /** @type {Stream} */
    this.looking = new Stream(room, () =>
      room.ask("viewport:set", { ...this.viewport, share: this.share || undefined }, undefined, error => this.looking.refused(error)));
  }

  get parts() {
    return [this.pointing, this.looking, this.presenting];
  }

  /** The next connection knows nothing of this user. */
  connectionLost() {
    for (const stream of this.parts) Object.assign(stream, { due: {}, nextSlot: undefined });
  }

  /** @param {Data} answer to the join */
  met(answer) {
    this.self = only(isObject)(answer.self);
    this.members.clear();
    for (const member of objectsIn(answer.members)) this.add(member);
    this.differ("members");
  }

  /** Says it again. That there is none any more is said if there was one over this connection. */
  joined() {
    if (this.cursor || this.pointing.nextSlot !== undefined) this.pointing.changed();
    if (this.selection) this.select(this.selection);
    if (this.viewport || this.looking.nextSlot !== undefined) this.looking.changed();
    if (this.presence) this.presenting.changed();
  }

  /**
   * Adds a member. A known one keeps its connections: events about these come one by one.
   * @param {Data} member
   */
  add(member) {
    const connections = Object.fromEntries(objectsIn(member.connections).map(one => [one.sid, one]));
    const known = this.members.get(member.userId) ?? { connections };
    this.members.set(member.userId, { ...known, ...pick(member, ["userId", "name", "color"]) });
  }

  /** @param {Data} data */
  "member:joined"(data) {
    this.add(data);
    this.differ("members");
  }

  /** @param {Data} data */
  "member:changed"(data) {
    this["member:joined"](data);
  }

  /** @param {Data} data */
  "member:left"(data) {
    this.members.delete(data.userId);
    this.differ("members");
  }

  /** @param {Data} data */
  "cursor:moved"({ x, y, ...data }) {
    this.attended(data, { cursor: x === null ? null : { x, y } });
  }

  /** @param {Data} data */
  "selection:changed"(data) {
    this.attended(data, { selection: textsIn(data.elementIds) });
  }

  /** @param {Data} data */
  "presence:changed"(data) {
    this.attended(data, pick(data, ["state"]));
  }

  /** @param {Data} data */
  "viewport:changed"(data) {
    this.attended(data, { viewport: data.x === null ? null : pick(data, ["x", "y", "width", "height"]) });
  }

  /**
   * Somebody shows something else.
   * @param {Data} data @param {Data} change
   */
  attended({ userId, sid }, change) {
    const connections = this.members.get(userId)?.connections;
    if (!connections) return;
    connections[sid] = { ...connections[sid], sid, ...change };
    this.differ("awareness", { userId, sid, ...change });
  }

  /** @param {"members" | "awareness"} type @param {Data} [change] */
  differ(type, change) {
    this.known = undefined;
    this.room.tell(type, change);
  }

  /** @returns {readonly Data[]} the members with lists of their connections */
  get listed() {
    return (this.known ??= Object.freeze([...this.members.values()].map(member =>
      ({ ...member, connections: Object.values(member.connections) }))));
  }

  /** @param {Data} input pixels, null to hide the cursor */
  point({ x, y }) {
    this.cursor = x === null ? undefined : { x, y };
    this.pointing.changed();
  }

  /** @param {Data} input */
  select({ elementIds }) {
    this.selection = { elementIds };
    if (this.room.isJoined) this.room.ask("selection:set", this.selection);
  }

  /** @param {Data} input without a viewport for everything */
  look({ viewport, share }) {
    this.viewport = viewport;
    this.share = share;
    this.looking.changed();
  }

  /** @param {Data} input */
  show({ state }) {
    this.presence = { state };
    this.presenting.changed();
  }

  /** @param {Data} input something that the others hear once, if they are here now */
  signal(input) {
    this.room.send("room:signal", input);
  }

  /** @param {Data} data */
  "room:signaled"({ roomId, ...data }) {
    this.room.tell("signal", data);
  }
}

// MARK: Rooms

/** Codes of refusals after which the same edit is sent again. */
const RETRYABLE = ["busy", "rate_limited", "unavailable"];

/** One room: what the server confirmed, this user's edits on top of it, and what is known of the others. */
class RoomCore extends Part {
  /** @type {"idle" | "joining" | "parts" | "joined" | "refused"} */
  phase = "idle";
  /** Whether it is left as soon as all edits have their results. */
  isLeaving = false;
  /** Whether the edits of a room that may not be entered are given up then. */
  givesUp = false;
  /**
   * Why it may not be entered.
   * @type {Data}
   */
  denial = {};
  /** @type {string | undefined} */
  epoch;
  /**
   * That of the last whole room.
   * @type {string | undefined}
   */
  lastEpoch;
  seq = 0;
  /** @type {Data} */
  limits = {};
  rules = new Map();
  throttleMs = 16;
  /**
   * What the server confirmed up to `seq`.
   * @type {Map<string, Element>}
   */
  confirmed = new Map();
  /**
   * The same with this user's edits and gestures.
   * @type {Map<string, Element>}
   */
  shown = new Map();
  /**
   * The same as they lie on each other, unless they changed since it was asked for.
   * @type {readonly Element[] | undefined}
   */
  sorted;
  /**
   * Those with edits that move them, as they are to be drawn until the server says from when on.
   * @type {Map<string, Element>}
   */
  waiting = new Map();
  /**
   * Elements to be computed again, and to be reported.
   * @type {Set<string>}
   */
  touched = new Set();
  /**
   * The answer to a join while parts of the room are missing.
   * @type {Data}
   */
  arriving = {};
  /** How often something was refused for now since something succeeded. */
  pauses = 0;
  /**
   * Where the page of the history begins that is being read.
   * @type {number | undefined}
   */
  searchFrom;
  /**
   * The undo or redo that was refused, as long as nothing was edited since, and the entry that it could not take back.
   * @type {{event: string, seq: number} | undefined}
   */
  blocked;
  /**
   * Which of `history:undo` and `history:redo` find nothing, as far as it is known here.
   * @type {Set<string>}
   */
  spent = new Set(["history:redo"]);
  isDirty = false;

  /** @param {Core} core @param {string} roomId @param {Data} [record] what was saved of it */
  constructor(core, roomId, record = {}) {
    super(core.clock);
    this.core = core;
    this.roomId = roomId;
    /** @type {string | undefined} */
    this.session = record.session;
    this.sid = record.sid ?? "";
    this.queue = new EditQueue(core.queueLimit, record);
    this.hands = new Hands(this, record.gesture);
    this.movements = new Movements(this);
    this.playing = new Playing(this);
    this.people = new People(this);
    /** Whether something is saved of it. */
    this.isSaved = "edits" in record;
    this.touchEdits();
    this.join();
  }

  get parts() {
    return [this.hands, this.movements, this.playing, this.people];
  }

  // Joining

  get isJoined() {
    return this.phase === "joined";
  }

  /** Joins, or joins again: with the session and the position that are known. */
  join() {
    delete this.due.join;
    if (!this.core.link.isUp) return;
    this.phase = "joining";
    const { session, epoch, seq } = this;
    this.ask("room:join", { parts: true, session, resume: epoch && { epoch, seq }, motion: this.core.motion ? undefined : false },
      answer => this.entered(answer),
      error => {
        if (error.code === "session_expired" && this.session) this.loseSession();
        else if (RETRYABLE.includes(error.code)) this.retry("join", error);
        else this.enter("refused", { error: this.denial = error });
      });
  }

  /** @param {"joined" | "refused"} phase @param {Data} more */
  enter(phase, more) {
    this.phase = phase;
    this.tell("room", { phase, ...more });
  }

  /** The app wants a room that is not left yet, and may be told of it for the first time. */
  enteredAgain() {
    if (!this.isLeaving) return;
    this.isLeaving = this.givesUp = false;
    this.touch(this.shown.keys());
    if (this.phase === "refused") this.enter("refused", { error: this.denial });
    if (!this.isJoined) return;
    this.tell("members");
    this.enter("joined", { recovered: true });
  }

  leave() {
    this.isLeaving = this.givesUp = true;
  }

  /** An earlier run's edits are all that it was entered for. */
  deliver() {
    this.isLeaving = true;
  }

  connectionLost() {
    if (this.phase !== "refused") this.phase = "idle";
    this.people.connectionLost();
    this.due = {};
    this.searchFrom = undefined;
    this.queue.resendFrom();
  }

  /** @param {Data} answer */
  entered(answer) {
    const { queue } = this, last = Number(answer.n) || 0;
    this.limits = objectIn(answer.limits);
    this.throttleMs = milliseconds(answer.throttleMs) ?? 16;
    if (this.session !== answer.session) queue.loseSession(this.sid);
    // The server's numbers of this session lie behind: what was acknowledged was lost with its database.
    else if (queue.firstNumber > last + 1) return this.loseSession();
    queue.nextNumber = Math.max(queue.nextNumber, last + 1);
    this.session = answer.session;
    this.sid = answer.sid;
    this.isDirty = true;
    this.refuseTooLarge();
    this.rules = new Map(Object.entries(objectIn(answer.rules)));
    this.touchEdits();
    this.people.met(answer);
    if (answer.recovered && answer.epoch === this.epoch) return this.resumed(answer);
    // Until all of the room is here nothing of it is known that a join could go on from.
    this.epoch = undefined;
    this.arriving = { ...answer, n: last, elements: objectsIn(answer.elements) };
    if (answer.parts > 0) this.phase = "parts";
    else this.replaced();
  }

  /**
   * The missed updates arrived.
   * @param {Data} answer
   */
  resumed(answer) {
    for (const { event, data } of objectsIn(answer.updates)) {
      if (data?.seq === this.seq + 1) this.apply(event, data, false);
    }
    if (this.seq === answer.seq) return this.ready(true);
    // Not what was promised: the whole room instead.
    this.epoch = undefined;
    this.join();
  }

  /** @param {Data} data */
  "room:elements"(data) {
    if (this.phase !== "parts") return;
    this.arriving.elements.push(...objectsIn(data.elements));
    if (data.part >= data.parts) this.replaced();
  }

  /** A whole room arrived in place of what was known. */
  replaced() {
    const { epoch, seq, n, elements } = this.arriving;
    this.arriving = {};
    this.touch(this.shown.keys());
    // Another history has other numbers: what was acknowledged in the former one is contained in this one, or lost.
    if (epoch !== this.lastEpoch) this.queue.edits = this.queue.open;
    this.lastEpoch = this.epoch = epoch;
    this.seq = seq;
    this.confirmed = new Map(byId(elements));
    const ids = new Set([...this.playing.all.keys(), ...this.confirmed.keys()]);
    for (const id of ids) this.playing.update(id, this.confirmed.get(id), false);
    this.movements.clear();
    for (const edit of this.queue.open) if (isNumbered(edit) && edit.n <= n) edit.isStored = true;
    this.touch(this.confirmed.keys());
    this.touchEdits();
    this.settle();
    this.ready(false);
  }

  /** @param {boolean} recovered */
  ready(recovered) {
    this.pauses = 0;
    this.enter("joined", { recovered });
    this.movements.joined();
    this.people.joined();
    this.search();
    this.pump();
  }

  /**
   * Does something that was refused for now later.
   * @param {"join" | "pump" | "search"} action @param {Data} [error] with how long the server asks for
   */
  retry(action, error) {
    this.pauses++;
    this.due[action] = this.now + (milliseconds(error?.retryAfterMs) ?? Math.min(250 * 2 ** this.pauses, 5000));
  }

  /** The session ended: whether its last edits were applied is known to the room's history alone. */
  loseSession() {
    this.queue.loseSession(this.sid);
    this.session = undefined;
    this.isDirty = true;
    this.touchEdits();
    this.join();
  }

  // Edits in doubt

  /** Reads the room's history from where the oldest edit in doubt was sent. */
  search() {
    delete this.due.search;
    const { doubtful } = this.queue;
    if (!this.isJoined || !doubtful[0]) return;
    this.read(this.searchFrom ?? Math.min(...doubtful.map(edit => edit.after)));
  }

  /** @param {number} after */
  read(after) {
    this.searchFrom = after;
    this.tell("history", { after });
  }

  /** @param {Data} input a page behind a number, or null when it cannot be had */
  history({ after, page }) {
    const { queue } = this;
    if (this.searchFrom !== after || !this.isJoined) return;
    if (!Array.isArray(page?.entries)) return this.retry("search");
    for (const entry of objectsIn(page.entries)) {
      for (const edit of queue.doubtful.filter(({ doubt }) => doubt === entry.sid)) {
        if (edit.n === entry.n) this.acknowledged(edit, foundAnswer(entry));
        // A session's numbers are decided in their order.
        else if (edit.n < entry.n) edit.isDecided = true;
      }
    }
    // Without any change it reaches back to the present alone.
    const oldest = page.oldest ?? this.seq + 1;
    for (const edit of queue.doubtful) if (oldest > edit.after + 1) this.refused(edit, FORGOTTEN);
    this.pauses = 0;
    if (page.next > after) return this.read(page.next);
    // What the history does not have was not applied.
    this.searchFrom = undefined;
    for (const edit of queue.doubtful) {
      if (edit.isDecided) this.refused(edit, WITHOUT_EFFECT);
      edit.doubt = edit.n = undefined;
      this.touch(edit.elementIds);
    }
    this.refuseTooLarge();
    this.isDirty = true;
    this.pump();
  }

  // Edits

  /**
   * A hand catches elements: those that move in these fields stop where they are seen, so that it holds what it touched.
   * @param {string[]} ids @param {string[]} fields
   */
  halt(ids, fields) {
    const { playing, now } = this, elements = this.elementsOf(ids).filter(({ id, locked }) =>
      !locked && fields.some(field => playing.moves(id, field, now)));
    if (!elements[0]) return;
    const caught = elements.map(idOf), at = playing.clockAt(now);
    const [event, which] = caught[1] ? ["elements:halt", { elements: caught }] : ["element:halt", { elementId: caught[0] }];
    const shown = Object.fromEntries(elements.map(element =>
      [element.id, pick(named(playing.pose(element, now) ?? poseOf(element)), fields)]));
    this.edit({ id: "halt", event, body: { ...which, fields, at }, shown });
  }

  /** @param {Data} input */
  edit({ id, event, body, shown }) {
    // Asked again, an undo leaves out the entry that it could not take back.
    const { blocked } = this;
    if (blocked?.event === event) body = { past: blocked?.seq, ...body };
    this.blocked = undefined;
    const edit = newEdit(event, body, [id]), { elementIds } = edit;
    edit.shown = shown;
    // Annotations go with their parents.
    if (event.endsWith(":delete")) for (const { id, parentId } of this.shown.values()) {
      if (elementIds.includes(parentId)) elementIds.push(id);
    }
    const answer = this.tooLarge(edit) ?? (this.queue.append(edit) ? undefined : FULL);
    if (answer) return this.tell("result", { id, answer });
    this.isDirty = true;
    this.touch(elementIds);
    this.pump();
  }

  /**
   * The refusal of an edit that is larger than the server's messages may be.
   * @param {Edit} edit @returns {Data | undefined}
   */
  tooLarge({ event, body }) {
    const limit = this.limits.message ?? 262144;
    // With some room for what is added when it is sent.
    const isTooLarge = byteCount(JSON.stringify([event, body])) + 256 > limit;
    return isTooLarge ? refusal("too_large", `An edit has at most ${limit} bytes.`) : undefined;
  }

  /**
   * Edits were made before the server's limit was known: it would end the connection, again and again. What was sent
   * under a larger limit may be stored; in doubt, the history says whether it is.
   */
  refuseTooLarge() {
    for (const edit of this.queue.open) {
      const answer = edit.doubt ? undefined : this.tooLarge(edit);
      if (!answer) continue;
      if (edit.n) this.fill(edit);
      this.refused(edit, edit.n ? FORGOTTEN : answer.error);
    }
  }

  /** Sends what may be sent. */
  pump() {
    const { open, doubtful } = this.queue;
    if (!this.isJoined || doubtful[0] || this.due.pump) return;
    const waiting = open.filter(edit => !edit.sending), underWay = open.length - waiting.length;
    for (const edit of waiting.slice(0, Math.max((this.limits.unacknowledged ?? 32) - underWay, 0))) this.sendEdit(edit);
  }

  /** @param {Edit} edit */
  sendEdit(edit) {
    if (!edit.n) Object.assign(edit, { n: this.queue.nextNumber++, after: this.seq });
    this.isDirty = true;
    const sending = (edit.sending = {}), { session } = this;
    // What an ended session still says is about another sending of the edit.
    const isMeant = () => this.session === session && this.queue.open.includes(edit);
    this.ask(edit.event, { ...edit.body, n: edit.n },
      answer => isMeant() && this.acknowledged(edit, answer),
      error => isMeant() && this.notAcknowledged(edit, error, sending === edit.sending));
  }

  /** @param {Edit} edit @param {Data} answer */
  acknowledged(edit, answer) {
    edit.seq = Number(answer.seq) || 0;
    // In doubt it was not shown; nor if a whole room, older than its answer said, seemed to contain it.
    if (edit.doubt || edit.isStored) this.touch(edit.elementIds);
    edit.doubt = edit.isStored = edit.sending = undefined;
    this.pauses = 0;
    if (!edit.elementIds[0] && !answer.undone && !answer.duplicate) {
      this.spent.add(edit.event);
      this.tell("changed", { ids: [] });
    }
    this.report(edit, answer);
    this.settle();
    this.pump();
  }

  /** @param {Edit} edit @param {Data} error @param {boolean} isLatest whether it was not sent again since */
  notAcknowledged(edit, error, isLatest) {
    const { queue } = this, { code } = error;
    if (![...RETRYABLE, "gap", "session_expired"].includes(code)) {
      // A number that was not used would be a gap: something that is refused for certain fills it.
      if (code === "unknown_event") this.fill(edit);
      // An old number, of which the server does not know any more what became of it. Or another commit has the number,
      // so that this one has no effect: the refusals are the same.
      this.refused(edit, code === "conflict" && error.field === "n" ? FORGOTTEN : error);
      return this.pump();
    }
    if (!isLatest) return;
    if (code === "gap") {
      if (!(error.expected >= queue.firstNumber)) return this.loseSession();
      queue.resendFrom(error.expected);
      return this.pump();
    }
    queue.resendFrom(edit.n);
    if (code !== "session_expired") this.retry("pump", error);
    else if (this.isJoined) this.join();
  }

  /**
   * Puts an edit without content in the place of one that uses no number.
   * @param {Edit} edit
   */
  fill(edit) {
    const { n, after } = edit, { edits } = this.queue;
    edits.splice(edits.indexOf(edit), 0, { ...newEdit("element:update", {}, []), n, after });
    this.queue.resendFrom(n);
  }

  /**
   * Takes an edit back for good.
   * @param {Edit} edit @param {Data} error
   */
  refused(edit, error) {
    // Unless something was edited since.
    if (error.entry && this.queue.edits.at(-1) === edit) this.blocked = { event: edit.event, seq: error.entry.seq };
    this.remove(edit);
    this.report(edit, { ok: false, error });
  }

  /** @param {Edit} edit */
  remove(edit) {
    this.queue.edits = this.queue.edits.filter(other => other !== edit);
    this.touch(edit.elementIds);
  }

  /** @param {Edit} edit that has its result @param {Data} answer */
  report(edit, answer) {
    this.isDirty = true;
    for (const id of edit.ids) this.tell("result", { id, answer });
  }

  /**
   * Removes acknowledged edits that the room's stream has reached. Until then they stay on top, or an element would
   * jump back for a moment.
   */
  settle() {
    for (const edit of this.queue.edits) if (edit.seq <= this.seq) this.remove(edit);
  }

  // What the server says

  /** @param {string} event @param {Data} data */
  eventReceived(event, data) {
    const { seq } = data;
    // Not by way of all parts: there may be thousands a second.
    if (event in this.movements) return /** @type {any} */ (this.movements)[event](data);
    if (!UPDATES.has(event)) return this.hear(event, data);
    if (!this.isJoined || !(seq > this.seq)) return;
    // Behind a gap: what is missing comes with another join.
    if (seq === this.seq + 1) this.apply(event, data, true);
    else this.join();
  }

  "room:resync"() {
    if (this.isJoined) {
      // Until the join is answered nobody tells that a gesture has ended.
      this.movements.clear();
      this.join();
    }
  }

  /** @param {Data} data */
  "transform:error"({ code }) {
    // Another connection has this client's session: perhaps one that was lost long ago, and whose join came late.
    if (code === "session_expired") this["room:resync"]();
  }

  /** @param {Data} data */
  "room:throttle"({ intervalMs }) {
    this.throttleMs = milliseconds(intervalMs) ?? this.throttleMs;
  }

  /** @param {string} event @param {Data} data the change behind `seq` @param {boolean} isLive whether it happens now */
  apply(event, data, isLive) {
    const { seq, userId, cause } = data;
    this.seq = seq;
    if (userId === this.people.self?.userId) {
      // From whatever device.
      this.spent.delete(cause === "undo" ? "history:redo" : "history:undo");
      if (!cause) this.spent.add("history:redo");
    }
    const own = this.queue.open.find(edit => data.sid === this.sid && isNumbered(edit) && edit.n === data.n);
    if (own) own.isStored = true;
    for (const [id, element] of UPDATES.get(event)?.(data, this.confirmed) ?? []) {
      const shown = this.movements.shown(id);
      put(this.confirmed, id, element);
      this.playing.update(id, element, isLive, cause);
      this.touch([id]);
      this.movements.over(id, shown);
    }
    if (own) this.touch(own.elementIds);
    this.settle();
  }

  /** @returns {readonly Element[]} what is shown, the lowest first */
  get elements() {
    return (this.sorted ??= Object.freeze([...this.shown.values()].sort((a, b) =>
      (a.zIndex ?? 0) - (b.zIndex ?? 0) || (a.id < b.id ? -1 : 1))));
  }

  /** @param {string[]} ids @returns {Element[]} those that are shown */
  elementsOf(ids) {
    return ids.flatMap(id => this.shown.get(id) ?? []);
  }

  /** @param {Iterable<string>} ids */
  touch(ids) {
    for (const id of ids) this.touched.add(id);
  }

  touchEdits() {
    for (const edit of this.queue.edits) this.touch(edit.elementIds);
  }

  /** Saves, computes again and reports what changed. */
  finish() {
    if (this.givesUp && this.phase === "refused") {
      // Left without being entered. What was sent may be stored, which nobody will tell this user.
      for (const edit of this.queue.open) this.refused(edit, edit.n ? FORGOTTEN : this.denial);
    }
    if (this.isDirty) this.save();
    const ids = [...this.touched];
    if (ids.length === 0) return;
    this.touched.clear();
    this.sorted = undefined;
    for (const id of ids) {
      put(this.shown, id, this.composed(id));
      const isWaiting = this.queue.edits.some(edit => edit.body.motion && !edit.isStored && edit.elementIds.includes(id));
      put(this.waiting, id, isWaiting && this.composed(id, true));
    }
    this.tell("changed", { ids });
  }

  /** What has to survive the end of the app: nothing when everything has its result. */
  save() {
    const { session, sid, hands } = this, { open, nextNumber } = this.queue;
    const edits = open.map(edit => pick(edit, ["ids", "event", "body", "n", "after", "doubt"]));
    const record = edits[0] ? { session, sid, nextNumber, gesture: hands.lastNumber, edits } : null;
    // Kept without a number, and numbered now: an app that ends in between would send them under other numbers, too.
    const isFirst = open.some(edit => isNumbered(edit) && edit.isSavedBare) || undefined;
    for (const edit of open) edit.isSavedBare = !isNumbered(edit);
    if (record || this.isSaved) this.tell("save", { record, isFirst });
    this.isSaved = record !== null;
    this.isDirty = false;
  }

  /**
   * The confirmed element with this user's edits and gestures on top.
   * @param {string} id @param {boolean} [isWaiting] without edits that move it @returns {Element | undefined}
   */
  composed(id, isWaiting) {
    let element = this.confirmed.get(id);
    for (const edit of this.queue.edits) {
      if (isWaiting && edit.body.motion) continue;
      if (!edit.isStored && !edit.doubt && edit.elementIds.includes(id)) element = this.edited(element, id, edit);
    }
    for (const hand of this.hands.on(id)) {
      if (element && !element.locked) element = this.gestured(element, hand.deltas, hand.pivot, true);
    }
    return element;
  }

  /** @param {Element | undefined} element @param {string} id @param {Edit} edit @returns {Element | undefined} */
  edited(element, id, { event, body, shown }) {
    const { rules, limits } = this, verb = event.split(":")[1];
    const entry = body.element ?? objectsIn(body.elements).find(one => idOf(one) === id) ?? body;
    if (verb === "create") return element ?? created(entry, rules, limits);
    if (!element || (element.locked && verb !== "update")) return element;
    if (verb === "delete") return undefined;
    if (verb === "update") return updated(element, body.set, rules, limits);
    if (verb === "gesture") return this.gestured(element, read(body, DELTAS), body.pivot);
    return transformed(element, shown?.[id] ?? PRESETS[body.preset]?.(element) ?? fieldsOf(entry), rules);
  }

  /** @param {Element} element @param {Deltas} deltas @param {Point} [pivot] @param {boolean} [isDrawn] */
  gestured(element, deltas, pivot, isDrawn) {
    return gestured(element, deltas, this.rules, { pivot, isDrawn, parent: this.confirmed.get(element.parentId) });
  }

  /**
   * The element as it is to be drawn: where this user holds it, it moves by itself, or others move it. While it moves, it
   * is the same object at each call.
   * @param {string} id @param {number} now @returns {Element | undefined}
   */
  drawn(id, now) {
    const element = this.waiting.get(id) ?? this.shown.get(id);
    return element && this.movements.drawn(element, now, this.hands.on(id)[0]);
  }

  // Sending

  /**
   * @param {string} type of an output about this room
   * @param {Data} [fields]
   */
  tell(type, fields) {
    this.core.tell(type, { roomId: this.roomId, ...fields });
  }

  /**
   * Sends something that has an answer, which nobody hears after the room was left.
   * @param {string} event @param {Data} body @param {Answered} [done] @param {Answered} [failed] tells the app
   */
  ask(event, body, done, failed = error => this.core.link.failed(error)) {
    /** @param {Answered} [hear] @returns {Answered} */
    const ifHere = hear => (answer) => this.core.rooms.get(this.roomId) === this && hear?.(answer);
    this.core.link.request(event, { roomId: this.roomId, ...body }, ifHere(done), ifHere(failed));
  }

  /**
   * Sends something that may be lost.
   * @param {string} event @param {Data} body
   */
  send(event, body) {
    if (this.isJoined) this.core.link.send(event, { roomId: this.roomId, ...body });
  }
}

/**
 * The answer to an edit that was found in the history.
 * @param {Data} entry @returns {Data}
 */
function foundAnswer({ seq, changes }) {
  const elements = objectsIn(objectsIn(changes).map(change => change.after));
  return { ok: true, seq, duplicate: true, adjusted: [], elements, element: elements[0] };
}

const FORGOTTEN = { code: "forgotten", message: "It is not known whether this edit was applied." };
const WITHOUT_EFFECT = { code: "forgotten", message: "It was refused, or changed nothing." };
/** @param {string} code @param {string} message */
const refusal = (code, message) => ({ ok: false, error: { code, message } });
const LEFT = refusal("left", "The room was left.");
const CLOSED = refusal("closed", "The client was closed.");
const OVER = refusal("invalid", "The gesture is over.");
const FULL = refusal("queue_full", "Too many edits wait.");

/** @param {any} elements @returns {[string, any][]} */
const byId = elements => objectsIn(elements).map(element => [element.id, element]);
/** @param {Map<string, Element>} elements @param {string} id @param {any} element unless it is gone */
const put = (elements, id, element) => (element ? elements.set(id, element) : elements.delete(id));
/** @param {any} ids @returns {any} nothing for each */
const gone = ids => textsIn(ids).map(id => [id]);

/**
 * Elements of a group, which have a part of their fields.
 * @param {Data} data @param {Map<string, Element>} confirmed @param {string[]} names of fields that are gone when they are absent
 * @returns {[string, Element][]}
 */
const merged = (data, confirmed, names) => byId(data.elements).map(([id, element]) => {
  const next = { ...without(objectIn(confirmed.get(id)), names), ...element, updatedBy: data.userId };
  // null: it ended.
  return [id, next.animation === null ? without(next, ["animation"]) : next];
});

/**
 * The changes that have a number in the room: what becomes of which element, undefined for deleted ones.
 * @type {Map<string, (data: Data, confirmed: Map<string, Element>) => [string, Element | undefined][]>}
 */
const UPDATES = new Map([
  ["element:created", data => byId([without(data, ENVELOPE)])],
  ["elements:created", data => byId(data.elements)],
  ["element:transformed", data => byId([data.element])],
  ["element:updated", data => byId([data.element])],
  // A group has geometry and what moves it alone; what else an element has stays.
  ["elements:transformed", (data, confirmed) => merged(data, confirmed, [...OPTIONAL, "motion"])],
  ["elements:updated", (data, confirmed) => merged(data, confirmed, ["animation"])],
  ["element:deleted", data => gone(data.elementIds)],
  ["elements:changed", data => [...byId(data.created), ...byId(data.changed), ...gone(data.deletedIds)]],
]);

// MARK: Connection

/** An attempt to connect fails after this long, ms. */
const CONNECT_TIMEOUT = 10000;
/** An attempt tells why it would fail after this long, ms. */
const SLOW = 4000;
/** A dead connection is found this long after it was asked whether it lives, ms. */
const PROBE_TIMEOUT = 5000;
/** Without any message behind an unanswered request for this long, the connection is asked whether it lives, ms. */
const QUIET = 2500;
/** A connection that lasted this long is soon tried again, ms. */
const LASTING = 5000;
/** Shorter trips to the background are not worth a message, ms. */
const SHORT_TRIP = 2000;

/** So many answers of a connection that tell the server's time are soon asked for. */
const FIRST_SAMPLES = 4;
/** The server's time is asked for again after this long, ms. */
const RESAMPLE = 300000;

/**
 * The server's clock, as the answer with the shortest way of a connection's last eight tells it. It is followed slowly,
 * unless it is off by more than a second.
 */
class ServerClock {
  /** @type {{trip: number, offset: number}[]} */
  samples = [];
  /** From this clock to the server's, and what was taken for it at a time. */
  offset = NaN;
  taken = NaN;
  takenAt = 0;

  /** @param {number} sentAt of a request @param {number} now when its answer is here @param {number} time in it */
  sample(sentAt, now, time) {
    const present = this.time(now) - now;
    this.samples = [...this.samples.slice(-7), { trip: now - sentAt, offset: time - (sentAt + now) / 2 }];
    this.offset = this.samples.reduce((best, one) => (one.trip < best.trip ? one : best)).offset;
    this.taken = Math.abs(present - this.offset) <= 1000 ? present : this.offset;
    this.takenAt = now;
  }

  /** @param {number} now @returns {number} NaN before it is known */
  time(now) {
    const way = 0.05 * Math.max(0, now - this.takenAt);
    return now + this.taken - clamp(this.taken - this.offset, -way, way);
  }
}

/** @typedef {(answer: Data) => any} Answered gets an answer, or the error in it */

/**
 * The connection: Socket.IO 5 over Engine.IO 4 as texts of a WebSocket, tokens, and whether the other end lives.
 *
 * offline ──► token ──► opening ──► greeted ──► up ──► offline … and expired, without a token that the server takes
 */
class Link extends Part {
  /**
   * How far an attempt got: the app is asked for a token, there is a socket, the server speaks Engine.IO, this client is in.
   * @type {"offline" | "token" | "opening" | "greeted" | "up" | "expired"}
   */
  phase = "offline";
  /** Why the present attempt fails if nothing more happens: a code of `FAILURES`. */
  fault = "";
  /** Whether the app wants to be connected. */
  isWanted = false;
  isDraining = false;
  isRefreshing = false;
  isProbing = false;
  /** @type {string | undefined} */
  presentToken;
  /** @type {string | undefined} the token that the server refused */
  refusedToken;
  /** Attempts since a connection last lasted. */
  attempts = 0;
  upAt = 0;
  heardAt = 0;
  /** When the page was hidden. */
  hiddenAt = -Infinity;
  /** How long the server may be silent, ms. */
  patience = 45000;
  nextRequest = 0;
  server = new ServerClock();
  /** @type {Map<number, {sentAt: number, done?: Answered, failed?: Answered}>} */
  requests = new Map();

  /** @param {Core} core */
  constructor(core) {
    super(core.clock);
    this.core = core;
  }

  get isUp() {
    return this.phase === "up";
  }

  get isTrying() {
    return ["token", "opening", "greeted"].includes(this.phase);
  }

  get hasSocket() {
    return this.isUp || (this.isTrying && this.phase !== "token");
  }

  get deadline() {
    return Math.min(super.deadline, this.probeAt);
  }

  /** When to ask whether the connection lives: something is unanswered, and nothing at all arrives. */
  get probeAt() {
    const [oldest] = this.requests.values();
    return oldest && !this.isProbing ? Math.max(oldest.sentAt, this.heardAt) + QUIET : Infinity;
  }

  time() {
    super.time();
    if (this.now >= this.probeAt) this.probe(QUIET);
  }

  // Coming and going

  connect() {
    this.isWanted = true;
    this.refusedToken = undefined;
    this.attempts = 0;
    if (["offline", "expired"].includes(this.phase)) this.begin();
  }

  disconnect() {
    this.isWanted = false;
    if (this.isUp) this.write("41");
    this.lost();
  }

  begin() {
    delete this.due.begin;
    this.attempts++;
    if (!this.core.hasTokens) return this.open();
    this.phase = this.fault = "token";
    this.due.lost = this.now + CONNECT_TIMEOUT;
    this.core.tell("token", { reason: this.refusedToken === undefined ? "connect" : "refused" });
  }

  /** @param {Data} input null when the app has none */
  token({ token }) {
    if (this.isUp && this.isRefreshing) return this.refresh(token);
    if (this.phase !== "token") return;
    if (token === null || token === this.refusedToken) return this.expire();
    this.presentToken = token;
    this.open();
  }

  /** The app does not know now whether it has a token. */
  tokenFailed() {
    this.isRefreshing = false;
    if (this.phase === "token") this.lost();
  }

  /** No token, or one that the server refused: the next attempt is the app's to make. */
  expire() {
    this.attemptFailed();
    this.phase = "expired";
    this.due = {};
  }

  open() {
    this.phase = "opening";
    this.fault = "unreachable";
    this.due.lost = this.now + CONNECT_TIMEOUT;
    this.due.attemptFailed = this.now + SLOW;
    this.core.tell("open");
  }

  opened() {
    this.fault = "not_touchsync";
  }

  /** @param {Data} input with `failure`, what the shell knows of the reason */
  closed({ failure }) {
    if (this.hasSocket) this.lost(failure);
  }

  /** An attempt that the app still wants has failed, or takes long. */
  attemptFailed(code = this.fault) {
    if (this.isWanted && this.isTrying) this.core.tell("failure", { code });
  }

  /**
   * Gives the connection up, and tries again later if the app wants one.
   * @param {string} [code] of a failure, if it was an attempt
   */
  lost(code) {
    if (this.hasSocket) this.core.tell("close");
    this.attemptFailed(code);
    if (this.isUp && this.now - this.upAt >= LASTING) this.attempts = 0;
    this.phase = "offline";
    this.isDraining = this.isRefreshing = this.isProbing = false;
    this.requests.clear();
    this.server.samples = [];
    this.due = this.isWanted ? { begin: this.now + this.pause() } : {};
    for (const room of this.core.rooms.values()) room.connectionLost();
  }

  /**
   * ms until the next attempt: the first within a second, at random, so that the apps of a gateway do not come back as
   * one; later ones more slowly.
   */
  pause() {
    const random = this.core.random();
    return this.attempts ? Math.min(500 * 2 ** this.attempts, 15000) * (0.5 + random / 2) : random * 1000;
  }

  background() {
    this.hiddenAt = this.now;
  }

  foreground() {
    if (this.now - this.hiddenAt >= SHORT_TRIP) this.online();
  }

  online() {
    if (this.isUp) this.probe(PROBE_TIMEOUT);
    else if (this.due.begin) this.begin();
  }

  /** The network is gone. */
  offline() {
    if (this.hasSocket) this.lost("unreachable");
  }

  /**
   * Asks whether the connection lives.
   * @param {number} patience ms
   */
  probe(patience) {
    if (this.isProbing) return;
    this.isProbing = true;
    this.due.lost = Math.min(this.due.lost, this.now + patience);
    this.request("client:ping", {});
  }

  /** Asks for the server's time. */
  sample() {
    this.request("client:ping", {});
  }

  // Messages

  /** @param {string} text */
  write(text) {
    this.core.tell("send", { text });
  }

  /** @param {string} event @param {Data} payload @param {any} number of a request */
  send(event, payload, number = "") {
    this.write(`42${number}${JSON.stringify([event, payload])}`);
  }

  /**
   * Sends an event that is answered.
   * @param {string} event @param {Data} payload @param {Answered} [done] @param {Answered} [failed]
   */
  request(event, payload, done, failed) {
    if (!this.isUp) return;
    this.requests.set(this.nextRequest, { sentAt: this.now, done, failed });
    this.send(event, payload, this.nextRequest++);
  }

  /** @param {Data} input an Engine.IO packet */
  packet({ text }) {
    if (!this.hasSocket) return;
    this.heardAt = this.now;
    this.isProbing = false;
    if (this.isUp) this.due.lost = this.now + this.patience;
    const [head, kind, digits] = /^(4?\d)(\d*)/.exec(text) ?? [""];
    const data = parsed(text.slice(head.length));
    if (this.phase === "opening") return kind === "0" && isObject(data) ? this.greeted(data) : this.lost("not_touchsync");
    switch (kind) {
      case "1": return this.lost();
      case "2": return this.write("3");
      // Earlier versions of Socket.IO let clients in without being asked, and give the connection no name.
      case "40": return data?.sid ? this.entered() : this.lost("version");
      case "41": return this.tokenRefused();
      case "42": return this.eventReceived(data);
      case "43": return this.answered(Number(digits), objectIn(data?.[0]));
      case "44": return this.notEntered(objectIn(data));
    }
  }

  /** @param {Data} data */
  greeted({ pingInterval, pingTimeout }) {
    const patience = milliseconds(pingInterval) + milliseconds(pingTimeout);
    if (patience > 0) this.patience = patience;
    this.phase = "greeted";
    this.fault = "unreachable";
    this.write("40" + JSON.stringify({ ...this.core.handshake, token: this.presentToken }));
  }

  entered() {
    this.phase = "up";
    this.upAt = this.now;
    this.due = { lost: this.now + this.patience };
    this.refusedToken = undefined;
    for (const room of this.core.rooms.values()) room.join();
  }

  /** @param {Data} refusal */
  notEntered({ message, data }) {
    this.failed({ event: "connect", message, ...data });
    if (RETRYABLE.includes(data?.code)) this.lost();
    else this.tokenRefused();
  }

  /** @param {Data} error */
  failed(error) {
    this.core.tell("error", { error });
  }

  /** @param {number} number @param {Data} answer */
  answered(number, answer) {
    const request = this.requests.get(number);
    this.requests.delete(number);
    if (request && Number.isFinite(answer.time)) {
      const { server } = this;
      server.sample(request.sentAt, this.now, answer.time);
      this.due.sample = this.now + (server.samples.length < FIRST_SAMPLES ? 0 : RESAMPLE);
    }
    if (answer.ok) request?.done?.(answer);
    else request?.failed?.(objectIn(answer.error));
  }

  /** @param {any} message its name and data */
  eventReceived(message) {
    const event = String(message?.[0]), data = objectIn(message?.[1]);
    // Only names of events have colons, not those of other methods.
    if (!event.includes(":")) return;
    this.hear(event, data);
    this.core.rooms.get(data.roomId)?.eventReceived(event, data);
  }

  /** @param {Data} data */
  "transform:error"(data) {
    this.failed(data);
  }

  /** @param {Data} data what left the gateway together */
  "previews:batch"({ events }) {
    for (const message of [events].flat()) this.eventReceived(message);
  }

  /**
   * The gateway stops: this app leaves at a moment of its own within the next second.
   * @param {Data} data
   */
  "server:draining"({ closesInMs }) {
    if (this.isDraining) return;
    this.isDraining = true;
    this.attempts = 0;
    this.due.leave = this.now + this.core.random() * Math.min(1000, milliseconds(closesInMs) ?? 0);
  }

  leave() {
    this.lost();
  }

  // Tokens

  /**
   * The server says that the token ends, soon or now.
   * @param {Data} data
   */
  "auth:error"({ expiresInMs }) {
    if (!(milliseconds(expiresInMs) > 0) || !this.core.hasTokens || this.isRefreshing) return;
    this.isRefreshing = true;
    this.core.tell("token", { reason: "expires" });
  }

  /** @param {string | null} token */
  refresh(token) {
    this.isRefreshing = false;
    if (token === null || token === this.presentToken) return;
    this.request("auth:refresh", { token }, () => {
      this.presentToken = token;
      // What was forbidden may be allowed now, and the reverse: the server leaves such a room without a word.
      for (const room of this.core.rooms.values()) if (room.phase !== "joining") room.join();
    }, error => this.failed({ event: "auth:refresh", ...error }));
  }

  /** The server wants this token no longer, or not at all. */
  tokenRefused() {
    const refused = this.presentToken ?? "";
    this.lost("token");
    this.refusedToken = refused;
    if (!this.core.hasTokens) this.expire();
    // What follows is refused as well, it seems: then there are pauses.
    else if (this.attempts <= 1) this.begin();
  }
}

// MARK: Core

/**
 * Everything that the client decides, as a machine: an input at a time in ms gives outputs, nothing else happens. The
 * shell calls it with `{type: "time"}` when its `deadline` is reached.
 */
export class Core extends Part {
  /** @type {Map<string, RoomCore>} */
  rooms = new Map();
  /** @type {"offline" | "connecting" | "joining" | "live" | "draining" | "expired"} */
  state = "offline";
  /** @type {Output[]} */
  outputs = [];

  /**
   * @param {{handshake?: Data, hasTokens?: boolean, queueLimit?: number, random?: () => number, motion?: boolean}} options
   *   `handshake` is what the server gets when it connects, apart from the token; `queueLimit` the most edits that wait in a
   *   room; without `motion` elements are where they are stored
   */
  constructor({ handshake, hasTokens, queueLimit = 1000, random = Math.random, motion = true } = {}) {
    super({ now: 0 });
    this.handshake = handshake;
    this.hasTokens = hasTokens;
    this.queueLimit = queueLimit;
    this.random = random;
    this.motion = motion;
    this.link = new Link(this);
  }

  /** Its `deadline` is when the next input is due at the latest, ms; Infinity when only others can change anything. */
  get parts() {
    return [this.link, ...this.rooms.values()];
  }

  /** @param {string} type of an output @param {Data} [fields] */
  tell(type, fields) {
    const output = { type, ...fields };
    // What is sent is saved before.
    if (type === "save") this.outputs.unshift(output);
    else this.outputs.push(output);
  }

  /**
   * @param {{type: string} & Data} input @param {number} now ms, of a clock that does not run backwards
   * @returns {Output[]}
   */
  input(input, now) {
    this.clock.now = now;
    this.perform(input);
    for (const room of this.rooms.values()) {
      room.finish();
      if (!room.isLeaving || room.queue.open[0]) continue;
      const { roomId } = room;
      this.rooms.delete(roomId);
      this.link.request("room:leave", { roomId });
      room.tell("room", { phase: "left" });
    }
    const state = this.computedState();
    if (state !== this.state) this.tell("state", { state });
    this.state = state;
    return this.outputs.splice(0);
  }

  /** @param {{type: string} & Data} input */
  perform({ type, ...input }) {
    const { roomId, id } = input, room = this.rooms.get(roomId);
    if (type === "time") this.time();
    else if (type === "join") {
      if (room) room.enteredAgain();
      else this.rooms.set(roomId, new RoomCore(this, roomId, input.record));
    } else if (!room && id !== undefined) this.tell("result", { roomId, id, answer: LEFT });
    else (roomId === undefined ? this.link : room)?.hear(type, input);
  }

  computedState() {
    const { phase, isDraining, isTrying, isUp } = this.link;
    if (!isUp) return isTrying ? "connecting" : /** @type {"offline" | "expired"} */ (phase);
    const isSettled = [...this.rooms.values()].every(room => room.isJoined || room.phase === "refused");
    return isDraining ? "draining" : isSettled ? "live" : "joining";
  }
}

// MARK: Shell

/** Calls handlers by name. */
class Emitter {
  /** @type {Set<[string, (value: any) => void]>} */
  handlers = new Set();

  /**
   * Calls a handler whenever something happens.
   * @param {string} event @param {(value: any) => void} handler @returns {() => void} ends that
   */
  on(event, handler) {
    /** @type {[string, (value: any) => void]} */
    const entry = [event, handler];
    this.handlers.add(entry);
    return () => this.handlers.delete(entry);
  }

  /** @param {string} event @param {any} value */
  emit(event, value) {
    for (const [name, handler] of [...this.handlers]) {
      try {
        if (name === event) handler(value);
      } catch (error) {
        // A handler's fault is the app's to hear of, and nobody else's.
        setTimeout(() => {
          throw error;
        });
      }
    }
  }
}

/** Why an edit or a join was refused for good. */
export class Refusal extends Error {
  name = "Refusal";
  /** @type {string} one of the codes of the protocol, or `queue_full`, `forgotten`, `left`, `closed` */
  code;
  /** @type {string | undefined} the field at fault */
  field;
  /** @type {string | undefined} the user whose work an undo or a redo would delete */
  by;
  /**
   * What an undo or a redo cannot take back now: asked again, it leaves this out.
   * @type {{seq: number, event: string, elementIds: string[]} | undefined}
   */
  entry;

  /** @param {Data} error as the server sent it */
  constructor(error) {
    super(error.message ?? error.code);
    this.code = error.code;
    Object.assign(this, pick(error, ["field", "by", "entry"]));
  }
}

/**
 * Why an attempt to connect failed, by code, in a sentence.
 * @type {Record<string, string>}
 */
const FAILURES = {
  unreachable: "No network, server, valid certificate or accepted origin.",
  tls: "No valid certificate.",
  refused: "No server at this address.",
  not_touchsync: "No TouchSync server at this address.",
  origin: "No accepted origin.",
  token: "No accepted token.",
  version: "No known version.",
};

/**
 * What Node says of them.
 * @type {Record<string, RegExp>}
 */
const SIGNS = { refused: /REFUSED/, tls: /CERT|SSL|TLS|SIGN/, origin: /: 403/, not_touchsync: /: [234]\d\d/ };

/**
 * What is known of why a socket could not be opened: browsers tell nothing.
 * @param {ErrorEvent} event @returns {string | undefined} one of the codes
 */
function failureOf({ error, message }) {
  const told = [error?.code, error?.cause?.code, message].join();
  return Object.keys(SIGNS).find(code => SIGNS[code].test(told));
}

/**
 * Nothing in a room that was left.
 * @type {readonly any[]}
 */
const NONE = Object.freeze([]);

/** @returns {string} a name that nobody else uses */
const uniqueName = () => crypto.getRandomValues(new Uint32Array(3)).join("-");

/**
 * A connection to a TouchSync server.
 *
 * Events: `state` (offline, connecting, joining, live, draining, expired), `failure` (of an attempt to connect),
 * `persistence`, `refusal` (of an edit in a room that is not open), `error` (what the server refused without being asked,
 * failures of the store, of the app's tokens and of sockets that cannot be opened).
 */
export class TouchSync extends Emitter {
  /** @type {Map<string, Room>} */
  rooms = new Map();
  /**
   * Promises of results, by the names of edits.
   * @type {Map<any, {resolve: (answer: Data) => void, reject: (refusal: Refusal) => void, isAwaited: () => boolean}>}
   */
  awaited = new Map();
  /** @type {WebSocket | undefined} */
  socket;
  /** @type {any} */
  timer;
  /** When the timer ends. */
  wakesAt = Infinity;
  /**
   * What is to be sent once it is saved.
   * @type {string[] | undefined}
   */
  unsent;
  /** @type {Promise<void> | undefined} */
  saving;
  /**
   * Whether edits survive the page: there is no store, or it is not open yet; or it is used; or it cannot be.
   * @type {"none" | "ready" | "unavailable"}
   */
  persistence = "none";
  /**
   * What is kept in the store.
   * @type {import("./store.js").SavedEdits | undefined}
   */
  saved;
  /**
   * Inputs that wait for the store, or for the present one to be done.
   * @type {({type: string} & Data)[]}
   */
  inputs = [];
  isBusy = false;
  isClosed = false;
  /**
   * Why the last attempt to connect failed; null once one succeeded.
   * @type {{code: keyof FAILURES, message: string} | null}
   */
  lastFailure = null;
  /**
   * What ends listening to the page's surroundings.
   * @type {AbortController | undefined}
   */
  listening;

  /**
   * @param {object} [options]
   * @param {string} [options.url] of the server; that of the page by default
   * @param {string} [options.userId] without tokens: who this is
   * @param {string} [options.name] without tokens: the name that others see
   * @param {string} [options.color] without tokens: the colour that others see
   * @param {(reason: "connect" | "expires" | "refused") => string | null | Promise<string | null>} [options.token] asked for a
   *   token before each connection, before the present one ends, and when it was refused; null when there is none, rejected
   *   when nobody knows for now
   * @param {Store} [options.store] keeps edits without a result over restarts; needs `owner`
   * @param {string} [options.owner] whose edits these are: another user of the same browser has others
   * @param {number} [options.queueLimit] the most edits that wait in one room
   * @param {boolean} [options.motion] whether elements move by themselves; by default unless the user wants less of that
   * @param {any} [options.WebSocket] where the platform has none
   * @param {any} [options.fetch] where the platform has none
   */
  constructor(options = {}) {
    super();
    const {
      url = globalThis.location?.href, userId, name, color, token, store, owner, queueLimit,
      motion = !globalThis.matchMedia?.("(prefers-reduced-motion: reduce)").matches, WebSocket = globalThis.WebSocket,
      fetch = globalThis.fetch,
    } = options;
    if (store && owner === undefined) throw new TypeError("A store needs an owner.");
    this.options = options;
    this.url = new URL(url);
    this.WebSocket = WebSocket;
    this.fetch = fetch;
    this.token = token;
    this.core = new Core({ handshake: { userId, name, color, batches: true }, hasTokens: token !== undefined, queueLimit, motion });
    /** What an earlier run left is being read until then. */
    this.restoring = store && this.restore(store, `touchsync ${this.url.origin} ${owner}`);
  }

  /** @returns {"offline" | "connecting" | "joining" | "live" | "draining" | "expired"} */
  get state() {
    return this.core.state;
  }

  /**
   * Who this user is, as the server last said when a room was joined.
   * @returns {{userId: string, name: string, color: string} | undefined} undefined before
   */
  get self() {
    return [...this.rooms.values()].find(room => room.self)?.self;
  }

  /** Connects, and stays connected until `disconnect`: whatever is lost comes back by itself. */
  connect() {
    this.listen();
    this.input({ type: "connect" });
  }

  /** Disconnects. Rooms and edits stay; edits are sent after the next `connect`. */
  disconnect() {
    this.listening?.abort();
    this.input({ type: "disconnect" });
  }

  /**
   * Ends for good, and leaves saved edits to the next one of the same owner; their promises are rejected with `closed`.
   * @returns {Promise<void>} when everything is saved
   */
  async close() {
    this.disconnect();
    await this.restoring;
    this.isClosed = true;
    clearTimeout(this.timer);
    for (const id of this.awaited.keys()) this.settle(undefined, id, CLOSED);
    for (const room of this.rooms.values()) room.end(CLOSED);
    await this.saved?.close();
  }

  /**
   * A room, which is joined as soon as there is a connection, and again after each loss.
   * @param {string} roomId @returns {Room}
   */
  room(roomId) {
    const room = this.rooms.get(roomId) ?? new Room(this, roomId);
    this.rooms.set(roomId, room);
    this.input({ type: "join", roomId, room });
    return room;
  }

  // The core and its clock

  get now() {
    return performance.now();
  }

  /** @param {{type: string} & Data} input */
  input(input) {
    if (this.isClosed) return this.settle(undefined, input.id, CLOSED);
    this.inputs.push(input);
    if (this.isBusy) return;
    this.isBusy = true;
    for (let next; (next = this.inputs.shift()); ) {
      try {
        this.take(next);
      } catch (error) {
        this.emit("error", error);
      }
    }
    this.isBusy = false;
    // A deadline moves on with each message: to wake too early does nothing, and costs less than another timer.
    const { deadline } = this.core;
    if (deadline >= this.wakesAt && deadline < Infinity) return;
    clearTimeout(this.timer);
    this.wakesAt = deadline;
    if (deadline < Infinity) {
      this.timer = setTimeout(() => {
        this.wakesAt = Infinity;
        this.input({ type: "time" });
      }, Math.min(Math.ceil(deadline - this.now), 2 ** 31 - 1));
    }
  }

  /** @param {{type: string} & Data} input */
  take(input) {
    const { type, roomId, room } = input;
    if (type === "join") input.record = this.saved?.rooms[roomId];
    // What the app wanted before it may have left the room.
    if (room) this.rooms.set(roomId, room);
    for (const output of this.core.input(input, this.now)) this.perform(output);
  }

  /** @param {Output} output */
  perform(output) {
    const { type, roomId } = output, room = this.rooms.get(roomId);
    switch (type) {
      case "open": return this.open();
      case "close": return (this.socket = void this.socket?.close());
      case "send": return this.unsent ? this.unsent.push(output.text) : this.socket?.send(output.text);
      case "token": return this.provideToken(output.reason);
      case "history": return this.searchHistory(roomId, output.after);
      case "save": {
        const writing = this.saved?.save(roomId, output.record);
        writing?.then(() => this.persist("ready"), error => this.persist("unavailable", error));
        return output.isFirst && writing && this.sendAfter(writing);
      }
      case "state":
        if (this.core.link.isUp) this.lastFailure = null;
        return this.emit("state", output.state);
      case "failure": return this.emit("failure", (this.lastFailure = { code: output.code, message: FAILURES[output.code] }));
      case "error": return this.emit("error", new Refusal(output.error));
      case "result": return this.settle(room ?? this, output.id, output.answer);
    }
    room?.happened(output);
    if (output.phase === "left") this.rooms.delete(roomId);
  }

  /**
   * What an earlier run left is sent, even in rooms that the app does not open.
   * @param {Store} store @param {string} key
   */
  async restore(store, key) {
    this.isBusy = true;
    try {
      this.saved = await store.open(this, key);
      for (const roomId in this.saved?.rooms) {
        if (!this.rooms.has(roomId)) this.inputs.push({ type: "join", roomId }, { type: "deliver", roomId });
      }
      this.persist(this.saved ? "ready" : "unavailable");
    } catch (error) {
      this.persist("unavailable", error);
    }
    this.isBusy = false;
    this.input({ type: "restored" });
  }

  /** @param {"ready" | "unavailable"} persistence @param {any} [error] why */
  persist(persistence, error) {
    if (error) this.emit("error", error);
    if (persistence !== this.persistence) this.emit("persistence", (this.persistence = persistence));
  }

  // The socket

  /**
   * Sends nothing until it is saved, or for 3 s if that hangs or fails: unanswered, a connection counts as dead after 5 s.
   * @param {Promise<void>} writing
   */
  async sendAfter(writing) {
    this.unsent ??= [];
    this.saving = writing;
    await new Promise(resolve => {
      writing.then(resolve, () => {});
      setTimeout(resolve, 3000);
    });
    if (this.saving === writing) this.unsent = void this.unsent.forEach(text => this.socket?.send(text));
  }

  open() {
    this.unsent &&= [];
    const { href } = new URL("/socket.io/?EIO=4&transport=websocket", this.url);
    /** @type {any} */
    let socket;
    try {
      socket = this.socket = new this.WebSocket(href.replace("http", "ws"));
    } catch (error) {
      // As a page that came by HTTPS must not connect without TLS.
      this.emit("error", error);
      return this.input({ type: "closed" });
    }
    /** @param {{type: string} & Data} input */
    const input = input => {
      if (socket === this.socket) this.input(input);
    };
    /** @type {string | undefined} */
    let failure;
    socket.onopen = () => input({ type: "opened" });
    socket.onmessage = (/** @type {MessageEvent} */ message) => input({ type: "packet", text: String(message.data) });
    socket.onclose = () => input({ type: "closed", failure });
    socket.onerror = (/** @type {ErrorEvent} */ event) => (failure = failureOf(event));
  }

  /** Listens to the page's surroundings. */
  listen() {
    if (!globalThis.document) return;
    this.listening?.abort();
    this.listening = new AbortController();
    const { signal } = this.listening;
    for (const type of ["online", "offline", "visibilitychange"]) {
      const told = () => (type[0] === "o" ? type : document.hidden ? "background" : "foreground");
      addEventListener(type, () => this.input({ type: told() }), { signal });
    }
  }

  /** @param {"connect" | "expires" | "refused"} reason */
  async provideToken(reason) {
    try {
      this.input({ type: "token", token: (await this.token?.(reason)) ?? null });
    } catch (error) {
      this.emit("error", error);
      this.input({ type: "tokenFailed" });
    }
  }

  // HTTP

  /** @param {string} roomId @param {number} after */
  async searchHistory(roomId, after) {
    const page = await this.readHistory(roomId, { after, limit: 200 }).catch(() => {});
    this.input({ type: "history", roomId, after, page });
  }

  /** @param {string} roomId @param {{after?: number, limit?: number}} range @returns {Promise<Data>} */
  async readHistory(roomId, { after = 0, limit = 50 } = {}) {
    const url = new URL(`/api/rooms/${encodeURIComponent(roomId)}/history?after=${after}&limit=${limit}`, this.url);
    const { fetch, core } = this, token = core.link.presentToken;
    const response = await fetch(url, { headers: token ? { authorization: `Bearer ${token}` } : {} });
    const body = await response.json();
    if (response.ok) return body;
    // A room that nothing was ever stored in.
    if (response.status === 404) return { entries: [], next: null, oldest: 1 };
    throw new Refusal(body.error);
  }

  // Results

  /**
   * @param {{type: string} & Data} input that makes an edit
   * @returns {Promise<any>} its result
   */
  result(input) {
    const id = uniqueName();
    /** @type {Answer} */
    const result = new Answer((resolve, reject) =>
      this.awaited.set(id, { resolve, reject, isAwaited: () => result.isAwaited }));
    // A refusal that the room's event tells is nobody's fault.
    Promise.prototype.then.call(result, null, () => {});
    try {
      this.input({ ...copied(input), id });
    } catch (error) {
      this.settle(this.rooms.get(input.roomId), id, refusal("invalid", String(error)));
    }
    return result;
  }

  /**
   * @param {Emitter | undefined} place where a refusal is told that nobody waits for @param {any} id @param {Data} answer
   */
  settle(place, id, answer) {
    const awaited = this.awaited.get(id);
    this.awaited.delete(id);
    if (answer.ok) return awaited?.resolve(answer);
    const refusal = new Refusal(answer.error);
    awaited?.reject(refusal);
    // An edit that is refused at once has been returned by then.
    setTimeout(() => awaited?.isAwaited() || place?.emit("refusal", refusal));
  }
}

/**
 * The promise of an edit's result, which knows whether somebody waits for it.
 * @extends {Promise<any>}
 */
class Answer extends Promise {
  isAwaited = false;

  /**
   * @param {any} [done] @param {any} [failed] @returns {Promise<any>}
   */
  then(done, failed) {
    this.isAwaited = true;
    return super.then(done, failed);
  }
}

/**
 * Whether and with what an edit is undone, and how the eye gets there.
 * @typedef {{undoable?: boolean, undoGroup?: string, motion?: Data}} UndoOptions
 */
/** @typedef {{ok: true, seq: number, adjusted: Data[], element?: Element, elements?: Element[]}} Result */

/**
 * A room. Its edits are shown immediately, and sent in their order as soon as they can be; each has a promise of its
 * result, which is rejected with a `Refusal`.
 *
 * Events: `change` (ids of elements), `moving` (an element that moves, or that somebody else moves, at each preview: draw it
 * at each frame), `still` (an element that does not move by itself any more), `members`, `awareness` (what somebody shows),
 * `signal` (what somebody tells), `joined`, `denied` and `refusal` (a `Refusal`), `left`.
 */
export class Room extends Emitter {
  /** @param {Data} refusal of the first join, if it is still to come */
  end = refusal => {};

  /** @param {TouchSync} client @param {string} id */
  constructor(client, id) {
    super();
    this.client = client;
    this.id = id;
    /**
     * The first join: rejected with a `Refusal` when this user may not join, or the room is left before.
     * @type {Promise<void>}
     */
    this.joined = new Promise((resolve, reject) => {
      this.on("joined", () => resolve());
      this.on("denied", reject);
      this.on("left", () => this.end(LEFT));
      this.end = ({ error }) => reject(new Refusal(error));
    });
    this.joined.catch(() => {});
  }

  /** @returns {RoomCore | undefined} */
  get core() {
    return this.client.core.rooms.get(this.id);
  }

  /** The number of the last change that was applied here. */
  get seq() {
    return this.core?.seq ?? 0;
  }

  /** Edits without a result yet. */
  get pending() {
    return this.core?.queue.open.length ?? 0;
  }

  /**
   * All elements as they lie on each other, the lowest first: by `zIndex`, which is 0 when absent, then by id, so that
   * the order is the same for everybody. The same list until something changes.
   * @returns {readonly Element[]}
   */
  get elements() {
    return this.core?.elements ?? NONE;
  }

  /** @param {string} id @returns {Element | undefined} */
  element(id) {
    return this.core?.shown.get(id);
  }

  /**
   * An element as it is to be drawn; the same object at each call while others move it.
   * @param {string} id @param {number} [now] when: the time that `requestAnimationFrame` tells, ms
   * @returns {Element | undefined}
   */
  drawn(id, now = this.client.now) {
    return this.core?.drawn(id, now);
  }

  /**
   * Whether the element moves by itself, or somebody else's movement of it is still under way.
   * @param {string} id @param {number} [now]
   */
  isMoving(id, now = this.client.now) {
    const { core } = this;
    return Boolean(core?.movements.ongoing(id, now) || core?.playing.isMoving(id, now));
  }

  /**
   * Where an element's motion and animation have it at a time, also to come, without what others do to it.
   * @param {string} id @param {number} [now] ms, as for `drawn` @returns {Required<Fields> | undefined}
   */
  pose(id, now = this.client.now) {
    const element = this.element(id);
    const pose = element && (this.core?.playing.pose(element, now) ?? poseOf(element));
    return pose && named(pose);
  }

  /**
   * Who is here, and what is shown of them. The same list until something changes.
   * @returns {readonly Data[]}
   */
  get members() {
    return this.core?.people.listed ?? NONE;
  }

  /**
   * Who this user is here, and what it may do, as of the last join: `right` is `view`, `preview` or `commit`, each with the
   * ones before it.
   * @returns {{userId: string, name: string, color: string, right: string} | undefined} undefined before the first join
   */
  get self() {
    return this.core?.people.self;
  }

  /**
   * Whether `undo` has something to take back. True until the server has found nothing: earlier sessions count too.
   */
  get canUndo() {
    return !this.core?.spent.has("history:undo");
  }

  /** Whether `redo` has something to do again, as far as it was undone since this room was opened. */
  get canRedo() {
    return !this.core?.spent.has("history:redo");
  }

  // Edits

  /**
   * A new element. One without an id gets one by `newElementId`. Who chooses ids gives `zIndex`, or ids that sort:
   * `note-9` lies above `note-10`.
   * @param {Data} element at least its type
   * @param {UndoOptions} [options] @returns {Promise<Result>}
   */
  create(element, options) {
    return this.edit("element:create", { element: identified(element) }, options);
  }

  /**
   * Several elements, all or none.
   * @param {Data[]} elements @param {UndoOptions} [options] @returns {Promise<Result>}
   */
  createAll(elements, options) {
    return this.edit("elements:create", { elements: elements.map(identified) }, options);
  }

  /**
   * Sets values of an element's geometry.
   * @param {string} elementId @param {Fields} fields @param {UndoOptions} [options] @returns {Promise<Result>}
   */
  transform(elementId, fields, options) {
    return this.edit("element:transform", transformOf({ elementId, ...fields }), options);
  }

  /**
   * Of several elements, all or none.
   * @param {({elementId: string} & Fields)[]} elements @param {UndoOptions} [options] @returns {Promise<Result>}
   */
  transformAll(elements, options) {
    return this.edit("elements:transform", { elements: elements.map(transformOf) }, options);
  }

  /**
   * Sets what an element has apart from position, scale, rotation and anchor: `originalWidth` and `originalHeight` resize
   * it, null removes an option or a field of the app's own.
   * @param {string} elementId @param {Data} set @param {UndoOptions} [options] @returns {Promise<Result>}
   */
  update(elementId, set, options) {
    return this.edit("element:update", { elementId, set }, options);
  }

  /**
   * Gives an element another size about its anchor; its scale stays.
   * @param {string} elementId @param {{width?: number, height?: number}} size pixels at scale 1
   * @param {UndoOptions} [options] @returns {Promise<Result>}
   */
  resize(elementId, { width, height }, options) {
    return this.update(elementId, { originalWidth: width, originalHeight: height }, options);
  }

  /**
   * Deletes elements with their annotations.
   * @param {string | string[]} ids @param {UndoOptions} [options] @returns {Promise<Result>}
   */
  delete(ids, options) {
    if (Array.isArray(ids)) return this.edit("elements:delete", { elementIds: ids }, options);
    return this.edit("element:delete", { elementId: ids }, options);
  }

  /**
   * @param {string} elementId @param {"rotateCW" | "rotateCCW" | "rotate180" | "flipX" | "flipY" | "reset"} preset
   * @param {UndoOptions} [options] @returns {Promise<Result>}
   */
  preset(elementId, preset, options) {
    return this.edit("element:preset", { elementId, preset }, options);
  }

  /**
   * Takes this user's newest edit back. It is shown when the server has done it. One that cannot be taken back now is
   * refused with an `entry`; asked a second time in a row, it is left out, and the one before it taken back.
   * @param {{motion?: Data}} [options] @returns {Promise<Result>}
   */
  undo(options) {
    return this.edit("history:undo", {}, options);
  }

  /**
   * Does again what was undone last, in the same way.
   * @param {{motion?: Data}} [options] @returns {Promise<Result>}
   */
  redo(options) {
    return this.edit("history:redo", {}, options);
  }

  /** @param {string} event @param {Data} body @param {UndoOptions} [options] @returns {Promise<any>} */
  edit(event, body, options) {
    return this.client.result({ type: "edit", roomId: this.id, event, body: { ...body, ...options } });
  }

  /**
   * Fingers touched elements.
   * @param {string | string[]} ids
   * @param {{pivot?: Point}} options about which a group turns and scales; its middle by default
   */
  begin(ids, { pivot } = {}) {
    const gesture = uniqueName();
    this.input("begin", { gesture, elementIds: [ids].flat(), pivot });
    return new Gesture(this, gesture);
  }

  // Awareness

  /**
   * Where this user points, pixels of the canvas; null hides it.
   * @param {Point | null} cursor
   */
  point(cursor) {
    this.input("point", cursor ?? { x: null, y: null });
  }

  /** @param {string[]} elementIds */
  select(elementIds) {
    this.input("select", { elementIds });
  }

  /**
   * The part of the canvas that is seen: previews of others come from there only.
   * @param {{x: number, y: number, width: number, height: number}} [viewport] everything by default
   * @param {{share?: boolean}} [options] whether others see it, to follow
   */
  look(viewport, options) {
    this.input("look", { viewport, share: options?.share });
  }

  /**
   * Follows a user's view.
   * @param {string} userId
   * @param {(viewport?: {x: number, y: number, width: number, height: number}) => void} show gets what that user shares, now
   *   and whenever it changes; undefined while nothing is shared
   * @returns {() => void} ends it
   */
  follow(userId, show) {
    /** @type {string | undefined} */
    let shown = "";
    const look = () => {
      const member = this.members.find(one => one.userId === userId);
      const viewport = member?.connections.find((/** @type {Data} */ one) => one.viewport)?.viewport;
      if (shown !== (shown = JSON.stringify(viewport))) show(viewport);
    };
    const ends = [this.on("members", look), this.on("awareness", look)];
    look();
    return () => ends.map(end => end());
  }

  /**
   * What else others are to see of this user, as the app understands it.
   * @param {{[key: string]: any}} state at most 1 KiB as JSON
   */
  show(state) {
    this.input("show", { state });
  }

  /**
   * Tells the others in the room something at once; nothing is kept of it, and who is not here misses it.
   * @param {string} name @param {any} [data] at most 4 KiB as JSON
   */
  signal(name, data) {
    this.input("signal", { name, data });
  }

  /**
   * A page of who changed what.
   * @param {{after?: number, limit?: number}} [range] @returns {Promise<Data>}
   */
  history(range) {
    return this.client.readHistory(this.id, range);
  }

  /** Leaves, as soon as all edits have their results. */
  leave() {
    this.input("leave");
  }

  /** @param {string} type @param {Data} [fields] */
  input(type, fields) {
    this.client.input({ type, roomId: this.id, ...copied(fields) });
  }

  /** @param {Output} output */
  happened(output) {
    const { type, phase, ids, elementId } = output;
    if (ids) this.emit("change", ids);
    else if (type === "members") this.emit(type, this.members);
    else if (phase === "refused") this.emit("denied", new Refusal(output.error));
    else this.emit(phase ?? type, elementId ?? output);
  }
}

/** The time in the latest new id, ms since 1970: it does not run backwards, and has 8 digits from the beginning. */
let latest = 36 ** 7;
/** Orders ids of the same ms: the first of 4 digits. */
let madeIds = 36 ** 3;

/**
 * An id for a new element: `~`, time and number to the base 36, and a unique name. Among elements of one `zIndex` it
 * lies above other ids of this form, as far as the clocks agree, and above all others of letters and digits.
 */
export function newElementId() {
  latest = Math.max(latest, Date.now());
  return `~${latest.toString(36)}-${(madeIds++).toString(36)}-${uniqueName()}`;
}

/** @param {Data} element @returns {Data} with an id */
const identified = element => ({ id: newElementId(), ...element });

/**
 * Scale and rotation stand in `transform`, all else beside it.
 * @param {Data} fields @returns {Data}
 */
const transformOf = fields => ({ ...without(fields, INSIDE), transform: pick({ ...fields.transform, ...fields }, INSIDE) });

/** What fingers do to elements until they are lifted. */
export class Gesture {
  /** @param {Room} room @param {string} name */
  constructor(room, name) {
    this.room = room;
    this.name = name;
  }

  /**
   * The fingers have done this since they touched; what is absent is as it was.
   * @param {Deltas} deltas
   */
  update(deltas) {
    this.room.input("move", { gesture: this.name, deltas });
  }

  /**
   * The fingers were lifted. With `throwing` they throw what they hold if they moved faster than 50 px/s: with their
   * velocity in the last 100 ms, unless there is another one.
   * @param {{throwing?: boolean | {velocity?: Point, angularVelocity?: number, rate?: number, bounce?: number,
   *   snap?: Data}}} options
   * @returns {Promise<Result>}
   */
  end({ throwing } = {}) {
    const { room, name: gesture } = this;
    return room.client.result({ type: "end", roomId: room.id, gesture, throwing: throwing && { ...Object(throwing) } });
  }

  /** Everything is as before. */
  cancel() {
    this.room.input("cancel", { gesture: this.name });
  }
}
