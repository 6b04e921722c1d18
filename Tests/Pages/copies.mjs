// Copies, groups, lines and layers.

import assert from "node:assert";
import { inLine, spread } from "../../Services/Gateway/Pages/web/canvas/arrange.js";
import { boxOf, copied, inParts, MOST, read, taken, written } from "../../Services/Gateway/Pages/web/canvas/copies.js";
import { groupOf, units, withGroups } from "../../Services/Gateway/Pages/web/canvas/groups.js";
import { chord, shownKey, withKeys } from "../../Services/Gateway/Pages/web/canvas/keys.js";
import { reordered } from "../../Services/Gateway/Pages/web/canvas/order.js";

const base = { rotation: 0, scaleX: 1, scaleY: 1, originalWidth: 100, originalHeight: 50, anchorX: 0.5, anchorY: 0.5, positionY: 0 };
const element = (id, positionX, more) => ({ id, type: "note", ...base, positionX, ...more });
const room = [
  element("a", 0, { groupId: "g", locked: true, rev: 7, updatedBy: "bob", width: 100, content: "<One>\u2028 \"1\"" }),
  element("b", 200, { groupId: "g", zIndex: 4, content: "Two" }), element("c", 500, { groupId: "other" }),
  element("t", 0.5, { type: "text", parentId: "b", space: "normalized", positionY: 0.5, content: "on b" }),
  element("w", 0, { type: "arrow", from: { element: "a", x: 1, y: 0.5 }, to: { element: "c", x: 0, y: 0.5 }, animation: { ms: 500, startedAt: 9 } }),
  { ...element("line", 0), type: "guide", axis: "x" },
];
const find = id => room.find(one => one.id === id);

// What is copied: what was chosen, what lies on it, in its order; no locks, no history, no guides.
const own = taken(room, ["w", "b", "a", "line"], find);
assert.deepEqual(own.map(({ id }) => id), ["a", "b", "t", "w"]);
assert.ok(!("locked" in own[0]) && !("rev" in own[0]) && !("width" in own[0]));
// An arrow's end that stays behind is where it was seen.
assert.deepEqual([own[3].from, own[3].to], [{ element: "a", x: 1, y: 0.5 }, { x: 500, y: 25 }]);
assert.deepEqual(own[3].animation, { ms: 500 });
// A text without its picture is one of its own, where it was seen.
const [alone] = taken(room, ["t"], find);
assert.deepEqual([alone.positionX, alone.positionY, alone.parentId, alone.space], [200, 0, undefined, undefined]);

// It comes back from HTML as other programs hand it on, and from text.
const { html, text } = written(own);
assert.equal(text, "<One>\u2028 \"1\"\nTwo\non b");
assert.ok(!html.includes("<One>"));
const again = read({ html: `<html><body>\n<!--StartFragment-->${html}<!--EndFragment--></body></html>`, text });
assert.deepEqual(again, own);
assert.deepEqual(read({ html: "", text: JSON.stringify({ touchsync: own }) }), own);
assert.equal(read({ html: "<b>text</b>", text: "text" }), undefined);
// Whatever a hostile page writes: sound elements, or none.
for (const bad of [null, 1, "x", [], {}, [null], [{ id: 1, type: "note" }], [[]], [{ id: "x", type: { toString: 0 } }]]) {
  assert.equal(read({ html: "", text: JSON.stringify({ touchsync: bad }) }), undefined);
}
assert.equal(read({ html: `<div data-touchsync="%E0%A4%A">`, text: "" }), undefined);
const [odd] = read({ html: "", text: '{"touchsync":[{"id":"x","type":"note","positionX":"1e999","scaleX":0,"originalWidth":-4,"rev":1,"__proto__":{"a":1}}]}' });
assert.deepEqual([odd.positionX, odd.scaleX, odd.originalWidth, odd.rev], [0, 1, 100, undefined]);
assert.ok(Object.values(boxOf([odd])).every(Number.isFinite));
assert.equal(read({ html: "", text: JSON.stringify({ touchsync: Array(MOST + 9).fill(odd) }) }).length, MOST);

// Copies have ids of their own and belong together as the elements did.
let last = 0;
const copies = copied(own, { newId: () => `n${++last}`, shift: { x: 10, y: 20 }, level: 4 }), [a, b, w, t] = copies;
assert.deepEqual(copies.map(({ id }) => id), ["n1", "n2", "n3", "n4"]);
assert.ok(a.groupId === b.groupId && a.groupId !== "g" && a.groupId !== undefined);
assert.deepEqual([t.parentId, t.positionX, t.positionY], ["n2", 0.5, 0.5]);
assert.deepEqual([w.from, w.to], [{ element: "n1", x: 1, y: 0.5 }, { x: 500, y: 25 }]);
assert.deepEqual([a.positionX, a.positionY, a.zIndex], [10, 20, 4]);
// One of a group alone is in none.
assert.equal(copied([own[0]], { newId: () => "z", shift: { x: 0, y: 0 } })[0].groupId, undefined);
assert.deepEqual(inParts(Array(600).fill(odd)).map(({ length }) => length), [250, 250, 100]);
assert.deepEqual(inParts(Array(3).fill({ picture: "x".repeat(80_000) })).map(({ length }) => length), [1, 1, 1]);

// Groups.
assert.deepEqual(withGroups(room, ["b"]), ["b", "a"]);
assert.deepEqual(withGroups(room, ["w"]), ["w"]);
for (const odd of [{}, 1, "", null, []]) assert.equal(groupOf({ groupId: odd }), undefined);
assert.deepEqual(units([room[0], room[2], room[1]]), [["a", "b"], ["c"]]);
assert.deepEqual(units([room[0], room[1]]), [["a"], ["b"]]);

// Lines and gaps.
const boxes = [{ x: 0, y: 0, width: 10, height: 10 }, { x: 100, y: 30, width: 30, height: 20 }, { x: 20, y: 90, width: 20, height: 40 }];
const after = ways => boxes.map((box, index) => [box.x + ways[index].x, box.y + ways[index].y]);
assert.deepEqual(after(inLine(boxes, "left")), [[0, 0], [0, 30], [0, 90]]);
assert.deepEqual(after(inLine(boxes, "right")), [[120, 0], [100, 30], [110, 90]]);
assert.deepEqual(after(inLine(boxes, "centre")), [[60, 0], [50, 30], [55, 90]]);
assert.deepEqual(after(inLine(boxes, "bottom")), [[0, 120], [100, 110], [20, 90]]);
assert.deepEqual(after(spread(boxes, "x")), [[0, 0], [100, 30], [45, 90]]);
assert.deepEqual(after(spread(boxes, "y")), [[0, 0], [100, 40], [20, 90]]);

// Layers: what the order is afterwards, and how much is written for it.
const layers = text => text.split(" ").map(part => ({ id: part[0], level: Number(part.slice(1)) }));
function order(all, chosen, way, meet) {
  const levels = reordered(all, new Set(chosen), way, meet);
  const next = all.map(({ id, level }) => ({ id, level: levels.get(id) ?? level }));
  next.sort((one, other) => one.level - other.level || (one.id < other.id ? -1 : 1));
  return `${next.map(({ id }) => id).join("")} ${levels.size}`;
}
const flat = layers("a0 b0 c0 d0 e0");
assert.equal(order(flat, "ac", "front"), "bdeac 2");
assert.equal(order(flat, "bd", "back"), "bdace 2");
assert.equal(order(flat, "de", "front"), "abcde 0");
assert.equal(order(layers("c0 a1 b1"), "cb", "front"), "acb 2");
assert.equal(order(layers("c0 d1 a2"), "da", "back"), "dac 2");
assert.equal(order(flat, "b", "forward"), "acbde 3");
assert.equal(order(flat, "d", "backward"), "abdce 3");
assert.equal(order(flat, "e", "forward"), "abcde 0");
assert.equal(order(layers("a0 b1 c2 d3"), "a", "forward"), "bacd 1");
assert.equal(order(layers("a0 b1 c2 d3"), "d", "backward"), "abdc 1");
// A step goes past what lies there, not past what lies elsewhere.
assert.equal(order(flat, "a", "forward", (one, other) => other === "d"), "bcdae 2");
assert.equal(order(flat, "a", "forward", () => false), "abcde 0");
// Among hundreds of one level a step is one edit, past all of them.
const many = Array.from({ length: 200 }, (_, index) => ({ id: String(index).padStart(3, "0"), level: 0 }));
assert.equal(reordered(many, new Set(["100"]), "forward").size, 1);
// Any steps in a row do what they say.
let now = flat, expected = "abcde";
for (const [id, way] of [["c", "forward"], ["a", "forward"], ["e", "backward"], ["e", "backward"], ["c", "backward"], ["b", "front"], ["d", "forward"]]) {
  const levels = reordered(now, new Set([id]), way), at = expected.indexOf(id), rest = expected.replace(id, "");
  const to = way === "front" ? 4 : Math.min(Math.max(at + (way === "forward" ? 1 : -1), 0), 4);
  expected = rest.slice(0, to) + id + rest.slice(to);
  now = now.map(one => ({ id: one.id, level: levels.get(one.id) ?? one.level }))
    .sort((one, other) => one.level - other.level || (one.id < other.id ? -1 : 1));
  assert.equal(now.map(one => one.id).join(""), expected, `${id} ${way}`);
}

// Keys.
const key = more => chord({ key: "", code: "", ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, ...more });
assert.deepEqual([key({ key: "D", metaKey: true }), key({ key: "å", code: "KeyA", altKey: true }), key({ key: "{", shiftKey: true })],
  ["Ctrl+d", "Alt+a", "Shift+{"]);
const shown = keys => [shownKey(keys, false), shownKey(keys, true)];
assert.deepEqual(shown("Ctrl+Shift+z"), ["Ctrl + Shift + Z", "⇧⌘Z"]);
assert.deepEqual(shown("Alt+a"), ["Alt + A", "⌥A"]);
assert.deepEqual(shown("Ctrl+Shift+}"), ["Ctrl + Shift + ]", "⇧⌘]"]);
assert.deepEqual(shown("Shift+?"), ["?", "?"]);
assert.deepEqual(shown("Shift+{"), ["Shift + [", "⇧["]);
assert.deepEqual(shown("Shift+F10"), ["Shift + F10", "⇧F10"]);
assert.equal(withKeys("Ctrl + Alt + drag", true), "⌘ + ⌥ + drag");
console.log("copies: fine");
