import type { EditStore, TouchSync } from "./touchsync.js";

/**
 * Keeps edits without a result. What extends it says where: it has a value of JSON for each key. With `keys` each tab has a key
 * of its own, otherwise one tab or process at a time uses the store.
 */
export abstract class Store implements EditStore {
  /** undefined when there is none. */
  abstract load(key: string): Promise<unknown>;
  abstract save(key: string, value: unknown): Promise<unknown>;
  abstract clear(key: string): Promise<unknown>;
  /** Those of all values. */
  keys(): Promise<string[] | undefined>;
  open(client: TouchSync, key: string): Promise<unknown>;
}

/** Keeps them in the browser's IndexedDB. */
export class IndexedDBStore extends Store {
  /** By default the database's name is `touchsync`. */
  constructor(name?: string);
  load(key: string): Promise<unknown>;
  save(key: string, value: unknown): Promise<void>;
  clear(key: string): Promise<void>;
  keys(): Promise<string[]>;
}
