// A server in a test's hands, for tests of the client without one.

import { setTimeout as sleep } from "node:timers/promises";

const NOTE = { id: "a", type: "note", positionX: 0, positionY: 0, rotation: 0, scaleX: 1, scaleY: 1, originalWidth: 100,
  originalHeight: 100, anchorX: 0.5, anchorY: 0.5 };
export const JOINED = { ok: true, roomId: "demo", epoch: "e", seq: 1, elements: [NOTE], members: [],
  session: "s", sid: "ada-1", n: 0, throttleMs: 16, limits: { unacknowledged: 32 } };

// The server's end of a WebSocket.
export class Socket {
  static last = undefined;
  sent = [];

  constructor() {
    Socket.last = this;
  }

  send(text) {
    this.sent.push(text);
  }

  say(data) {
    this.onmessage({ data });
  }

  // Lets the client in.
  accept() {
    this.say('0{"sid":"e","pingInterval":25000,"pingTimeout":20000}');
    this.say('40{"sid":"x"}');
  }

  // Answers the latest request, which must be `event`.
  answer(event, answer) {
    const [, number, name] = /^42(\d+)\["([a-z:]+)"/.exec(this.sent.at(-1)) ?? [];
    if (name !== event) throw new Error(`${this.sent.at(-1)} instead of ${event}`);
    this.say(`43${number}${JSON.stringify([answer])}`);
  }

  close() {}

  get edits() {
    return this.sent.filter(text => text.includes("element:delete"));
  }
}

export const turn = () => sleep(5);

export async function until(condition) {
  for (const end = performance.now() + 30000; !condition() && performance.now() < end; ) await turn();
}
