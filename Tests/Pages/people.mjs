// People are told apart, and a camera goes to another one's place.

import assert from "node:assert";
import { uniqueNames } from "../../Services/Gateway/Pages/web/canvas/names.js";
import { between } from "../../Services/Gateway/Pages/web/canvas/follow.js";

const people = [{ userId: "b", name: "Ada" }, { userId: "c", name: "Bob" }, { userId: "a", name: "Ada" }, { userId: "d", name: " " }, { userId: "e", name: "Ada 2" }];
const names = { a: "Ada", b: "Ada 2", c: "Bob", d: "d", e: "Ada 2 2" };
assert.deepEqual(Object.fromEntries(uniqueNames(people)), names);
assert.deepEqual(Object.fromEntries(uniqueNames([...people].reverse())), names, "whatever their order");
assert.equal(new Set(uniqueNames(Array.from({ length: 50 }, (_, index) => ({ userId: `u${index}`, name: "Ada" }))).values()).size, 50);

let camera = { x: 0, y: 0, zoom: 1 };
const target = { x: 900, y: -300, zoom: 4 };
assert.deepEqual(between(camera, target, 0), camera);
assert.deepEqual(between(camera, target, 1), target);
for (let step = 0; step < 200; step++) camera = between(camera, target, 0.2);
assert.ok(Math.hypot(camera.x - target.x, camera.y - target.y) < 1e-6 && Math.abs(camera.zoom - 4) < 1e-6);
console.log("people: fine");
