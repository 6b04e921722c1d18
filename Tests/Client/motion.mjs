// What it costs to draw 300 elements that others move: the CPU time of a frame, with 30 previews a second of each.

import { Core } from "../../Shared/Client/web/touchsync.js";

const PUBLISHERS = 300, FRAMES = 600, FRAME = 1000 / 60;
const core = new Core();
const feed = (text, now) => core.input({ type: "packet", text }, now);
const ids = Array.from({ length: PUBLISHERS }, (_, index) => `e${index}`);
const elements = ids.map(id => ({
  id, type: "note", positionX: 0, positionY: 0, rotation: 0, scaleX: 1, scaleY: 1, originalWidth: 100,
  originalHeight: 100, anchorX: 0.5, anchorY: 0.5,
}));
core.input({ type: "join", roomId: "r" }, 0);
core.input({ type: "connect" }, 0);
feed('0{"sid":"e","pingInterval":1e6,"pingTimeout":1e6}', 0);
feed('40{"sid":"s"}', 0);
feed(`430${JSON.stringify([{ ok: true, epoch: "1", seq: 1, n: 0, session: "s", sid: "me", elements, members: [] }])}`, 0);

const room = core.rooms.get("r");
const start = process.cpuUsage();
let checksum = 0;
for (let frame = 0; frame < FRAMES; frame++) {
  const now = frame * FRAME;
  // Every publisher sends at half the rate of frames.
  for (let index = frame % 2; index < PUBLISHERS; index += 2) {
    const moved = { transform: { rotation: frame % 360 }, positionX: frame };
    const preview = { roomId: "r", elementId: ids[index], sid: "other", gesture: 1, n: 1, dt: 33, ...moved };
    feed(`42${JSON.stringify(["element:transforming", preview])}`, now);
  }
  for (const id of ids) checksum += room.drawn(id, now).positionX;
}
const { user, system } = process.cpuUsage(start);
const perFrame = (user + system) / 1000 / FRAMES;
console.log(`${perFrame.toFixed(2)} ms of CPU for a frame with ${PUBLISHERS} publishers (checksum ${Math.round(checksum)})`);
process.exitCode = perFrame < FRAME / 2 ? 0 : 1;
