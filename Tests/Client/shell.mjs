// What the client is around its core, with a server in the test's hands. shell.mjs

import assert from "node:assert";
import { TouchSync } from "../../Shared/Client/web/touchsync.js";
import { JOINED, Socket, turn } from "./scripted.mjs";

const options = { url: "http://localhost", WebSocket: Socket, fetch: async () => {} };
const store = { load: async () => undefined, save: async () => {}, clear: async () => {} };

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
console.log("rooms are themselves");
