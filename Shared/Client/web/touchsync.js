// TouchSync for web pages: one module without dependencies. What decides is `Core`, a machine without a socket and
// without a clock; what acts is `TouchSync` at the end of the file. Shared/Client/README.md describes the behaviour.

/**
 * @typedef {Record<string, any>} Data What came out of JSON, or goes into it.
 * @typedef {{x: number, y: number}} Point
 * @typedef {Data & {id: string, type: string, positionX: number, positionY: number, rotation: number, scaleX: number,
 *   scaleY: number, originalWidth: number, originalHeight: number, anchorX: number, anchorY: number}} Element
 * @typedef {{positionX?: number, positionY?: number, rotation?: number, scaleX?: number, scaleY?: number}} Fields
 *   Values of a transform; what is absent stays as it is.
 * @typedef {{translation?: Point, scale?: number | Point, rotation?: number, anchor?: Point}} Deltas
 *   What fingers did since they touched an element: pixels, a factor, clockwise degrees, a point of the unit square.
 * @typedef {{minScale: number, maxScale: number, lockedAspect: boolean, rotates: boolean, minWidth: number,
 *   minHeight: number, minSide: number, fontSize?: {min: number, max: number} | null}} TypeRules
 * @typedef {Map<string, TypeRules>} Rules by type; `*` has those of all other types
 * @typedef {{type: string} & Data} Output What the shell is to do, or to report.
 */

// MARK: Values from outside

/** @param {string | undefined} json @returns {any} undefined when it is none */
function parsed(json) {
  try {
    return json ? JSON.parse(json) : undefined;
  } catch {
    return undefined;
  }
}

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

/** @param {Data} data @param {string[]} names */
const pick = (data, names) => Object.fromEntries(names.map(name => [name, data[name]]));

/** @param {number} value @param {number} low @param {number} high */
const clamp = (value, low, high) => (value < low ? low : value > high ? high : value);

/**
 * A number in its range; undefined when it is none.
 * @param {any} value @returns {number | undefined}
 */
const numberIn = (value, low = -Infinity, high = Infinity) =>
  Number.isFinite(value) ? clamp(value, low, high) : undefined;
/**
 * The same of numbers above 0.
 * @param {any} value @param {number} [low] @param {number} [high]
 */
const positiveIn = (value, low, high) => (value > 0 ? numberIn(value, low, high) : undefined);
/** @param {any} value */
const flagIn = value => (typeof value === "boolean" ? value : undefined);
/** @param {any} value */
const textIn = value => (typeof value === "string" ? value : undefined);

// MARK: Rules

/** @type {TypeRules} */
const FREE = {
  minScale: 0.1, maxScale: 10, lockedAspect: false, rotates: true, minWidth: 0, minHeight: 0, minSide: 0, fontSize: null,
};
const LOCKED = { ...FREE, lockedAspect: true, minScale: 0.5, maxScale: 3 };

/**
 * What the server applies unless it says otherwise.
 * @type {Rules}
 */
const BUILT_IN = new Map([
  ["note", FREE],
  ["photo", { ...LOCKED, minScale: 0.2, maxScale: 5 }],
  ["video", { ...LOCKED, minSide: 44 }],
  ["audio", { ...LOCKED, rotates: false, minWidth: 120, minHeight: 44 }],
  ["text", { ...FREE, fontSize: { min: 12, max: 72 } }],
  ["*", FREE],
]);

const isScale = (/** @type {any} */ value) => value >= 1e-6 && value <= 1e6;
const isSide = (/** @type {any} */ value) => value >= 0 && value <= 1e6;
/**
 * Whether a rule has a value that can be applied, by its name and kind.
 * @type {Record<string, (value: any) => boolean>}
 */
const IS_RULE = {
  minScale: isScale, maxScale: isScale, minWidth: isSide, minHeight: isSide, minSide: isSide,
  fontSize: value => value === null || (positiveIn(value.min) ?? Infinity) <= (numberIn(value.max) ?? 0),
};

/** @param {Data} json @param {TypeRules & Data} base @returns {TypeRules} */
function rulesOf(json, base) {
  const known = Object.entries(json).filter(([name, value]) =>
    Object.hasOwn(base, name) && typeof value === typeof base[name] && (IS_RULE[name]?.(value) ?? true));
  const rules = { ...base, ...Object.fromEntries(known) };
  const { minScale, maxScale } = base;
  return rules.minScale <= rules.maxScale ? rules : { ...rules, minScale, maxScale };
}

/**
 * The server's table: what this version does not know of it, or cannot read, is as it is built in.
 * @param {Data} json @returns {Rules}
 */
function tableOf(json) {
  const other = rulesOf(objectIn(json["*"]), FREE);
  const table = new Map(BUILT_IN).set("*", other);
  for (const [type, rules] of Object.entries(json)) {
    if (isObject(rules) && type !== "*") table.set(type, rulesOf(rules, table.get(type) ?? other));
  }
  return table;
}

/** @param {Rules} rules @param {string} type */
const ruleOf = (rules, type) => rules.get(type) ?? rules.get("*") ?? FREE;

// MARK: Fields

/**
 * How the server stores a field that an app may set, which is undefined for a value that it refuses.
 * @typedef {Record<string, (value: any, rule: TypeRules) => any>} Fieldset
 */

/**
 * What an element has apart from its geometry.
 * @type {Fieldset}
 */
const OPTIONS = {
  locked: flagIn,
  zIndex: value => numberIn(value),
  fontSize: (value, { fontSize }) => numberIn(value, fontSize?.min, fontSize?.max),
  snapDegrees: value => positiveIn(value, 0, 180),
  bounds(value) {
    const sides = [value?.width, value?.height].map(side => (side >= 0 ? numberIn(side, 0, 2e9) : undefined));
    const [x, y, width, height] = [...[value?.x, value?.y].map(edge => numberIn(edge, -1e9, 1e9)), ...sides];
    return [x, y, width, height].includes(undefined) ? undefined : { x, y, width, height };
  },
};

const original = (/** @type {any} */ value) => positiveIn(value, 0.001, 1e9);
const anchor = (/** @type {any} */ value) => numberIn(value, -1000, 1000);
/**
 * What a new element may have beside it.
 * @type {Fieldset}
 */
const FIELDS = {
  ...OPTIONS, id: textIn, type: textIn, parentId: textIn,
  space: value => (value === "canvas" || value === "normalized" ? value : undefined),
  positionX: value => numberIn(value), positionY: value => numberIn(value), rotation: value => numberIn(value),
  scaleX: value => numberIn(value), scaleY: value => numberIn(value),
  width: value => positiveIn(value), height: value => positiveIn(value),
  originalWidth: original, originalHeight: original, anchorX: anchor, anchorY: anchor,
};
/** What the server adds to an element that it announces. */
const ENVELOPE = ["roomId", "seq", "userId", "sid", "n", "cause", "part", "parts"];
/** What the server alone sets. */
const SERVERS = ["createdBy", "updatedBy", "rev", ...ENVELOPE];
/** What an update does not change. */
const FIXED = ["transform", ...SERVERS, ...Object.keys(FIELDS).filter(name => !(name in OPTIONS))];

/** @param {Data} data @param {string[]} names @returns {Data} */
const without = (data, names) => Object.fromEntries(Object.entries(data).filter(([name]) => !names.includes(name)));

/**
 * Fields as the server stores them, with the app's own; undefined when it refuses one.
 * @param {Data} sent @param {Fieldset} fields @param {TypeRules} rule @returns {Data | undefined}
 */
function stored(sent, fields, rule) {
  const result = { ...sent };
  for (const name of Object.keys(fields)) {
    if (sent[name] !== undefined && (result[name] = fields[name](sent[name], rule)) === undefined) return undefined;
  }
  return result;
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
  const multiple = Math.round(degrees / step) * step;
  const below = multiple < 360 ? multiple : (Math.round(degrees / step) - 1) * step;
  return 360 - degrees <= Math.abs(degrees - below) ? 0 : below;
}

/**
 * Whole, halves away from zero.
 * @param {number} value
 */
const whole = value => Math.sign(value) * Math.round(Math.abs(value)) + 0;

/** @param {Point} point @param {number} degrees @returns {Point} */
function rotated({ x, y }, degrees) {
  const radians = (degrees * Math.PI) / 180;
  const cosine = Math.cos(radians), sine = Math.sin(radians);
  return { x: x * cosine - y * sine, y: x * sine + y * cosine };
}

/**
 * One coordinate of a position under the rules: of annotations a fraction, otherwise whole pixels unless only drawn.
 * @param {number} sent @param {Element} element @param {"x" | "y"} axis @param {boolean} isDrawn
 */
function coordinate(sent, element, axis, isDrawn) {
  const { bounds } = element;
  const edge = bounds?.[axis], extent = axis === "x" ? bounds?.width : bounds?.height;
  if (element.space === "normalized") {
    return clamp(bounds ? clamp(sent, edge, edge + extent) : sent, 0, 1);
  }
  const value = clamp(isDrawn ? sent : whole(sent), -1e9, 1e9);
  if (!bounds) return value;
  if (isDrawn) return clamp(value, edge, edge + extent);
  return Math.min(Math.max(value, Math.ceil(edge)), Math.floor(edge + extent));
}

/**
 * The smallest scale at which a side has so many pixels.
 * @param {number} side @param {number} original
 */
function smallestScale(side, original) {
  if (!(side > 0 && original > 0)) return 0;
  const scale = side / original;
  return original * scale < side ? scale * (1 + Number.EPSILON) : scale;
}

/**
 * Whether a scale moved further, in log scale, than another.
 * @param {number} a @param {number} oldA @param {number} b @param {number} oldB
 */
function isFurther(a, oldA, b, oldB) {
  const way = (/** @type {number} */ now, /** @type {number} */ old) => Math.abs(Math.log(now / old));
  return way(a, oldA) > way(b, oldB);
}

/**
 * Both scales under the rules. Order: locked aspect, range, smallest size, which wins over the range.
 * @param {Element} element @param {Fields} sent @param {TypeRules} rules @returns {{scaleX: number, scaleY: number}}
 */
function scales(element, sent, rules) {
  let hasX = sent.scaleX !== undefined, hasY = sent.scaleY !== undefined;
  const signedX = sent.scaleX ?? element.scaleX, signedY = sent.scaleY ?? element.scaleY;
  let x = Math.abs(signedX), y = Math.abs(signedY);
  let smallestX = smallestScale(Math.max(rules.minWidth, rules.minSide), element.originalWidth);
  let smallestY = smallestScale(Math.max(rules.minHeight, rules.minSide), element.originalHeight);
  if (rules.lockedAspect && (hasX || hasY)) {
    const yDecides = hasX && hasY ? isFurther(y, Math.abs(element.scaleY), x, Math.abs(element.scaleX)) : hasY;
    x = y = yDecides ? y : x;
    hasX = hasY = true;
    smallestX = smallestY = Math.max(smallestX, smallestY);
  }
  if (hasX) x = Math.max(clamp(x, rules.minScale, rules.maxScale), smallestX);
  if (hasY) y = Math.max(clamp(y, rules.minScale, rules.maxScale), smallestY);
  return { scaleX: signedX < 0 ? -x : x, scaleY: signedY < 0 ? -y : y };
}

/**
 * An element after a transform, under the rules of its type as the server applies them.
 * @param {Element} element @param {Fields} fields @param {Rules} rules
 * @param {boolean} isDrawn whether it is for drawing alone: then positions are not rounded
 * @returns {Element}
 */
export function transformed(element, fields, rules, isDrawn = false) {
  const rule = ruleOf(rules, element.type);
  /** @type {Element} */
  const next = { ...element, ...scales(element, fields, rule) };
  if (fields.positionX !== undefined) next.positionX = coordinate(fields.positionX, element, "x", isDrawn);
  if (fields.positionY !== undefined) next.positionY = coordinate(fields.positionY, element, "y", isDrawn);
  if (fields.rotation !== undefined) {
    next.rotation = rule.rotates ? snapped(normalized(fields.rotation), element.snapDegrees) : 0;
  }
  next.width = next.originalWidth * Math.abs(next.scaleX);
  next.height = next.originalHeight * Math.abs(next.scaleY);
  return next;
}

/**
 * An element with another anchor, visually in place.
 * @param {Element} element @param {Point} anchor @param {Element} [parent] of an annotation @returns {Element}
 */
function anchored(element, anchor, parent) {
  const anchorX = clamp(anchor.x, -1000, 1000), anchorY = clamp(anchor.y, -1000, 1000);
  const way = rotated({
    x: (anchorX - element.anchorX) * element.originalWidth * element.scaleX,
    y: (anchorY - element.anchorY) * element.originalHeight * element.scaleY,
  }, element.rotation);
  const isFraction = element.space === "normalized" && parent;
  return {
    ...element, anchorX, anchorY,
    positionX: element.positionX + way.x / (isFraction ? parent.originalWidth : 1),
    positionY: element.positionY + way.y / (isFraction ? parent.originalHeight : 1),
  };
}

/**
 * An element after a gesture: first the anchor changes, then scale, rotation and translation.
 * @param {Element} element @param {Deltas} deltas @param {Rules} rules
 * @param {{pivot?: Point, parent?: Element, isDrawn?: boolean}} more `pivot` is that of a group
 * @returns {Element}
 */
export function gestured(element, deltas, rules, { pivot, parent, isDrawn } = {}) {
  const held = deltas.anchor ? anchored(element, deltas.anchor, parent) : element;
  const { x: scaleX, y: scaleY } =
    typeof deltas.scale === "object" ? deltas.scale : { x: deltas.scale ?? 1, y: deltas.scale ?? 1 };
  const turn = deltas.rotation ?? 0, shift = deltas.translation ?? { x: 0, y: 0 };
  let place = { x: held.positionX, y: held.positionY };
  if (pivot) {
    const arm = rotated({ x: (place.x - pivot.x) * scaleX, y: (place.y - pivot.y) * scaleY }, turn);
    place = { x: pivot.x + arm.x, y: pivot.y + arm.y };
  }
  /** @type {Fields} */
  const fields = {};
  if (scaleX !== 1) fields.scaleX = held.scaleX * scaleX;
  if (scaleY !== 1) fields.scaleY = held.scaleY * scaleY;
  if (turn !== 0) fields.rotation = held.rotation + turn;
  if (deltas.anchor || place.x + shift.x !== element.positionX) fields.positionX = place.x + shift.x;
  if (deltas.anchor || place.y + shift.y !== element.positionY) fields.positionY = place.y + shift.y;
  return transformed(held, fields, rules, isDrawn);
}

/** @type {Record<string, (element: Element) => Fields>} */
const PRESETS = {
  rotateCW: element => ({ rotation: element.rotation + 90 }),
  rotateCCW: element => ({ rotation: element.rotation - 90 }),
  rotate180: element => ({ rotation: element.rotation + 180 }),
  flipX: element => ({ scaleX: -element.scaleX }),
  flipY: element => ({ scaleY: -element.scaleY }),
  reset: () => ({ rotation: 0, scaleX: 1, scaleY: 1 }),
};

/**
 * What a new element looks like before the server has stored it.
 * @param {Data} sent @param {Rules} rules @returns {Element | undefined} undefined when the server refuses it
 */
function created(sent, rules) {
  const rule = ruleOf(rules, sent.type);
  const known = stored(without(sent, SERVERS), FIELDS, rule);
  if (!known || known.type === undefined || (known.space === "normalized" && !known.parentId)) return undefined;
  const { positionX, positionY, rotation, scaleX, scaleY, width, height, ...own } = known;
  const side = (/** @type {number | undefined} */ drawn, scale = 1) =>
    drawn && clamp(drawn / (Math.abs(scale) || rule.minScale), 0.001, 1e9);
  /** @type {any} */
  const element = {
    rev: 1, anchorX: 0.5, anchorY: 0.5, positionX: 0, positionY: 0, rotation: 0, scaleX: 1, scaleY: 1, ...own,
    originalWidth: own.originalWidth ?? side(width, scaleX) ?? 100,
    originalHeight: own.originalHeight ?? side(height, scaleY) ?? 100,
  };
  // With a locked aspect a scale that was not sent follows the other one.
  const ownScale = rule.lockedAspect && (scaleX ?? scaleY) !== undefined ? undefined : 1;
  return transformed(element, {
    positionX: positionX ?? 0, positionY: positionY ?? 0, rotation, scaleX: scaleX ?? ownScale, scaleY: scaleY ?? ownScale,
  }, rules);
}

/**
 * An element with other values apart from its geometry; the same when the server refuses them.
 * @param {Element} element @param {any} set @param {Rules} rules @returns {Element}
 */
function updated(element, set, rules) {
  if (!isObject(set) || FIXED.some(name => name in set)) return element;
  return { ...element, ...stored(set, OPTIONS, ruleOf(rules, element.type)) };
}

/**
 * The values of a transform in a payload, where scale and rotation may stand in `transform`.
 * @param {Data} payload @returns {Fields}
 */
function fieldsOf(payload) {
  /** @type {any} */
  const fields = {};
  for (const name of ["positionX", "positionY", "rotation", "scaleX", "scaleY"]) {
    const value = payload.transform?.[name] ?? payload[name];
    if (Number.isFinite(value)) fields[name] = value;
  }
  return fields;
}

// MARK: Motion of others

/**
 * Position, rotation and scales of an element, in this order.
 * @param {Element} element @returns {number[]}
 */
const poseOf = element => [element.positionX, element.positionY, element.rotation, element.scaleX, element.scaleY];

/**
 * Moves what is drawn towards the latest update at constant speed, over the measured time between updates, angles by the
 * shortest rotation. Times are ms of any clock.
 */
export class Motion {
  /** @param {number[]} pose */
  constructor(pose) {
    this.target = pose;
    /** The measured time between updates. */
    this.interval = 33;
    this.isMeasured = false;
    this.startedAt = -Infinity;
    /** How long the present movement lasts. */
    this.duration = 33;
    /**
     * What was drawn when it began, relative to the target.
     * @type {number[]}
     */
    this.displacement = [0, 0, 0, 0, 0];
  }

  /**
   * Starts a movement to a pose.
   * @param {number[]} pose @param {number} now @param {number} [gap] since the previous update
   */
  receive(pose, now, gap) {
    if (!pose.every(Number.isFinite)) return;
    const between = gap ?? now - this.startedAt;
    if (between > 0 && between <= 250) {
      const usable = Math.max(between, 8);
      this.interval = this.isMeasured ? this.interval + (usable - this.interval) / 4 : usable;
      this.isMeasured = true;
    }
    const shown = this.pose(now);
    this.displacement = shown.map((number, index) =>
      index === 2 ? shortestTurn(pose[2], number) : number - pose[index]);
    this.target = pose;
    this.startedAt = now;
    this.duration = this.interval;
  }

  /**
   * What to draw.
   * @param {number} now @returns {number[]}
   */
  pose(now) {
    const left = 1 - (now - this.startedAt) / this.duration;
    if (!(left > 0)) return this.target;
    const share = Math.min(left, 1), { target, displacement } = this;
    return [
      target[0] + displacement[0] * share, target[1] + displacement[1] * share,
      normalized(target[2] + displacement[2] * share),
      target[3] + displacement[3] * share, target[4] + displacement[4] * share,
    ];
  }

  /** @param {number} now */
  isAtRest(now) {
    return now - this.startedAt >= this.duration;
  }
}

/**
 * Paces a stream of values, latest wins: the first passes immediately, later ones at most once an interval, and the last
 * one always. Times in ms.
 * @template Value
 */
export class Throttle {
  constructor() {
    this.nextSlot = -Infinity;
    /** @type {Value | undefined} */
    this.held = undefined;
  }

  /** When to call `due`. */
  get deadline() {
    return this.held === undefined ? Infinity : this.nextSlot;
  }

  /**
   * @param {Value} value @param {number} now @param {number} interval @returns {Value | undefined} what may pass now
   */
  offer(value, now, interval) {
    this.held = value;
    return this.due(now, interval);
  }

  /** @param {number} now @param {number} interval @returns {Value | undefined} */
  due(now, interval) {
    const value = this.held;
    if (value === undefined || now < this.nextSlot) return undefined;
    this.held = undefined;
    this.nextSlot = now + interval;
    return value;
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
 * @property {number} [n] its number in the session, from the first time it was sent
 * @property {number} after the room's number when it was first sent; what the edit became comes after it
 * @property {string} [doubt] the `sid` of an ended session under which it was sent as `n`, with unknown outcome
 * @property {boolean} [isDecided] whether a later edit of that session was applied
 * @property {boolean} isUnderWay whether it was sent over this connection, without an answer yet
 * @property {number} attempt how often it was sent
 * @property {boolean} isStored whether what came from the server contains it, so that it is shown already
 * @property {number} [seq] its number in the room, once acknowledged
 */

/**
 * Whether an edit sets absolute values of one element, so that the next one of its kind supersedes it.
 * @param {Edit} edit
 */
const canFold = edit => edit.event === "element:transform" && edit.n === undefined && !edit.doubt;

/** The edits of one room in their order: those that were sent before those that wait. */
class EditQueue {
  /** @param {number} capacity */
  constructor(capacity) {
    this.capacity = capacity;
    /** @type {Edit[]} */
    this.edits = [];
    this.nextNumber = 1;
  }

  /** Those without an answer. */
  get open() {
    return this.edits.filter(edit => edit.seq === undefined);
  }

  /**
   * The edit with a number of the present session, if it has no answer yet.
   * @param {number | undefined} n @returns {Edit | undefined}
   */
  numbered(n) {
    return n === undefined ? undefined : this.open.find(edit => edit.n === n && !edit.doubt);
  }

  get hasDoubts() {
    return this.edits.some(edit => edit.doubt !== undefined);
  }

  /**
   * Appends an edit, or folds it into one that was never sent.
   * @param {Edit} edit @returns {boolean} false when full
   */
  append(edit) {
    const earlier = this.edits.filter(other => other.elementIds.some(id => edit.elementIds.includes(id))).pop();
    if (earlier && canFold(earlier) && canFold(edit) && this.belongTogether(earlier, edit)) {
      const transform = { ...earlier.body.transform, ...edit.body.transform };
      earlier.body = { ...earlier.body, ...edit.body, transform };
      earlier.ids.push(...edit.ids);
      return true;
    }
    if (this.open.length >= this.capacity) return false;
    this.edits.push(edit);
    return true;
  }

  /** @param {Edit} a @param {Edit} b */
  belongTogether(a, b) {
    return a.body.undoGroup === b.body.undoGroup && a.body.undoable === b.body.undoable;
  }

  /**
   * The next edit to send, numbered; undefined when all are under way, or `most` of them.
   * @param {number} most @param {number} seq
   */
  next(most, seq) {
    const open = this.open;
    if (open.filter(edit => edit.isUnderWay).length >= most) return undefined;
    const edit = open.find(edit => !edit.isUnderWay);
    if (!edit) return undefined;
    if (edit.n === undefined) {
      edit.n = this.nextNumber++;
      edit.after = seq;
    }
    edit.isUnderWay = true;
    edit.attempt++;
    return edit;
  }

  /**
   * Sends the edits from a number on again.
   * @param {number} n
   */
  resendFrom(n) {
    for (const edit of this.edits) if (edit.n !== undefined && edit.n >= n) edit.isUnderWay = false;
  }

  /** @param {Edit} edit */
  remove(edit) {
    this.edits = this.edits.filter(other => other !== edit);
  }

  /**
   * A session ended: what was sent under it is in doubt, everything is numbered from 1 again.
   * @param {string} sid
   */
  loseSession(sid) {
    for (const edit of this.open) {
      if (edit.n !== undefined && !edit.doubt) edit.doubt = sid;
      edit.isUnderWay = edit.isStored = false;
    }
    this.nextNumber = 1;
  }
}

// MARK: Rooms

/** Codes of refusals after which the same edit is sent again. */
const RETRYABLE = ["busy", "rate_limited", "unavailable"];
/** What others saw of a gesture of this user is repeated this often while its fingers rest, ms. */
const REPEAT = 1000;

/**
 * @typedef {{number: number, elementIds: string[], pivot?: Point, deltas: Deltas, throttle: Throttle<Deltas>,
 *   sentAt: number}} Hand a gesture under way
 */

/** The gestures of this user in a room. */
class Hands {
  /** @param {RoomCore} room @param {number} lastNumber of the gestures before */
  constructor(room, lastNumber) {
    this.room = room;
    this.lastNumber = lastNumber;
    /** @type {Map<any, Hand>} by the app's names */
    this.all = new Map();
  }

  get deadline() {
    const hands = this.room.phase === "joined" ? [...this.all.values()] : [];
    return Math.min(...hands.map(hand => Math.min(hand.throttle.deadline, hand.sentAt + REPEAT)));
  }

  /** @param {number} now */
  timeReached(now) {
    if (this.room.phase !== "joined") return;
    for (const hand of this.all.values()) {
      const due = hand.throttle.due(now, this.room.throttleMs);
      if (due) this.preview(hand, due, now);
      else if (now >= hand.sentAt + REPEAT) this.preview(hand, hand.deltas, now);
    }
  }

  /** @param {any} key @param {string[]} elementIds @param {Point | undefined} pivot of a group */
  begin(key, elementIds, pivot) {
    this.all.set(key, {
      number: ++this.lastNumber, elementIds, deltas: {}, throttle: new Throttle(), sentAt: Infinity,
      pivot: elementIds.length > 1 ? pivot ?? this.middle(elementIds) : undefined,
    });
  }

  /**
   * The centre of the rectangle around the positions of elements.
   * @param {string[]} ids @returns {Point}
   */
  middle(ids) {
    const half = (/** @type {number[]} */ numbers) => (Math.min(...numbers) + Math.max(...numbers)) / 2 || 0;
    const elements = [...this.room.shown.values()].filter(element => ids.includes(element.id));
    return { x: half(elements.map(element => element.positionX)), y: half(elements.map(element => element.positionY)) };
  }

  /** @param {any} key @param {Deltas} deltas @param {number} now */
  move(key, deltas, now) {
    const hand = this.all.get(key);
    if (!hand) return;
    hand.deltas = deltas;
    this.room.touch(hand.elementIds);
    if (this.room.phase !== "joined") return;
    const due = hand.throttle.offer(deltas, now, this.room.throttleMs);
    if (due) this.preview(hand, due, now);
  }

  /**
   * The fingers were lifted.
   * @param {any} key @param {any} id the app's name of the edit
   */
  end(key, id) {
    const { room } = this, hand = this.lift(key);
    if (!hand) return room.tell("result", { id, answer: OVER });
    if (Object.keys(hand.deltas).length > 0) return room.edit(id, ...this.message(hand, hand.deltas, "gesture"));
    // The fingers did not move: there is nothing to store.
    room.tell("result", { id, answer: { ok: true, seq: room.seq, adjusted: [] } });
  }

  /**
   * Nothing is to change: others see the element where it is stored.
   * @param {any} key @param {number} now
   */
  cancel(key, now) {
    const hand = this.lift(key);
    if (hand && hand.sentAt < Infinity) {
      this.preview(hand, { translation: { x: 0, y: 0 }, scale: 1, rotation: 0 }, now);
    }
  }

  /** @param {any} key @returns {Hand | undefined} */
  lift(key) {
    const hand = this.all.get(key);
    this.all.delete(key);
    this.room.touch(hand?.elementIds ?? []);
    return hand;
  }

  /** @param {Hand} hand @param {Deltas} deltas @param {number} now */
  preview(hand, deltas, now) {
    hand.sentAt = now;
    this.room.send(...this.message(hand, deltas, "gesturing"));
  }

  /** @param {Hand} hand @param {Deltas} deltas @param {"gesture" | "gesturing"} verb @returns {[string, Data]} */
  message({ elementIds, pivot, number }, deltas, verb) {
    if (elementIds.length === 1) return [`element:${verb}`, { elementId: elementIds[0], ...deltas, gesture: number }];
    const { anchor, ...shared } = deltas;
    return [`elements:${verb}`, { elements: elementIds, pivot, ...shared, gesture: number }];
  }

  /** @param {string} id of an element */
  areOn(id) {
    for (const hand of this.all.values()) if (hand.elementIds.includes(id)) return true;
    return false;
  }

  /**
   * An element with what the fingers did to it.
   * @param {Element | undefined} element @returns {Element | undefined}
   */
  applied(element) {
    for (const { elementIds, deltas, pivot } of this.all.values()) {
      if (!element || element.locked || !elementIds.includes(element.id)) continue;
      element = gestured(element, deltas, this.room.rules, { pivot, parent: this.room.parent(element), isDrawn: true });
    }
    return element;
  }
}

/** After this long without a preview somebody else's gesture counts as over, ms. */
const SILENCE = 2000;

/**
 * Somebody else's gesture on an element, or the way from it to where the element is stored.
 * @typedef {{motion: Motion, sid: string, gesture: number, fields: Fields, element: Element, drawn: Element}} Movement
 */

/** The gestures of others in a room. */
class Movements {
  /** @param {RoomCore} room */
  constructor(room) {
    this.room = room;
    /** @type {Map<string, Movement>} by element */
    this.all = new Map();
    /**
     * When each element of a gesture under way was last heard of, the one that has been silent for longest first.
     * @type {Map<string, number>}
     */
    this.heard = new Map();
  }

  get deadline() {
    const [first] = this.heard.values();
    return first === undefined ? Infinity : first + SILENCE;
  }

  /** @param {number} now */
  timeReached(now) {
    for (const [id, heardAt] of this.heard) {
      if (now < heardAt + SILENCE) return;
      this.end(id, now);
    }
  }

  clear() {
    this.all.clear();
    this.heard.clear();
  }

  /** @param {Data} preview of one element @param {Data} message with what is common to a group @param {number} now */
  previewed(preview, message, now) {
    const id = preview.elementId, element = this.room.shown.get(id);
    if (!element || this.room.phase !== "joined") return;
    const { sid, gesture, dt } = message;
    let movement = this.all.get(id);
    if (!movement) {
      movement = { motion: new Motion(poseOf(element)), sid, gesture, fields: {}, element, drawn: { ...element } };
      this.all.set(id, movement);
    }
    // Of one gesture what an earlier preview said still holds where a later one says nothing.
    const isSame = this.heard.delete(id) && movement.sid === sid && movement.gesture === gesture;
    this.heard.set(id, now);
    const fields = isSame ? Object.assign(movement.fields, fieldsOf(preview)) : fieldsOf(preview);
    Object.assign(movement, { sid, gesture, fields });
    movement.motion.receive(poseOf({ ...element, ...fields }), now, dt > 0 ? dt : undefined);
    this.room.tell("moving", { elementId: id });
  }

  /** @param {Data} data @param {number} now */
  ended({ elementId, sid }, now) {
    if (this.all.get(elementId)?.sid === sid) this.end(elementId, now);
  }

  /**
   * Nothing of a gesture is shown any more: the element moves to where it is stored.
   * @param {string} id @param {number} now
   */
  end(id, now) {
    const movement = this.all.get(id);
    if (!movement) return;
    this.heard.delete(id);
    const element = this.room.composed(id);
    if (element) movement.motion.receive(poseOf(element), now);
    else this.all.delete(id);
    this.room.tell("moving", { elementId: id });
  }

  /** @param {Element} element @param {number} now @returns {Element} where it is on its way */
  drawn(element, now) {
    const movement = this.all.get(element.id);
    if (!movement) return element;
    if (!this.heard.has(element.id) && movement.motion.isAtRest(now)) {
      this.all.delete(element.id);
      return element;
    }
    // One object for all frames: copying an element with all its fields costs more than the rest of a frame.
    if (movement.element !== element) Object.assign(movement, { element, drawn: { ...element } });
    const { drawn } = movement;
    [drawn.positionX, drawn.positionY, drawn.rotation, drawn.scaleX, drawn.scaleY] = movement.motion.pose(now);
    drawn.width = element.originalWidth * Math.abs(drawn.scaleX);
    drawn.height = element.originalHeight * Math.abs(drawn.scaleY);
    return drawn;
  }
}

/** Who is in a room, with cursors and selections; and those of this user. */
class People {
  /** @param {RoomCore} room */
  constructor(room) {
    this.room = room;
    /** @type {Map<string, Data>} by user */
    this.members = new Map();
    /** @type {{cursor?: Data, selection?: string[], viewport?: Data}} what others see of this user, sent after each join */
    this.own = {};
    /** @type {Throttle<Data>} */
    this.throttle = new Throttle();
  }

  get deadline() {
    return this.throttle.deadline;
  }

  /** @param {number} now */
  timeReached(now) {
    const cursor = this.throttle.due(now, this.room.throttleMs);
    if (cursor) this.room.send("cursor:moving", cursor);
  }

  joined() {
    const { cursor, selection, viewport } = this.own;
    if (cursor) this.room.send("cursor:moving", cursor);
    if (selection) this.select(selection);
    if (viewport) this.look(viewport);
  }

  /** @param {any} members */
  met(members) {
    this.members = new Map(objectsIn(members).map(member => [member.userId, this.member(member)]));
    this.room.tell("members");
  }

  /** @param {Data} member @returns {Data} */
  member(member) {
    const connections = objectsIn(member.connections).map(one => [one.sid, pick(one, ["cursor", "selection"])]);
    return { ...pick(member, ["userId", "name", "color"]), connections: new Map(/** @type {any} */ (connections)) };
  }

  /** @param {string} event @param {Data} data */
  eventReceived(event, data) {
    switch (event) {
      case "member:joined":
        this.members.set(data.userId, this.member(data));
        return this.room.tell("members");
      case "member:left":
        this.members.delete(data.userId);
        return this.room.tell("members");
      case "cursor:moved": return this.attended(data, { cursor: data.x === null ? null : { x: data.x, y: data.y } });
      case "selection:changed": return this.attended(data, { selection: textsIn(data.elementIds) });
    }
  }

  /**
   * Somebody points at something or has selected it.
   * @param {Data} data @param {Data} change
   */
  attended(data, change) {
    const { userId, sid } = data;
    const member = this.members.get(userId);
    if (!member) return;
    member.connections.set(sid, { ...member.connections.get(sid), ...change });
    this.room.tell("attention", { userId, sid, ...change });
  }

  /** @param {number | null} x pixels, null to hide it @param {number | null} y @param {number} now */
  point(x, y, now) {
    const cursor = { x, y };
    this.own.cursor = x === null ? undefined : cursor;
    if (this.room.phase !== "joined") return;
    const due = this.throttle.offer(cursor, now, this.room.throttleMs);
    if (due) this.room.send("cursor:moving", due);
  }

  /** @param {string[]} elementIds */
  select(elementIds) {
    this.own.selection = elementIds;
    if (this.room.phase === "joined") this.room.ask("selection:set", { elementIds });
  }

  /** @param {Data | undefined} viewport undefined for everything */
  look(viewport) {
    this.own.viewport = viewport;
    if (this.room.phase === "joined") this.room.ask("viewport:set", { ...viewport });
  }
}

/**
 * A whole room as the answer to a join brings it; `n` is the highest number of the session that is contained in it.
 * @typedef {{epoch: string, seq: number, n: number, elements: Element[]}} Snapshot
 */

/** One room: what the server confirmed, this user's edits on top of it, and what is known of the others. */
export class RoomCore {
  /** @param {string} roomId @param {Core} core @param {Data | undefined} record what was saved of it */
  constructor(roomId, core, record) {
    this.roomId = roomId;
    this.core = core;
    /** @type {"idle" | "joining" | "parts" | "joined" | "refused"} */
    this.phase = "idle";
    /** Whether it is left as soon as all edits have their results. */
    this.isLeaving = false;
    /** @type {string | undefined} */
    this.session = record?.session;
    /** @type {string} */
    this.sid = record?.sid ?? "";
    /** @type {string | undefined} */
    this.epoch = undefined;
    this.seq = 0;
    /** @type {Data} */
    this.limits = {};
    this.rules = BUILT_IN;
    this.throttleMs = 16;
    this.queue = new EditQueue(core.queueLimit);
    this.queue.nextNumber = record?.nextNumber ?? 1;
    for (const edit of record?.edits ?? []) {
      this.queue.edits.push({ ...newEdit(edit.event, edit.body, edit.ids), ...edit });
    }
    /**
     * What the server confirmed up to `seq`.
     * @type {Map<string, Element>}
     */
    this.confirmed = new Map();
    /**
     * The same with this user's edits and gestures.
     * @type {Map<string, Element>}
     */
    this.shown = new Map();
    /**
     * Elements to be computed again, and to be reported.
     * @type {Set<string>}
     */
    this.touched = new Set();
    /** @type {Snapshot | undefined} of which parts are missing */
    this.arriving = undefined;
    this.hands = new Hands(this, record?.gesture ?? 0);
    this.movements = new Movements(this);
    this.people = new People(this);
    this.retryAt = Infinity;
    /** Until when no edit is sent, because the server asked for a pause; Infinity without one. */
    this.resumeAt = Infinity;
    this.pauses = 0;
    /**
     * Where the page of the history begins that is being read.
     * @type {number | undefined}
     */
    this.searchFrom = undefined;
    this.searchAt = Infinity;
    this.isDirty = false;
    /** Whether something is saved of it. */
    this.isSaved = record !== undefined;
  }

  get deadline() {
    const parts = [this.hands, this.movements, this.people].map(part => part.deadline);
    return Math.min(this.retryAt, this.searchAt, this.resumeAt, ...parts);
  }

  /** @param {number} now */
  timeReached(now) {
    if (now >= this.retryAt) this.join();
    if (now >= this.searchAt) this.search();
    if (now >= this.resumeAt) {
      this.resumeAt = Infinity;
      this.pump();
    }
    for (const part of [this.hands, this.movements, this.people]) part.timeReached(now);
  }

  // Joining

  /** Joins, or joins again: with the session and the position that are known. */
  join() {
    this.retryAt = Infinity;
    if (!this.core.link.isUp) return;
    this.phase = "joining";
    const resume = this.epoch === undefined ? undefined : { epoch: this.epoch, seq: this.seq };
    const session = this.session;
    this.ask("room:join", { parts: true, session, resume }, (answer, now) => {
      if (answer.ok === true) this.entered(answer, now);
      else this.notEntered(objectIn(answer.error), now);
    });
  }

  /** The app wants a room that it has not left yet. */
  enteredAgain() {
    this.isLeaving = false;
    if (this.phase === "joined") this.tell("room", { phase: "joined", recovered: true });
  }

  connectionLost() {
    this.phase = this.phase === "refused" ? "refused" : "idle";
    this.retryAt = this.searchAt = this.resumeAt = Infinity;
    this.searchFrom = undefined;
    this.arriving = undefined;
    this.queue.resendFrom(0);
  }

  /** @param {Data} answer @param {number} now */
  entered(answer, now) {
    this.limits = objectIn(answer.limits);
    this.throttleMs = Number(answer.throttleMs) || 16;
    const last = Number(answer.n) || 0;
    if (this.session !== answer.session) this.queue.loseSession(this.sid);
    // The server's numbers of this session lie behind: what was acknowledged was lost with its database.
    else if (this.firstNumber() > last + 1) return this.loseSession();
    this.queue.nextNumber = Math.max(this.queue.nextNumber, last + 1);
    this.session = answer.session;
    this.sid = answer.sid;
    this.isDirty = true;
    this.rulesArrived(answer.rules);
    this.people.met(answer.members);
    if (answer.recovered === true && answer.epoch === this.epoch) return this.resumed(answer, now);
    // Until all of the room is here nothing of it is known that a join could go on from.
    this.epoch = undefined;
    this.arriving = { epoch: answer.epoch, seq: answer.seq, n: last, elements: objectsIn(answer.elements) };
    if (answer.parts > 0) this.phase = "parts";
    else this.replaced(this.arriving);
  }

  /**
   * The missed updates arrived.
   * @param {Data} answer @param {number} now
   */
  resumed(answer, now) {
    for (const { event, data } of objectsIn(answer.updates)) {
      if (data?.seq === this.seq + 1) this.apply(event, data, now);
    }
    if (this.seq === answer.seq) return this.ready(true);
    // Not what was promised: the whole room instead.
    this.epoch = undefined;
    this.join();
  }

  /** The number of the first edit that was sent and has no answer, else the next number. */
  firstNumber() {
    return this.queue.open.find(edit => edit.n !== undefined && !edit.doubt)?.n ?? this.queue.nextNumber;
  }

  /** @param {any} rules */
  rulesArrived(rules) {
    if (!isObject(rules)) return;
    this.rules = tableOf(rules);
    for (const edit of this.queue.edits) this.touch(edit.elementIds);
  }

  /** @param {Data} data */
  partArrived(data) {
    if (this.phase !== "parts" || !this.arriving) return;
    this.arriving.elements.push(...objectsIn(data.elements));
    if (data.part >= data.parts) this.replaced(this.arriving);
  }

  /**
   * A whole room arrived in place of what was known.
   * @param {Snapshot} snapshot
   */
  replaced({ epoch, seq, n, elements }) {
    this.touch(this.shown.keys());
    this.epoch = epoch;
    this.seq = seq;
    this.confirmed = new Map(elementsById(elements));
    this.arriving = undefined;
    this.movements.clear();
    for (const edit of this.queue.open) {
      if (edit.n !== undefined && !edit.doubt && edit.n <= n) edit.isStored = true;
    }
    // In the server's order, which only a new map has.
    this.shown = new Map(this.confirmed);
    this.touch(this.confirmed.keys());
    for (const edit of this.queue.edits) this.touch(edit.elementIds);
    this.settleUpTo(this.seq);
    this.ready(false);
  }

  /** @param {boolean} recovered */
  ready(recovered) {
    this.phase = "joined";
    this.pauses = 0;
    this.tell("room", { phase: "joined", recovered });
    this.people.joined();
    if (this.queue.hasDoubts) this.search();
    else this.pump();
  }

  /** @param {Data} error @param {number} now */
  notEntered(error, now) {
    if (error.code === "session_expired" && this.session !== undefined) return this.loseSession();
    if (RETRYABLE.includes(error.code)) {
      this.retryAt = now + this.pause(error.retryAfterMs);
      return;
    }
    this.phase = "refused";
    this.tell("room", { phase: "refused", error });
  }

  /** @param {number | undefined} wanted ms that the server asks for @returns {number} ms */
  pause(wanted) {
    this.pauses++;
    return wanted ?? Math.min(250 * 2 ** this.pauses, 5000);
  }

  /** The session ended: whether its last edits were applied is known to the room's history alone. */
  loseSession() {
    this.queue.loseSession(this.sid);
    this.session = undefined;
    this.isDirty = true;
    for (const edit of this.queue.edits) this.touch(edit.elementIds);
    this.join();
  }

  // Edits in doubt

  /** Reads the room's history from where the oldest edit in doubt was sent. */
  search() {
    this.searchAt = Infinity;
    if (this.phase !== "joined" || !this.queue.hasDoubts) return;
    this.read(this.searchFrom ?? Math.min(...this.doubtful.map(edit => edit.after)));
  }

  get doubtful() {
    return this.queue.edits.filter(edit => edit.doubt !== undefined);
  }

  /** @param {number} after */
  read(after) {
    this.searchFrom = after;
    this.tell("history", { after });
  }

  /**
   * @param {number} after @param {Data | null} page behind that number, or null when it cannot be had
   * @param {number} now
   */
  historyArrived(after, page, now) {
    if (this.searchFrom !== after || this.phase !== "joined") return;
    if (!page || !Array.isArray(page.entries)) {
      this.searchAt = now + this.pause(undefined);
      return;
    }
    for (const entry of objectsIn(page.entries)) {
      for (const edit of this.doubtful.filter(({ doubt }) => doubt === entry.sid)) {
        if (edit.n === entry.n) this.acknowledged(edit, foundAnswer(entry));
        // A session's numbers are decided in their order.
        else if ((edit.n ?? 0) < entry.n) edit.isDecided = true;
      }
    }
    for (const edit of this.doubtful) if (page.oldest > edit.after + 1) this.refused(edit, FORGOTTEN);
    this.pauses = 0;
    if (page.next > after) return this.read(page.next);
    // What the history does not have was not applied.
    this.searchFrom = undefined;
    for (const edit of this.doubtful) {
      if (edit.isDecided) this.refused(edit, WITHOUT_EFFECT);
      edit.doubt = edit.n = undefined;
      this.touch(edit.elementIds);
    }
    this.isDirty = true;
    this.pump();
  }

  // Edits

  /** @param {any} id the app's name of it @param {string} event @param {Data} body */
  edit(id, event, body) {
    const edit = newEdit(event, body, [id]);
    edit.elementIds.push(...this.annotationsOf(edit));
    const limit = this.limits.message ?? 262144;
    // With some room for what is added when it is sent.
    if (byteCount(JSON.stringify([event, body])) + 256 > limit) return this.report(edit, tooLarge(limit));
    if (!this.queue.append(edit)) return this.report(edit, FULL);
    this.isDirty = true;
    this.touch(edit.elementIds);
    this.pump();
  }

  /**
   * What goes with its parents when they are deleted.
   * @param {Edit} edit @returns {string[]}
   */
  annotationsOf(edit) {
    if (!edit.event.endsWith(":delete")) return [];
    const lies = (/** @type {Element} */ element) => edit.elementIds.includes(element.parentId);
    return [...this.shown.values()].filter(lies).map(element => element.id);
  }

  /** Sends what may be sent. */
  pump() {
    if (this.phase !== "joined" || this.queue.hasDoubts || this.resumeAt < Infinity) return;
    for (;;) {
      const edit = this.queue.next(this.limits.unacknowledged ?? 32, this.seq);
      if (!edit) return;
      this.isDirty = true;
      const { attempt } = edit, { session } = this;
      this.ask(edit.event, { ...edit.body, n: edit.n }, (answer, now) => {
        // What an ended session still says is about another sending of the edit.
        if (this.session !== session || !this.queue.open.includes(edit)) return;
        if (answer.ok === true) this.acknowledged(edit, answer);
        else this.notAcknowledged(edit, objectIn(answer.error), attempt === edit.attempt, now);
      });
    }
  }

  /** @param {Edit} edit @param {Data} answer */
  acknowledged(edit, answer) {
    edit.seq = Number(answer.seq) || 0;
    // In doubt it was not shown.
    if (edit.doubt) this.touch(edit.elementIds);
    edit.doubt = undefined;
    edit.isUnderWay = false;
    this.isDirty = true;
    this.pauses = 0;
    this.report(edit, answer);
    // Until the room's stream reaches it, the edit stays on top, or the element would jump back for a moment.
    if (edit.seq <= this.seq) this.settleUpTo(this.seq);
    this.pump();
  }

  /**
   * @param {Edit} edit @param {Data} error @param {boolean} isLatest whether it was not sent again since
   * @param {number} now
   */
  notAcknowledged(edit, error, isLatest, now) {
    const { code } = error;
    if (![...RETRYABLE, "gap", "session_expired"].includes(code)) {
      // A number that was not used would be a hole: something that is refused for certain fills it.
      if (code === "unknown_event") this.fill(edit);
      this.refused(edit, error);
      return this.pump();
    }
    if (!isLatest || !edit.isUnderWay) return;
    if (code === "gap") {
      if (!(error.expected >= this.firstNumber())) return this.loseSession();
      this.queue.resendFrom(error.expected);
      return this.pump();
    }
    this.queue.resendFrom(edit.n ?? 0);
    if (code === "session_expired") return this.phase === "joined" ? this.join() : undefined;
    this.resumeAt = now + this.pause(error.retryAfterMs);
  }

  /**
   * Puts an edit without content in the place of one whose event the server does not know.
   * @param {Edit} edit
   */
  fill(edit) {
    const filler = { ...newEdit("element:update", {}, []), n: edit.n, after: edit.after };
    this.queue.edits.splice(this.queue.edits.indexOf(edit), 0, filler);
    this.queue.resendFrom(edit.n ?? 0);
  }

  /**
   * Takes an edit back for good.
   * @param {Edit} edit @param {Data} error
   */
  refused(edit, error) {
    this.queue.remove(edit);
    this.isDirty = true;
    this.touch(edit.elementIds);
    this.report(edit, { ok: false, error });
  }

  /** @param {Edit} edit @param {Data} answer */
  report(edit, answer) {
    for (const id of edit.ids) this.tell("result", { id, answer });
  }

  /**
   * Removes acknowledged edits that the stream has reached.
   * @param {number} seq
   */
  settleUpTo(seq) {
    for (const edit of this.queue.edits) {
      if (edit.seq === undefined || edit.seq > seq) continue;
      this.queue.remove(edit);
      this.touch(edit.elementIds);
    }
  }

  // What the server says

  /** @param {string} event @param {Data} data @param {number} now */
  eventReceived(event, data, now) {
    if (typeof data.seq === "number" && UPDATES.has(event)) {
      if (this.phase === "joined") this.updated(event, data, now);
      return;
    }
    switch (event) {
      case "room:elements": return this.partArrived(data);
      case "room:resync": return this.phase === "joined" ? this.join() : undefined;
      case "room:throttle":
        if (data.intervalMs >= 0) this.throttleMs = data.intervalMs;
        return;
      case "element:transforming": return this.movements.previewed(data, data, now);
      case "elements:transforming":
        for (const preview of objectsIn(data.elements)) this.movements.previewed(preview, data, now);
        return;
      case "gesture:ended": return this.movements.ended(data, now);
      default: return this.people.eventReceived(event, data);
    }
  }

  /**
   * Applies a change, in the order of the room's numbers only.
   * @param {string} event @param {Data} data @param {number} now
   */
  updated(event, data, now) {
    if (data.seq <= this.seq) return;
    // A hole: what is missing comes with another join.
    if (data.seq === this.seq + 1) this.apply(event, data, now);
    else this.join();
  }

  /** @param {string} event @param {Data} data the change behind `seq` @param {number} now */
  apply(event, data, now) {
    this.seq = data.seq;
    const own = data.sid === this.sid ? this.queue.numbered(data.n) : undefined;
    if (own) own.isStored = true;
    for (const [id, element] of UPDATES.get(event)?.(data, this.confirmed) ?? []) {
      if (element) this.confirmed.set(id, element);
      else this.confirmed.delete(id);
      this.touch([id]);
      this.movements.end(id, now);
    }
    if (own) this.touch(own.elementIds);
    this.settleUpTo(this.seq);
  }

  /** @param {Iterable<string>} ids */
  touch(ids) {
    for (const id of ids) this.touched.add(id);
  }

  /** Computes again what changed, and reports it. */
  finish() {
    this.save();
    if (this.touched.size === 0) return;
    const ids = [...this.touched];
    this.touched.clear();
    for (const id of ids) {
      const element = this.composed(id);
      if (element) this.shown.set(id, element);
      else this.shown.delete(id);
    }
    this.tell("changed", { ids });
  }

  save() {
    const record = this.isDirty ? this.record() : null;
    if (record || (this.isDirty && this.isSaved)) this.tell("save", { record });
    this.isSaved = this.isDirty ? record !== null : this.isSaved;
    this.isDirty = false;
  }

  /** What has to survive the end of the app; null when everything has its result. */
  record() {
    const edits = this.queue.open.map(edit => pick(edit, ["ids", "event", "body", "n", "after", "doubt"]));
    if (edits.length === 0) return null;
    const { session, sid, queue, hands } = this;
    return { session, sid, nextNumber: queue.nextNumber, gesture: hands.lastNumber, edits };
  }

  /**
   * The confirmed element with this user's edits and gestures on top.
   * @param {string} id @returns {Element | undefined}
   */
  composed(id) {
    let element = this.confirmed.get(id);
    for (const edit of this.queue.edits) {
      if (edit.isStored || edit.doubt || !edit.elementIds.includes(id)) continue;
      element = this.edited(element, id, edit);
    }
    return this.hands.applied(element);
  }

  /** @param {Element} element @returns {Element | undefined} */
  parent(element) {
    return element.parentId === undefined ? undefined : this.confirmed.get(element.parentId);
  }

  /** @param {Element | undefined} element @param {string} id @param {Edit} edit @returns {Element | undefined} */
  edited(element, id, { event, body }) {
    if (event === "element:create") return element ?? created(body.element, this.rules);
    if (event === "elements:create") {
      return element ?? created(body.elements.find((/** @type {Data} */ one) => one.id === id), this.rules);
    }
    if (!element) return undefined;
    if (event === "element:update") return updated(element, body.set, this.rules);
    if (element.locked) return element;
    switch (event) {
      case "element:transform": return transformed(element, fieldsOf(body), this.rules);
      case "elements:transform": {
        const entry = body.elements.find((/** @type {Data} */ one) => one.elementId === id);
        return transformed(element, fieldsOf(entry), this.rules);
      }
      case "element:gesture":
      case "elements:gesture":
        return gestured(element, body, this.rules, { pivot: body.pivot, parent: this.parent(element) });
      case "element:preset": return transformed(element, PRESETS[body.preset]?.(element) ?? {}, this.rules);
      case "element:delete":
      case "elements:delete": return undefined;
      default: return element;
    }
  }

  /**
   * The element as it is to be drawn: where this user holds it, or others move it. While they do, it is the same object
   * at each call.
   * @param {string} id @param {number} now @returns {Element | undefined}
   */
  drawn(id, now) {
    const element = this.shown.get(id);
    return element && !this.hands.areOn(id) ? this.movements.drawn(element, now) : element;
  }

  // Sending

  /**
   * @param {string} type of an output about this room
   * @param {Data} [fields]
   */
  tell(type, fields) {
    this.core.output({ type, roomId: this.roomId, ...fields });
  }

  /**
   * Sends something that has an answer, which nobody hears after the room was left.
   * @param {string} event @param {Data} body
   * @param {(answer: Data, now: number) => void} [answered]
   */
  ask(event, body, answered) {
    this.core.link.request(event, { roomId: this.roomId, ...body }, (answer, now) => {
      if (this.core.rooms.get(this.roomId) === this) answered?.(answer, now);
    });
  }

  /**
   * Sends something that may be lost.
   * @param {string} event @param {Data} body
   */
  send(event, body) {
    if (this.phase === "joined") this.core.link.emit(event, { roomId: this.roomId, ...body });
  }
}

/** @param {string} event @param {Data} body @param {any[]} ids @returns {Edit} */
function newEdit(event, body, ids) {
  return { ids, event, body, elementIds: elementIdsOf(body), after: 0, isUnderWay: false, attempt: 0, isStored: false };
}

/** @param {Data} body @returns {string[]} */
function elementIdsOf({ elementId, elementIds, element, elements }) {
  if (elementId !== undefined) return [elementId];
  if (element) return [element.id];
  const idOf = (/** @type {any} */ one) => (typeof one === "string" ? one : one.elementId ?? one.id);
  if (elements) return elements.map(idOf);
  return [...(elementIds ?? [])];
}

/** @param {string} text @returns {number} bytes in UTF-8 */
const byteCount = text => new TextEncoder().encode(text).length;

/**
 * The answer to an edit that was found in the history.
 * @param {Data} entry @returns {Data}
 */
function foundAnswer({ seq, changes }) {
  const elements = objectsIn(changes).map(change => change.after).filter(isObject);
  return { ok: true, seq, duplicate: true, adjusted: [], elements, element: elements[0] };
}

const FORGOTTEN = { code: "forgotten", message: "The server no longer knows whether this edit was applied." };
const WITHOUT_EFFECT = { code: "forgotten", message: "The server refused this edit, or it changed nothing." };
const LEFT = { ok: false, error: { code: "left", message: "The room was left." } };
const OVER = { ok: false, error: { code: "invalid", message: "The gesture is over." } };
const FULL = { ok: false, error: { code: "queue_full", message: "Too many edits wait to be sent." } };
/** @param {number} limit */
const tooLarge = limit => ({ ok: false, error: { code: "too_large", message: `An edit has at most ${limit} bytes.` } });

/** @param {Data} data @returns {[string, Element]} */
const flat = data => [data.id, /** @type {Element} */ (without(data, ENVELOPE))];

/** @param {Element[] | undefined} elements @returns {[string, Element][]} */
const elementsById = elements => objectsIn(elements).map(element => [element.id, element]);
/** @param {string[] | undefined} ids @returns {[string, undefined][]} */
const gone = ids => textsIn(ids).map(id => [id, undefined]);

/**
 * The changes that have a number in the room: what becomes of which element, undefined for deleted ones.
 * @type {Map<string, (data: Data, confirmed: Map<string, Element>) => Iterable<[string, Element | undefined]>>}
 */
const UPDATES = new Map([
  ["element:created", data => [flat(data)]],
  ["elements:created", data => elementsById(data.elements)],
  ["element:transformed", data => elementsById([data.element])],
  ["element:updated", data => elementsById([data.element])],
  // A group has geometry alone; what else an element has stays.
  ["elements:transformed", (data, confirmed) => objectsIn(data.elements).map(element =>
    [element.id, { ...confirmed.get(element.id), ...element, updatedBy: data.userId }])],
  ["element:deleted", data => gone(data.elementIds)],
  ["elements:changed", data =>
    [...elementsById(data.created), ...elementsById(data.changed), ...gone(data.deletedIds)]],
]);

// MARK: Connection

/** An attempt to connect fails after this long, ms. */
const CONNECT_TIMEOUT = 10000;
/** A dead connection is found this long after it was asked whether it lives, ms. */
const PROBE_TIMEOUT = 5000;
/** Without any message behind an unanswered request for this long, the connection is asked whether it lives, ms. */
const QUIET = 2500;
/** A connection that lasted this long is soon tried again, ms. */
const LASTING = 5000;
/** Shorter trips to the background are not worth a message, ms. */
const SHORT_TRIP = 2000;

/**
 * The connection: Socket.IO 5 over Engine.IO 4 as texts of a WebSocket, tokens, and whether the other end lives.
 *
 * offline ──► token ──► opening ──► up ──► offline … and expired, when the server refused the token
 */
class Link {
  /** @param {Core} core */
  constructor(core) {
    this.core = core;
    /** @type {"offline" | "token" | "opening" | "up" | "expired"} */
    this.phase = "offline";
    /** Whether the app wants to be connected. */
    this.isWanted = false;
    this.isDraining = false;
    /** @type {string | undefined} */
    this.token = undefined;
    /** @type {string | undefined} the token that the server refused */
    this.refusedToken = undefined;
    this.isRefreshing = false;
    /** Attempts since a connection last lasted. */
    this.attempts = 0;
    this.upAt = 0;
    this.connectAt = Infinity;
    this.leaveAt = Infinity;
    /** When the connection counts as dead, unless something arrives. */
    this.deadAt = Infinity;
    this.probeDeadAt = Infinity;
    this.heardAt = 0;
    /** @type {number | undefined} */
    this.hiddenAt = undefined;
    /** How long the server may be silent, ms. */
    this.patience = 45000;
    this.nextRequest = 0;
    /** @type {Map<number, {sentAt: number, answered: (answer: Data, now: number) => void}>} */
    this.requests = new Map();
  }

  get isUp() {
    return this.phase === "up";
  }

  get deadline() {
    return Math.min(this.connectAt, this.leaveAt, this.deadAt, this.probeDeadAt, this.probeAt);
  }

  /** When to ask whether the connection lives: something is unanswered, and nothing at all arrives. */
  get probeAt() {
    if (!this.isUp || this.probeDeadAt < Infinity) return Infinity;
    const [oldest] = this.requests.values();
    return oldest ? Math.max(oldest.sentAt, this.heardAt) + QUIET : Infinity;
  }

  /** @param {number} now */
  timeReached(now) {
    if (now >= this.deadAt || now >= this.probeDeadAt) return this.lost(now);
    if (now >= this.leaveAt) return this.lost(now);
    if (now >= this.connectAt) return this.begin(now);
    if (now >= this.probeAt) this.probe(now, QUIET);
  }

  // Coming and going

  /** @param {number} now */
  connect(now) {
    this.isWanted = true;
    this.refusedToken = undefined;
    this.attempts = 0;
    if (this.phase === "offline" || this.phase === "expired") this.begin(now);
  }

  /** @param {number} now */
  disconnect(now) {
    this.isWanted = false;
    if (this.isUp) this.write("41");
    this.lost(now);
  }

  /** @param {number} now */
  begin(now) {
    this.connectAt = Infinity;
    this.attempts++;
    if (!this.core.hasTokens) return this.open(now);
    this.phase = "token";
    this.deadAt = now + CONNECT_TIMEOUT;
    this.core.output({ type: "token", reason: this.refusedToken === undefined ? "connect" : "refused" });
  }

  /** @param {string | null} token null when the app has none @param {number} now */
  tokenArrived(token, now) {
    if (this.isUp && this.isRefreshing) return this.refresh(token);
    if (this.phase !== "token") return;
    if (token !== null && token !== this.refusedToken) {
      this.token = token;
      return this.open(now);
    }
    // The server would refuse it again: the next attempt is the app's to make.
    if (this.refusedToken === undefined) return this.lost(now);
    this.phase = "expired";
    this.deadAt = Infinity;
  }

  /** @param {number} now */
  open(now) {
    this.phase = "opening";
    this.deadAt = now + CONNECT_TIMEOUT;
    this.core.output({ type: "open" });
  }

  /** @param {number} now */
  opened(now) {
    this.heardAt = now;
  }

  /**
   * Gives the connection up, and tries again later if the app wants one.
   * @param {number} now
   */
  lost(now) {
    const wasOpen = this.phase === "opening" || this.phase === "up";
    if (wasOpen) this.core.output({ type: "close" });
    if (this.isUp && now - this.upAt >= LASTING) this.attempts = 0;
    this.reset();
    this.phase = "offline";
    if (this.isWanted) this.connectAt = now + this.delay();
    for (const room of this.core.rooms.values()) room.connectionLost();
  }

  reset() {
    this.connectAt = this.leaveAt = this.deadAt = this.probeDeadAt = Infinity;
    this.isDraining = this.isRefreshing = false;
    this.requests.clear();
  }

  /**
   * ms until the next attempt: the first within a second, at random, so that the apps of a gateway do not come back as
   * one; later ones more slowly.
   */
  delay() {
    const random = this.core.random();
    return this.attempts === 0 ? random * 1000 : Math.min(500 * 2 ** this.attempts, 15000) * (0.5 + random / 2);
  }

  /** @param {"online" | "foreground" | "background"} what @param {number} now */
  surroundingsChanged(what, now) {
    if (what === "background") {
      this.hiddenAt = now;
      return;
    }
    const isShort = what === "foreground" && this.hiddenAt !== undefined && now - this.hiddenAt < SHORT_TRIP;
    this.hiddenAt = undefined;
    if (isShort) return;
    if (this.isUp) this.probe(now, PROBE_TIMEOUT);
    else if (this.connectAt < Infinity) this.begin(now);
  }

  /**
   * Asks whether the connection lives.
   * @param {number} now @param {number} patience ms
   */
  probe(now, patience) {
    if (this.probeDeadAt < Infinity) return;
    this.probeDeadAt = now + patience;
    this.request("client:ping", {});
  }

  // Messages

  /** @param {string} text */
  write(text) {
    this.core.output({ type: "send", text });
  }

  /**
   * Sends an event that is answered.
   * @param {string} event @param {Data} payload @param {(answer: Data, now: number) => void} [answered]
   */
  request(event, payload, answered = () => {}) {
    if (!this.isUp) return;
    const number = this.nextRequest++;
    this.requests.set(number, { sentAt: this.core.now, answered });
    this.write(`42${number}${JSON.stringify([event, payload])}`);
  }

  /**
   * Sends an event without an answer.
   * @param {string} event @param {Data} payload
   */
  emit(event, payload) {
    if (this.isUp) this.write(`42${JSON.stringify([event, payload])}`);
  }

  /** @param {string} text an Engine.IO packet @param {number} now */
  received(text, now) {
    if (this.phase !== "opening" && this.phase !== "up") return;
    this.heardAt = now;
    this.probeDeadAt = Infinity;
    if (this.isUp) this.deadAt = now + this.patience;
    const [, kind, digits, json] = /^(0|1|2|40|41|42|43|44)(\d*)(.*)$/s.exec(text) ?? [];
    const data = parsed(json);
    switch (kind) {
      case "0": return this.greeted(data);
      case "1": return this.lost(now);
      case "2": return this.write("3");
      case "40": return this.entered(now);
      case "41": return this.tokenRefused(now);
      case "42": return Array.isArray(data) ? this.eventReceived(data[0], objectIn(data[1]), now) : undefined;
      case "43": return this.answered(Number(digits), objectIn(data?.[0]), now);
      case "44": return this.notEntered(objectIn(data), now);
    }
  }

  /** @param {any} data */
  greeted(data) {
    if (data?.pingInterval > 0 && data?.pingTimeout >= 0) this.patience = data.pingInterval + data.pingTimeout;
    const token = this.token === undefined ? {} : { token: this.token };
    this.write("40" + JSON.stringify({ ...this.core.handshake, ...token }));
  }

  /** @param {number} now */
  entered(now) {
    this.phase = "up";
    this.upAt = now;
    this.deadAt = now + this.patience;
    this.refusedToken = undefined;
    for (const room of this.core.rooms.values()) room.join();
  }

  /** @param {Data} refusal @param {number} now */
  notEntered({ message, data }, now) {
    this.core.output({ type: "error", error: { event: "connect", message, ...data } });
    if (RETRYABLE.includes(data?.code)) this.lost(now);
    else this.tokenRefused(now);
  }

  /** @param {number} number @param {Data} answer @param {number} now */
  answered(number, answer, now) {
    const request = this.requests.get(number);
    this.requests.delete(number);
    request?.answered(answer, now);
  }

  /** @param {any} event @param {Data} data @param {number} now */
  eventReceived(event, data, now) {
    switch (event) {
      case "auth:error": return this.tokenEnds(data);
      case "server:draining": return this.drain(Number(data.closesInMs) || 0, now);
      case "transform:error": return this.core.output({ type: "error", error: data });
      default: this.core.rooms.get(data.roomId)?.eventReceived(event, data, now);
    }
  }

  /**
   * The gateway stops: this app leaves at a moment of its own within the next second.
   * @param {number} closesInMs @param {number} now
   */
  drain(closesInMs, now) {
    if (this.isDraining) return;
    this.isDraining = true;
    this.attempts = 0;
    this.leaveAt = now + this.core.random() * Math.min(1000, closesInMs);
  }

  // Tokens

  /**
   * The server says that the token ends, soon or now.
   * @param {Data} data
   */
  tokenEnds({ expiresInMs }) {
    if (!(expiresInMs > 0) || !this.core.hasTokens || this.isRefreshing) return;
    this.isRefreshing = true;
    this.core.output({ type: "token", reason: "expires" });
  }

  /** @param {string | null} token */
  refresh(token) {
    this.isRefreshing = false;
    if (token === null || token === this.token) return;
    this.request("auth:refresh", { token }, answer => {
      const { error } = answer;
      if (answer.ok !== true) return this.core.output({ type: "error", error: { event: "auth:refresh", ...error } });
      this.token = token;
      // What was forbidden may be allowed now.
      for (const room of this.core.rooms.values()) if (room.phase === "refused") room.join();
    });
  }

  /**
   * The server wants this token no longer, or not at all.
   * @param {number} now
   */
  tokenRefused(now) {
    const refused = this.token ?? "";
    this.lost(now);
    this.refusedToken = refused;
    if (this.core.hasTokens) return this.begin(now);
    this.phase = "expired";
    this.connectAt = Infinity;
  }
}

// MARK: Core

/**
 * Everything that the client decides, as a machine: an input at a time in ms gives outputs, nothing else happens. The
 * shell calls it with `{type: "time"}` when its `deadline` is reached.
 */
export class Core {
  /**
   * @param {{handshake?: Data, hasTokens?: boolean, queueLimit?: number, random?: () => number}} options `handshake` is what
   *   the server gets when it connects, apart from the token; `queueLimit` the most edits that wait in a room
   */
  constructor({ handshake = {}, hasTokens = false, queueLimit = 1000, random = Math.random } = {}) {
    this.handshake = handshake;
    this.hasTokens = hasTokens;
    this.queueLimit = queueLimit;
    this.random = random;
    /** @type {Map<string, RoomCore>} */
    this.rooms = new Map();
    this.link = new Link(this);
    this.now = 0;
    this.state = "offline";
    /** @type {Output[]} */
    this.outputs = [];
  }

  /** When the next input is due at the latest, ms; Infinity when only something from outside can change anything. */
  get deadline() {
    return Math.min(this.link.deadline, ...[...this.rooms.values()].map(room => room.deadline));
  }

  /** @param {Output} output */
  output(output) {
    this.outputs.push(output);
  }

  /**
   * @param {{type: string} & Data} input @param {number} now ms, of a clock that does not run backwards
   * @returns {Output[]}
   */
  input(input, now) {
    this.now = now;
    this.perform(input, now);
    for (const room of this.rooms.values()) {
      room.finish();
      if (room.isLeaving && room.queue.open.length === 0) this.remove(room);
    }
    this.noteState();
    // What is sent is saved before.
    const isSave = (/** @type {Output} */ output) => output.type === "save";
    const outputs = [...this.outputs.filter(isSave), ...this.outputs.filter(output => !isSave(output))];
    this.outputs = [];
    return outputs;
  }

  /** @param {{type: string} & Data} input @param {number} now */
  perform(input, now) {
    const room = this.rooms.get(input.roomId);
    const { roomId, id } = input;
    if (!room && id !== undefined) return this.output({ type: "result", roomId, id, answer: LEFT });
    switch (input.type) {
      case "time":
        this.link.timeReached(now);
        for (const each of this.rooms.values()) each.timeReached(now);
        return;
      case "connect": return this.link.connect(now);
      case "disconnect": return this.link.disconnect(now);
      case "token": return this.link.tokenArrived(input.token, now);
      case "opened": return this.link.opened(now);
      case "closed": return ["opening", "up"].includes(this.link.phase) ? this.link.lost(now) : undefined;
      case "packet": return this.link.received(input.text, now);
      case "online":
      case "foreground":
      case "background": return this.link.surroundingsChanged(input.type, now);
      case "join": return this.enter(input.roomId, input.record);
      case "leave": return room && void (room.isLeaving = true);
      case "edit": return room?.edit(input.id, input.event, input.body);
      case "history": return room?.historyArrived(input.after, input.page, now);
      case "begin": return room?.hands.begin(input.gesture, input.elementIds, input.pivot);
      case "move": return room?.hands.move(input.gesture, input.deltas, now);
      case "end": return room?.hands.end(input.gesture, input.id);
      case "cancel": return room?.hands.cancel(input.gesture, now);
      case "point": return room?.people.point(input.x, input.y, now);
      case "select": return room?.people.select(input.elementIds);
      case "look": return room?.people.look(input.viewport);
    }
  }

  /** @param {string} roomId @param {Data | undefined} record */
  enter(roomId, record) {
    const known = this.rooms.get(roomId);
    if (known) return known.enteredAgain();
    const room = new RoomCore(roomId, this, record);
    this.rooms.set(roomId, room);
    for (const edit of room.queue.edits) room.touch(edit.elementIds);
    room.join();
  }

  /** @param {RoomCore} room */
  remove(room) {
    this.rooms.delete(room.roomId);
    this.link.request("room:leave", { roomId: room.roomId });
    this.output({ type: "room", roomId: room.roomId, phase: "left" });
  }

  noteState() {
    const state = this.computedState();
    if (state === this.state) return;
    this.state = state;
    this.output({ type: "state", state });
  }

  /** @returns {"offline" | "connecting" | "joining" | "live" | "draining" | "expired"} */
  computedState() {
    switch (this.link.phase) {
      case "offline": return "offline";
      case "expired": return "expired";
      case "token":
      case "opening": return "connecting";
    }
    if (this.link.isDraining) return "draining";
    const isJoined = [...this.rooms.values()].every(room => room.phase === "joined" || room.phase === "refused");
    return isJoined ? "live" : "joining";
  }
}

// MARK: Stores

/**
 * Where edits without a result survive the end of the app: one value for each key.
 * @typedef {object} Store
 * @property {(key: string) => Promise<any>} load undefined when there is none
 * @property {(key: string, value: any) => Promise<void>} save
 * @property {(key: string) => Promise<void>} clear
 */

/**
 * Keeps values for as long as the page lives.
 * @implements {Store}
 */
export class MemoryStore {
  constructor() {
    /** @type {Map<string, any>} */
    this.values = new Map();
  }

  /** @param {string} key */
  async load(key) {
    return structuredClone(this.values.get(key));
  }

  /** @param {string} key @param {any} value */
  async save(key, value) {
    this.values.set(key, structuredClone(value));
  }

  /** @param {string} key */
  async clear(key) {
    this.values.delete(key);
  }
}

/**
 * Keeps values in the browser's IndexedDB.
 * @implements {Store}
 */
export class IndexedDBStore {
  /** @param {string} name of the database */
  constructor(name = "touchsync") {
    this.name = name;
    /** @type {Promise<IDBDatabase> | undefined} */
    this.opening = undefined;
  }

  /** @returns {Promise<IDBDatabase>} */
  database() {
    this.opening ??= new Promise((resolve, reject) => {
      const request = indexedDB.open(this.name, 1);
      request.onupgradeneeded = () => request.result.createObjectStore("values");
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
    return this.opening;
  }

  /** @param {IDBTransactionMode} mode @param {(values: IDBObjectStore) => IDBRequest} action @returns {Promise<any>} */
  async perform(mode, action) {
    const transaction = (await this.database()).transaction("values", mode);
    const request = action(transaction.objectStore("values"));
    return new Promise((resolve, reject) => {
      transaction.oncomplete = () => resolve(request.result);
      transaction.onerror = transaction.onabort = () => reject(transaction.error);
    });
  }

  /** @param {string} key */
  load(key) {
    return this.perform("readonly", values => values.get(key));
  }

  /** @param {string} key @param {any} value */
  async save(key, value) {
    await this.perform("readwrite", values => values.put(value, key));
  }

  /** @param {string} key */
  async clear(key) {
    await this.perform("readwrite", values => values.delete(key));
  }
}

/**
 * The edits of one user at one server, in a store. Only one tab at a time uses it: the first, by a lock of the browser.
 */
class SavedEdits {
  /** @param {Store} store @param {string} key */
  constructor(store, key) {
    this.store = store;
    this.key = key;
    /** @type {Record<string, Data>} by room */
    this.records = {};
    /** Whether this tab has the lock. */
    this.isOurs = false;
    this.release = () => {};
    this.writing = Promise.resolve();
  }

  /** @returns {Promise<Record<string, Data>>} what an earlier run of the app left */
  async open() {
    this.isOurs = await this.lock();
    if (this.isOurs) this.records = (await this.store.load(this.key)) ?? {};
    return this.records;
  }

  /** @returns {Promise<boolean>} */
  lock() {
    if (typeof navigator === "undefined" || !navigator.locks) return Promise.resolve(true);
    return new Promise(resolve => {
      // A page that is loaded again waits for its former self to end; a second tab goes on without the store.
      const patience = new AbortController();
      const timer = setTimeout(() => patience.abort(), 500);
      const held = () => new Promise(release => {
        clearTimeout(timer);
        this.release = () => release(undefined);
        resolve(true);
      });
      navigator.locks.request(this.key, { signal: patience.signal }, held).catch(() => resolve(false));
    });
  }

  /** @param {string} roomId @param {Data | null} record @param {(error: any) => void} failed */
  save(roomId, record, failed) {
    if (!this.isOurs) return;
    if (record) this.records[roomId] = record;
    else delete this.records[roomId];
    const records = structuredClone(this.records);
    const isEmpty = Object.keys(records).length === 0;
    this.writing = this.writing
      .then(() => (isEmpty ? this.store.clear(this.key) : this.store.save(this.key, records)))
      .catch(failed);
  }
}

// MARK: Shell

/** Calls handlers by name. */
class Emitter {
  constructor() {
    /** @type {Map<string, Set<(value: any) => void>>} */
    this.handlers = new Map();
  }

  /**
   * Calls a handler whenever something happens.
   * @param {string} event @param {(value: any) => void} handler @returns {() => void} ends that
   */
  on(event, handler) {
    const handlers = this.handlers.get(event) ?? new Set();
    this.handlers.set(event, handlers.add(handler));
    return () => void handlers.delete(handler);
  }

  /** @param {string} event @param {any} value */
  emit(event, value) {
    for (const handler of [...(this.handlers.get(event) ?? [])]) {
      try {
        handler(value);
      } catch (error) {
        // A handler's fault is the app's to hear of, and nobody else's.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}

/** Why an edit or a join was refused for good. */
export class Refusal extends Error {
  /** @param {Data} error as the server sent it */
  constructor({ code, message, field, ...more }) {
    super(message ?? code);
    this.name = "Refusal";
    /** @type {string} one of the codes of the protocol, or `queue_full`, `forgotten`, `left` */
    this.code = code;
    /** @type {string | undefined} the field at fault */
    this.field = field;
    this.more = more;
  }
}

/** @returns {string} a name that nobody else uses */
function uniqueName() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, byte => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * A connection to a TouchSync server.
 *
 * Events: `state` (offline, connecting, joining, live, draining, expired), `error` (what the server refused without being
 * asked, failures of the store).
 */
export class TouchSync extends Emitter {
  /**
   * @param {object} options
   * @param {string} [options.url] of the server; that of the page by default
   * @param {string} [options.userId] without tokens: who this is
   * @param {string} [options.name] without tokens: the name that others see
   * @param {string} [options.color] without tokens: the colour that others see
   * @param {(reason: "connect" | "expires" | "refused") => string | null | Promise<string | null>} [options.token] asked for a
   *   token before each connection, before the present one ends, and when it was refused; null when there is none
   * @param {Store} [options.store] keeps edits without a result over restarts; needs `owner`
   * @param {string} [options.owner] whose edits these are: another user of the same browser has others
   * @param {number} [options.queueLimit] the most edits that wait in one room
   * @param {any} [options.WebSocket] where the platform has none
   * @param {any} [options.fetch] where the platform has none
   */
  constructor({ url, userId, name, color, token, store, owner, queueLimit, ...platform } = {}) {
    super();
    if (store && owner === undefined) throw new TypeError("A store needs an owner: the user whose edits it keeps.");
    this.url = new URL(url ?? globalThis.location.href);
    this.WebSocket = platform.WebSocket ?? globalThis.WebSocket;
    this.fetch = platform.fetch ?? globalThis.fetch.bind(globalThis);
    this.token = token;
    this.core = new Core({ handshake: { userId, name, color }, hasTokens: token !== undefined, queueLimit });
    this.saved = store && new SavedEdits(store, `touchsync ${this.url.origin} ${owner}`);
    /** @type {Map<string, Room>} */
    this.rooms = new Map();
    /**
     * Promises of results, by the names of edits.
     * @type {Map<any, {resolve: (answer: Data) => void, reject: (refusal: Refusal) => void}>}
     */
    this.awaited = new Map();
    /** @type {WebSocket | undefined} */
    this.socket = undefined;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    this.runName = uniqueName();
    this.lastName = 0;
    /**
     * Inputs that wait for the store, or for the present one to be done.
     * @type {({type: string} & Data)[]}
     */
    this.inputs = [];
    this.isBusy = false;
    this.unhook = () => {};
    if (this.saved) this.restore(this.saved);
  }

  /** @returns {"offline" | "connecting" | "joining" | "live" | "draining" | "expired"} */
  get state() {
    return /** @type {any} */ (this.core.state);
  }

  /** Connects, and stays connected until `disconnect`: whatever is lost comes back by itself. */
  connect() {
    this.unhook();
    this.unhook = this.hook();
    this.input({ type: "connect" });
  }

  /** Disconnects. Rooms and edits stay; edits are sent after the next `connect`. */
  disconnect() {
    this.unhook();
    this.input({ type: "disconnect" });
  }

  /**
   * Ends for good, and leaves saved edits to the next one of the same owner.
   * @returns {Promise<void>} when everything is saved
   */
  async close() {
    this.disconnect();
    clearTimeout(this.timer);
    await this.saved?.writing;
    this.saved?.release();
  }

  /**
   * A room, which is joined as soon as there is a connection, and again after each loss.
   * @param {string} roomId @returns {Room}
   */
  room(roomId) {
    const room = this.rooms.get(roomId) ?? new Room(this, roomId);
    this.rooms.set(roomId, room);
    this.input({ type: "join", roomId });
    return room;
  }

  // The core and its clock

  get now() {
    return performance.now();
  }

  /** @param {{type: string} & Data} input */
  input(input) {
    this.inputs.push(input);
    if (this.isBusy) return;
    this.isBusy = true;
    for (let next = this.inputs.shift(); next; next = this.inputs.shift()) {
      if (next.type === "join") next.record = this.saved?.records[next.roomId];
      for (const output of this.core.input(next, this.now)) this.perform(output);
    }
    this.isBusy = false;
    this.schedule();
  }

  schedule() {
    clearTimeout(this.timer);
    const { deadline } = this.core;
    if (deadline === Infinity) return;
    this.timer = setTimeout(() => this.input({ type: "time" }), clamp(Math.ceil(deadline - this.now), 0, 0x7fffffff));
  }

  /** @param {Output} output */
  perform(output) {
    const room = this.rooms.get(output.roomId);
    switch (output.type) {
      case "open": return this.open();
      case "close": return this.closeSocket();
      case "send": return this.socket?.readyState === 1 ? this.socket.send(output.text) : undefined;
      case "token": return void this.provideToken(output.reason);
      case "history": return void this.searchHistory(output.roomId, output.after);
      case "save": return this.saved?.save(output.roomId, output.record, error => this.emit("error", error));
      case "state": return this.emit("state", output.state);
      case "error": return this.emit("error", new Refusal(output.error));
      case "result": return this.settle(room, output.id, output.answer);
      default: room?.happened(output);
    }
    if (output.phase === "left") this.rooms.delete(output.roomId);
  }

  /**
   * What an earlier run left is sent, even in rooms that the app does not open.
   * @param {SavedEdits} saved
   */
  async restore(saved) {
    this.isBusy = true;
    try {
      for (const roomId of Object.keys(await saved.open())) {
        if (this.inputs.some(input => input.type === "join" && input.roomId === roomId)) continue;
        this.inputs.push({ type: "join", roomId }, { type: "leave", roomId });
      }
    } catch (error) {
      this.emit("error", error);
    }
    this.isBusy = false;
    this.input({ type: "restored" });
  }

  // The socket

  open() {
    const url = new URL("/socket.io/?EIO=4&transport=websocket", this.url);
    url.protocol = url.protocol.replace("http", "ws");
    const socket = (this.socket = new this.WebSocket(url.href));
    /** @param {{type: string} & Data} input */
    const input = input => {
      if (socket === this.socket) this.input(input);
    };
    socket.onopen = () => input({ type: "opened" });
    socket.onmessage = (/** @type {MessageEvent} */ message) => input({ type: "packet", text: String(message.data) });
    socket.onclose = () => input({ type: "closed" });
    socket.onerror = () => {};
  }

  closeSocket() {
    const socket = this.socket;
    this.socket = undefined;
    socket?.close();
  }

  /**
   * Listens to the page's surroundings.
   * @returns {() => void} ends that
   */
  hook() {
    if (typeof document === "undefined") return () => {};
    const online = () => this.input({ type: "online" });
    const visibility = () => this.input({ type: document.visibilityState === "visible" ? "foreground" : "background" });
    addEventListener("online", online);
    document.addEventListener("visibilitychange", visibility);
    return () => {
      removeEventListener("online", online);
      document.removeEventListener("visibilitychange", visibility);
    };
  }

  /** @param {"connect" | "expires" | "refused"} reason */
  async provideToken(reason) {
    /** @type {string | null} */
    let token = null;
    try {
      token = (await this.token?.(reason)) ?? null;
    } catch (error) {
      this.emit("error", error);
    }
    this.input({ type: "token", token });
  }

  // HTTP

  /** @param {string} roomId @param {number} after */
  async searchHistory(roomId, after) {
    const page = await this.readHistory(roomId, { after, limit: 200 }).catch(() => null);
    this.input({ type: "history", roomId, after, page });
  }

  /** @param {string} roomId @param {{after?: number, limit?: number}} range @returns {Promise<Data>} */
  async readHistory(roomId, { after = 0, limit = 50 }) {
    const url = new URL(`/api/rooms/${encodeURIComponent(roomId)}/history?after=${after}&limit=${limit}`, this.url);
    const { token } = this.core.link;
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const response = await this.fetch(url.href, { headers });
    const body = await response.json();
    if (response.ok) return body;
    // A room that nothing was ever stored in.
    if (response.status === 404) return { entries: [], next: null, oldest: 1 };
    throw new Refusal(body.error);
  }

  // Results

  /**
   * @param {(id: any) => {type: string} & Data} make the input that bears the name of an edit
   * @returns {Promise<any>} its result
   */
  awaitResult(make) {
    const id = `${this.runName}-${++this.lastName}`;
    const result = new Promise((resolve, reject) => this.awaited.set(id, { resolve, reject }));
    // Who does not wait for a result hears of a refusal by the room's event.
    result.catch(() => {});
    this.input(make(id));
    return result;
  }

  /** @param {Room | undefined} room @param {any} id @param {Data} answer */
  settle(room, id, answer) {
    const awaited = this.awaited.get(id);
    this.awaited.delete(id);
    if (answer.ok === true) return awaited?.resolve(answer);
    const refusal = new Refusal(answer.error);
    awaited?.reject(refusal);
    room?.emit("refusal", refusal);
  }
}

/** @typedef {{undoable?: boolean, undoGroup?: string}} UndoOptions whether and with what an edit is undone */
/** @typedef {{ok: true, seq: number, adjusted: Data[], element?: Element, elements?: Element[]}} Result */

/**
 * A room. Its edits are shown immediately, and sent in their order as soon as they can be; each has a promise of its
 * result, which is rejected with a `Refusal`.
 *
 * Events: `change` (ids of elements), `moving` (an element that somebody else moves: draw it at each frame by `drawn`),
 * `members`, `attention` (a cursor or a selection of somebody), `joined`, `denied` and `refusal` (a `Refusal`), `left`.
 */
export class Room extends Emitter {
  /** @param {TouchSync} client @param {string} id */
  constructor(client, id) {
    super();
    this.client = client;
    this.id = id;
    /**
     * The first join: rejected with a `Refusal` when this user may not join.
     * @type {Promise<void>}
     */
    this.joined = new Promise((resolve, reject) => {
      this.on("joined", () => resolve());
      this.on("denied", reject);
    });
    this.joined.catch(() => {});
    this.lastGesture = 0;
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
   * All elements, in the order in which they lie on each other.
   * @returns {Element[]}
   */
  get elements() {
    return [...(this.core?.shown.values() ?? [])].sort((a, b) => (a.zIndex ?? 0) - (b.zIndex ?? 0));
  }

  /** @param {string} id @returns {Element | undefined} */
  element(id) {
    return this.core?.shown.get(id);
  }

  /**
   * An element as it is to be drawn at this moment; the same object at each call while others move it.
   * @param {string} id @returns {Element | undefined}
   */
  drawn(id) {
    return this.core?.drawn(id, this.client.now);
  }

  /**
   * Whether somebody else's movement of the element is still under way.
   * @param {string} id
   */
  isMoving(id) {
    this.drawn(id);
    return this.core?.movements.all.has(id) ?? false;
  }

  /** Who is here, with cursors and selections. */
  get members() {
    return [...(this.core?.people.members.values() ?? [])].map(({ connections, ...member }) => ({
      ...member, connections: [...connections].map(([sid, attention]) => ({ sid, ...attention })),
    }));
  }

  // Edits

  /**
   * @param {Data} element at least its type
   * @param {UndoOptions} [options] @returns {Promise<Result>}
   */
  create(element, options) {
    return this.edit("element:create", { element: { id: uniqueName(), ...element } }, options);
  }

  /**
   * Several elements, all or none.
   * @param {Data[]} elements @param {UndoOptions} [options] @returns {Promise<Result>}
   */
  createAll(elements, options) {
    const named = elements.map(element => ({ id: uniqueName(), ...element }));
    return this.edit("elements:create", { elements: named }, options);
  }

  /**
   * Sets values of an element's geometry.
   * @param {string} elementId @param {Fields} fields @param {UndoOptions} [options] @returns {Promise<Result>}
   */
  transform(elementId, fields, options) {
    return this.edit("element:transform", { elementId, ...transformOf(fields) }, options);
  }

  /**
   * Of several elements, all or none.
   * @param {({elementId: string} & Fields)[]} elements @param {UndoOptions} [options] @returns {Promise<Result>}
   */
  transformAll(elements, options) {
    const entries = elements.map(({ elementId, ...fields }) => ({ elementId, ...transformOf(fields) }));
    return this.edit("elements:transform", { elements: entries }, options);
  }

  /**
   * Sets what is no geometry.
   * @param {string} elementId @param {Data} set @param {UndoOptions} [options] @returns {Promise<Result>}
   */
  update(elementId, set, options) {
    return this.edit("element:update", { elementId, set }, options);
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
   * Takes this user's newest edit back. It is shown when the server has done it.
   * @returns {Promise<Result>}
   */
  undo() {
    return this.edit("history:undo", {});
  }

  /** @returns {Promise<Result>} */
  redo() {
    return this.edit("history:redo", {});
  }

  /** @param {string} event @param {Data} body @param {UndoOptions} [options] @returns {Promise<any>} */
  edit(event, body, options) {
    return this.client.awaitResult(id => ({ type: "edit", roomId: this.id, id, event, body: { ...body, ...options } }));
  }

  /**
   * Fingers touched elements.
   * @param {string | string[]} ids
   * @param {{pivot?: Point}} options about which a group turns and scales; its middle by default
   */
  begin(ids, { pivot } = {}) {
    const gesture = ++this.lastGesture;
    this.client.input({ type: "begin", roomId: this.id, gesture, elementIds: [ids].flat(), pivot });
    return new Gesture(this, gesture);
  }

  // Attention

  /**
   * Where this user points, pixels of the canvas; null hides it.
   * @param {Point | null} cursor
   */
  point(cursor) {
    this.client.input({ type: "point", roomId: this.id, x: cursor?.x ?? null, y: cursor?.y ?? null });
  }

  /** @param {string[]} elementIds */
  select(elementIds) {
    this.client.input({ type: "select", roomId: this.id, elementIds });
  }

  /**
   * The part of the canvas that is seen: previews of others come from there only.
   * @param {{x: number, y: number, width: number, height: number}} [viewport] everything by default
   */
  look(viewport) {
    this.client.input({ type: "look", roomId: this.id, viewport });
  }

  /**
   * A page of who changed what.
   * @param {{after?: number, limit?: number}} [range] @returns {Promise<Data>}
   */
  history(range = {}) {
    return this.client.readHistory(this.id, range);
  }

  /** Leaves, as soon as all edits have their results. */
  leave() {
    this.client.input({ type: "leave", roomId: this.id });
  }

  /** @param {Output} output */
  happened(output) {
    switch (output.type) {
      case "changed": return this.emit("change", output.ids);
      case "moving": return this.emit("moving", output.elementId);
      case "members": return this.emit("members", this.members);
      case "attention": return this.emit("attention", output);
      case "room":
        if (output.phase === "refused") this.emit("denied", new Refusal(output.error));
        else this.emit(output.phase, output);
    }
  }
}

/**
 * Position in a payload's own fields, the rest in `transform`.
 * @param {Fields} fields @returns {Data}
 */
function transformOf({ positionX, positionY, ...transform }) {
  return { positionX, positionY, transform };
}

/** What fingers do to elements until they are lifted. */
export class Gesture {
  /** @param {Room} room @param {number} number */
  constructor(room, number) {
    this.room = room;
    this.number = number;
  }

  /**
   * The fingers have done this since they touched.
   * @param {Deltas} deltas
   */
  update(deltas) {
    this.room.client.input({ type: "move", roomId: this.room.id, gesture: this.number, deltas });
  }

  /**
   * The fingers were lifted.
   * @returns {Promise<Result>}
   */
  end() {
    return this.room.client.awaitResult(id => ({ type: "end", roomId: this.room.id, gesture: this.number, id }));
  }

  /** Everything is as before. */
  cancel() {
    this.room.client.input({ type: "cancel", roomId: this.room.id, gesture: this.number });
  }
}
