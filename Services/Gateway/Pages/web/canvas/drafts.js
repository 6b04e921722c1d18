// What is being drawn, by this person and by others, before it is an element. Others see it through what the room shows of
// each person: nothing of it is stored, so that one edit makes the whole, and one undo takes it back.

import { boxBetween } from "./geometry.js";
import { fillOf, inkOf } from "./paint.js";
import { arrowPath } from "./shapes.js";
import { THICKNESS } from "./arrows.js";
import { reduced, smooth } from "./strokes.js";
import { paced, svg } from "./page.js";
import { ownSid } from "./roomcore.js";
import { numberOf } from "./values.js";

/** @typedef {import("./geometry.js").Point} Point */
/** @typedef {{kind: "rectangle" | "ellipse" | "arrow" | "stroke", points: Point[], stroke: string, fill?: string}} Draft */

/** How often others are told, ms. */
const EVERY = 50;
/** How long others keep a draft whose element is on its way, ms. */
const OVERLAP = 250;
/** Points of a draft for others at most: the server allows 1 KiB. */
const MOST = 56;

/**
 * What others get of a draft.
 * @param {Draft} draft
 */
export function shared({ kind, points, stroke, fill }) {
  const few = kind === "stroke" ? reduced(points, MOST, 2) : points;
  const [x, y] = [Math.round(few[0].x), Math.round(few[0].y)];
  return { kind, stroke, fill, x, y, points: few.flatMap(point => [Math.round(point.x - x), Math.round(point.y - y)]) };
}

/** @param {any} value from another person @returns {Draft | undefined} */
export function draftFrom(value) {
  if (!["rectangle", "ellipse", "arrow", "stroke"].includes(value?.kind) || !Array.isArray(value.points)) return undefined;
  const numbers = value.points.slice(0, 2 * MOST).map((/** @type {unknown} */ one) => numberOf(one, 0)), points = [];
  const x = numberOf(value.x, 0), y = numberOf(value.y, 0);
  for (let index = 0; index + 1 < numbers.length; index += 2) points.push({ x: x + numbers[index], y: y + numbers[index + 1] });
  return points.length ? { kind: value.kind, points, stroke: value.stroke, fill: value.fill } : undefined;
}

/** @param {Draft} draft @returns {SVGElement} */
function drawn({ kind, points, stroke, fill }) {
  const [from] = points, to = points[points.length - 1];
  const made = kind === "rectangle" || kind === "ellipse" ? form(kind, boxBetween(from, to), fill) : svg("path", { class: "line" });
  made.style.stroke = inkOf(stroke);
  if (kind === "stroke") made.setAttribute("d", smooth(points.flatMap(({ x, y }) => [x, y])));
  if (kind === "arrow") {
    const length = Math.hypot(to.x - from.x, to.y - from.y), angle = (Math.atan2(to.y - from.y, to.x - from.x) * 180) / Math.PI;
    made.setAttribute("d", arrowPath(length));
    made.setAttribute("transform", `translate(${from.x} ${from.y}) rotate(${angle}) translate(0 ${-THICKNESS / 2})`);
  }
  return made;
}

/** @param {"rectangle" | "ellipse"} kind @param {import("./geometry.js").Box} box @param {any} fill */
function form(kind, { x, y, width, height }, fill) {
  const fields = kind === "rectangle"
    ? { x, y, width, height, rx: 10 } : { cx: x + width / 2, cy: y + height / 2, rx: width / 2, ry: height / 2 };
  const made = svg(kind === "rectangle" ? "rect" : "ellipse", Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, `${value}`])));
  made.setAttribute("class", "form");
  made.style.fill = fillOf(fill);
  return made;
}

export class Drafts {
  /**
   * By connection; the own one by "".
   * @type {Map<string, SVGElement>}
   */
  #nodes = new Map();
  /**
   * What others are to see.
   * @type {Draft | undefined}
   */
  #told = undefined;
  #timer = 0;

  /**
   * @param {HTMLElement} world @param {import("/client/touchsync.js").Room} room
   * @param {import("./presence.js").Presence} presence
   */
  constructor(world, room, presence) {
    this.room = room;
    this.layer = svg("svg", { class: "drafts", "aria-hidden": "true" });
    world.append(this.layer);
    this.#send = paced(EVERY, () => presence.set("draft", this.#told && shared(this.#told)));
    room.on("awareness", happened => {
      if ("state" in happened && happened.sid !== ownSid(room)) this.#draw(happened.sid, draftFrom(happened.state?.draft));
    });
    room.on("members", members => this.#met(members.flatMap((/** @type {any} */ member) => member.connections)));
  }

  /**
   * Shows what this person draws; without a draft it is over.
   * @param {Draft} [draft]
   */
  show(draft) {
    this.#draw("", draft);
    this.tell(draft);
  }

  /**
   * Shows it to the others alone.
   * @param {Draft} [draft]
   */
  tell(draft) {
    const wasTold = this.#told !== undefined;
    clearTimeout(this.#timer);
    this.#told = draft;
    if (draft) this.#send();
    else if (wasTold) this.#timer = setTimeout(this.#send, OVERLAP);
  }

  /** @param {{sid: string, state?: any}[]} connections of all who are here */
  #met(connections) {
    const others = new Map(connections.filter(({ sid }) => sid !== ownSid(this.room)).map(({ sid, state }) => [sid, state?.draft]));
    for (const sid of this.#nodes.keys()) if (sid !== "" && !others.has(sid)) this.#draw(sid, undefined);
    for (const [sid, draft] of others) this.#draw(sid, draftFrom(draft));
  }

  /** @param {string} sid @param {Draft | undefined} draft */
  #draw(sid, draft) {
    this.#nodes.get(sid)?.remove();
    this.#nodes.delete(sid);
    if (!draft) return;
    const made = drawn(draft);
    made.dataset.sid = sid;
    this.layer.append(made);
    this.#nodes.set(sid, made);
  }

  #send = () => {};
}
