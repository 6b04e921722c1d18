// What components show of a room at a gateway, and how often they are rendered: react.mjs ADDRESS, in a project that installed
// the package.

import assert from "node:assert";
import { setTimeout as sleep } from "node:timers/promises";
import { createElement, StrictMode } from "react";
import { act, create } from "react-test-renderer";
import { TouchSync } from "touchsync";
import { useConnection, useElement, useOthers, useRoom } from "touchsync/react";
import WebSocket from "ws";

const { webcrypto } = await import("node:crypto");
globalThis.crypto ??= webcrypto;
globalThis.IS_REACT_ACT_ENVIRONMENT = true;

const [url] = process.argv.slice(2), roomId = "react";
const client = userId => new TouchSync({ url, userId, WebSocket });

async function until(what, condition) {
  await act(async () => {
    for (const end = performance.now() + 20000; !condition(); await sleep(5)) assert(performance.now() < end, what);
  });
  // What else comes of it.
  await act(() => sleep(100));
}

const renders = {};
const rendered = (name, value) => {
  renders[name] = (renders[name] ?? 0) + 1;
  return `${value || "none"}`;
};

const ada = client("ada"), bob = client("bob");
const Ids = () => rendered("ids", useRoom(ada, roomId, room => room.elements.map(({ id }) => id)).join());
const Place = () => rendered("place", useElement(useRoom(ada, roomId), "a", element => element?.positionX));
const Others = () => rendered("others", useOthers(useRoom(ada, roomId), others => others.map(({ name }) => name)).join());
const State = () => rendered("state", useConnection(ada, ({ state }) => state));
const Whole = () => {
  const room = useRoom(ada, roomId);
  return rendered("whole", [useElement(room, "a"), useOthers(room), useConnection(ada)].length);
};
const page = (...parts) => parts.map(part => createElement(part, { key: part.name }));

// React's complaints of how components are rendered.
console.error = (...words) => assert.fail(words.join(" "));
let root;
await act(() => (root = create(page(Ids, Place, Others, State, Whole))));
const shown = () => root.toJSON();
assert.deepEqual(shown(), ["none", "none", "none", "offline", "3"]);
ada.connect();
bob.connect();
const room = bob.room(roomId);
room.on("refusal", refusal => assert.fail(refusal));
await until("both are there", () => ada.state === "live" && bob.state === "live" && ada.rooms.get(roomId).members.length === 2);
assert.deepEqual(shown(), ["none", "none", "bob", "live", "3"]);

// What differs for a component renders it once, and no other one.
const rendersOf = async (what, change, condition) => {
  const before = { ...renders };
  change();
  await until(what, condition);
  const names = Object.keys(renders).filter(name => renders[name] > before[name]);
  return names.map(name => `${name} ${renders[name] - before[name]}`);
};
const own = ada.rooms.get(roomId);
assert.deepEqual(await rendersOf("an element came", () => room.create({ id: "a", type: "note", positionX: 1 }),
  () => own.element("a")), ["ids 1", "place 1", "whole 1"]);
assert.deepEqual(await rendersOf("it moved", () => room.transform("a", { positionX: 7 }),
  () => own.element("a").positionX === 7), ["place 1", "whole 1"]);
assert.deepEqual(await rendersOf("it turned", () => room.transform("a", { rotation: 7 }),
  () => own.element("a").rotation === 7), ["whole 1"]);
assert.deepEqual(await rendersOf("bob points", () => room.point({ x: 5, y: 5 }),
  () => own.members.some(({ connections }) => connections[0]?.cursor?.x === 5)), ["whole 1"]);
assert.deepEqual(shown(), ["a", "7", "bob", "live", "3"]);

// One of them goes, the others share the room; then all go, and are there again at once.
await act(() => root.update(page(Ids, Place)));
await act(() => sleep(1500));
assert.deepEqual(shown(), ["a", "7"]);
assert.equal(ada.rooms.get(roomId), own);
await act(() => root.update(null));
await act(() => root.update(createElement(StrictMode, null, page(Ids, Place))));
await act(() => sleep(1500));
assert.deepEqual(shown(), ["a", "7"]);
assert.equal(ada.rooms.get(roomId), own);

// What is selected may be new at each call, and a room may be opened while others show the connection.
const Fresh = () => rendered("fresh", useRoom(ada, roomId, ({ elements }) =>
  ({ notes: elements.map(({ id }) => ({ id })), seen: new Set() })).notes.length);
const Other = () => rendered("other", useRoom(ada, "other").id);
await act(() => root.update(page(Fresh, State)));
assert.deepEqual(shown(), ["1", "live"]);
room.create({ id: "b", type: "note" });
await until("another element came", () => own.element("b"));
assert.deepEqual(shown(), ["2", "live"]);
await act(() => root.update(page(Fresh, State, Other)));
await until("the other room is joined", () => ada.state === "live");
assert.deepEqual(shown(), ["2", "live", "other"]);

// Without any the room is left.
await act(() => root.unmount());
await until("ada left", () => room.members.length === 1 && ada.rooms.size === 0);
await Promise.all([ada.close(), bob.close()]);
console.log("rendered once for each change; left");
