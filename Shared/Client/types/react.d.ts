// Hooks for React. A component is rendered again when what it selects differs: lists and plain objects are the same when each
// value in them is the same one.

import type { ClientState, Element, Failure, Member, OwnFields, Persistence, Room, TouchSync } from "./touchsync.js";

/** How a client is connected. */
export interface Connection {
  state: ClientState;
  lastFailure: Failure | null;
  persistence: Persistence;
}

/** A room that is joined while a component uses it; all components share it. `Own` are the fields that the app adds. */
export function useRoom<Own = OwnFields>(client: TouchSync, roomId: string): Room<Own>;
/** What a component shows of a room. */
export function useRoom<Selected, Own = OwnFields>(
  client: TouchSync, roomId: string, select: (room: Room<Own>) => Selected): Selected;

/** An element of a room; undefined when there is none. */
export function useElement<Own>(room: Room<Own>, id: string): Element<Own> | undefined;
/** What a component shows of an element. */
export function useElement<Own, Selected>(
  room: Room<Own>, id: string, select: (element: Element<Own> | undefined) => Selected): Selected;

/** Who else is in a room. */
export function useOthers<Own>(room: Room<Own>): readonly Member[];
/** What a component shows of them. */
export function useOthers<Own, Selected>(room: Room<Own>, select: (others: readonly Member[]) => Selected): Selected;

/** How a client is connected. */
export function useConnection(client: TouchSync): Connection;
/** What a component shows of that. */
export function useConnection<Selected>(client: TouchSync, select: (connection: Connection) => Selected): Selected;
