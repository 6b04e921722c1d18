// A worker with robots, each with a connection of its own, as if so many people had opened the page. They stop by
// themselves after some minutes.

import { TouchSync } from "/client/touchsync.js";
import { PALETTE } from "./colours.js";
import { Robot } from "./robot.js";
import { sample } from "./samples.js";

/** How long they work, ms. */
const WORK = 5 * 60_000;
/** The time between two movements of a hand, ms. */
const TICK = 33;
/** A robot sees nothing of the others' motion, which would cost more than all that it does. */
const NOWHERE = { x: -1e9, y: -1e9, width: 1, height: 1 };

/** @type {{client: TouchSync, robot: Robot}[]} */
let crew = [];
let timer = 0;

/**
 * @param {number} index @param {string} roomId @param {import("./geometry.js").Box} area
 */
function hire(index, roomId, area) {
  const name = `Robot ${index + 1}`;
  const client = new TouchSync({
    userId: `robot-${index + 1}-${crypto.randomUUID().slice(0, 8)}`, name, color: PALETTE[index % PALETTE.length],
  });
  const room = client.room(roomId);
  let made = index;
  const robot = new Robot({
    elements: () => (client.state === "live" ? room.elements.filter(element => !element.locked && !element.parentId) : []),
    create: at => {
      if (client.state !== "live") return;
      const note = { ...sample("note", at, made++), content: name, width: 140, height: 110 };
      room.create(note, { undoable: false });
    },
    begin: id => room.begin(id),
    point: at => room.point(at),
  }, area, Math.random);
  room.look(NOWHERE);
  room.on("denied", refusal => postMessage({ failed: refusal.message }));
  client.connect();
  return { client, robot };
}

function stop() {
  clearInterval(timer);
  for (const { client, robot } of crew) {
    robot.stop();
    client.close();
  }
  crew = [];
  postMessage({ stopped: true });
}

addEventListener("message", ({ data }) => {
  if (data.stop) return stop();
  crew = Array.from({ length: data.count }, (_, index) => hire(index, data.roomId, data.area));
  timer = setInterval(() => {
    for (const { robot } of crew) robot.tick(performance.now());
  }, TICK);
  setTimeout(stop, WORK);
});
