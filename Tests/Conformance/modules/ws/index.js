// Debian's ws, delivering as a browser does: one event, then everything that waits for it, then the next event.
//
// ws itself reports the end of the handshake and all frames of one read in one go. A suite that awaits "open" and then
// "message", or one message and then another, never sees what came in the same read, and TCP may join packets at will.
const { WebSocket } = require("/usr/share/nodejs/ws");

const events = ["open", "message", "close"];

class QueuedWebSocket extends WebSocket {
  // What waits for the turn after the present one; undefined if nothing was delivered in this turn.
  #waiting;

  emit(event, ...details) {
    if (!events.includes(event)) return super.emit(event, ...details);
    if (this.#waiting) {
      this.#waiting.push([event, ...details]);
      return true;
    }
    this.#waiting = [];
    setImmediate(() => this.#deliverNext());
    return super.emit(event, ...details);
  }

  #deliverNext() {
    const next = this.#waiting.shift();
    if (!next) {
      this.#waiting = undefined;
      return;
    }
    setImmediate(() => this.#deliverNext());
    super.emit(...next);
  }
}

exports.WebSocket = QueuedWebSocket;
