// Fingers, handles, guides, and the give at limits.

import assert from "node:assert";
import { banded, given, left } from "../../Services/Gateway/Pages/web/canvas/give.js";
import { aligned } from "../../Services/Gateway/Pages/web/canvas/guides.js";
import { innerFactor } from "../../Services/Gateway/Pages/web/canvas/geometry.js";
import { frameAround, frameOf, middleOf, placeOn, pulled, resizes } from "../../Services/Gateway/Pages/web/canvas/handles.js";
import { carried, ofFingers, ofTilting, velocityOf } from "../../Services/Gateway/Pages/web/canvas/motion.js";

const near = (a, b) => assert.ok(Math.hypot(a.x - b.x, a.y - b.y) < 1e-6, `${JSON.stringify(a)} is not ${JSON.stringify(b)}`);

// Two fingers carry what lies under each of them.
const from = [{ x: 10, y: 20 }, { x: 110, y: 40 }], to = [{ x: 60, y: -30 }, { x: 20, y: 170 }], motion = ofFingers(from, to);
from.forEach((finger, index) => near(carried(motion, finger), to[index]));
assert.ok(Math.abs(ofFingers(from, from).scale - 1) < 1e-12);

const element = {
  positionX: 200, positionY: 100, rotation: 30, scaleX: 2, scaleY: 1, originalWidth: 80, originalHeight: 40, anchorX: 0.5, anchorY: 0.5,
};
const frame = frameOf(element, undefined, true), plain = { step: 0, aboutMiddle: false, keepsRatio: false };
near(middleOf(frame), { x: 200, y: 100 });
// The handle follows the pointer, the opposite one stays: corners on their diagonal, sides on their axis.
for (const [handle, share, opposite] of [["se", { x: 1, y: 1 }, { x: 0, y: 0 }], ["ne", { x: 1, y: 0 }, { x: 0, y: 1 }],
  ["e", { x: 1, y: 0.5 }, { x: 0, y: 0.5 }], ["n", { x: 0.5, y: 0 }, { x: 0.5, y: 1 }]]) {
  const start = placeOn(frame, share), fixed = placeOn(frame, opposite);
  const end = { x: fixed.x + (start.x - fixed.x) * 1.7, y: fixed.y + (start.y - fixed.y) * 1.7 };
  const isCorner = handle.length === 2, options = { ...plain, keepsRatio: isCorner };
  const pull = pulled(frame, handle, start, end, options);
  near(carried(pull, start, 30), end);
  near(carried(pull, fixed, 30), fixed);
  assert.equal(typeof pull.scale, isCorner ? "number" : "object");
  near(carried(pulled(frame, handle, start, end, { ...options, aboutMiddle: true }), middleOf(frame), 30), middleOf(frame));
}
// The frame of a tilted element has its middle where that is seen, its sides where they are.
const tilted = frameOf({ ...element, rotation: 0, rotationY: 40, perspective: 300 }, undefined, true), [left0, right0] = tilted.corners;
near(middleOf(tilted), { x: 200, y: 100 });
near(placeOn(tilted, { x: 1, y: 0 }), right0);
assert.ok(left0.y < right0.y && 200 - left0.x > right0.x - 200);
const near0 = frameOf({ ...element, rotationX: 85, perspective: 20 }, undefined, true);
assert.ok(near0.corners.every(({ x, y }) => Number.isFinite(x + y)) && near0.corners.length === 4);
// Pushed to the right, the left edge comes nearer; pushed down, the upper one.
assert.deepEqual(ofTilting({ x: 100, y: 50 }).tilt, { x: -20, y: 40 });

// A pointer's velocity is that of the last 100 ms; one that rests has none.
const trail = [[0, 900], [50, 500], [100, 0], [120, 10], [180, 70]].map(([at, x]) => ({ at, point: { x, y: -x } }));
assert.deepEqual(velocityOf(trail, 200), { x: 700, y: -700 });
assert.deepEqual(velocityOf(trail, 225), { x: 0, y: 0 });
assert.deepEqual(velocityOf(trail.slice(0, 1), 0), { x: 0, y: 0 });

// A pull past the opposite corner makes it small, and does not turn it over.
assert.ok(pulled(frame, "se", placeOn(frame, { x: 1, y: 1 }), { x: -900, y: -900 }, { ...plain, keepsRatio: true }).scale > 0);
// Corners that resize pull both axes apart, sides both alike where the ratio is kept.
const corner = pulled(frame, "se", placeOn(frame, { x: 1, y: 1 }), placeOn(frame, { x: 1.5, y: 3 }), plain);
near(corner.scale, { x: 1.5, y: 3 });
near(carried(corner, placeOn(frame, { x: 0, y: 0 }), 30), placeOn(frame, { x: 0, y: 0 }));
assert.ok(Math.abs(pulled(frame, "e", placeOn(frame, { x: 1, y: 0.5 }), placeOn(frame, { x: 1.5, y: 0.9 }), { ...plain, keepsRatio: true }).scale - 1.5) < 1e-9);
assert.deepEqual([resizes("note", "e"), resizes("note", "se"), resizes("shape", "se"), resizes("stroke", "e"), resizes("text", "turn")],
  [true, false, true, false, false]);

// While a side is pulled, what is inside stays as large as the other axis says; all grows when all is scaled.
assert.equal(innerFactor({ scaleX: 0.4, scaleY: 1 }, { scaleX: 1, scaleY: 1 }), 1);
assert.equal(innerFactor({ scaleX: 3, scaleY: -2 }, { scaleX: 3, scaleY: 4 }), 3);
assert.equal(innerFactor({ scaleX: 4, scaleY: 8 }, { scaleX: 2, scaleY: 4 }), 4);
assert.ok(Number.isFinite(innerFactor({ scaleX: 0, scaleY: 0 }, { scaleX: 0, scaleY: 1 })));

const turn = pulled(frame, "turn", { x: 200, y: 0 }, { x: 300, y: 100 }, plain);
assert.ok(Math.abs(turn.rotation - 90) < 1e-9);
// In steps the result, not the way, is a multiple.
const result = 30 + pulled(frame, "turn", { x: 200, y: 0 }, { x: 260, y: 8 }, { step: 15, aboutMiddle: false }).rotation;
assert.ok(Math.abs(result - 60) < 1e-9, `${result}`);
assert.equal(frameAround([]), undefined);

const others = [{ x: 0, y: 0, width: 100, height: 50 }];
const box = { x: 4, y: 200, width: 100, height: 80 }, snap = aligned(box, others, 6);
assert.deepEqual([snap.x, snap.y], [-4, 0]);
assert.deepEqual(snap.lines[0], { axis: "x", at: 0, from: 0, to: 280 });
assert.deepEqual(aligned({ ...box, x: 25 }, others, 6), { x: 0, y: 0, lines: [] });
// Middles meet, too.
assert.equal(aligned({ x: 42, y: 300, width: 20, height: 20 }, others, 6).x, -2);
// Guides draw on their axis alone: the nearest mark of the box meets them.
const ruled = aligned({ x: 4, y: 4, width: 100, height: 80 }, [], 6, [{ axis: "x", at: 108 }, { axis: "y", at: 2000 }]);
assert.deepEqual(ruled, { x: 4, y: 0, lines: [{ axis: "x", at: 108, from: 4, to: 84 }] });
// Equal gaps: between two neighbours, behind two, before two; not to what does not lie beside it.
const row = [0, 300].map(x => ({ x, y: 0, width: 100, height: 100 })), one = { x: 0, y: 20, width: 90, height: 40 };
const between = aligned({ ...one, x: 152 }, row, 6);
assert.equal(between.x, 3);
assert.deepEqual(between.lines.filter(line => line.isGap), [
  { axis: "x", at: 40, from: 100, to: 155, isGap: true }, { axis: "x", at: 40, from: 245, to: 300, isGap: true },
]);
const behind = aligned({ ...one, x: 603 }, row, 6);
assert.deepEqual([behind.x, behind.lines.filter(line => line.isGap).map(({ from, to }) => [from, to])], [-3, [[100, 300], [400, 600]]]);
assert.equal(aligned({ ...one, x: -293 }, row, 6).x, 3);
assert.equal(aligned({ ...one, y: 400, x: 152 }, row, 6).lines.filter(line => line.isGap).length, 0);
const column = row.map(({ x, y, width, height }) => ({ x: y, y: x, width: height, height: width }));
assert.deepEqual(aligned({ x: 20, y: 152, width: 40, height: 90 }, column, 6).lines.filter(line => line.isGap).map(({ axis }) => axis), ["y", "y"]);

// It gives more the more is asked for, less than that, and never past its extent.
let last = 0;
for (const excess of [1, 5, 40, 500, 1e6]) {
  const shown = banded(excess, 60);
  assert.ok(shown > last && shown < excess && shown < 60);
  assert.equal(banded(-excess, 60), -shown);
  last = shown;
}
assert.equal(given({ x: 0, y: 0, scale: 1, rotation: 0 }), undefined);
const give = given({ x: 0, y: 0, scale: 0.3, rotation: 0 });
assert.ok(give.scale > 0.3 && give.scale < 1);
assert.equal(left(give, 0).scale, give.scale);
assert.ok(left(give, 100).scale > give.scale && left(give, 100).scale < 1);
assert.equal(left(give, 1000), undefined);
console.log("hands: fine");
