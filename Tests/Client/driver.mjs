// Drives a client for the tests: commands come in, reports go out, as lines of JSON. A command names a method of `Driver`,
// {"call": 1, "method", "arguments"}, and gets {"call": 1, "result"} or {"call": 1, "error"}; events are {"event", "value"}.

import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { TouchSync } from "../../Shared/Client/web/touchsync.js";

const require = createRequire(import.meta.url);
// Node 18 has it in a module only.
globalThis.crypto ??= require("crypto").webcrypto;
const report = line => process.stdout.write(JSON.stringify(line) + "\n");

// A store that outlives this process.
class FileStore {
  constructor(path) {
    this.path = path;
  }

  async load() {
    return readFile(this.path, "utf8").then(JSON.parse, () => undefined);
  }

  // The former file or the new one, wherever this process dies.
  async save(key, value) {
    await writeFile(`${this.path}.new`, JSON.stringify(value));
    await rename(`${this.path}.new`, this.path);
  }

  async clear() {
    await rm(this.path, { force: true });
  }
}

class Driver {
  constructor({ store, hasTokens, ...options }) {
    this.tokens = [];
    this.client = new TouchSync({
      ...options,
      WebSocket: require("ws"),
      fetch: (...request) => {
        report({ event: "fetch", value: request[0] });
        return fetch(...request);
      },
      ...(store && { store: new FileStore(store) }),
      ...(hasTokens && { token: reason => this.askForToken(reason) }),
    });
    this.rooms = new Map();
    this.gestures = new Map();
    for (const event of ["state", "error"]) this.client.on(event, value => this.tell(event, value));
  }

  tell(event, value) {
    report({ event, value: value instanceof Error ? { code: value.code, message: value.message } : value });
  }

  askForToken(reason) {
    return new Promise(resolve => {
      this.tokens.push(resolve);
      report({ event: "token", value: reason });
    });
  }

  token(token) {
    this.tokens.shift()?.(token);
  }

  connect() {
    this.client.connect();
  }

  disconnect() {
    this.client.disconnect();
  }

  // From now on nothing of what the server says arrives.
  deafen() {
    this.client.socket.onmessage = () => {};
  }

  // From now on nothing of what the client says arrives.
  mute() {
    this.client.socket.send = () => {};
  }

  // The network goes away without a word.
  cut() {
    this.client.socket?.terminate();
  }

  async join(roomId) {
    const room = this.client.room(roomId);
    if (!this.rooms.has(roomId)) room.on("refusal", refusal => this.tell("refusal", refusal));
    this.rooms.set(roomId, room);
  }

  joined(roomId) {
    return this.rooms.get(roomId).joined;
  }

  edit(roomId, method, ...more) {
    return this.rooms.get(roomId)[method](...more);
  }

  // What an edit makes of an element: as it is shown immediately, and as the server stores it.
  async predict(roomId, id, method, ...more) {
    const room = this.rooms.get(roomId);
    const result = room[method](...more);
    const shown = room.element(id);
    return [shown, (await result).element];
  }

  // Does not wait for the result.
  async start(roomId, method, ...more) {
    this.rooms.get(roomId)[method](...more);
  }

  begin(roomId, name, ids) {
    this.gestures.set(name, this.rooms.get(roomId).begin(ids));
  }

  gesture(name, method, ...more) {
    return this.gestures.get(name)[method](...more);
  }

  look(roomId) {
    const room = this.rooms.get(roomId);
    const { seq, pending, elements, members } = room;
    const drawn = elements.map(({ id }) => room.drawn(id));
    return { state: this.client.state, seq, pending, elements, drawn, members };
  }
}

const driver = new Driver(JSON.parse(process.argv[2]));
const lines = createInterface({ input: process.stdin });
lines.on("line", async line => {
  const { call, method, arguments: more } = JSON.parse(line);
  try {
    report({ call, result: (await driver[method](...more)) ?? null });
  } catch (error) {
    report({ call, error: { code: error.code, field: error.field, message: error.message } });
  }
});
lines.on("close", async () => {
  await driver.client.saved?.writing;
  process.exit(0);
});
