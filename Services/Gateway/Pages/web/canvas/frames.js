// When the page is drawn: at the next frame after something changed, and not at all while nothing does.

/** Calls a drawing at most once a frame. */
export class Frames {
  #isWanted = false;

  /** @param {(now: number) => boolean} draw returns whether the next frame is to be drawn as well */
  constructor(draw) {
    this.draw = draw;
  }

  /** Something changed. */
  want() {
    if (this.#isWanted) return;
    this.#isWanted = true;
    requestAnimationFrame(now => {
      this.#isWanted = false;
      if (this.draw(now)) this.want();
    });
  }
}
