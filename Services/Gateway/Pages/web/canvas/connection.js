// The connection as a person sees it: its state, edits that wait, and a while without it on purpose.

import { $ } from "./page.js";
import { mayChange } from "./roomcore.js";
import { counted, FAILURES, STATES } from "./words.js";

/** @typedef {import("/client/touchsync.js").TouchSync} TouchSync */
/** @typedef {import("/client/touchsync.js").Room} Room */

/** How long a break lasts, s. */
const BREAK = 30;
/** A connection that is back sooner is not worth a banner, ms. */
const SHORT = 1200;

export class Connection {
  /**
   * Seconds left of a break.
   * @type {number | undefined}
   */
  #left = undefined;
  #timer = 0;
  #lostAt = performance.now();
  #wasLive = false;

  /** @param {TouchSync} client @param {Room} room @param {() => number} count of people @param {(text: string) => void} say */
  constructor(client, room, count, say) {
    this.client = client;
    this.room = room;
    this.count = count;
    this.say = say;
    client.on("state", state => this.#changed(state));
    client.on("failure", () => this.show());
    for (const event of ["change", "members", "joined"]) room.on(event, () => this.show());
    $("offline").addEventListener("click", () => (this.isOnBreak ? this.resume() : this.leave()));
    $("resume").addEventListener("click", () => this.resume());
  }

  get isOnBreak() {
    return this.#left !== undefined;
  }

  /** Disconnects for a while: edits wait here meanwhile. */
  leave() {
    this.#left = BREAK;
    this.client.disconnect();
    this.#timer = setInterval(() => {
      this.#left = Number(this.#left) - 1;
      if (this.#left <= 0) this.resume();
      else this.show();
    }, 1000);
    this.show();
  }

  resume() {
    clearInterval(this.#timer);
    this.#left = undefined;
    this.client.connect();
    this.show();
  }

  /** @param {string} state */
  #changed(state) {
    const isLive = state === "live";
    if (!isLive && this.#wasLive) {
      this.#lostAt = performance.now();
      setTimeout(() => this.show(), SHORT + 20);
    }
    if (isLive && !this.#wasLive) this.say("Connected");
    this.#wasLive = isLive;
    this.show();
  }

  /** Shows the state, and what waits. */
  show() {
    const { state } = this.client, { pending } = this.room, isLive = state === "live";
    $("state").dataset.state = isLive ? "live" : state === "expired" ? "expired" : "waiting";
    $("state-name").textContent = STATES[state] ?? state;
    $("state-count").textContent = isLive ? `${this.count()} here` : "";
    $("looking").hidden = mayChange(this.room);
    document.body.classList.toggle("looking", !mayChange(this.room));
    $("pending").hidden = pending === 0;
    $("pending").textContent = counted(pending, "edit") + " waiting";
    $("offline-label").textContent = this.isOnBreak ? "Go back online" : `Go offline for ${BREAK} s`;
    this.#banner(isLive || state === "expired", pending);
  }

  /** @param {boolean} isFine @param {number} pending */
  #banner(isFine, pending) {
    const isLong = performance.now() - this.#lostAt > SHORT;
    $("banner").hidden = isFine || !(this.isOnBreak || isLong);
    const kept = pending ? `${counted(pending, "edit")} ${pending === 1 ? "waits" : "wait"} here and will be sent afterwards.`
      : "You can go on working: edits wait here and are sent afterwards.";
    $("banner-text").textContent = this.isOnBreak ? `You are offline for ${this.#left} s. ${kept}`
      : `${FAILURES[this.client.lastFailure?.code ?? ""] ?? "The connection was lost."} The page keeps trying. ${kept}`;
    $("resume").hidden = !this.isOnBreak;
  }
}
