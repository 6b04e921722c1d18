// Texts: their style from any value, the sizes that are tried, the box that they need, and two texts that become one.

import assert from "node:assert";
import { merged, ownSteps, resized, stepsFrom, storable, styleOf } from "../../Services/Gateway/Pages/web/canvas/texts.js";
import { shownOf } from "../../Services/Gateway/Pages/web/canvas/writers.js";
import { seenAt } from "../../Services/Gateway/Pages/web/canvas/geometry.js";

const element = {
  id: "e", type: "note", positionX: 100, positionY: 50, rotation: 0, scaleX: 1, scaleY: 1, originalWidth: 200, originalHeight: 160,
  anchorX: 0.5, anchorY: 0.5,
};

// Any value of the fields has a style.
assert.deepEqual(styleOf(element), { fontSize: 18, isBold: false, align: "left", ink: undefined });
assert.deepEqual(styleOf({ ...element, fontSize: 1e9, bold: "yes", align: "__proto__", ink: "toString" }),
  { fontSize: 200, isBold: false, align: "left", ink: undefined });
assert.deepEqual(styleOf({ ...element, fontSize: { valueOf: 0 }, bold: true, align: "right", ink: "rose" }),
  { fontSize: 18, isBold: true, align: "right", ink: "rose" });
assert.equal(styleOf({ ...element, type: "shape" }).align, "center");

// Sizes become smaller, and end; a text alone keeps its own.
for (const size of [8, 18, 44, 200]) {
  const steps = stepsFrom(size);
  assert.ok(steps[0] === size && steps.every((step, at) => step >= 8 && (at === 0 || step < steps[at - 1])), steps.join());
}
assert.ok(ownSteps(element).every(size => size > 12) && ownSteps(element).length > 1);
assert.deepEqual(ownSteps({ ...element, type: "text", fontSize: 28 }), [28]);

// Where the text begins stays, however the element is turned and scaled.
for (const [more, share] of [[{}, 0.5], [{ rotation: 30, scaleX: 2, scaleY: -0.5 }, 0.5], [{ type: "text", rotation: 90 }, 0], [{ type: "text", align: "right" }, 1]]) {
  const before = { ...element, ...more }, { size, place } = resized(before, { width: 301, height: 99 });
  const [from, to] = [before, { ...before, ...size, ...place }].map(one => seenAt(one, { x: share * one.originalWidth, y: 0 }));
  assert.ok(Math.hypot(from.x - to.x, from.y - to.y) < 1e-9, JSON.stringify(more));
  assert.ok(size.originalWidth >= 301 && size.originalWidth < 303 && size.originalHeight >= 99 && size.originalHeight < 101);
}

// Two texts become one, and nothing of either is lost.
assert.equal(merged("a", "a", "mine"), "mine");
assert.equal(merged("a", "theirs", "a"), "theirs");
assert.equal(merged("a", "same", "same"), "same");
assert.equal(merged("", "theirs", "mine"), "theirs\nmine");
assert.equal(merged("Food:", "Food: bread", "Food: cheese"), "Food: bread\ncheese");
assert.equal(merged("a", "theirs", "mine"), "theirs\nmine");
assert.equal(merged("a", "", "mine"), "mine");
assert.equal(merged("a", "theirs", ""), "theirs");

assert.equal(storable("a\0b\ud800c👩‍👩‍👧\n"), "abc👩‍👩‍👧\n");

// Of what is written others see as much as fits: its end, or what is before the caret.
assert.deepEqual(shownOf("short", 2), { text: "short", caret: 2 });
assert.deepEqual(shownOf("a".repeat(640), 0), { text: "a".repeat(640), caret: 0 });
const numbers = Array.from({ length: 300 }, (_, index) => `${index} `).join("");
assert.deepEqual(shownOf(numbers, numbers.length), { text: `…${numbers.slice(-634)}`, caret: 635 });
const { text: middle, caret } = shownOf(numbers, 400);
assert.ok(middle.startsWith("0 1 ") && middle.endsWith("…") && caret === 400 && middle.slice(0, 400) === numbers.slice(0, 400));
for (const sign of ["👩‍👩‍👧", "é", "\"", "\n", "語"]) {
  const long = sign.repeat(700), { text } = shownOf(long, long.length), inner = text.slice(1);
  assert.ok(text.startsWith("…") && inner === sign.repeat(inner.length / sign.length), "no half characters");
  const size = new TextEncoder().encode(JSON.stringify(text)).length - 2;
  assert.ok(size <= 640 && size > 600);
}
console.log("texts: fine");
