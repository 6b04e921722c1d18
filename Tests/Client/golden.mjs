// Tests/Motion/golden.json: what shows of a field, against values computed apart from the client.

import { readFileSync } from "node:fs";
import { shownAt } from "../../Shared/Client/web/touchsync.js";

const { start, cases } = JSON.parse(readFileSync(new URL("../Motion/golden.json", import.meta.url)));
let count = 0, worst = 0;
for (const { field, stored, at, values, ...element } of cases) {
  const text = JSON.stringify(element), numbers = [...text.matchAll(/"(?:from|to|value)":(-?[\d.]+)/g)].map(([, n]) => Number(n));
  const size = Math.max(1, ...[stored, ...numbers].map(Math.abs));
  const allowed = size * (/bezier|ease/.test(text) ? 1e-5 : 1e-9);
  at.forEach((time, index) => {
    const error = Math.abs(shownAt(field, stored, element, start + time) - values[index]);
    if (!(error <= allowed)) throw new Error(`${field} at ${time} differs by ${error}: ${text}`);
    worst = Math.max(worst, error / size);
    count++;
  });
}
if (count !== 2000) throw new Error(`There are ${count} values.`);
console.log(`${count} values, at most ${worst} of their size apart`);
