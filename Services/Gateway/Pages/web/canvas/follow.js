// Following somebody's view: this window shows what theirs shows, until this person looks elsewhere.

import { fitted, ZOOMS } from "./camera.js";
import { inkOn } from "./colours.js";
import { $, isCalm } from "./page.js";

/** @typedef {import("./board.js").Board} Board */
/** @typedef {import("./people.js").Person} Person */
/** @typedef {import("./camera.js").Camera} Camera */

/** How slowly the camera comes after theirs, ms: views are told some times a second. */
const SLOWNESS = 90;
/** Nearer than this it is there, pixels of the screen. */
const NEAR = 0.3;

/**
 * A camera on its way to another one.
 * @param {Camera} from @param {Camera} to @param {number} share 0 to 1 @returns {Camera}
 */
export function between(from, to, share) {
  const mix = (/** @type {number} */ a, /** @type {number} */ b) => a + (b - a) * share;
  return { x: mix(from.x, to.x), y: mix(from.y, to.y), zoom: from.zoom * (to.zoom / from.zoom) ** share };
}

export class Following {
  /** @type {Person | undefined} */
  person = undefined;
  /**
   * Where the camera was put last: another one is this person's doing.
   * @type {Camera | undefined}
   */
  #own = undefined;
  /** @type {Camera | undefined} */
  #target = undefined;
  #at = 0;
  #end = () => {};

  /** @param {Board} board @param {(text: string) => void} say */
  constructor(board, say) {
    this.board = board;
    this.say = say;
    board.surface.addEventListener("camera", () => {
      if (this.#own && board.camera !== this.#own) this.stop();
    });
    board.room.on("members", members => {
      if (this.person && !members.some((/** @type {any} */ one) => one.userId === this.person?.userId)) this.stop();
    });
    $("following").addEventListener("click", () => this.stop());
  }

  /**
   * Follows somebody, or nobody any more if it is the same one.
   * @param {Person} person
   */
  start(person) {
    const isSame = this.person?.userId === person.userId;
    this.stop();
    if (isSame) return;
    this.person = person;
    // Two who follow each other would drive each other away.
    this.board.share(false);
    this.#end = this.board.room.follow(person.userId, view => this.#look(view));
    this.board.people.follow(person.userId);
    const frame = $("following");
    frame.hidden = false;
    frame.style.setProperty("--theirs", person.colour);
    frame.style.setProperty("--on-theirs", inkOn(person.colour));
    this.say(`You follow ${person.name}. Escape ends it.`);
  }

  /** @returns {boolean} whether somebody was followed */
  stop() {
    if (!this.person) return false;
    this.#end();
    this.person = this.#own = this.#target = undefined;
    this.board.share(true);
    this.board.people.follow(undefined);
    $("following").hidden = true;
    return true;
  }

  /** @param {import("./geometry.js").Box | undefined} view */
  #look(view) {
    const isOnWay = this.#target !== undefined, { board } = this;
    $("following-name").textContent = view ? `Following ${this.person?.name}` : `${this.person?.name} shows no view`;
    if (!view) return;
    this.#target = fitted(view, board.size, { x: 0, y: 0 }, ZOOMS.most);
    this.#own = board.camera;
    this.#at = performance.now();
    if (!isOnWay) requestAnimationFrame(() => this.#go());
  }

  #go() {
    const { board } = this, target = this.#target, now = performance.now();
    if (!target) return;
    const share = isCalm() ? 1 : 1 - Math.exp((this.#at - now) / SLOWNESS), next = between(board.camera, target, share);
    const isThere = Math.hypot(next.x - target.x, next.y - target.y) * target.zoom < NEAR && Math.abs(next.zoom / target.zoom - 1) < 0.001;
    this.#at = now;
    this.#own = isThere ? target : next;
    if (isThere) this.#target = undefined;
    else requestAnimationFrame(() => this.#go());
    board.look(this.#own);
  }
}
