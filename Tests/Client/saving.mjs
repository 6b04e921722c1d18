// What is saved, and when: edits that were kept without a number are sent when the store has them with their numbers, or
// hangs, or fails; the browser's database may end its connections. saving.mjs

import assert from "node:assert";
import { setTimeout as sleep } from "node:timers/promises";
import { IndexedDBStore, Store } from "../../Shared/Client/web/store.js";
import { TouchSync } from "../../Shared/Client/web/touchsync.js";
import { JOINED, Socket, turn, until } from "./scripted.mjs";

// A store whose saves wait while it is held.
class SlowStore extends Store {
  saved = undefined;
  waiting = [];
  isHeld = false;
  failures = 0;
  saves = 0;

  async load() {
    return this.saved;
  }

  async save(key, value) {
    this.saves++;
    if (this.isHeld) await new Promise(resolve => this.waiting.push(resolve));
    if (this.failures-- > 0) throw new Error("full");
    this.saved = value;
  }

  async clear() {
    this.saved = undefined;
  }

  release() {
    this.isHeld = false;
    for (const resolve of this.waiting.splice(0)) resolve();
  }
}

const options = { url: "http://localhost", owner: "ada", WebSocket: Socket, fetch: async () => {} };

// A client that edited before it was connected, and whose join was just answered while the store is held.
async function joined() {
  const store = new SlowStore();
  const client = new TouchSync({ ...options, store });
  client.room("demo").delete("a").catch(() => {});
  client.connect();
  await turn();
  assert.equal(store.saved.demo.edits.length, 1);
  store.isHeld = true;
  Socket.last.accept();
  Socket.last.say(`430${JSON.stringify([JOINED])}`);
  await turn();
  assert.deepEqual(Socket.last.edits, []);
  return { client, store };
}

{
  const { client, store } = await joined();
  store.release();
  await until(() => Socket.last.edits.length > 0);
  assert.equal(store.saved.demo.edits[0].n, 1);
  assert.equal(Socket.last.edits.length, 1);
  await client.close();
}
{
  const { client, store } = await joined();
  // Before the connection counts as dead, since what is held has no answer.
  const socket = Socket.last;
  await until(() => socket.edits.length > 0);
  assert.equal(Socket.last, socket);
  assert.equal(Socket.last.edits.length, 1);
  assert.equal(store.saved.demo.edits[0].n, undefined);
  store.release();
  await client.close();
}
{
  // While the store writes, only the latest counts.
  const { client, store } = await joined();
  const before = store.saves;
  for (const id of ["b", "c", "d", "e"]) client.room("demo").delete(id).catch(() => {});
  await turn();
  assert.equal(store.saves, before);
  store.release();
  await until(() => store.saves > before && store.saved.demo.edits.length === 5);
  assert.equal(store.saves, before + 1);
  assert.deepEqual(store.saved.demo.edits.map(edit => edit.n), [1, 2, 3, 4, 5]);
  await client.close();
}
{
  // A save that failed counts as one that hangs, also for what was to be saved with it.
  const { client, store } = await joined();
  const socket = Socket.last;
  const told = [];
  client.on("persistence", persistence => told.push(persistence));
  store.failures = 1;
  store.release();
  await sleep(300);
  assert.deepEqual(socket.edits, []);
  client.room("demo").delete("b").catch(() => {});
  await until(() => socket.edits.length === 2);
  assert.deepEqual(told, ["unavailable", "ready"]);
  assert.deepEqual(store.saved.demo.edits.map(edit => edit.n), [1, 2]);
  await client.close();
}
{
  // What cannot be read is not overwritten.
  const store = new SlowStore();
  store.load = async () => {
    throw new Error("broken");
  };
  const client = new TouchSync({ ...options, store });
  const errors = [];
  client.on("error", error => errors.push(error.message));
  client.room("demo").delete("a").catch(() => {});
  await client.close();
  assert.deepEqual(errors, ["broken"]);
  assert.equal(store.saves, 0);
}
{
  // Nor what cannot be read in time, for which nothing waits. What comes later does not count.
  const store = new SlowStore(), errors = [];
  let answer;
  store.load = () => new Promise(resolve => (answer = resolve));
  const client = new TouchSync({ ...options, store });
  client.on("error", error => errors.push(error.message));
  client.room("demo").delete("a").catch(() => {});
  client.connect();
  const began = performance.now();
  await until(() => client.state === "connecting");
  assert(performance.now() - began > 4900);
  assert.deepEqual(errors, ["The store does not answer."]);
  answer({ other: { edits: [] } });
  await turn();
  client.room("other").delete("b").catch(() => {});
  await client.close();
  assert.equal(store.saves, 0);
}
{
  // Pages without locks keep nothing: they would not know of each other.
  globalThis.document = {};
  const store = new SlowStore();
  const client = new TouchSync({ ...options, store });
  const told = [];
  client.on("persistence", persistence => told.push(persistence));
  client.room("demo").delete("a").catch(() => {});
  await client.close();
  assert.equal(store.saves, 0);
  assert.deepEqual(told, ["unavailable"]);
  delete globalThis.document;
}

{
  // With locks, also in browsers without `AbortSignal.timeout`, of pages that use a store with a single key the first one
  // keeps its edits, and the other one says that it does not.
  const { timeout } = AbortSignal, holders = [];
  AbortSignal.timeout = undefined;
  const request = (key, { signal }, held) => new Promise((resolve, reject) => {
    if (holders.push(key) === 1) return resolve(held({ name: key }));
    signal.onabort = () => reject(signal.reason);
  });
  const before = Object.getOwnPropertyDescriptor(globalThis, "navigator");
  Object.defineProperty(globalThis, "navigator", { value: { locks: { request } }, configurable: true });
  const store = new SlowStore(), clients = [0, 1].map(() => new TouchSync({ ...options, store }));
  for (const client of clients) client.room("demo").delete("a").catch(() => {});
  await until(() => store.saved && clients[1].persistence !== "none");
  assert.deepEqual(clients.map(client => client.persistence), ["ready", "unavailable"]);
  for (const client of clients) await client.close();
  assert.equal(holders.length, 2);
  assert.equal(store.saves, 1);
  AbortSignal.timeout = timeout;
  if (before) Object.defineProperty(globalThis, "navigator", before);
  else delete globalThis.navigator;
}

// The browser's database: values that last, connections that end.
class Database {
  static values = new Map();
  static connections = 0;
  static failures = 0;
  isClosed = false;

  static open() {
    const request = { result: new Database() };
    setTimeout(() => (Database.failures-- > 0 ? request.onerror() : request.onsuccess()));
    Database.last = request.result;
    Database.connections++;
    return request;
  }

  transaction() {
    if (this.isClosed) throw new DOMException("The database connection is closing.", "InvalidStateError");
    const transaction = { objectStore: () => this };
    setTimeout(() => transaction.oncomplete());
    return transaction;
  }

  get = key => ({ result: Database.values.get(key) });
  put = (value, key) => ({ result: Database.values.set(key, value) });
  delete = key => ({ result: Database.values.delete(key) });

  close() {
    this.isClosed = true;
  }
}

{
  globalThis.indexedDB = Database;
  const store = new IndexedDBStore();
  Database.failures = 1;
  assert.equal(await store.load("a"), undefined);
  assert.equal(Database.connections, 2);
  await store.save("a", 1);
  assert.equal(Database.connections, 2);
  Database.last.isClosed = true;
  await store.save("a", 2);
  assert.equal(await store.load("a"), 2);
  assert.equal(Database.connections, 3);
  // Another version of the database, or its deletion, does not wait for this page.
  Database.last.onversionchange();
  assert.equal(Database.last.isClosed, true);
  await store.clear("a");
  assert.equal(Database.values.size, 0);
  // Twice in a row.
  Database.last.isClosed = true;
  Database.failures = 1;
  await assert.rejects(store.load("a"));
  assert.equal(await store.load("a"), undefined);
}
console.log("held until they were saved, and 3 s at most; saved over connections that end");
