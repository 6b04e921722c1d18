// A server with one room, in which somebody moves many elements: what a client costs that draws them is measured against
// it. publishers.mjs ELEMENTS PREVIEWS GROUP prints its port; each element has that many previews a second, and each gesture
// moves a group of that many elements. With groups of 0 nobody does anything: each element swings on a spring and turns by
// keyframes. It ends with its input.

import { createServer } from "node:http";
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const { WebSocketServer } = createRequire(import.meta.url)("ws");
const [elementCount, previewsPerSecond, groupSize] = process.argv.slice(2).map(Number);
const module = readFileSync(new URL("../../Shared/Client/web/touchsync.js", import.meta.url));
const ids = Array.from({ length: elementCount }, (_, index) => `note-${index}`);
const elements = ids.map((id, index) => ({
  id, type: "note", positionX: index, positionY: 0, rotation: 0, scaleX: 1, scaleY: 1, originalWidth: 100,
  originalHeight: 100, width: 100, height: 100, anchorX: 0.5, anchorY: 0.5, content: `note ${index}`, createdBy: "bob",
  updatedBy: "bob", rev: 1,
}));
const startedAt = Date.now();
if (groupSize === 0) {
  const spring = { response: 60, damping: 0.05, velocity: 0 };
  const turn = [{ at: 0, value: 0, curve: "ease-in-out" }, { at: 0.5, value: 90, curve: "linear" }, { at: 1, value: 0, curve: "linear" }];
  elements.forEach((element, index) => Object.assign(element, {
    motion: Object.fromEntries(["positionX", "positionY"].map(field => [field, {
      startedAt, segments: [{ from: element[field] - 900, to: element[field], ms: 600000, curve: { spring } }],
    }])),
    animation: {
      ms: 1000 + index, iterations: "infinite", direction: "alternate", delayMs: 0, composite: "add",
      tracks: { rotation: turn }, startedAt,
    },
  }));
}
const joined = {
  ok: true, epoch: "1", seq: elementCount, n: 0, session: "secret", sid: "ada-1", recovered: false, elements, members: [],
  time: startedAt, throttleMs: 16, limits: { unacknowledged: 32, message: 262144 },
};

function place(index, turn) {
  const angle = turn / 10 + index;
  return {
    elementId: ids[index], after: elementCount, transform: { rotation: (turn + index) % 360 },
    positionX: 500 + 300 * Math.cos(angle), positionY: 500 + 300 * Math.sin(angle),
  };
}

// The preview of the gesture that begins with an element: an event with its data.
function preview(first, turn) {
  const common = {
    roomId: "publishers", userId: "bob", sid: "bob-1", gesture: first + 1, n: 1, dt: 1000 / previewsPerSecond,
  };
  if (groupSize === 1) return ["element:transforming", { ...common, ...place(first, turn) }];
  const elements = ids.slice(first, first + groupSize).map((_, offset) => place(first + offset, turn));
  return ["elements:transforming", { ...common, elements }];
}

// Spread evenly over time, as many people's are. As from a gateway with so much to do, they come in batches every 16 ms to
// a client that asked for these.
function play(socket) {
  const start = performance.now(), send = message => socket.send(`42${JSON.stringify(message)}`);
  let sent = 0;
  const timer = setInterval(() => {
    const due = ((performance.now() - start) * previewsPerSecond * elementCount) / 1000, events = [];
    for (; sent < due; sent += groupSize) events.push(preview(sent % elementCount, Math.floor(sent / elementCount)));
    if (socket.takesBatches && events.length > 1) send(["previews:batch", { events }]);
    else events.forEach(send);
  }, socket.takesBatches ? 16 : 4);
  socket.on("close", () => clearInterval(timer));
}

function answer(socket, text) {
  const [, kind, number, json] = /^(4?\d)(\d*)(.*)$/s.exec(text);
  if (kind === "40") {
    socket.takesBatches = JSON.parse(json).batches;
    return socket.send('40{"sid":"s"}');
  }
  if (kind !== "42") return;
  const isJoin = JSON.parse(json)[0] === "room:join";
  socket.send(`43${number}${JSON.stringify([isJoin ? joined : { ok: true }])}`);
  if (isJoin && groupSize > 0) play(socket);
}

const server = createServer((_, response) => response.setHeader("Content-Type", "text/javascript").end(module));
new WebSocketServer({ server }).on("connection", socket => {
  socket.send('0{"sid":"s","pingInterval":25000,"pingTimeout":20000}');
  const pings = setInterval(() => socket.send("2"), 25000);
  socket.on("close", () => clearInterval(pings));
  socket.on("message", data => answer(socket, String(data)));
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
process.stdin.on("end", () => process.exit()).resume();
