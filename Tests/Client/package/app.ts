// What an app's own TypeScript may do with the package, and what it may not: lines behind @ts-expect-error must not compile.

import { Refusal, TouchSync, newElementId, type Element, type Room } from "touchsync";
import { contains, corners, cssTransform } from "touchsync/projection";
import { useConnection, useElement, useOthers, useRoom } from "touchsync/react";
import { IndexedDBStore, Store } from "touchsync/store";

interface Note {
  content: string;
  tint?: string;
}

class MemoryStore extends Store {
  #values = new Map<string, unknown>();

  async load(key: string) {
    return this.#values.get(key);
  }

  async save(key: string, value: unknown) {
    this.#values.set(key, value);
  }

  async clear(key: string) {
    this.#values.delete(key);
  }
}

const client = new TouchSync({ userId: "ada", store: new IndexedDBStore(), owner: "ada" });
new TouchSync({ url: "https://example.org", token: async reason => (reason === "expires" ? null : "t") });
new TouchSync({ store: new MemoryStore(), owner: "ada" });
client.on("state", state => state === "live");
client.on("failure", ({ code, message }) => (code === "tls" ? message : ""));
client.on("persistence", persistence => persistence === "unavailable");
// @ts-expect-error no state is called so
client.on("state", state => state === "connected");
// @ts-expect-error no such event
client.on("stat", () => {});
// @ts-expect-error no such option
new TouchSync({ user: "ada" });
// @ts-expect-error a store is more than this
new TouchSync({ store: { load() {} }, owner: "ada" });
// @ts-expect-error internals are hidden
client.core;
const code: string | undefined = client.lastFailure?.code;
// @ts-expect-error it may be null
client.lastFailure.code;

const room = client.room<Note>("demo");
room.on("change", ids => ids.map(id => room.element(id)?.content.length));
room.on("members", members => members.flatMap(member => member.connections.map(({ cursor }) => cursor?.x)));
room.on("refusal", ({ code, by, entry }) => [code === "forbidden", by, entry?.elementIds]);
room.on("signal", ({ name, userId, data }) => [name, userId, data]);
const end: () => void = room.on("joined", ({ recovered }) => recovered);
// @ts-expect-error no such event
room.on("chnage", () => {});
// @ts-expect-error ids are texts
room.on("change", (ids: number[]) => ids);
const leave: () => void = room.follow("bob", view => view?.width);
void room.resize("a", { width: 40 }, { undoable: room.canUndo && !room.canRedo });
const names: string[] = room.members.map(member => member.name);
const right: "view" | "preview" | "commit" | undefined = room.self?.right;
// @ts-expect-error the list is everybody's
room.elements.push();
// @ts-expect-error elements are changed by edits
room.elements[0].positionX = 5;
// @ts-expect-error no such field
room.elements[0].positonX;
// @ts-expect-error internals are hidden
room.core;

async function edits(other: Room) {
  const { element, seq } = await room.create({ id: newElementId(), type: "note", content: "Hello", positionX: 5 });
  const stored: Element<Note> | undefined = element;
  await room.transform("a", { positionX: seq, rotation: 90, opacity: 0.5 }, { motion: { spring: {} }, undoGroup: "drag" });
  await room.update("a", { content: "Bye", tint: null, zIndex: null });
  const skipped = (await room.undo()).undone?.skipped;
  const gesture = room.begin(["a", "b"], { pivot: { x: 0, y: 0 } });
  gesture.update({ translation: { x: 1, y: 2 }, scale: 2 });
  await gesture.end({ throwing: { velocity: { x: 900, y: 0 } } });
  const { entries, next } = await room.history({ after: 5 });
  const unknown: unknown = other.element("a")?.content;
  // @ts-expect-error content is a text
  room.create({ type: "note", content: 5 });
  // @ts-expect-error a type is due
  room.create({ content: "Hello" });
  // @ts-expect-error no such field moves
  room.transform("a", { positonX: 5 });
  // @ts-expect-error no such curve
  room.transform("a", { positionX: 5 }, { motion: { curve: "bouncy" } });
  // @ts-expect-error a note has no such field
  room.update("a", { contnet: "" });
  // @ts-expect-error no such preset
  room.preset("a", "flipZ");
  // @ts-expect-error a translation has two coordinates
  gesture.update({ translation: 5 });
  // @ts-expect-error a gesture begins in a room
  new (gesture.constructor as typeof import("touchsync").Gesture)();
  return [stored, skipped, entries[0]?.changes[0]?.after?.content, next, unknown];
}

function seen(element: Element<Note>) {
  // @ts-expect-error a point has two coordinates
  contains(element, { x: 1 });
  return [cssTransform(element), corners(element), contains(element, { x: 1, y: 2 })];
}

export function Wall() {
  const shared = useRoom<Note>(client, "demo"), count: number = useRoom(client, "demo", room => room.elements.length);
  const content: string | undefined = useElement(shared, "a", element => element?.content);
  const others: string[] = useOthers(shared, others => others.map(({ name }) => name));
  const isLive: boolean = useConnection(client, ({ state }) => state === "live");
  // @ts-expect-error it may be gone
  useElement(shared, "a").content;
  // @ts-expect-error a connection has no name
  useConnection(client, connection => connection.name);
  return [shared, count, content, others, isLive];
}

export const used = [code, end, names, right, edits, seen, Refusal];
