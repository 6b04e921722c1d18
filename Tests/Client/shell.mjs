// What the client is around its core, with a server in the test's hands. shell.mjs

import assert from "node:assert";
import { Store } from "../../Shared/Client/web/store.js";
import { newElementId, TouchSync } from "../../Shared/Client/web/touchsync.js";
import { JOINED, Socket, turn, until } from "./scripted.mjs";

const options = { url: "http://localhost", WebSocket: Socket, fetch: async () => {} };

// A store that keeps nothing.
class EmptyStore extends Store {
  load = async () => undefined;
  save = async () => {};
  clear = async () => {};
}
const store = new EmptyStore();

// The events of an emitter, as they come.
function heard(emitter, ...events) {
  const list = [];
  for (const event of events) emitter.on(event, () => list.push(event));
  return list;
}

// A client that is let in.
function connected(more) {
  const client = new TouchSync({ ...options, ...more });
  client.connect();
  Socket.last.accept();
  return client;
}

{
  // A room that is opened again before it was left, because inputs wait for the store.
  const client = new TouchSync({ ...options, store, owner: "ada" });
  client.room("demo").leave();
  const room = client.room("demo"), events = heard(room, "joined", "left", "change");
  client.connect();
  await turn();
  Socket.last.accept();
  Socket.last.answer("room:join", JOINED);
  assert.deepEqual(events, ["left", "joined", "change"]);
  await client.close();
}
{
  // Or for a handler.
  const client = connected(), room = client.room("demo"), events = heard(room, "joined", "left");
  Socket.last.answer("room:join", JOINED);
  room.on("left", () => assert.equal(client.room("demo"), room));
  room.leave();
  Socket.last.answer("room:join", JOINED);
  assert.deepEqual(events, ["joined", "left", "joined"]);
  assert.equal(client.room("demo"), room);
  await client.close();
}
{
  // Opening an open room tells nothing: a handler may do it.
  const client = connected(), room = client.room("demo"), events = heard(room, "joined");
  room.on("joined", () => assert.equal(client.room("demo").elements.length, 1));
  Socket.last.answer("room:join", JOINED);
  assert.deepEqual(events, ["joined"]);
  await client.close();
}

// In a room.
async function entered(more) {
  const client = connected(more), room = client.room("demo");
  Socket.last.answer("room:join", JOINED);
  await room.joined;
  return { client, room };
}

{
  // What is no JSON is refused, or thrown, and does no harm.
  const { client, room } = await entered(), circle = {};
  circle.circle = circle;
  await assert.rejects(room.update("a", { size: 1n }), { code: "invalid" });
  await assert.rejects(room.create({ type: "note", circle }), { code: "invalid" });
  assert.throws(() => room.look({ x: 1n, y: 0, width: 1, height: 1 }), TypeError);
  assert.throws(() => room.point({ x: 1n, y: 0 }), TypeError);
  room.edit("elements:transform", { elements: [null] }).catch(() => {});
  const gesture = room.begin("a"), x = () => room.element("a").positionX;
  gesture.update();
  gesture.update({ scale: null, translation: 5, anchor: { x: 1 } });
  assert.deepEqual(await gesture.end(), { ok: true, seq: 1, adjusted: [] });
  const other = room.begin("a"), deltas = { translation: { x: 5, y: 0 }, rotation: NaN };
  other.update(deltas);
  deltas.translation.x = 9;
  assert.equal(x(), 5);
  other.end().catch(() => {});
  room.delete("a").catch(() => {});
  assert.equal(Socket.last.edits.length, 1);
  await client.close();
}
{
  // A refusal is told once: to who waits for the edit, otherwise by the event.
  const { client, room } = await entered(), refusals = [];
  const failing = () => room.update("a", { size: 1n });
  room.on("refusal", refusal => refusals.push(refusal.code));
  await assert.rejects(failing());
  failing().catch(() => {});
  failing().then(() => {}, () => {});
  await failing().finally(() => {}).catch(() => {});
  await turn();
  assert.deepEqual(refusals, []);
  failing();
  await until(() => refusals.length > 0);
  // One that the server refuses, as well.
  room.delete("a");
  Socket.last.answer("element:delete", { ok: false, error: { code: "forbidden", message: "No." } });
  const awaited = room.delete("a");
  setTimeout(() => Socket.last.answer("element:delete", { ok: false, error: { code: "gone", message: "No." } }));
  await assert.rejects(awaited, { code: "gone" });
  await turn();
  assert.deepEqual(refusals, ["invalid", "forbidden"]);
  await client.close();
}
{
  // Lists are the same until something changes, and nobody else's to change.
  const { client, room } = await entered(), { elements, members } = room;
  assert.equal(room.elements, elements);
  assert.equal(room.members, members);
  assert.throws(() => elements.pop(), TypeError);
  assert.throws(() => members.pop(), TypeError);
  room.transform("a", { positionX: 5 }).catch(() => {});
  assert.notEqual(room.elements, elements);
  assert.equal(room.elements, room.elements);
  assert.equal(room.members, members);
  const say = (event, data) => Socket.last.say(`42${JSON.stringify([event, { roomId: "demo", userId: "bob", ...data }])}`);
  say("member:joined", { name: "Bob", connections: [{ sid: "b" }] });
  const before = room.members;
  say("cursor:moved", { sid: "b", x: 1, y: 2 });
  assert.deepEqual([members.length, before[0].connections, room.members[0].connections[0].cursor],
    [0, [{ sid: "b" }], { x: 1, y: 2 }]);
  room.leave();
  Socket.last.answer("element:transform", { ok: true, seq: 1, adjusted: [] });
  assert.equal(room.elements, room.elements);
  assert.equal(room.members.length, 0);
  await client.close();
}
{
  // Signals are told to whoever is there. Who this user is the server says.
  const { client, room } = await entered(), signals = [];
  assert.equal(client.self, undefined);
  room.on("signal", signal => signals.push(signal));
  room.signal("wave", { hands: 2 });
  assert.equal(Socket.last.sent.at(-1), '42["room:signal",{"roomId":"demo","name":"wave","data":{"hands":2}}]');
  Socket.last.say('42["room:signaled",{"roomId":"demo","userId":"bob","sid":"b","name":"wave","data":3}]');
  assert.deepEqual(signals.map(({ userId, name, data }) => [userId, name, data]), [["bob", "wave", 3]]);
  const self = { userId: "ada", name: "Ada", color: "#2c3e90", right: "commit" };
  Socket.last.say('42["room:resync",{"roomId":"demo"}]');
  Socket.last.answer("room:join", { ...JOINED, self });
  assert.deepEqual([client.self, room.self], [self, self]);
  await client.close();
}
{
  // Why attempts fail, as far as the platform tells: until one succeeds.
  const client = new TouchSync(options), failures = [];
  client.on("failure", failure => failures.push(failure));
  const fail = async event => {
    client.connect();
    if (event) Socket.last.onerror(event);
    Socket.last.onclose();
    await turn();
  };
  await fail();
  await fail({ message: "", error: { code: "ECONNREFUSED" } });
  await fail({ message: "self-signed certificate", error: { code: "DEPTH_ZERO_SELF_SIGNED_CERT" } });
  await fail({ message: "failed", error: { cause: { code: "CERT_HAS_EXPIRED" } } });
  await fail({ message: "Unexpected server response: 403", error: {} });
  await fail({ message: "Unexpected server response: 404", error: {} });
  await fail({ message: "Unexpected server response: 502", error: {} });
  await fail({});
  client.connect();
  Socket.last.onopen();
  Socket.last.onclose();
  assert.deepEqual(failures.map(failure => failure.code),
    ["unreachable", "refused", "tls", "tls", "origin", "not_touchsync", "unreachable", "unreachable", "not_touchsync"]);
  assert(failures.every(({ message }) => message.endsWith(".")));
  assert.equal(client.lastFailure, failures.at(-1));
  client.connect();
  Socket.last.accept();
  assert.equal(client.lastFailure, null);
  await client.close();
}
{
  // An app without a token says so at once.
  const client = new TouchSync({ ...options, token: () => null });
  client.connect();
  await turn();
  assert.deepEqual([client.state, client.lastFailure.code], ["expired", "token"]);
  await client.close();
}
{
  // Elements lie on each other as for everybody: by zIndex, then by id. Later ones get larger ids.
  const client = connected(), room = client.room("demo"), [note] = JOINED.elements;
  const notes = [["c"], ["a"], ["b", 1], ["d", -1]].map(([id, zIndex]) => ({ ...note, id, zIndex }));
  Socket.last.answer("room:join", { ...JOINED, elements: notes });
  room.createAll([{ type: "note", content: "e" }, { type: "note", content: "f" }]).catch(() => {});
  room.create({ type: "note", content: "g" }).catch(() => {});
  assert.equal(room.elements.map(({ id, content }) => content ?? id).join(""), "dacefgb");
  await client.close();
}
{
  // Ids of new elements follow the time, not their number, and lie above those of apps.
  const again = await import("../../Shared/Client/web/touchsync.js?again"), { now } = Date, time = now() + 60000;
  const at = (ms, makeId = newElementId) => {
    Date.now = () => ms;
    return makeId();
  };
  const ids = ["note-11", "zz", crypto.randomUUID(), at(0, again.newElementId)];
  for (let count = 0; count < 2000; count++) ids.push(at(time));
  ids.push(at(time + 1, again.newElementId), at(time - 1), at(time + 2));
  Date.now = now;
  assert(ids.slice(0, 3).every(other => other < ids[3]));
  assert.deepEqual(ids.slice(3, -2), ids.slice(3, -2).sort());
  assert(ids.at(-3) > ids.at(-2), "another page's, made while this one's clock ran backwards");
  assert(ids.at(-2) > ids.at(-4) && ids.at(-1) > ids.at(-3));
  assert(ids.slice(3).every(id => /^~[0-9a-z]{8}-[0-9a-z]{4}-/.test(id)));
}
{
  // The end of a client is that of all promises, a room's that of its own.
  const { client, room } = await entered();
  const edit = room.delete("a"), other = client.room("other"), third = client.room("third");
  other.leave();
  await assert.rejects(other.joined, { code: "left" });
  await client.close();
  await assert.rejects(edit, { code: "closed" });
  await assert.rejects(third.joined, { code: "closed" });
  await assert.rejects(room.delete("a"), { code: "closed" });
  await room.joined;
  client.connect();
  assert.equal(client.state, "offline");
}
{
  // After that a store is the next one's.
  let saves = 0;
  const counting = Object.assign(new EmptyStore(), { save: async () => void saves++ });
  const client = new TouchSync({ ...options, store: counting, owner: "ada" });
  client.room("demo").delete("a").catch(() => {});
  await client.close();
  client.room("demo").delete("b").catch(() => {});
  await turn();
  assert.equal(saves, 1);
}
{
  // A token that cannot be had now is asked for again.
  const reasons = [];
  const token = async reason => {
    if (reasons.push(reason) === 1) return "one";
    throw new Error("no network");
  };
  const client = new TouchSync({ ...options, token });
  client.connect();
  await turn();
  Socket.last.accept();
  Socket.last.say("41");
  await turn();
  assert.deepEqual(reasons, ["connect", "refused"]);
  assert.equal(client.state, "offline");
  await client.close();
}
{
  // Whatever fails, the next input counts.
  const { client, room } = await entered(), errors = [];
  client.on("error", error => errors.push(error.message));
  Socket.last.send = () => {
    throw new Error("gone");
  };
  room.select(["a"]);
  delete Socket.last.send;
  room.delete("a").catch(() => {});
  assert.deepEqual(errors, ["gone"]);
  assert.equal(Socket.last.edits.length, 1);
  await client.close();
}
{
  // A socket that the platform refuses to open is one that was closed.
  class Refused {
    constructor() {
      throw new Error("insecure");
    }
  }
  const client = new TouchSync({ ...options, WebSocket: Refused });
  const errors = [], states = [];
  client.on("error", error => errors.push(error.message));
  client.on("state", state => states.push(state));
  client.connect();
  assert.deepEqual(errors, ["insecure"]);
  assert.deepEqual(states, ["connecting", "offline"]);
  client.WebSocket = Socket;
  await until(() => client.state === "connecting");
  Socket.last.accept();
  assert.equal(client.state, "live");
  await client.close();
}
{
  // What moves by itself says so, and when it does not any more.
  const client = connected(), room = client.room("demo"), events = heard(room, "moving", "still");
  const startedAt = 1e12, segments = [{ from: 0, to: 8, ms: 50, curve: { steps: 1, jump: "end" } }];
  const note = { ...JOINED.elements[0], positionX: 8, motion: { positionX: { startedAt, segments } } };
  Socket.last.answer("room:join", { ...JOINED, time: startedAt, elements: [note] });
  assert.deepEqual([room.isMoving("a"), room.element("a").positionX, room.drawn("a").positionX], [true, 8, 0]);
  assert.deepEqual([room.pose("a").positionX, room.pose("a", client.now + 100).positionX, room.pose("b")], [0, 8, undefined]);
  await until(() => events.length === 2);
  assert.deepEqual([...events, room.isMoving("a"), room.drawn("a").positionX], ["moving", "still", false, 8]);
  assert.equal(room.drawn("a"), room.element("a"), "a frame computes nothing");
  await client.close();
}
{
  // Where the user prefers reduced motion nothing does, unless the app wants it.
  globalThis.matchMedia = () => ({ matches: true });
  for (const motion of [undefined, true]) {
    const client = connected({ motion });
    client.room("demo");
    const sent = JSON.parse(Socket.last.sent.at(-1).replace(/^42\d+/, ""));
    assert.equal(sent[1].motion, motion ? undefined : false);
    await client.close();
  }
  delete globalThis.matchMedia;
}
console.log("rooms are themselves, faults remain alone");
