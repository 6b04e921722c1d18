// A room is rebuilt at each moment from its log, also from the middle of it, and elements become again what they were.

import assert from "node:assert";
import { deed, Past } from "../../Services/Gateway/Pages/web/canvas/history.js";
import { restoring } from "../../Services/Gateway/Pages/web/canvas/restoring.js";

let seed = 7;
const random = below => (seed = (seed * 1103515245 + 12345) & 0x7fffffff) % below;

/** A room whose changes are logged as the server does. */
const room = new Map(), log = [], states = [new Map()];
const commit = (event, changes, more = {}) => {
  for (const { elementId, after } of changes) after ? room.set(elementId, after) : room.delete(elementId);
  log.push({ seq: log.length + 1, at: new Date(log.length * 1000).toISOString(), event, userId: "ada", changes, ...more });
  states.push(new Map(room));
};
for (let step = 0; step < 400; step++) {
  const ids = [...room.keys()], id = ids[random(ids.length || 1)], before = room.get(id);
  const kind = random(10);
  if (!before || kind < 3) {
    const made = Array.from({ length: 1 + random(3) }, (_, index) => ({ id: `${step}-${index}`, type: "note", positionX: step, zIndex: random(3), rev: 1 }));
    commit("elements:created", made.map(after => ({ elementId: after.id, before: null, after })));
  } else if (kind < 5) commit("element:deleted", [{ elementId: id, before, after: null }]);
  else commit("element:transformed", [{ elementId: id, before, after: { ...before, positionX: random(1000), rev: before.rev + 1 } }]);
}

const sorted = elements => [...elements.values()].sort((a, b) => a.zIndex - b.zIndex || (a.id < b.id ? -1 : 1));
for (const from of [0, 1, 137, 399, 400]) {
  const past = new Past(room.values(), log.slice(from));
  assert.deepEqual(past.elements, sorted(room), "it begins with the last moment");
  for (const at of [0, 1, 5, 262, 40, 3, 400, 0, 137, ...Array.from({ length: 40 }, () => random(401))]) {
    const shown = new Map(past.elements.map(element => [element.id, element]));
    const changed = past.go(at - from);
    const expected = states[Math.min(Math.max(at, from), 400)];
    assert.deepEqual(past.elements, sorted(expected), `from ${from} at ${at}`);
    for (const id of new Set([...shown.keys(), ...expected.keys()])) if (!changed.has(id)) assert.equal(shown.get(id), expected.get(id));
  }
}

const whole = new Past(room.values(), [...log]);
commit("element:created", [{ elementId: "late", before: null, after: { id: "late", type: "note", zIndex: 0 } }]);
whole.append(log.slice(-2));
assert.equal(whole.entries.length, 401, "what is known already is not appended again");
assert.ok(whole.go(401).has("late") && whole.element("late") && whole.entry.seq === 401);
assert.equal(whole.go(1e9).size + whole.go(NaN).size > 0, true);
assert.equal(whole.entry, undefined);

const note = { id: "a", type: "note", content: "Hello", positionX: 0, positionY: 0, rotation: 0, scaleX: 1, scaleY: 1 };
const change = (after, before = note) => ({ changes: [{ elementId: "a", before, after }] });
assert.deepEqual([
  deed(change({ ...note, positionX: 3 })), deed(change({ ...note, content: "Bye", positionX: 3 })), deed(change(null)), deed(change(note, null)),
  deed(change({ ...note, locked: true })), deed({ ...change({ ...note, rotation: 9 }), cause: "undo" }), deed(change({ ...note, own: 1 })),
  deed({ changes: [...change({ ...note, positionX: 1 }).changes, ...change({ ...note, positionX: 1 }).changes] }), deed({ changes: [] }),
], [
  "moved Note “Hello”", "wrote on Note “Bye”", "deleted Note “Hello”", "added Note “Hello”", "locked Note “Hello”, locked",
  "took back: turned Note “Hello”", "changed Note “Hello”", "moved 2 notes", "changed nothing",
]);

// Restoring
let made = 0;
const restore = (past, living) => restoring(past, id => living.find(one => one.id === id), () => `new-${++made}`);
const nothing = { unlock: [], create: [], transform: [], update: [] };
assert.deepEqual(restore([note], [note]), nothing);
assert.deepEqual(
  restore([note], [{ ...note, positionX: 80, opacity: 0.5, content: "Bye", tint: "sky", rev: 9, zIndex: 4, locked: true }]),
  { ...nothing, unlock: ["a"], transform: [{ elementId: "a", positionX: 0, opacity: 1 }],
    update: [{ id: "a", set: { content: "Hello", tint: null, zIndex: null } }] });
assert.deepEqual(restore([{ ...note, locked: true }], [{ ...note, locked: true, content: "Bye" }]).update, [{ id: "a", set: { content: "Hello" } }]);
assert.deepEqual(restore([{ ...note, locked: true }], [{ ...note, locked: true, positionX: 3 }]),
  { ...nothing, unlock: ["a"], transform: [{ elementId: "a", positionX: 0 }] });
assert.deepEqual(restore([{ ...note, locked: true }], []).create, [{ ...note, id: "new-1" }], "what has a lock could not be taken back");
made = 0;
const words = { id: "t", type: "text", parentId: "a", space: "normalized", positionX: 0.5, rev: 2, createdBy: "ada" };
const arrow = { id: "w", type: "arrow", from: { element: "a", x: 0.5, y: 0.5 }, to: { x: 9, y: 9 }, positionX: 0 };
assert.deepEqual(restore([note, arrow, words], []).create, [
  { ...note, id: "new-1" }, { ...arrow, id: "new-2", from: { element: "new-1", x: 0.5, y: 0.5 } },
  { id: "new-3", type: "text", parentId: "new-1", space: "normalized", positionX: 0.5 },
]);
assert.deepEqual(restore([words], []), nothing, "without its picture there is no place for it");
console.log("history: fine");
