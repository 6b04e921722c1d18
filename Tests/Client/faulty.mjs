// Messages of the server, and what the app passes, with faults: fields missing, of other types, out of range. The core
// may ignore them or connect again, but never fails. faulty.mjs RUNS [SEED]

import { readFileSync, readdirSync } from "node:fs";
import { Core } from "../../Shared/Client/web/touchsync.js";
import { generator } from "./random.mjs";

const folder = new URL("../ClientTranscripts/", import.meta.url);
const packets = readdirSync(folder).filter(name => /\.(txt|part)$/.test(name)).flatMap(name =>
  [...readFileSync(new URL(name, folder), "utf8").matchAll(/^> \d+ packet (.*)$/gm)].map(match => match[1]));
const pages = [{ entries: [{ seq: 3, sid: "ada-1", n: 1, changes: [{ after: { id: "a" } }] }], next: null, oldest: 1 }, null];
const JUNK = [null, true, -1, 1e308, "", "x", [], [[]], [null], {}, { id: {} }, [{ id: "a" }], { x: "y" }];

class Mutator {
  constructor(random) {
    this.random = random;
  }

  pick(list) {
    return list[Math.floor(this.random() * list.length)];
  }

  mutated(value) {
    if (this.random() < 0.03) return this.pick(JUNK);
    if (Array.isArray(value)) return value.map(entry => this.mutated(entry));
    if (typeof value !== "object" || value === null) return value;
    const kept = Object.entries(value).filter(() => this.random() > 0.02);
    return Object.fromEntries(kept.map(([key, entry]) => [key, this.mutated(entry)]));
  }

  packet() {
    const [, head, json] = /^(\d*)(.*)$/s.exec(this.pick(packets));
    // Answers meet one of the requests that may be open.
    const kind = head.startsWith("43") ? `43${Math.floor(this.random() * 12)}` : head;
    try {
      return kind + JSON.stringify(this.mutated(JSON.parse(json)));
    } catch {
      return kind + json;
    }
  }
}

function inputs(mutator, core) {
  const elementId = mutator.pick(["a", "b"]);
  const point = { x: 1, y: 2 }, elements = mutator.mutated([{ elementId }]);
  const deltas = { ...mutator.mutated({ translation: point, scale: point, rotation: 5, tilt: point, anchor: point }) };
  return mutator.pick([
    ...Array(12).fill({ type: "packet", text: mutator.packet() }),
    { type: "edit", roomId: "demo", id: 1, event: "element:gesture", body: { elementId, ...deltas } },
    { type: "edit", roomId: "demo", id: 2, event: "element:create", body: { element: { id: elementId, type: "note" } } },
    { type: "edit", roomId: "demo", id: 5, event: "elements:transform", body: { elements } },
    { type: "edit", roomId: "demo", id: 3, event: "element:delete", body: { elementId } },
    { type: "begin", roomId: "demo", gesture: 1, elementIds: [elementId] },
    { type: "move", roomId: "demo", gesture: 1, deltas },
    { type: "end", roomId: "demo", gesture: 1, id: 4 },
    { type: "history", roomId: "demo", after: core.rooms.get("demo")?.searchFrom, page: mutator.mutated(mutator.pick(pages)) },
    { type: "closed" }, { type: "opened" },
  ]);
}

function run(seed) {
  const mutator = new Mutator(generator(seed));
  const core = new Core({ random: mutator.random });
  let now = 0;
  core.input({ type: "join", roomId: "demo" }, 0);
  core.input({ type: "connect" }, 0);
  for (let step = 0; step < 200; step++) {
    now = Math.max(now, Math.min(core.deadline, now + 20));
    const input = core.deadline <= now ? { type: "time" } : inputs(mutator, core);
    try {
      core.input(input, now);
      for (const id of ["a", "b"]) core.rooms.get("demo")?.drawn(id, now);
    } catch (error) {
      throw new Error(`seed ${seed}: ${JSON.stringify(input)}`, { cause: error });
    }
    if (core.link.phase === "offline") now = Math.min(core.deadline, now + 60000);
  }
}

// Each part of what moves an element, replaced by each piece of junk, or left out.
function moved(path, junk) {
  const element = {
    id: "a", type: "note", positionX: 0, positionY: 0, rotation: 0, scaleX: 1, scaleY: 1, originalWidth: 1, originalHeight: 1,
    anchorX: 0, anchorY: 0,
    motion: Object.fromEntries([["rotation", "ease"], ["positionX", { spring: { response: 1, damping: 1, velocity: 0 } }]]
      .map(([field, curve]) => [field, { startedAt: 1000, segments: [{ from: 0, to: 5, ms: 1e6, curve }] }])),
    animation: {
      ms: 100, iterations: "infinite", direction: "normal", delayMs: 0, composite: "add", startedAt: 1000, tracks: {
        scaleX: [{ at: 0, value: 1, curve: { points: [[0, 0], [1, 1]] } }, { at: 1, value: 2, curve: { bezier: [0, 0, 1, 1] } }],
      },
    },
  };
  const parent = path.slice(0, -1).reduce((value, name) => value[name], element);
  if (path.length > 0) parent[path.at(-1)] = junk;
  return element;
}

function pathsOf(value, path) {
  if (typeof value !== "object") return [path];
  return [path, ...Object.keys(value).flatMap(name => pathsOf(value[name], [...path, name]))];
}

function drawMoved(element) {
  const core = new Core();
  core.input({ type: "join", roomId: "demo" }, 0);
  core.input({ type: "connect" }, 0);
  const answer = { ok: true, time: 1000, epoch: "1", seq: 1, n: 0, session: "s", sid: "me", elements: [element], members: [] };
  for (const text of ['0{"sid":"e","pingInterval":1e6,"pingTimeout":1e6}', '40{"sid":"s"}', `430${JSON.stringify([answer])}`]) {
    core.input({ type: "packet", text }, 10);
  }
  const drawn = [10, 50, 99, 110, 2000].flatMap(time => {
    const { positionX, rotation, scaleX } = core.rooms.get("demo").drawn("a", time);
    return [positionX, rotation, scaleX];
  });
  // A hand that catches it reads what moves it, too.
  core.input({ type: "begin", roomId: "demo", gesture: 1, elementIds: ["a"] }, 2000);
  return [...drawn, core.deadline].every(Number.isFinite);
}

for (const name of ["motion", "animation"]) {
  for (const path of pathsOf(moved([])[name], [name])) {
    for (const junk of [undefined, ...JUNK]) {
      if (!drawMoved(moved(path, junk))) throw new Error(`${path.join(".")}: ${JSON.stringify(junk)}`);
    }
  }
}

const [runs, first = Date.now() % 1e9] = process.argv.slice(2).map(Number);
for (let seed = first; seed < first + runs; seed++) run(seed);
console.log(`${runs} runs from seed ${first}, ${packets.length} kinds of packets`);
