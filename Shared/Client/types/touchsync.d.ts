// What apps use of the client for web pages. Shared/Client/README.md describes how it behaves, Services/Gateway/API.md what
// the fields mean.

/** A place on the canvas, or a way across it, in pixels. */
export interface Point {
  x: number;
  y: number;
}

/** A rectangle of the canvas, in pixels. */
export interface Box extends Point {
  width: number;
  height: number;
}

/** Fields of an app's own, which elements keep as they are. */
export type OwnFields = Record<string, unknown>;

/** Where an element is, and how it looks. What is optional is left out where it has no effect. */
export interface Geometry {
  /** Where its anchor lies: pixels; of an annotation fractions of its parent. */
  positionX: number;
  positionY: number;
  /** Pixels towards the viewer. */
  positionZ?: number;
  /** Clockwise degrees in [0, 360). */
  rotation: number;
  rotationX?: number;
  rotationY?: number;
  /** Factors; a negative one mirrors. */
  scaleX: number;
  scaleY: number;
  /** Pixels from the viewer to the canvas. */
  perspective?: number;
  /** 0 to 1; 1 when it is absent. */
  opacity?: number;
}

/** A field that a transform sets, and that moves. */
export type Field = keyof Geometry;

/** What limits where an element goes. */
export interface Constraints {
  axis?: "x" | "y";
  rotation?: { min: number; max: number };
  scale?: { min: number; max: number };
  grid?: { x?: number; y?: number; offsetX?: number; offsetY?: number };
}

/** What an element has apart from its geometry. */
export interface ElementOptions {
  locked?: boolean;
  /** The order of drawing; 0 when it is absent. */
  zIndex?: number;
  /** Points. */
  fontSize?: number;
  /** Rotations are multiples of it. */
  snapDegrees?: number;
  bounds?: Box;
  constraints?: Constraints;
}

/** How a value goes from one to another, as in CSS. */
export type Easing =
  | "linear" | "ease" | "ease-in" | "ease-out" | "ease-in-out"
  | { bezier: [number, number, number, number] }
  | { steps: number; jump?: "start" | "end" | "none" | "both" };

/** How the eye gets to where an edit puts an element. */
export interface Motion {
  /** 1 to 60,000. */
  ms?: number;
  curve?: Easing;
  spring?: { response?: number; damping?: number; velocity?: Partial<Record<Field, number>> };
  turn?: "short" | "cw" | "ccw";
  from?: Partial<Geometry>;
}

/** Keyframes of an element, as in Web Animations without a fill. */
export interface Animation {
  ms: number;
  iterations?: number | "infinite";
  direction?: "normal" | "reverse" | "alternate" | "alternate-reverse";
  delayMs?: number;
  composite?: "replace" | "add";
  tracks: Partial<Record<Field, { at: number; value: number; curve?: Easing | { points: [number, number][] } }[]>>;
}

/** A value's way to where it is stored. */
export interface Track {
  /** ms since 1970 of the server's clock. */
  startedAt: number;
  segments: { from: number; to: number; ms: number; curve: unknown }[];
}

/** What every element has, whatever the app adds. */
export interface BaseElement extends Geometry, ElementOptions {
  readonly id: string;
  readonly type: string;
  /** Pixels at scale 1. */
  originalWidth: number;
  originalHeight: number;
  /** Pixels as drawn. */
  readonly width: number;
  readonly height: number;
  /** Fractions of its size, of the point that lies at its position. */
  anchorX: number;
  anchorY: number;
  /** The element that an annotation lies on. */
  readonly parentId?: string;
  readonly space?: "canvas" | "normalized";
  readonly animation?: Animation & { startedAt: number };
  readonly motion?: Partial<Record<Field, Track>>;
  /** Users. */
  readonly createdBy: string;
  readonly updatedBy: string;
  /** The number of its changes. */
  readonly rev: number;
}

/** An element as the client shows it: not to be changed. */
export type Element<Own = OwnFields> = Readonly<BaseElement> & Readonly<Own>;

/** A new element. The client makes an id if it has none. */
export type NewElement<Own = OwnFields> = {
  id?: string;
  type: string;
  parentId?: string;
  space?: "canvas" | "normalized";
  width?: number;
  height?: number;
  animation?: Animation;
} & Partial<Pick<BaseElement, "originalWidth" | "originalHeight" | "anchorX" | "anchorY">> & Partial<Geometry> &
  ElementOptions & Partial<Own>;

/** What an update sets; null removes an option, or a field of the app's own. */
export type ElementChanges<Own = OwnFields> =
  { locked?: boolean; originalWidth?: number; originalHeight?: number } &
  { [Name in Exclude<keyof ElementOptions, "locked">]?: ElementOptions[Name] | null } &
  { [Name in keyof Own]?: Own[Name] | null };

/** Values of a transform: what is absent stays as it is. */
export type Fields = Partial<Geometry>;

/** What fingers did since they touched. */
export interface Deltas {
  /** Pixels. */
  translation?: Point;
  /** A factor, or one for each axis. */
  scale?: number | Point;
  /** Clockwise degrees. */
  rotation?: number;
  /** Degrees about the x and the y axis. */
  tilt?: Point;
  /** A point of the unit square. */
  anchor?: Point;
}

/** Whether and with what an edit is undone. */
export interface UndoOptions {
  undoable?: boolean;
  /** Edits in a row with the same one are undone together. */
  undoGroup?: string;
}

/** How an edit is made that moves elements. */
export interface MoveOptions extends UndoOptions {
  motion?: Motion;
}

/** A value that the server corrected by its rules. */
export interface Adjustment {
  elementId?: string;
  field: string;
  sent: unknown;
  stored: unknown;
  why: "range" | "aspect" | "rotation" | "depth" | "size" | "snap" | "constraint" | "bounds" | "integer" | "computed";
}

/** What the server made of an edit. */
export interface Result<Own = OwnFields> {
  ok: true;
  /** The edit's number in the room. */
  seq: number;
  /** Not of deletions, undo and redo. */
  adjusted?: Adjustment[];
  /** The element as it is stored; of a group `elements`. */
  element?: Element<Own>;
  elements?: Element<Own>[];
  /** Of a deletion: with the annotations. */
  elementIds?: string[];
}

/** A change that an undo or a redo is about. */
export interface UndoEntry {
  seq: number;
  event: string;
  elementIds: string[];
}

/** What an undo or a redo did; without `undone` there was nothing left. */
export interface UndoResult<Own = OwnFields> extends Result<Own> {
  undone?: UndoEntry & { skipped: number };
}

/** Codes of the protocol, and of the client itself. */
export type RefusalCode =
  | "invalid" | "forbidden" | "not_found" | "gone" | "conflict" | "too_large" | "unknown_event" | "rate_limited" | "busy"
  | "unavailable" | "session_expired" | "queue_full" | "forgotten" | "left" | "closed";

/** Why an edit or a join was refused for good. */
export class Refusal extends Error {
  private constructor();
  readonly code: RefusalCode;
  /** The field at fault. */
  readonly field?: string;
  /** The user whose work an undo or a redo would delete. */
  readonly by?: string;
  /** What an undo or a redo cannot take back now: asked again, it leaves this out. */
  readonly entry?: UndoEntry;
}

/** Why an attempt to connect failed. */
export interface Failure {
  readonly code: "unreachable" | "tls" | "refused" | "not_touchsync" | "origin" | "token" | "version";
  /** The same in a sentence. */
  readonly message: string;
}

export type ClientState = "offline" | "connecting" | "joining" | "live" | "draining" | "expired";

/** Whether edits survive the page: `none` without a store, and until it is open. */
export type Persistence = "none" | "ready" | "unavailable";

/** What a user is allowed to do in a room, each with the ones before it. */
export type Right = "view" | "preview" | "commit";

/** Somebody, as the server tells. */
export interface Person {
  readonly userId: string;
  readonly name: string;
  /** As in CSS. */
  readonly color: string;
}

/** This user in a room. */
export interface Self extends Person {
  readonly right: Right;
}

/** What one connection of a user shows to others. */
export interface Shown {
  readonly cursor?: Point | null;
  /** Ids of elements. */
  readonly selection?: readonly string[];
  readonly viewport?: Box | null;
  /** What the app shows of its user. */
  readonly state?: Readonly<Record<string, unknown>> | null;
}

/** Somebody who is in a room. */
export interface Member extends Person {
  /** Those that were there at the join, or have shown something since. */
  readonly connections: readonly (Shown & { readonly sid: string })[];
}

/** What somebody shows now. */
export interface Awareness extends Shown {
  readonly userId: string;
  readonly sid: string;
}

/** What somebody told everybody in the room. */
export interface Signal {
  readonly userId: string;
  readonly sid: string;
  readonly name: string;
  readonly data: unknown;
}

/** A change in a room's history. */
export interface HistoryEntry<Own = OwnFields> {
  seq: number;
  /** UTC, as in ISO 8601. */
  at: string;
  event: string;
  userId: string;
  sid: string;
  n?: number;
  cause?: "undo" | "redo";
  changes: { elementId: string; before: Element<Own> | null; after: Element<Own> | null }[];
}

/** A page of a room's history. */
export interface HistoryPage<Own = OwnFields> {
  entries: HistoryEntry<Own>[];
  /** Behind which number the next page begins; null at the end. */
  next: number | null;
  /** The number of the first entry that is kept. */
  oldest: number | null;
}

/** What `touchsync/store` makes: where edits survive the page. */
export interface EditStore {
  open(client: TouchSync, key: string): Promise<unknown>;
}

export interface TouchSyncOptions {
  /** Of the server; that of the page by default. */
  url?: string;
  /** Without tokens: who this is, and what others see. */
  userId?: string;
  name?: string;
  color?: string;
  /**
   * Asked for a token before each connection, before the present one ends, and when it was refused; null when there is none,
   * rejected when nobody knows for now.
   */
  token?: (reason: "connect" | "expires" | "refused") => string | null | Promise<string | null>;
  /** Keeps edits without a result over restarts; needs `owner`. */
  store?: EditStore;
  /** Whose edits these are: another user of the same browser has others. */
  owner?: string;
  /** The most edits that wait in one room: 1,000 by default. */
  queueLimit?: number;
  /** Whether elements move by themselves; by default unless the user wants less of that. */
  motion?: boolean;
  /** Where the platform has none. */
  WebSocket?: unknown;
  fetch?: typeof fetch;
}

export interface ClientEvents {
  state: ClientState;
  failure: Failure;
  persistence: Persistence;
  /** Of an edit in a room that is not open. */
  refusal: Refusal;
  /** What the server refused without being asked; failures of the store, of the app's tokens, of sockets. */
  error: Error;
}

/** A connection to a TouchSync server. */
export class TouchSync {
  constructor(options?: TouchSyncOptions);
  readonly state: ClientState;
  /** Why the last attempt to connect failed; null once one succeeded. */
  readonly lastFailure: Failure | null;
  readonly persistence: Persistence;
  /** Who this user is; undefined before a room was joined. */
  readonly self: Person | undefined;
  /** The client's clock, ms: that of `requestAnimationFrame`. */
  readonly now: number;
  /** Calls a handler whenever something happens; what it returns ends that. */
  on<Event extends keyof ClientEvents>(event: Event, handler: (value: ClientEvents[Event]) => void): () => void;
  /** Connects, and stays connected until `disconnect`: whatever is lost comes back by itself. */
  connect(): void;
  /** Disconnects. Rooms and edits stay; edits are sent after the next `connect`. */
  disconnect(): void;
  /** Ends for good: when everything is saved. */
  close(): Promise<void>;
  /** A room, which is joined as soon as there is a connection. `Own` are the fields that the app adds to elements. */
  room<Own = OwnFields>(roomId: string): Room<Own>;
}

export interface RoomEvents {
  /** Ids of elements that differ, came or went; none if only what can be undone or redone differs. */
  change: string[];
  /** An element that moves by itself, or that somebody else moves: draw it at each frame while `isMoving`. */
  moving: string;
  /** An element that does not move by itself any more. */
  still: string;
  members: readonly Member[];
  awareness: Awareness;
  signal: Signal;
  joined: { readonly recovered: boolean };
  denied: Refusal;
  /** Of an edit that nobody awaits. */
  refusal: Refusal;
  left: unknown;
}

/**
 * A room. Its edits are shown immediately, and sent in their order as soon as they can be; each has a promise of its result,
 * which is rejected with a `Refusal`. Nobody has to wait for it.
 */
export class Room<Own = OwnFields> {
  private constructor();
  readonly client: TouchSync;
  readonly id: string;
  /** The first join: rejected with a `Refusal` when this user may not join, or the room is left before. */
  readonly joined: Promise<void>;
  /** The number of the last change that was applied here. */
  readonly seq: number;
  /** How many edits have no result yet. */
  readonly pending: number;
  /** All elements, the lowest first: the same list until something changes. */
  readonly elements: readonly Element<Own>[];
  /** Who is here: the same list until something changes. */
  readonly members: readonly Member[];
  /** Who this user is here; undefined before the first join. */
  readonly self: Self | undefined;
  /** Whether `undo` has something to take back: true until the server has found nothing, as earlier sessions count. */
  readonly canUndo: boolean;
  /** Whether `redo` has something to do again, as far as it was undone since this room was opened. */
  readonly canRedo: boolean;
  /** Calls a handler whenever something happens; what it returns ends that. */
  on<Event extends keyof RoomEvents>(event: Event, handler: (value: RoomEvents[Event]) => void): () => void;
  element(id: string): Element<Own> | undefined;
  /** An element as it is to be drawn at a time of `requestAnimationFrame`: the same object at each call while it moves. */
  drawn(id: string, now?: number): Element<Own> | undefined;
  /** Whether it moves by itself, or somebody else's movement of it is still under way. */
  isMoving(id: string, now?: number): boolean;
  /** Where its motion and animation have it at a time, also to come, without what others do to it. */
  pose(id: string, now?: number): Required<Geometry> | undefined;

  create(element: NewElement<Own>, options?: UndoOptions): Promise<Result<Own>>;
  /** All or none. */
  createAll(elements: NewElement<Own>[], options?: UndoOptions): Promise<Result<Own>>;
  transform(elementId: string, fields: Fields & { transform?: Fields }, options?: MoveOptions): Promise<Result<Own>>;
  /** All or none. */
  transformAll(
    elements: ({ elementId: string; transform?: Fields } & Fields)[], options?: MoveOptions): Promise<Result<Own>>;
  update(elementId: string, set: ElementChanges<Own>, options?: UndoOptions): Promise<Result<Own>>;
  /** Gives an element another size about its anchor, pixels at scale 1; its scale stays. */
  resize(elementId: string, size: { width?: number; height?: number }, options?: UndoOptions): Promise<Result<Own>>;
  /** Deletes elements with their annotations. */
  delete(ids: string | string[], options?: UndoOptions): Promise<Result<Own>>;
  preset(
    elementId: string, preset: "rotateCW" | "rotateCCW" | "rotate180" | "flipX" | "flipY" | "reset",
    options?: MoveOptions): Promise<Result<Own>>;
  /** Takes this user's newest edit back. */
  undo(options?: { motion?: Motion }): Promise<UndoResult<Own>>;
  /** Does again what was undone last. */
  redo(options?: { motion?: Motion }): Promise<UndoResult<Own>>;
  /** Any other edit of the protocol, as `element:animate`. */
  edit(event: string, body: Record<string, unknown>, options?: MoveOptions): Promise<Result<Own>>;
  /** Fingers touched elements; a group turns and scales about a pivot, by default its middle. */
  begin(ids: string | string[], options?: { pivot?: Point }): Gesture<Own>;

  /** Where this user points; null hides it. */
  point(cursor: Point | null): void;
  select(elementIds: string[]): void;
  /** The part of the canvas that is seen, everything by default: previews of others come from there only. */
  look(viewport?: Box, options?: { share?: boolean }): void;
  /** Tells what a user sees, now and whenever it changes, undefined while it is not shared. What it returns ends that. */
  follow(userId: string, show: (viewport: Box | undefined) => void): () => void;
  /** What else others are to see of this user: at most 1 KiB as JSON. */
  show(state: Record<string, unknown>): void;
  /** Tells the others who are here something once: at most 4 KiB as JSON. */
  signal(name: string, data?: unknown): void;
  /** A page of who changed what. */
  history(range?: { after?: number; limit?: number }): Promise<HistoryPage<Own>>;
  /** Leaves, as soon as all edits have their results. */
  leave(): void;
}

/** How elements are thrown: what is absent follows from how the fingers moved. */
export interface Throw {
  velocity?: Point;
  angularVelocity?: number;
  rate?: number;
  bounce?: number;
  snap?: { points?: Point[]; grid?: { x?: number; y?: number }; within?: number };
}

/** What fingers do to elements until they are lifted. */
export class Gesture<Own = OwnFields> {
  private constructor();
  /** What the fingers have done since they touched; what is absent is as it was. */
  update(deltas: Deltas): void;
  /** The fingers were lifted, and may throw what they held. */
  end(options?: { throwing?: boolean | Throw }): Promise<Result<Own>>;
  /** Everything is as before. */
  cancel(): void;
}

/** An id for a new element: it lies above others of one `zIndex` that were made before. */
export function newElementId(): string;
/** Degrees in [0, 360). */
export function normalized(degrees: number): number;
/** The shortest rotation from one angle to another: degrees in (−180, 180]. */
export function shortestTurn(from: number, to: number): number;
