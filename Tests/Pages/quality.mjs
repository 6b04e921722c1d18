// The governor steps down on a slow device and up again, and robots keep to their area.

import assert from "node:assert";
import { Governor } from "../../Services/Gateway/Pages/web/canvas/quality.js";
import { Robot } from "../../Services/Gateway/Pages/web/canvas/robot.js";
import { colourOf, initials, inkOn, PALETTE } from "../../Services/Gateway/Pages/web/canvas/colours.js";

/** Draws frames for a while, and returns the levels that it went through. */
function frames(governor, interval, duration, clock) {
  const levels = [];
  for (const end = clock.now + duration; clock.now < end; ) if (governor.frame((clock.now += interval))) levels.push(governor.level);
  return levels;
}

const clock = { now: 0 }, governor = new Governor();
assert.deepEqual(frames(governor, 16, 60_000, clock), []);
assert.deepEqual(frames(governor, 60, 3_000, clock), ["fewer"]);
assert.deepEqual(frames(governor, 60, 3_000, clock), ["final"]);
// Not at the first calm moment, and later each time that it was too much.
assert.deepEqual(frames(governor, 16, 3_000, clock), []);
assert.deepEqual(frames(governor, 16, 20_000, clock), ["fewer", "full"]);
// A pause without motion is no slow frame.
clock.now += 60_000;
assert.deepEqual(frames(governor, 16, 10_000, clock), []);
const { rest } = governor;
frames(governor, 60, 6_000, clock);
assert.equal(governor.level, "final");
assert.ok(governor.lift() && governor.level === "fewer");
frames(governor, 60, 3_000, clock);
assert.ok(governor.rest > rest, "the next try comes later");

// A robot in an empty room makes notes, else it drags what is there to somewhere in its area, and lets go of it.
const area = { x: 0, y: 0, width: 1000, height: 600 }, elements = [], held = [];
let seed = 1;
const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
const robot = new Robot({
  elements: () => elements,
  create: at => elements.push({ id: `${elements.length}`, positionX: at.x, positionY: at.y }),
  begin(id) {
    const element = elements.find(one => one.id === id), start = { ...element };
    held.push(id);
    return {
      update: ({ translation: { x, y } }) => Object.assign(element, { positionX: start.positionX + x, positionY: start.positionY + y }),
      end: () => held.pop(),
    };
  },
  point() {},
}, area, random);
for (let now = 0; now < 300_000; now += 33) {
  robot.tick(now);
  assert.ok(held.length <= 1);
}
assert.ok(elements.length >= 10 && elements.length <= 24, `${elements.length} elements`);
for (const { positionX, positionY } of elements) {
  assert.ok(positionX > -300 && positionX < 1300 && positionY > -300 && positionY < 900, "it stays near its area");
}
robot.stop();
assert.equal(held.length, 0);

assert.equal(new Set(PALETTE.map(inkOn)).size, 1);
assert.equal(inkOn("#ffffff"), "#0b0d12");
assert.equal(colourOf("#12ab9F", "x"), "#12ab9F");
for (const wrong of [undefined, 7, "red; background: url(x)", "#12"]) assert.ok(PALETTE.includes(colourOf(wrong, "Ada")));
assert.deepEqual(["Ada Lovelace", "robot", "", "李 小龙", "🇨🇭 👩‍👩‍👧 Ada", "e\u0301va"].map(initials), ["AL", "R", "?", "李小", "🇨🇭A", "E\u0301"]);
console.log("quality: fine");
