// Files of other programs become the elements that are expected of them, by the page as by `touchsync room import`; and
// whatever is in them, what comes out can be stored.

import assert from "node:assert";
import { readdirSync, readFileSync } from "node:fs";
import { batches, placedAt, read } from "../../Services/Gateway/Pages/web/canvas/import.js";
import { halfOf } from "../../Services/Gateway/Pages/web/canvas/tldrawpath.js";

const folder = new URL("../Import/", import.meta.url), names = readdirSync(folder).filter(name => !name.endsWith(".json"));
assert.ok(names.length >= 2);
const files = names.map(name => readFileSync(new URL(name, folder), "utf8"));
names.forEach((name, index) => {
  const expected = JSON.parse(readFileSync(new URL(`${name}.json`, folder), "utf8")), found = JSON.parse(JSON.stringify(read(files[index])));
  found.elements.forEach((element, at) => assert.deepEqual(element, expected.elements[at], name));
  assert.deepEqual(found, expected, name);
});
assert.deepEqual([0x0000, 0x3c00, 0xc000, 0x3555, 0x0001, 0x7c00, 0x7e00].map(halfOf), [0, 1, -2, 0.333251953125, 2 ** -24, 0, 0]);

// Whatever is in them
let seed = 5;
const random = below => (seed = (seed * 1103515245 + 12345) & 0x7fffffff) % below;
const odd = [null, true, -1, 0, 1e308, "", "x", "__proto__", "constructor", "\ud800", [], {}, [[]], [null], { x: "1" }, "a".repeat(9000), ["a", 1], { toString: 1 }];
function spoilt(value) {
  if (random(60) === 0) return odd[random(odd.length)];
  if (Array.isArray(value)) return value.map(spoilt);
  if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, spoilt(one)]));
  return value;
}
for (let round = 0; round < 400; round++) {
  const found = read(JSON.stringify(spoilt(JSON.parse(files[round % files.length]))));
  for (const element of found?.elements ?? []) {
    const { id, type, picture = "", ...own } = element;
    assert.ok(picture.length <= 128 << 10);
    assert.equal(typeof id + typeof type, "stringstring");
    for (const field of ["positionX", "positionY"]) assert.ok(Number.isInteger(element[field]) && Math.abs(element[field]) <= 2e9, JSON.stringify(element));
    for (const field of ["width", "height"]) assert.ok(element[field] >= 1 && Number.isFinite(element[field]), JSON.stringify(element));
    assert.ok(element.rotation === undefined || (element.rotation >= 0 && element.rotation < 360), JSON.stringify(element));
    assert.ok(Buffer.byteLength(JSON.stringify(own)) < 8000, JSON.stringify(own).slice(0, 300));
    assert.ok((element.points?.length ?? 0) <= 1000 && JSON.stringify(element).isWellFormed?.() !== false);
  }
}
for (const text of ["", "{}", "[]", "null", "1", "{\"touchsyncRoom\":2}", "{\"type\":\"excalidraw\"}", "\u0000"]) assert.equal(read(text), undefined, text);
const pictured = size => read(JSON.stringify({
  type: "excalidraw", elements: [{ id: "p", type: "image", fileId: "f" }], files: { f: { dataURL: `data:image/png;base64,${"A".repeat(size)}` } },
}));
assert.equal(pictured(100_000).elements[0].picture.length, 100_022);
assert.deepEqual(pictured(200_000), { elements: [], left: { "picture that is too large": 1 } });

const many = { type: "excalidraw", elements: Array.from({ length: 6000 }, (_, index) => ({ id: `${index}`, type: "rectangle", x: index, y: 0, width: 1, height: 1 })) };
const bounded = read(JSON.stringify(many));
assert.equal(bounded.elements.length, 5000);
assert.deepEqual(bounded.left, { "element beyond 5000": 1000 });

// Where one looks
const room = [
  { touchsyncRoom: 1, roomId: "demo", epoch: "e", seq: 3, elements: 3 },
  { id: "a", type: "note", positionX: 100, positionY: 100, originalWidth: 200, originalHeight: 100, width: 200, height: 100, scaleX: 1, rev: 4, createdBy: "ada", groupId: "g" },
  { id: "t", type: "text", parentId: "a", space: "normalized", positionX: 0.5, positionY: 0.5, originalWidth: 20, originalHeight: 10, rev: 1 },
  { id: "w", type: "arrow", positionX: 300, positionY: 100, originalWidth: 10, originalHeight: 10, from: { element: "a", x: 1, y: 0 }, to: { x: 0, y: 0 }, groupId: "g" },
];
const own = read(room.map(line => JSON.stringify(line)).join("\n"));
let made = 0;
const placed = placedAt(own.elements, { x: 0, y: 0 }, () => `n${++made}`);
assert.deepEqual(placed.map(({ id, positionX, positionY }) => [id, positionX, positionY]), [["n1", -52, 0], ["n2", 0.5, 0.5], ["n3", 148, 0]]);
assert.deepEqual([placed[1].parentId, placed[2].from, placed[0].groupId, placed[2].groupId], ["n1", { element: "n1", x: 1, y: 0 }, "n4", "n4"]);
assert.ok(!("rev" in placed[0]) && !("createdBy" in placed[0]) && !("width" in placed[0]));

const sizes = batches(bounded.elements).map(batch => batch.length);
assert.equal(sizes.reduce((a, b) => a + b), 5000);
assert.ok(Math.max(...sizes) <= 250);
assert.deepEqual(batches([{ p: "x".repeat(160000) }, { p: 1 }, { p: "y".repeat(149000) }]).map(batch => batch.length), [1, 2]);
console.log("importing: fine");
