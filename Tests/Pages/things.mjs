// Arrows between elements, and strokes of a pen.

import assert from "node:assert";
import {
  arrowBetween, clipped, edgeOf, isTied, laidAlong, lineOf, takenAt, touches,
} from "../../Services/Gateway/Pages/web/canvas/arrows.js";
import { boundsOf } from "../../Services/Gateway/Pages/web/canvas/geometry.js";
import { draftFrom, shared } from "../../Services/Gateway/Pages/web/canvas/drafts.js";
import { ownPicture } from "../../Services/Gateway/Pages/web/canvas/bitmaps.js";
import { painted, paintOf } from "../../Services/Gateway/Pages/web/canvas/paint.js";
import { parted, reduced, simplified, smooth, strokeThrough } from "../../Services/Gateway/Pages/web/canvas/strokes.js";

const near = (a, b, within = 1e-6) => assert.ok(Math.hypot(a.x - b.x, a.y - b.y) < within, `${JSON.stringify(a)} is not ${JSON.stringify(b)}`);
const plain = { rotation: 0, scaleX: 1, scaleY: 1, anchorX: 0.5, anchorY: 0.5 };
const box = (id, x, y, more) => ({ ...plain, id, type: "note", positionX: x, positionY: y, originalWidth: 100, originalHeight: 60, ...more });
const stored = ({ width, height, ...fields }) => ({ ...plain, id: "arrow", originalWidth: width, originalHeight: height, ...fields });
const room = new Map();
const find = id => room.has(id) ? { element: room.get(id), parent: undefined } : undefined;

// Free ends lie where they were drawn, and go where the arrow goes.
const free = stored(arrowBetween([{ x: 10, y: 20 }, { x: 110, y: -30 }], {}));
near(lineOf(free, find)[0], { x: 10, y: 20 });
near(lineOf({ ...free, positionX: free.positionX + 7, positionY: free.positionY + 5 }, find)[1], { x: 117, y: -25 });
near(lineOf({ ...free, rotation: 180 }, find)[0], { x: 110, y: -30 });

// Ends on elements stop 5 pixels before their edges, follow them, and turn with them.
room.set("a", box("a", 0, 0)).set("b", box("b", 400, 0));
const middle = element => ({ element, x: 0.5, y: 0.5 });
const tied = stored(arrowBetween([{ x: 0, y: 0 }, { x: 400, y: 0 }], { from: middle("a"), to: middle("b") }));
assert.ok(isTied(tied) && !isTied(free));
let line = lineOf(tied, find);
near(line[0], { x: 55, y: 0 });
near(line[1], { x: 345, y: 0 });
room.set("b", box("b", 400, 0, { rotation: 90 }));
line = lineOf(tied, find);
near(line[1], { x: 365, y: 0 }, 1e-3);
// The arrow's own place decides nothing then.
near(lineOf({ ...tied, positionX: 9e5, rotation: 40 }, find)[1], line[1]);
room.set("b", box("b", 0, 300, { type: "shape", shape: "ellipse" }));
near(lineOf(tied, find)[1], { x: 0, y: 265 }, 0.2);
assert.equal(edgeOf(room.get("b")).length, 48);
// Without its element an end stays where it was seen last, in a window that never saw it where it was tied.
room.delete("b");
near(lineOf(tied, find, line)[1], line[1]);
near(lineOf(tied, find)[1], { x: 400, y: 0 });
// Ends on arrows, and ends of other kinds, hold nothing up.
room.set("b", { ...tied, id: "b" });
assert.ok(lineOf(tied, find).every(({ x, y }) => Number.isFinite(x) && Number.isFinite(y)));
for (const odd of [null, 5, "x", [], { element: 7, x: "1" }, { x: {}, y: NaN }, { element: "a", x: 1e300, y: null }]) {
  assert.ok(lineOf({ ...free, from: odd, to: odd }, find).every(({ x, y }) => !Number.isNaN(x) && !Number.isNaN(y)), JSON.stringify(odd));
}
near(clipped({ x: 0, y: 0 }, { x: 10, y: 0 }, edgeOf(box("c", 0, 0))), { x: 10, y: 0 });

// It is drawn along its line: upright boxes around it are those of the line and its head.
const laid = laidAlong(free, [{ x: 0, y: 0 }, { x: 30, y: 40 }]);
assert.equal(laid.originalWidth, 50);
assert.ok(boundsOf(laid).width < 30 + 24 && boundsOf(laid).height < 40 + 24);
assert.ok(touches([{ x: 0, y: 0 }, { x: 30, y: 40 }], { x: 10, y: 10, width: 10, height: 10 }));
assert.ok(!touches([{ x: 0, y: 0 }, { x: 30, y: 40 }], { x: 0, y: 30, width: 5, height: 5 }));
assert.deepEqual(takenAt({ x: 55, y: 28 }, room.get("a")), { x: 0.5, y: 0.5 });
assert.deepEqual(takenAt({ x: 100, y: 15 }, room.get("a")), { x: 1, y: 0.25 });

// A stroke keeps its corners and forgets what lies between them.
const corner = [...Array(50)].map((_, i) => ({ x: i, y: 0 })).concat([...Array(50)].map((_, i) => ({ x: 49, y: i })));
assert.deepEqual(simplified(corner, 0.5), [{ x: 0, y: 0 }, { x: 49, y: 0 }, { x: 49, y: 49 }]);
const circle = [...Array(2000)].map((_, i) => ({ x: 300 * Math.cos(i / 300), y: 300 * Math.sin(i / 300) }));
const kept = simplified(circle, 0.5);
assert.ok(kept.length < 80 && circle.every(point => kept.some(one => Math.hypot(point.x - one.x, point.y - one.y) < 40)));
assert.ok(reduced(circle, 20, 0.5).length <= 20);

// What elements keep fits into them, and hangs together.
const wild = [...Array(3000)].map((_, i) => ({ x: (i * 7919) % 5000, y: (i * 104729) % 5000 }));
const parts = parted(wild);
for (const [index, part] of parts.entries()) {
  const { points } = strokeThrough(part, 1);
  assert.ok(points.length <= 1000 && JSON.stringify(points).length < 8000 && points.every(Number.isInteger));
  if (index) assert.deepEqual(part[0], parts[index - 1].at(-1));
}
assert.deepEqual(strokeThrough([{ x: 5, y: 7 }, { x: 25, y: 3 }], 1),
  { type: "stroke", positionX: 15, positionY: 5, width: 20, height: 4, points: [0, 4, 20, 0] });

// It is drawn through all of them; what is no number draws nothing.
assert.equal(smooth([0, 0]), "M0 0L0 0");
assert.equal(smooth([0, 0, 10, 0, 10, 10], { x: 2, y: 1 }), "M0 0Q20 0 20 10");
for (const odd of [undefined, null, 7, "M0 0", {}, ["a", {}, null], []]) assert.equal(smooth(odd), "");

// Others are told of a draft within the 1 KiB of a person's state, wherever it lies.
const far = wild.map(({ x, y }) => ({ x: x * 100 - 8e8, y: y * 100 + 8e8 }));
const told = shared({ kind: "stroke", points: far, stroke: "sky" });
assert.ok(JSON.stringify({ draft: told }).length < 1000, JSON.stringify(told).length);
near(draftFrom(told).points[0], far[0]);
for (const odd of [undefined, null, {}, { kind: "rectangle", points: "x" }, { kind: "script", points: [1, 2] }]) assert.equal(draftFrom(odd), undefined);

// Each type has the colours that it has; what others wrote there is one of the palette.
const shape = { type: "shape", fill: "sky", stroke: "<b>" };
assert.deepEqual(paintOf(shape), { fill: "sky", stroke: "slate" });
assert.deepEqual(paintOf({ type: "shape", fill: { a: 1 } }), { fill: "paper", stroke: "slate" });
assert.deepEqual(painted(shape, { fill: "none", stroke: "rose" }), { fill: "none", stroke: "rose" });
assert.deepEqual(painted({ type: "note" }, { fill: "mint", stroke: "rose" }), { tint: "mint" });
assert.deepEqual(painted({ type: "text" }, { fill: "mint", stroke: "rose" }), { ink: "rose" });
for (const same of [[shape, { fill: "sky" }], [{ type: "note", tint: "sky" }, { fill: "none" }], [{ type: "photo" }, { fill: "sun", stroke: "sun" }]]) {
  assert.equal(painted(...same), undefined);
}

// Pictures that elements bring: by what their bytes say, not by what they claim to be; none that needs gigabytes.
const url = (kind, ...bytes) => `data:image/${kind};base64,${Buffer.from(bytes).toString("base64")}`;
const text = string => [...Buffer.from(string, "latin1")];
const png = (width, height) => url("png", ...text("\x89PNG\r\n\x1a\n"), 0, 0, 0, 13, ...text("IHDR"), ...width, ...height, 8, 2);
const jpeg = (...size) => url("jpeg", 0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0, 0xff, 0xc2, 0, 17, 8, ...size, 3);
const gif = (...size) => url("gif", ...text("GIF89a"), ...size, 0);
const webp = (kind, ...bytes) => url("webp", ...text("RIFF"), 0, 0, 0, 0, ...text(`WEBP${kind}`), 0, 0, 0, 0, ...bytes);
for (const fine of [
  png([0, 0, 16, 0], [0, 0, 16, 0]), jpeg(16, 0, 16, 0), gif(1, 0, 1, 0), webp("VP8 ", 0, 0, 0, 0x9d, 1, 0x2a, 1, 0, 1, 0),
  webp("VP8L", 0x2f, 0xff, 0xc0, 0x0f, 0), webp("VP8X", 0, 0, 0, 0, 0xff, 15, 0, 0xff, 15, 0),
]) assert.equal(ownPicture(fine), fine);
for (const not of [
  png([0, 0, 16, 1], [0, 0, 16, 0]), png([0x7f, 0, 0, 0], [0, 0, 0, 1]), png([0, 0, 0, 0], [0, 0, 0, 1]), jpeg(255, 255, 255, 255), gif(255, 255, 255, 255),
  webp("VP8X", 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 15, 0), webp("XXXX", 1, 1, 1, 1, 1, 1), url("png", ...text("GIF89a"), 1, 0, 1, 0), url("jpeg", 0xff, 0xd8, 0xff, 0xff, 0xff),
  url("svg+xml", 60), "data:image/png;base64,", "data:image/png;base64,A", "data:image/png;base64,AA\" onerror=", "https://a.example/a.png", 7, null, [png([0, 0, 0, 1], [0, 0, 0, 1])],
  gif(1, 0, 1, 0) + "A".repeat(192 << 10),
]) assert.equal(ownPicture(not), undefined, String(not).slice(0, 60));
