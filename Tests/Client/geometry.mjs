// The client's geometry on cases whose results follow from the rules.

import assert from "node:assert";
import { gestured, normalized, shortestTurn, transformed } from "../../Shared/Client/web/touchsync.js";

const rule = {
  minScale: 0.1, maxScale: 10, lockedAspect: false, rotates: true, depth: true, minWidth: 0, minHeight: 0, minSide: 0,
};
const rules = new Map(Object.entries({
  "*": rule,
  photo: { ...rule, minScale: 0.2, maxScale: 5, lockedAspect: true },
  audio: {
    ...rule, minScale: 0.5, maxScale: 3, lockedAspect: true, rotates: false, depth: false, minWidth: 120, minHeight: 44,
  },
}));

function element(type, more = {}) {
  return {
    id: "e", type, positionX: 0, positionY: 0, rotation: 0, scaleX: 1, scaleY: 1, originalWidth: 200,
    originalHeight: 100, anchorX: 0.5, anchorY: 0.5, ...more,
  };
}

// What becomes of some fields.
function expect(actual, fields) {
  for (const [name, value] of Object.entries(fields)) {
    assert(Math.abs(actual[name] - value) < 1e-9, `${name} is ${actual[name]}, not ${value}`);
  }
}

assert.deepStrictEqual([360, -90, -0, 725, -1e-20].map(normalized), [0, 270, 0, 5, 0]);
const turns = [[350, 10], [10, 350], [0, 180], [180, 0]].map(([from, to]) => shortestTurn(from, to));
assert.deepStrictEqual(turns, [20, -20, 180, 180]);

// Whole pixels, halves away from zero; a mirror keeps its sign; a size follows from the scale.
expect(transformed(element("note"), { positionX: 2.5, positionY: -2.5 }, rules), { positionX: 3, positionY: -3 });
expect(transformed(element("note"), { scaleX: -99 }, rules), { scaleX: -10, width: 2000 });
// The axis that moved further decides both; the smallest size wins over the range.
expect(transformed(element("photo"), { scaleX: 1.1, scaleY: 3 }, rules), { scaleX: 3, scaleY: 3 });
expect(transformed(element("photo"), { scaleX: 0.01 }, rules), { scaleX: 0.2, scaleY: 0.2 });
expect(transformed(element("audio"), { scaleX: 0.1, rotation: 40 }, rules), { scaleX: 0.6, scaleY: 0.6, rotation: 0 });
// Snapping knows the circle; bounds hold the anchor.
expect(transformed(element("note", { snapDegrees: 45 }), { rotation: 350 }, rules), { rotation: 0 });
expect(transformed(element("note", { snapDegrees: 100 }), { rotation: 340 }, rules), { rotation: 0 });
const bounded = element("note", { bounds: { x: 0.5, y: 0, width: 10, height: 10 } });
expect(transformed(bounded, { positionX: -5, positionY: 99 }, rules), { positionX: 1, positionY: 10 });
// A gesture: scale multiplies, rotation adds, translation adds; a group turns about its pivot.
const deltas = { scale: 2, rotation: 90, translation: { x: 1, y: 2 } };
const turned = gestured(element("note", { positionX: 10, rotation: 300 }), deltas, rules);
expect(turned, { positionX: 11, positionY: 2, rotation: 30, scaleX: 2 });
const swung = gestured(element("note", { positionX: 10 }), { rotation: 90 }, rules, { pivot: { x: 0, y: 0 } });
expect(swung, { positionX: 0, positionY: 10, rotation: 90 });
// A group's scale lies along the canvas's axes: members are mirrored and stretched there.
const pivot = { x: 0, y: 0 };
for (const [member, scale, fields] of [
  [{ rotation: 30 }, { x: -1, y: 1 }, { rotation: 330, scaleX: -1, scaleY: 1 }],
  [{ rotation: 30, scaleX: -2 }, { x: 1, y: -1 }, { rotation: 330, scaleX: -2, scaleY: -1 }],
  [{ rotation: 45 }, { x: -1, y: 1 }, { rotation: 135, scaleX: 1, scaleY: -1 }],
  [{ rotation: 90, originalHeight: 60 }, { x: 2, y: 1 }, { rotation: 90, scaleX: 1, scaleY: 2, width: 200, height: 120 }],
  [{ rotation: 30 }, { x: 2, y: 2 }, { rotation: 30, scaleX: 2, scaleY: 2 }],
  [{ rotation: 30 }, -1, { rotation: 30, scaleX: -1, scaleY: -1 }],
]) expect(gestured(element("note", member), { scale }, rules, { pivot }), fields);
// Quarter turns leave no noise.
const quarter = gestured(element("note", { positionX: 10, rotation: 90 }), { scale: { x: 2, y: 1 }, rotation: 90 }, rules,
  { pivot, isDrawn: true });
assert.deepStrictEqual([quarter.positionX, quarter.positionY, quarter.rotation], [0, 20, 180]);
// Another anchor moves nothing visible.
const anchored = gestured(element("note", { rotation: 90 }), { anchor: { x: 0, y: 0 } }, rules);
expect(anchored, { positionX: 50, positionY: -100, anchorX: 0 });

// Out of the plane: whole pixels, angles in [0, 360), a viewer who is not too near; what is 0 is left out.
const deep = { positionZ: 2.5, rotationX: -90, rotationY: 360, perspective: 3 };
expect(transformed(element("note"), deep, rules), { positionZ: 3, rotationX: 270, perspective: 50 });
assert(!("rotationY" in transformed(element("note", { rotationY: 5 }), deep, rules)));
assert(!("perspective" in transformed(element("note", { perspective: 500 }), { perspective: 0 }, rules)));
// Types without depth, and annotations, stay in their plane.
for (const flat of [element("audio"), element("note", { space: "normalized", parentId: "p" })]) {
  assert.deepStrictEqual(transformed(flat, deep, rules), transformed(flat, {}, rules));
}
// A tilt adds degrees, also in a group, whose pivot turns the plane alone.
const tilted = gestured(element("note", { positionX: 10, rotationX: 350 }), { tilt: { x: 20, y: -5 }, rotation: 90 }, rules,
  { pivot });
expect(tilted, { positionX: 0, positionY: 10, rotation: 90, rotationX: 10, rotationY: 355 });
