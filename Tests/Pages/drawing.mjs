// Elements as SVG: they lie where the page shows them, in or out of their plane, and nothing of them is more than text.

import assert from "node:assert";
import { drawn, withAnnotations } from "../../Services/Gateway/Pages/web/canvas/drawing.js";
import { cellsOf, innerPlane, innerSize, placed } from "../../Services/Gateway/Pages/web/canvas/placing.js";
import { seenAt } from "../../Services/Gateway/Pages/web/canvas/geometry.js";
import { wrapped } from "../../Services/Gateway/Pages/web/canvas/wrapping.js";

// Lines
const measure = text => [...text].length * 10;
const lines = (text, width) => wrapped(text, width, measure);
assert.deepEqual(lines("one two three", 80), ["one two ", "three"]);
assert.deepEqual(lines("one\n\ntwo", 80), ["one", "", "two"]);
assert.deepEqual(lines("abcdefghijkl", 50), ["abcde", "fghij", "kl"]);
assert.deepEqual(lines("a well-known word", 70), ["a well-", "known ", "word"]);
assert.deepEqual(lines("👍👍👍", 20), ["👍👍", "👍"], "no half characters");
assert.deepEqual(lines("ab", 1), ["a", "b"], "at least a character");
assert.equal(lines("", 50).length, 1);
assert.equal(lines("x\n".repeat(5000), 50).length, 400);
for (const line of lines("Some people write much, and nobody knows-what.", 90)) assert.ok(measure(line.trimEnd()) <= 90);

// Places
const look = {
  measure, font: "sans-serif", ink: "#000000", tints: { sun: "#ffe593", sky: "#badfff", paper: "#ffffff" }, inks: { sky: "#005fa6", paper: "#111111" },
  picture: () => "data:image/png;base64,AA==",
};
const element = more => ({
  id: "a", type: "note", content: "Hello", positionX: 100, positionY: 50, rotation: 0, scaleX: 1, scaleY: 1, originalWidth: 200, originalHeight: 100,
  anchorX: 0.5, anchorY: 0.5, ...more,
});
/** Where the drawing shows a point of an element's inner pixels: in the cell that has it. */
function shown(one, u, v) {
  const markup = placed("<card/>", one, undefined, "n"), size = innerSize(one), count = cellsOf(innerPlane(one), size);
  const cells = [...markup.matchAll(/matrix\(([^)]*)\)/g)].map(found => found[1].split(" ").map(Number));
  assert.equal(cells.length, count ** 2);
  const at = (share, length) => Math.min(Math.floor((share / length) * count), count - 1);
  const [a, b, c, d, e, f] = cells[at(v, size.height) * count + at(u, size.width)];
  return { x: a * u + c * v + e, y: b * u + d * v + f };
}
for (const more of [
  {}, { rotation: 30 }, { scaleX: -2, scaleY: 1.5, rotation: 200 }, { rotationY: 180 }, { rotationX: 40, rotationY: 20 },
  { rotationX: 50, perspective: 700 }, { rotationY: 45, rotation: 20, perspective: 600, scaleX: 2, scaleY: 2, positionZ: 100 },
]) {
  const one = element(more), size = innerSize(one);
  for (const [x, y] of [[0, 0], [1, 0], [0.31, 0.77], [0.5, 0.5], [1, 1], [0.05, 0.95]]) {
    const seen = seenAt(one, { x: x * 200, y: y * 100 }), { x: left, y: top } = shown(one, x * size.width, y * size.height);
    assert.ok(Math.hypot(seen.x - left, seen.y - top) < 1, `${JSON.stringify(more)} at ${x}, ${y}: ${seen.x} ${seen.y}, ${left} ${top}`);
  }
}
assert.equal(cellsOf(innerPlane(element({ rotationX: 40 })), { width: 200, height: 100 }), 1, "without perspective it is flat");
assert.equal(placed("<card/>", element({ positionZ: 900, perspective: 500 }), undefined, "n"), "", "behind the viewer nothing is seen");

// Drawings
const picture = element({ id: "p", type: "photo", content: undefined, positionX: 600 });
const words = element({ id: "t", type: "text", parentId: "p", space: "normalized", positionX: 0.5, positionY: 0.5, originalWidth: 90, originalHeight: 20, content: "on it" });
const all = [element({}), words, picture, { id: "g", type: "guide", axis: "x", positionX: 1e6 }];
const { svg, width, height } = drawn(withAnnotations(all), look);
assert.deepEqual([width, height], [748, 148]);
assert.ok(svg.includes('viewBox="-24 -24 748 148"'));
assert.ok(svg.indexOf("<image") < svg.indexOf("on it"), "it lies on its picture");
assert.deepEqual(withAnnotations(all, new Set(["p"])).map(one => one.id), ["p", "t"]);
assert.deepEqual(withAnnotations(all, new Set(["t"])).map(one => one.id), ["p", "t"], "an annotation comes with what it lies on");
assert.deepEqual(withAnnotations(all, new Set(["a"])).map(one => one.id), ["a"]);

// Arrows lie along the line between what they are tied to, also to what is not in the picture.
const arrow = element({ id: "w", type: "arrow", from: { element: "a", x: 0.5, y: 0.5 }, to: { x: 0, y: 0 }, positionX: 800, positionY: 50, originalWidth: 10, originalHeight: 10 });
const tied = drawn([arrow], look, [element({}), arrow]);
assert.ok(Math.abs(tied.width - 48 - (795 - 205)) < 2, `${tied.width}: from the edge of the note to its free end`);
assert.ok(/<path d="M0 12H590\.?\d*M/.test(tied.svg), tied.svg);

// Hostile fields
const odd = ['<script>alert(1)</script>', '"/><image href="http://x/"/>', "\u0000\ud800]]>&", { toString: 0 }, [[]], null, 1e308, -5, true, "__proto__", "constructor"];
for (const type of ["note", "text", "photo", "video", "audio", "shape", "arrow", "stroke", "constructor", "<b>"]) {
  for (const value of odd) {
    const hostile = element({
      type, content: value, title: value, tint: value, ink: value, fill: value, stroke: value, align: value, bold: value, fontSize: value, shape: value,
      from: value, to: value, points: value, picture: value,
    });
    const text = drawn([hostile], look).svg;
    assert.ok(!/<script|<image href="http|NaN|undefined|\u0000/.test(text), `${type} ${JSON.stringify(value)}: ${text}`);
  }
}
console.log("drawing: fine");
