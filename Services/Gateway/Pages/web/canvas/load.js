// The room under load, on purpose: many elements, and robots that work in it.

import { $ } from "./page.js";
import { refused } from "./words.js";

/** @typedef {import("./board.js").Board} Board */
/** @typedef {import("./actions.js").Actions} Actions */

const ELEMENTS = 1000, ROBOTS = 20;

export class Load {
  /** @type {Worker | undefined} */
  #worker = undefined;

  /** @param {Board} board @param {Actions} actions @param {(text: string) => void} notify */
  constructor(board, actions, notify) {
    this.board = board;
    this.actions = actions;
    this.notify = notify;
  }

  async crowd() {
    const button = $("crowd");
    button.disabled = true;
    await this.actions.crowd(ELEMENTS).then(
      () => this.notify(`${ELEMENTS.toLocaleString("en")} elements were added. Undo takes them back.`),
      refusal => this.notify(refused(refusal)));
    button.disabled = false;
  }

  robots() {
    if (this.#worker) return this.#worker.postMessage({ stop: true });
    const { board } = this, roomId = board.room.id;
    this.#worker = new Worker("/app/robots.js", { type: "module" });
    this.#worker.onmessage = ({ data }) => {
      if (data.failed) this.notify(`A robot may not join: ${data.failed}`);
      if (data.stopped) this.#ended();
    };
    const { x, y, width, height } = board.view;
    const area = { x: x + width * 0.12, y: y + height * 0.18, width: width * 0.76, height: height * 0.6 };
    this.#worker.postMessage({ roomId, count: ROBOTS, area });
    this.#show(`${ROBOTS} robots are coming. They stop after five minutes.`);
  }

  #ended() {
    // Their connections close first.
    const worker = this.#worker;
    setTimeout(() => worker?.terminate(), 500);
    this.#worker = undefined;
    this.#show("The robots are gone.");
  }

  /** @param {string} text */
  #show(text) {
    $("robots-label").textContent = this.#worker ? "Stop the robots" : `${ROBOTS} robots`;
    $("robots").setAttribute("aria-pressed", String(this.#worker !== undefined));
    this.notify(text);
  }
}
