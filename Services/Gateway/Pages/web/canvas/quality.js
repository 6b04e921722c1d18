// How much of the others' motion is shown. A device that cannot keep up shows less by itself, and more again later.

/** @typedef {"full" | "fewer" | "final"} Quality all previews; a few a second; only where things end up */

/** @type {Quality[]} */
export const QUALITIES = ["full", "fewer", "final"];

/** At `fewer`, the time between two pictures of what others move, ms. */
export const FEWER_EVERY = 100;
/** A frame that takes longer is slow, ms. */
const SLOW = 30;
/** How long frames are counted before something is decided, ms. */
const SPAN = 2000;
/** More frames than these in such a time, or none of them count. */
const ENOUGH = 10;
/** Frames further apart belong to no motion, ms. */
const PAUSE = 500;
/** Calm spans until more is tried; doubled whenever that was too much. */
const CALM = { first: 4, most: 64 };

/** Decides from the times between frames. */
export class Governor {
  /** @type {Quality} */
  level = "full";
  #slow = 0;
  #frames = 0;
  #since = 0;
  #last = -Infinity;
  #calm = 0;
  #wasRaised = false;
  #patience = CALM.first;

  /**
   * A frame was drawn while something moves.
   * @param {number} now ms @returns {boolean} whether the level changed
   */
  frame(now) {
    const interval = now - this.#last;
    this.#last = now;
    if (interval > PAUSE) {
      this.#restart(now);
      return false;
    }
    this.#frames++;
    if (interval > SLOW) this.#slow++;
    if (now - this.#since < SPAN) return false;
    const isSlow = this.#slow > this.#frames / 4, isKnown = this.#frames > ENOUGH || isSlow;
    this.#restart(now);
    return isKnown && this.#decide(isSlow);
  }

  /** When nothing of the others moves here any more, how long to wait before some of it is tried again, ms. */
  get rest() {
    return this.#patience * SPAN;
  }

  /** Tries the next better level, whatever frames say. */
  lift() {
    this.#calm = 0;
    this.#wasRaised = true;
    return this.#move(Math.max(QUALITIES.indexOf(this.level) - 1, 0));
  }

  /** @param {number} now */
  #restart(now) {
    this.#slow = this.#frames = 0;
    this.#since = now;
  }

  /** @param {boolean} isSlow */
  #decide(isSlow) {
    const index = QUALITIES.indexOf(this.level);
    if (isSlow) {
      // More was tried, and was too much.
      if (this.#wasRaised) this.#patience = Math.min(this.#patience * 2, CALM.most);
      this.#wasRaised = false;
      this.#calm = 0;
      return this.#move(index + 1);
    }
    if (++this.#calm < this.#patience) return false;
    this.#calm = 0;
    this.#wasRaised = index > 0;
    return this.#move(Math.max(index - 1, 0));
  }

  /** @param {number} index */
  #move(index) {
    const level = QUALITIES[Math.min(index, QUALITIES.length - 1)], isNew = level !== this.level;
    this.level = level;
    return isNew;
  }
}
