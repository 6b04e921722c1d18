// What a hand showed becomes an animation: as few keyframes as show it, to and fro or round and round.

import assert from "node:assert";
import { animationOf, simplified } from "../../Services/Gateway/Pages/web/canvas/recording.js";

const start = { positionX: 100, positionY: 50, rotation: 350, scaleX: 1, scaleY: 1 };
/** A movement of `ms`, sampled at 60 frames a second. */
const shown = (ms, poseAt) => Array.from({ length: Math.round(ms / 16) + 1 }, (_, index) =>
  ({ at: 5000 + index * 16, pose: { ...start, ...poseAt(index * 16 / ms) } }));
/** What a track shows at a share of its time. */
const valueAt = (track, at) => {
  const end = track.findIndex((keyframe, index) => index > 0 && keyframe.at >= at), [from, to] = [track[end - 1], track[end]];
  return from.value + (to.value - from.value) * (at - from.at) / (to.at - from.at);
};

assert.equal(animationOf([{ at: 0, pose: start }]), undefined);
assert.equal(animationOf(shown(320, () => ({}))), undefined);
// It ends with its time, which is whole, and not too short.
const brief = animationOf([{ at: 0.3, pose: start }, { at: 7.9, pose: { ...start, scaleX: 2 } }]);
assert.deepEqual([brief.ms, brief.tracks.scaleX.at(-1)], [16, { at: 1, value: 1 }]);

// A straight way needs its ends alone, and goes to and fro. What rests has no track.
const straight = animationOf(shown(800, at => ({ positionX: 100 + 300 * at, rotation: 350 + 1e-9 * at })));
assert.deepEqual(straight, {
  ms: 800, iterations: "infinite", direction: "alternate", composite: "add",
  tracks: { positionX: [{ at: 0, value: 0 }, { at: 1, value: 300 }] },
});
// A turn over 0 goes on; where something is bent there are keyframes.
const bent = animationOf(shown(1600, at => ({ rotation: (350 + 40 * at * at) % 360, positionY: 50 + Math.abs(at - 0.5) * 80 })));
assert.ok(Math.abs(bent.tracks.rotation.at(-1).value - 40) < 1e-9);
assert.deepEqual(bent.tracks.positionY.map(({ value }) => value), [0, -40, 0]);

// A round is closed, and begins again where it ended, as does a whole turn.
const angle = at => 6.1 * at, round = animationOf(shown(3200, at => (
  { positionX: 100 + 200 * Math.cos(angle(at)) - 200, positionY: 50 + 200 * Math.sin(angle(at)) })));
assert.equal(round.direction, "normal");
for (const field of ["positionX", "positionY"]) {
  const track = round.tracks[field];
  assert.ok(track[0].value === 0 && track.at(-1).value === 0 && track.length <= 64, `${field} ${track.length}`);
  assert.ok(track.every(({ at }, index) => index === 0 || at > track[index - 1].at));
}
assert.ok(Math.abs(valueAt(round.tracks.positionY, 0.25) - 200) < 12);
const turn = animationOf(shown(960, at => ({ rotation: (350 + 355 * at) % 360 })));
assert.deepEqual([turn.direction, turn.tracks.rotation], ["normal", [{ at: 0, value: 0 }, { at: 1, value: 360 }]]);

// A scribble of minutes fits into what an animation may have: 64 keyframes a track, 8 KiB.
let seed = 1;
const noise = () => (seed = (seed * 48271) % 2147483647) / 2147483647 * 500;
const fields = ["positionX", "positionY", "rotation", "rotationX", "rotationY", "scaleX", "scaleY"];
for (const count of [1, 2, 7]) {
  const scribble = animationOf(shown(120_000, () => Object.fromEntries(fields.slice(0, count).map(field => [field, noise()]))));
  assert.ok(Object.values(scribble.tracks).every(track => track.length <= 64 && track[0].at === 0 && track.at(-1).at === 1));
  const curved = Object.values(scribble.tracks).flat().map(keyframe => ({ ...keyframe, curve: "linear" }));
  assert.ok(JSON.stringify(curved).length < 8000, `${count}: ${JSON.stringify(curved).length}`);
}

// What is left out is nearer than the tolerance to what is kept.
const wave = Array.from({ length: 500 }, (_, index) => ({ at: index / 499, value: Math.sin(index / 40) * 100 }));
const kept = simplified(wave, 1, 64);
assert.ok(kept.length < 60 && wave.every(({ at, value }) => Math.abs(valueAt(kept, at) - value) <= 1), `${kept.length}`);
