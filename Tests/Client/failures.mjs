// Why attempts to connect fail, as Node's sockets tell it: failures.mjs

import assert from "node:assert";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { createServer as createListener } from "node:net";
import { TouchSync } from "../../Shared/Client/web/touchsync.js";

const WebSocket = createRequire(import.meta.url)("ws");
globalThis.crypto ??= createRequire(import.meta.url)("crypto").webcrypto;

const listening = server => new Promise(resolve => server.listen(0, "127.0.0.1", () => resolve(server.address().port)));

// The first failure at an address.
async function failureAt(url) {
  const client = new TouchSync({ url, userId: "ada", WebSocket });
  const failure = await new Promise((resolve, reject) => {
    client.on("failure", resolve);
    setTimeout(() => reject(new Error(`no failure of ${url} within 5 s`)), 5000);
    client.connect();
  });
  assert.equal(client.lastFailure, failure);
  await client.close();
  return failure.code;
}

const page = createServer((request, response) => response.end("Welcome!"));
const strict = createServer((request, response) => response.writeHead(403).end());
strict.on("upgrade", (request, socket) => socket.end("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"));
const busy = createServer();
busy.on("upgrade", (request, socket) => socket.end("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"));
const rude = createListener(socket => socket.destroy());
const silent = createListener(() => {});
const servers = [page, strict, busy, rude, silent], ports = await Promise.all(servers.map(listening));
const gone = createServer(), free = await listening(gone);
await new Promise(resolve => gone.close(resolve));
const seen = await Promise.all([...ports.map(port => `http://127.0.0.1:${port}`), `https://127.0.0.1:${ports[0]}`,
  `http://127.0.0.1:${free}`, "http://nowhere.invalid"].map(failureAt));
assert.deepEqual(seen, ["not_touchsync", "origin", "unreachable", "unreachable", "unreachable", "tls", "refused", "unreachable"]);
for (const server of servers) server.close();
console.log(seen.join());
process.exit(0);
