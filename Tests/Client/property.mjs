// Random edits of two clients, random cuts, lost and repeated acknowledgements, sessions that end, restarts of the app:
// both end with the server's elements, and each edit was applied once or refused. property.mjs RUNS [SEED]

import assert from "node:assert";
import { Core } from "../../Shared/Client/web/touchsync.js";
import { generator } from "./random.mjs";
import { ModelServer } from "./server.mjs";

// A shell in a simulated world: messages take random times, in order on each connection.
class SimulatedClient {
  constructor(world, name) {
    this.world = world;
    this.name = name;
    this.edits = 0;
    this.results = new Map();
    this.saved = undefined;
    this.start();
  }

  start() {
    this.core = new Core({ random: this.world.random });
    this.connection = undefined;
    this.input({ type: "join", roomId: "r", record: this.saved ?? undefined });
    this.input({ type: "connect" });
  }

  // The app ends without a word and starts again, with what was saved.
  restart() {
    this.world.cut(this);
    this.start();
  }

  input(input) {
    const core = this.core;
    const outputs = core.input(input, this.world.now);
    this.world.checkConfirmed(core.rooms.get("r"));
    for (const output of outputs) this.perform(output, core);
  }

  perform(output, core) {
    const { world } = this;
    switch (output.type) {
      case "open": return world.open(this);
      case "close": return world.cut(this);
      case "send": return this.connection?.fromClient(output.text);
      case "save": return void (this.saved = structuredClone(output.record));
      case "history":
        return world.later(() => {
          const page = world.server.chance(0.3) ? null : structuredClone(world.server.history(output.after));
          if (core === this.core) this.input({ type: "history", roomId: "r", after: output.after, page });
        });
      case "result":
        assert(!this.results.has(output.id), `${output.id} has two results`);
        this.results.set(output.id, output.answer);
    }
  }

  edit(event, body) {
    const id = `${this.name}-${++this.edits}`;
    this.input({ type: "edit", roomId: "r", id, event, body });
  }

  get shown() {
    return this.core.rooms.get("r").shown;
  }
}

class Connection {
  constructor(world, client) {
    this.world = world;
    this.client = client;
    this.isOpen = true;
    // What the server sends behind its answer.
    this.parts = [];
    this.arrivals = [world.now, world.now];
  }

  // Each direction keeps its order.
  carry(direction, action) {
    const soonest = this.world.now + Math.floor(this.world.random() * 40);
    const at = this.arrivals[direction] = Math.max(this.arrivals[direction], soonest);
    this.world.at(at, () => this.isOpen && action());
  }

  fromClient(text) {
    this.carry(0, () => this.received(text));
  }

  deliver(packet) {
    this.toClient(`42${JSON.stringify(packet)}`);
  }

  toClient(text) {
    this.carry(1, () => this.client.input({ type: "packet", text }));
  }

  received(text) {
    if (text.startsWith("40")) return this.toClient('40{"sid":"s"}');
    const [, id, json] = /^42(\d+)(.*)$/s.exec(text);
    const answer = this.world.server.request(this, ...JSON.parse(json));
    this.toClient(`43${id}[${JSON.stringify(answer)}]`);
    for (const part of this.parts.splice(0)) {
      this.deliver(part);
      if (this.world.server.chance(0.1)) this.carry(1, () => this.world.breakConnection(this.client));
    }
    if (this.world.server.chance(0.1)) this.toClient(`43${id}[${JSON.stringify(answer)}]`);
  }
}

class World {
  constructor(seed) {
    this.random = generator(seed);
    this.server = new ModelServer(this.random);
    this.now = 0;
    this.events = [];
    this.order = 0;
    this.clients = ["ada", "bob"].map(name => new SimulatedClient(this, name));
  }

  at(time, action) {
    this.events.push({ time, order: this.order++, action });
  }

  later(action) {
    this.at(this.now + Math.floor(this.random() * 40), action);
  }

  open(client) {
    const connection = client.connection = new Connection(this, client);
    connection.carry(1, () => client.input({ type: "opened" }));
    connection.toClient('0{"sid":"e","pingInterval":100000,"pingTimeout":100000}');
  }

  cut(client) {
    if (!client.connection) return;
    client.connection.isOpen = false;
    this.server.members.delete(client.connection);
    client.connection = undefined;
  }

  // Advances to a time, with everything that happens until then.
  advance(end) {
    for (;;) {
      const isEarlier = (a, b) => !b || a.time < b.time || (a.time === b.time && a.order < b.order);
      const next = this.events.reduce((first, event) => (isEarlier(event, first) ? event : first), undefined);
      const [deadline, client] = this.clients
        .map(client => [client.core.deadline, client])
        .reduce((a, b) => (b[0] < a[0] ? b : a));
      const time = Math.min(next?.time ?? Infinity, deadline);
      if (time > end) break;
      this.now = Math.max(this.now, time);
      if (next && next.time <= deadline) {
        this.events.splice(this.events.indexOf(next), 1);
        next.action();
      } else client.input({ type: "time" });
    }
    this.now = end;
  }

  step() {
    const client = this.clients[Math.floor(this.random() * this.clients.length)];
    const chance = this.random();
    const elementId = `e${Math.floor(this.random() * 4)}`;
    if (chance < 0.15) client.edit("element:create", { element: { id: elementId, type: "note" } });
    else if (chance < 0.8) client.edit("element:gesture", { elementId, translation: { x: 1, y: 0 } });
    else if (chance < 0.9) this.breakConnection(client);
    else if (chance < 0.94) this.server.endSessions();
    else if (chance < 0.97) client.restart();
    else this.advance(this.now + 3000);
    this.advance(this.now + Math.floor(this.random() * 60));
  }

  breakConnection(client) {
    if (!client.connection) return;
    this.cut(client);
    client.input({ type: "closed" });
  }

  // What a client takes for confirmed is the room as it was at that number.
  checkConfirmed({ phase, confirmed, seq }) {
    if (phase !== "joined") return;
    assert.deepStrictEqual(this.positions(confirmed), this.positions(this.server.states[seq]), `at ${seq}`);
  }

  check() {
    const applied = new Map();
    for (const client of this.clients) {
      assert.equal(client.results.size, client.edits, `${client.name}: edits without a result`);
      assert.deepStrictEqual(this.positions(client.shown), this.positions(this.server.elements), client.name);
      for (const [id, answer] of client.results) {
        if (!answer.ok) continue;
        assert(!applied.has(answer.seq), `${id} and ${applied.get(answer.seq)} have one number`);
        applied.set(answer.seq, id);
      }
    }
    assert.equal(applied.size, this.server.seq, "what was applied has a result");
  }

  positions(elements) {
    return Object.fromEntries([...elements].sort().map(([id, element]) => [id, element.positionX]));
  }
}

const [runs, first = Date.now() % 1e9] = process.argv.slice(2).map(Number);
let edits = 0;
for (let seed = first; seed < first + runs; seed++) {
  try {
    const world = new World(seed);
    for (let step = 0; step < 120; step++) world.step();
    world.advance(world.now + 120000);
    world.check();
    edits += world.server.seq;
  } catch (error) {
    console.error(`seed ${seed}: ${error.stack}`);
    process.exit(1);
  }
}
console.log(`${runs} worlds from seed ${first}, ${edits} edits applied`);
