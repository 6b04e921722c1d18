// Any JSON value in an element's fields is shown as a text or a number.

import assert from "node:assert";
import { numberOf, textOf } from "../../Services/Gateway/Pages/web/canvas/values.js";
import { nameOf } from "../../Services/Gateway/Pages/web/canvas/samples.js";
import { named } from "../../Services/Gateway/Pages/web/canvas/words.js";

const hostile = [
  '{"toString":0}', '{"valueOf":0,"toString":{}}', '{"toJSON":1}', '{"__proto__":{"toString":0}}', '[[{"toString":0}]]', '{"length":1e9}',
  "null", "true", "0", "-0.0", "1e308", '"\\ud83d\\ude00"', '""', "[]", '"__proto__"',
].map(text => JSON.parse(text));
for (const value of hostile) {
  assert.equal(typeof textOf(value), "string");
  assert.ok(Number.isFinite(numberOf(value, 7)), JSON.stringify(value));
  for (const type of ["note", "__proto__", "constructor", "toString"]) {
    assert.ok(named({ type, content: value, title: value, picture: value }).startsWith(type === "note" ? "Note" : type));
  }
}
assert.deepEqual(["Hello", 3, null, undefined, { a: [1] }].map(value => textOf(value, "none")), ["Hello", "3", "none", "none", '{"a":[1]}']);
assert.deepEqual([8, "8", "x", 0, null, [8], { valueOf: 0 }].map(value => numberOf(value, 6)), [8, 8, 6, 6, 6, 6, 6]);
assert.deepEqual(["photo", "constructor"].map(nameOf), ["Photo", "constructor"]);
console.log("values: fine");
