// The camera: what lies under a pointer or under fingers stays there.

import assert from "node:assert";
import { fitted, panned, pinched, revealed, seen, toCanvas, toScreen, zoomed, ZOOMS } from "../../Services/Gateway/Pages/web/canvas/camera.js";
import { meets } from "../../Services/Gateway/Pages/web/canvas/geometry.js";

const size = { width: 1200, height: 800 };
const near = (a, b) => assert.ok(Math.hypot(a.x - b.x, a.y - b.y) < 1e-6, `${JSON.stringify(a)} is not ${JSON.stringify(b)}`);

for (const camera of [{ x: 0, y: 0, zoom: 1 }, { x: -350, y: 90, zoom: 0.3 }, { x: 7000, y: -20, zoom: 4 }]) {
  const pointer = { x: 313, y: 577 }, held = toCanvas(camera, pointer);
  near(toScreen(camera, held), pointer);
  for (const factor of [0.5, 1.1, 3, 1e9, 1e-9]) {
    const next = zoomed(camera, factor, pointer);
    near(toScreen(next, held), pointer);
    assert.ok(next.zoom >= ZOOMS.least && next.zoom <= ZOOMS.most);
  }
  near(toScreen(panned(camera, { x: 40, y: -25 }), held), { x: 353, y: 552 });

  const from = [{ x: 200, y: 300 }, { x: 400, y: 300 }], to = [{ x: 260, y: 280 }, { x: 500, y: 320 }];
  const under = from.map(finger => toCanvas(camera, finger)), next = pinched(camera, from, to);
  // Fingers that turn do not turn the canvas: their middle stays, and their distance is that of what lay under them.
  const shown = under.map(point => toScreen(next, point));
  near({ x: (shown[0].x + shown[1].x) / 2, y: (shown[0].y + shown[1].y) / 2 }, { x: 380, y: 300 });
  assert.ok(Math.abs(Math.hypot(shown[0].x - shown[1].x, shown[0].y - shown[1].y) - Math.hypot(240, 40)) < 1e-6);
}

const box = { x: 5000, y: -4000, width: 3000, height: 500 }, whole = seen(fitted(box, size, { x: 100, y: 150 }), size);
assert.ok(whole.x < box.x && whole.y < box.y && whole.x + whole.width > box.x + box.width);
assert.equal(fitted({ x: 0, y: 0, width: 10, height: 10 }, size, { x: 100, y: 100 }).zoom, 1);

const camera = { x: 0, y: 0, zoom: 2 };
assert.deepEqual(revealed(camera, { x: 100, y: 100, width: 50, height: 50 }, size, 90), camera);
for (const far of [{ x: -900, y: 3000 }, { x: 4000, y: -70 }]) {
  const one = { ...far, width: 80, height: 60 }, view = seen(revealed(camera, one, size, 90), size);
  assert.ok(view.x <= one.x && one.x + one.width <= view.x + view.width && meets(view, one));
}
console.log("camera: fine");
