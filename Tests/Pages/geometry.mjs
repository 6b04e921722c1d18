// Where elements lie: turned, mirrored, on a parent; what a marquee catches; in which order they are read; free places.

import assert from "node:assert";
import { transformed } from "../../Shared/Client/web/touchsync.js";
import {
  anchorOf, boundsOf, boxBetween, caught, freePlace, inReadingOrder, meets, meetsOutline, seenAt, turnOf, union,
} from "../../Services/Gateway/Pages/web/canvas/geometry.js";

const element = {
  id: "e", type: "note", positionX: 100, positionY: 50, rotation: 0, scaleX: 1, scaleY: 1, originalWidth: 80, originalHeight: 40,
  anchorX: 0.5, anchorY: 0.5,
};
const same = (a, b) => {
  for (const name in b) assert.ok(Math.abs(a[name] - b[name]) < 1e-9, `${name}: ${JSON.stringify(a)} is not ${JSON.stringify(b)}`);
};

same(boundsOf(element), { x: 60, y: 30, width: 80, height: 40 });
same(boundsOf({ ...element, rotation: 90 }), { x: 80, y: 10, width: 40, height: 80 });
same(boundsOf({ ...element, scaleX: -2, scaleY: 0.5 }), { x: 20, y: 40, width: 160, height: 20 });
same(boundsOf({ ...element, anchorX: 0, anchorY: 0 }), { x: 100, y: 50, width: 80, height: 40 });
const size = transformed(element, { scaleX: 1.5, scaleY: 2 }, new Map());
same(boundsOf(size), { x: 100 - size.width / 2, y: 50 - size.height / 2, width: size.width, height: size.height });

// A tilted card is seen narrower, what comes near larger, and nothing of what is behind the viewer.
same(boundsOf({ ...element, rotationY: 60 }), { x: 80, y: 30, width: 40, height: 40 });
same(boundsOf({ ...element, positionZ: 400, perspective: 800 }), { x: 20, y: 10, width: 160, height: 80 });
same(boundsOf({ ...element, positionZ: 900, perspective: 800 }), { x: 100, y: 50, width: 0, height: 0 });
assert.ok(Math.abs(turnOf({ ...element, rotation: 30, rotationX: 70, perspective: 200 }) - 30) < 1e-9);

// A turned card is touched where it is, not in the empty corners of the box around it.
const diamond = [{ x: 0, y: -50 }, { x: 50, y: 0 }, { x: 0, y: 50 }, { x: -50, y: 0 }];
for (const [box, isTouched] of [
  [{ x: 30, y: 30, width: 40, height: 40 }, false], [{ x: -60, y: -60, width: 25, height: 25 }, false], [{ x: 20, y: 20, width: 40, height: 40 }, true],
  [{ x: -5, y: -5, width: 2, height: 2 }, true], [{ x: -90, y: -90, width: 200, height: 200 }, true], [{ x: 60, y: 0, width: 5, height: 5 }, false],
]) assert.equal(meetsOutline(box, diamond), isTouched, JSON.stringify(box));

// An annotation lies where its parent's picture is.
const parent = { ...element, rotation: 90, scaleX: 2, scaleY: 2 };
const text = { ...element, positionX: 1, positionY: 0.5, originalWidth: 10, originalHeight: 10 };
same(seenAt(text, { x: 5, y: 5 }, parent), { x: 100, y: 130 });
same(anchorOf(text, parent), { x: 100, y: 130 });
same(anchorOf(text, { ...parent, rotationX: 60 }), { x: 100, y: 90 });

const boxes = [["a", { x: 0, y: 0, width: 10, height: 10 }], ["b", { x: 100, y: 4, width: 10, height: 10 }],
  ["c", { x: 0, y: 300, width: 10, height: 10 }]];
assert.deepEqual(caught(boxBetween({ x: 105, y: 8 }, { x: 5, y: 5 }), boxes), ["a", "b"]);
assert.deepEqual(caught(boxBetween({ x: 50, y: 50 }, { x: 60, y: 60 }), boxes), []);
assert.deepEqual(inReadingOrder([boxes[2], boxes[1], boxes[0]]), ["a", "b", "c"]);
assert.deepEqual(union(boxes.map(([, box]) => box)), { x: 0, y: 0, width: 110, height: 310 });
assert.equal(union([]), undefined);

const view = { x: 0, y: 0, width: 1000, height: 700 }, taken = [];
for (let index = 0; index < 9; index++) {
  const { x, y } = freePlace({ width: 200, height: 160 }, view, taken), box = { x: x - 100, y: y - 80, width: 200, height: 160 };
  assert.ok(!taken.some(other => meets(other, box)), `the ${index + 1}th lies on another`);
  taken.push(box);
}
same(taken[0], { x: 400, y: 270 });
// A view that is full has no free place, and no fault.
same(freePlace({ width: 200, height: 160 }, view, [view]), { x: 500, y: 350 });
console.log("geometry: fine");
