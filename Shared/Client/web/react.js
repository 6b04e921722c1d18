// The client for web pages in React: hooks that show what a component selected, and render it again when that differs.
// Shared/Client/README.md describes them.

import { useCallback, useEffect, useReducer, useRef, useSyncExternalStore } from "react";

/**
 * @typedef {import("./touchsync.js").TouchSync} TouchSync
 * @typedef {import("./touchsync.js").Room} Room
 */

/** A room that no component uses is left after this long, ms: the next one may use it, or React makes this one again. */
const LINGER = 1000;

/**
 * The rooms that components of a client use, and how many do.
 * @type {WeakMap<TouchSync, Map<string, {room: Room, users: number}>>}
 */
const shared = new WeakMap();

/** @param {TouchSync} client @param {string} roomId */
function sharedRoom(client, roomId) {
  const rooms = shared.get(client) ?? new Map(), known = rooms.get(roomId);
  if (known) return known;
  const entry = { room: client.room(roomId), users: 0 };
  shared.set(client, rooms.set(roomId, entry));
  // React may throw away what it rendered.
  leaveUnused(client, roomId);
  return entry;
}

/** @param {TouchSync} client @param {string} roomId */
function leaveUnused(client, roomId) {
  const rooms = shared.get(client), entry = rooms?.get(roomId);
  setTimeout(() => {
    if (entry?.users !== 0 || rooms?.get(roomId) !== entry) return;
    rooms.delete(roomId);
    entry.room.leave();
  }, LINGER);
}

/** The events after which a component may show something else of a room, and of a client. */
const ROOM = ["change", "members", "awareness", "joined", "denied", "left"], CLIENT = ["state", "failure", "persistence"];

/**
 * How many of these events a room or a client had.
 * @type {WeakMap<TouchSync | Room, {count: number}>}
 */
const counted = new WeakMap();

/** @param {TouchSync | Room} emitter */
function changesOf(emitter) {
  const known = counted.get(emitter);
  if (known) return known;
  const changes = { count: 0 };
  counted.set(emitter, changes);
  listen(emitter, [...ROOM, ...CLIENT], () => changes.count++);
  return changes;
}

/**
 * Whether two values show the same: lists and plain objects do when each value in them is the same one.
 * @param {any} one @param {any} other
 */
function isAlike(one, other) {
  if (Object.is(one, other)) return true;
  if (!isPlain(one) || !isPlain(other) || Array.isArray(one) !== Array.isArray(other)) return false;
  const names = Object.keys(one);
  return names.length === Object.keys(other).length &&
    names.every(name => Object.hasOwn(other, name) && Object.is(one[name], other[name]));
}

const isPlain = (/** @type {any} */ value) =>
  Array.isArray(value) || (typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype);

/**
 * What a component selects of a room or a client: the same value as long as it shows the same.
 * @param {TouchSync | Room} emitter @param {(changed: () => void) => () => void} subscribe @param {() => any} select
 */
function useSelected(emitter, subscribe, select) {
  const last = useRef(), changes = changesOf(emitter);
  let count = -1;
  // Once after each change: React takes another value for another state, and a function may make a new one each time.
  const selected = () => {
    if (count !== changes.count) {
      count = changes.count;
      const value = select();
      if (!isAlike(value, last.current)) last.current = value;
    }
    return last.current;
  };
  return useSyncExternalStore(subscribe, selected, selected);
}

/**
 * Subscribes to events of a client or a room.
 * @param {TouchSync | Room} emitter @param {string[]} events @param {() => void} changed
 */
function listen(emitter, events, changed) {
  const ends = events.map(event => emitter.on(event, changed));
  return () => ends.forEach(end => end());
}

const same = (/** @type {any} */ value) => value;

/**
 * A room that is joined while a component uses it; all components share it.
 * @param {TouchSync} client @param {string} roomId @param {(room: Room) => any} [select] the room itself by default
 */
export function useRoom(client, roomId, select = same) {
  const { room } = sharedRoom(client, roomId), [, renderAgain] = useReducer(count => count + 1, 0);
  useEffect(() => {
    const entry = sharedRoom(client, roomId);
    entry.users++;
    // It took so long from there to here that the room was left.
    if (entry.room !== room) renderAgain();
    return () => {
      entry.users--;
      leaveUnused(client, roomId);
    };
  }, [client, roomId]);
  const subscribe = useCallback((/** @type {() => void} */ changed) =>
    listen(room, ROOM, changed), [room]);
  return useSelected(room, subscribe, () => select(room));
}

/**
 * An element of a room; undefined when there is none.
 * @param {Room} room @param {string} id @param {(element: any) => any} [select] the element itself by default
 */
export function useElement(room, id, select = same) {
  const subscribe = useCallback((/** @type {() => void} */ changed) =>
    room.on("change", ids => ids.includes(id) && changed()), [room, id]);
  return useSelected(room, subscribe, () => select(room.element(id)));
}

/**
 * Who else is in a room.
 * @param {Room} room @param {(others: readonly any[]) => any} [select] all of them by default
 */
export function useOthers(room, select = same) {
  const subscribe = useCallback((/** @type {() => void} */ changed) =>
    listen(room, ["members", "awareness", "joined", "left"], changed), [room]);
  return useSelected(room, subscribe, () => select(room.members.filter(member => member.userId !== room.self?.userId)));
}

/**
 * A client's connection.
 * @param {TouchSync} client @param {(connection: any) => any} [select] `{state, lastFailure, persistence}` by default
 */
export function useConnection(client, select = same) {
  // A component that opens a room while it is rendered changes the state, and React renders no other one meanwhile.
  const subscribe = useCallback((/** @type {() => void} */ changed) =>
    listen(client, CLIENT, () => queueMicrotask(changed)), [client]);
  return useSelected(client, subscribe, () => {
    const { state, lastFailure, persistence } = client;
    return select({ state, lastFailure, persistence });
  });
}
