// What keys and wheels mean: keyboards of other scripts, input methods of other browsers, mice and trackpads.

import assert from "node:assert";
import { chord } from "../../Services/Gateway/Pages/web/canvas/keys.js";
import { Wheel } from "../../Services/Gateway/Pages/web/canvas/wheel.js";

// Where a key writes no Latin letter, its place decides; where it writes one, that does, wherever it lies.
const plain = { altKey: false, ctrlKey: false, metaKey: false, shiftKey: false };
for (const [event, keys] of [
  [{ key: "я", code: "KeyZ", ctrlKey: true }, "Ctrl+z"], [{ key: "Я", code: "KeyZ", metaKey: true, shiftKey: true }, "Ctrl+Shift+z"],
  [{ key: "т", code: "KeyN" }, "n"], [{ key: "ν", code: "KeyN" }, "n"], [{ key: "ন", code: "KeyN" }, "n"], [{ key: "х", code: "BracketLeft" }, "["],
  [{ key: "Х", code: "BracketLeft", shiftKey: true }, "Shift+{"], [{ key: "٢", code: "Digit2" }, "2"], [{ key: "y", code: "KeyZ" }, "y"],
  [{ key: "ö", code: "Semicolon" }, "ö"], [{ key: "Enter", code: "Enter" }, "Enter"], [{ key: "Z", code: "KeyZ", ctrlKey: true }, "Ctrl+z"],
  [{ key: "ж", code: "Semicolon" }, "ж"], [{ key: "я", code: "" }, "я"],
]) assert.equal(chord({ ...plain, ...event }), keys, JSON.stringify(event));

/** Whether each of some events, given as [time, down, across], is a notch. */
const notched = (events, more = {}) => {
  const wheel = new Wheel();
  return events.map(([timeStamp, deltaY, deltaX = 0]) => wheel.isNotched({ deltaMode: 0, shiftKey: false, timeStamp, deltaY, deltaX, ...more }));
};
// A swipe begins slowly, and its steps become as large as notches.
assert.deepEqual(notched([[0, 2], [16, 30], [32, 120], [48, 200], [64, 90], [200, 50]]), Array(6).fill(false));
// Notches that are turned one after the other, and a swipe some time afterwards.
assert.deepEqual(notched([[0, 100], [40, 100], [80, -100], [1000, 4], [1016, 80]]), [true, true, true, false, false]);
assert.deepEqual(notched([[0, 100, 3]]), [false]);
assert.deepEqual(notched([[0, 3]], { deltaMode: 1 }), [true]);
assert.deepEqual(notched([[0, 100]], { shiftKey: true }), [false]);
console.log("input: fine");
