// The scale of the monitor's charts, and what they count.

import assert from "node:assert";
import { level, merged, quantile } from "../../Services/Operator/Monitor/web/history.js";

assert.deepEqual([0, 0.00001, 0.00005, 10, Infinity].map(level), [0, 0, 0, 1, 1]);
const decades = [0.0001, 0.001, 0.01, 0.1, 1, 10].map(level);
decades.slice(2).forEach((at, index) => assert.ok(Math.abs(at - decades[index + 1] - (decades[1] - decades[0])) < 1e-12));

assert.deepEqual(merged([[2, 5, 7, 1], [], [0, 3, 2, 1]]), [0, 3, 2, 6, 7, 1]);
assert.deepEqual(merged([]), []);
assert.equal(quantile([0.001, 0.01], merged([[0, 1], [1, 1]]), 0.5), 0.001);
assert.equal(quantile([0.001], [1, 4], 0.5), 0.001);
assert.equal(quantile([0.001], [], 0.5), null);
console.log("monitor: fine");
