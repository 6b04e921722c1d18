// Drives a client in Node for the tests: commands come in, reports go out, as lines of JSON; commands.mjs describes them.

import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { Store } from "../../Shared/Client/web/store.js";
import { TouchSync } from "../../Shared/Client/web/touchsync.js";
import { Driver } from "./commands.mjs";

const require = createRequire(import.meta.url);
// Node 18 has it in a module only.
globalThis.crypto ??= require("crypto").webcrypto;

// A store that outlives this process; each save takes up to a number of ms longer than its file.
class FileStore extends Store {
  constructor(path, delay = 0) {
    super();
    this.path = path;
    this.delay = delay;
  }

  async load() {
    return readFile(this.path, "utf8").then(JSON.parse, () => undefined);
  }

  // The former file or the new one, wherever this process dies.
  async save(key, value) {
    if (this.delay) await sleep(Math.random() * this.delay);
    await writeFile(`${this.path}.new`, JSON.stringify(value));
    await rename(`${this.path}.new`, this.path);
  }

  async clear() {
    await rm(this.path, { force: true });
  }
}

const options = JSON.parse(process.argv[2]);
const driver = new Driver(options, {
  TouchSync,
  report: line => process.stdout.write(JSON.stringify(line) + "\n"),
  store: path => new FileStore(path, options.storeDelay),
  cut: socket => socket.terminate(),
  nextFrame: draw => setTimeout(draw, 1000 / 60),
  WebSocket: require("ws"),
});
const lines = createInterface({ input: process.stdin });
lines.on("line", line => driver.perform(JSON.parse(line)));
lines.on("close", async () => {
  await driver.close();
  process.exit(0);
});
