// Whether a wheel is a mouse's, whose notches zoom, or fingers on a trackpad, which pan. A run of events is one or the other:
// a fast swipe has steps as large as notches.

/** Events further apart are another run, ms. */
const PAUSE = 250;
/** A notch is at least so many pixels, and nothing sideways. */
const NOTCH = 50;

export class Wheel {
  #last = -Infinity;
  #isNotched = false;

  /**
   * @param {{deltaX: number, deltaY: number, deltaMode: number, shiftKey: boolean, timeStamp: number}} event
   * @returns {boolean} whether it is a mouse's notch
   */
  isNotched({ deltaX, deltaY, deltaMode, shiftKey, timeStamp }) {
    const isNext = timeStamp - this.#last > PAUSE;
    this.#last = timeStamp;
    if (isNext) this.#isNotched = deltaMode !== 0 || (deltaX === 0 && Math.abs(deltaY) >= NOTCH && !shiftKey);
    return this.#isNotched;
  }
}
