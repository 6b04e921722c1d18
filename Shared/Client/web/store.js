// Where the client for web pages keeps edits without a result, for apps that pass it a store. Shared/Client/README.md
// describes what is kept, and what becomes of it when a tab ends.

/** @typedef {import("./touchsync.js").TouchSync} TouchSync */
/** @typedef {import("./touchsync.js").Data} Data */

/** A store may take this long to answer, ms. */
const PATIENCE = 5000;
/** A page that is loaded again waits this long for its former self to end, ms. */
const RELOAD = 500;
/** What a page left is nobody else's for this long, ms: the page may be loaded again. */
const GRACE = 3000;

/** @param {number} ms */
const sleep = ms => new Promise(resolve => setTimeout(resolve, ms));

/**
 * A store that hangs must not hold the app: what it says later does not count.
 * @template Value @param {Promise<Value>} answer @returns {Promise<Value>}
 */
function inTime(answer) {
  /** @type {any} */
  let timer;
  const late = new Promise((resolve, reject) => {
    timer = setTimeout(reject, PATIENCE, new Error("The store does not answer."));
  });
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}

/**
 * Takes the lock of a name.
 * @param {string} name @param {number} [ms] how long it may take to become free
 * @returns {Promise<(() => void) | undefined>} what releases it; undefined when somebody else has it
 */
function hold(name, ms) {
  return new Promise(resolve => {
    // Not all browsers that have locks have `AbortSignal.timeout`.
    const waiting = new AbortController(), options = ms ? { signal: waiting.signal } : { ifAvailable: true };
    if (ms) setTimeout(() => waiting.abort(), ms);
    const held = (/** @type {any} */ lock) => lock && new Promise(release => resolve(() => release(undefined)));
    navigator.locks.request(name, options, held).then(() => resolve(undefined), () => resolve(undefined));
  });
}

/**
 * The name that this tab had before it was loaded again, or gives itself.
 * @param {string} key @param {string} [name] @returns {string | null | undefined}
 */
function tabName(key, name) {
  // A browser that keeps nothing throws.
  try {
    if (name) sessionStorage.setItem(key, name);
    return sessionStorage.getItem(key);
  } catch {}
}

/**
 * Where a store has values.
 * @typedef {object} Values
 * @property {(key: string) => Promise<any>} load undefined when there is none
 * @property {(key: string, value: any) => Promise<any>} save
 * @property {(key: string) => Promise<any>} clear
 */

/** What one page keeps: records by room, under a name that no other page uses. */
export class SavedEdits {
  /** @type {Record<string, Data>} */
  rooms = {};
  writing = Promise.resolve();
  /** Whether the store has not been given the latest yet: while it writes, only that counts. */
  isBehind = false;
  /** Called when nothing is kept any more. */
  emptied = () => {};
  /** Aborted when the client is closed. */
  ending = new AbortController();
  /**
   * What this page does for others, by their names.
   * @type {Map<string, Promise<any>>}
   */
  errands = new Map();

  /** @param {Store} store @param {string} name @param {() => void} [release] gives the name up */
  constructor(store, name, release = () => {}) {
    this.store = store;
    this.values = /** @type {Values} */ (/** @type {any} */ (store));
    this.name = name;
    this.release = release;
  }

  /** @returns {Promise<this>} with what is kept under its name; what cannot be read is not to be overwritten */
  async load() {
    try {
      this.rooms = (await inTime(this.values.load(this.name))) ?? {};
    } catch (error) {
      this.release();
      throw error;
    }
    return this;
  }

  get isEmpty() {
    return Object.keys(this.rooms).length === 0;
  }

  /**
   * @param {string} roomId @param {Data | null} record null when nothing is left of the room
   * @returns {Promise<void>} when it is saved
   */
  save(roomId, record) {
    const { values, name, rooms } = this;
    if (record) rooms[roomId] = record;
    else delete rooms[roomId];
    this.isBehind = true;
    const saved = this.writing.then(async () => {
      if (!this.isBehind) return;
      this.isBehind = false;
      if (!this.isEmpty) return values.save(name, JSON.parse(JSON.stringify(rooms)));
      await values.clear(name);
      this.emptied();
    });
    this.writing = saved.catch(() => {
      this.isBehind = true;
    });
    return saved;
  }

  /** Ends when everything is saved, and leaves it to another page. */
  async close() {
    this.ending.abort();
    await this.writing;
    await Promise.all(this.errands.values());
    this.release();
  }

  /**
   * A page that its user leaves may sleep, to come back as it was: meanwhile what it keeps is anybody's. If somebody took it,
   * the page does not go on.
   * @param {TouchSync} client
   */
  sleep(client) {
    const { signal } = this.ending;
    if (!globalThis.document) return;
    addEventListener("pagehide", () => this.release(), { signal });
    addEventListener("pageshow", async ({ persisted }) => {
      if (!persisted) return;
      const again = await this.store.claim(this.name).catch(() => undefined);
      if (again && JSON.stringify(again.rooms) === JSON.stringify(this.rooms)) return void (this.release = again.release);
      again?.release();
      client.emit("error", new Error("Another tab sent what this one kept. Load it again."));
      client.close();
    }, { signal });
  }

  /**
   * Looks after what another page keeps, once that has ended.
   * @param {string} name @param {TouchSync} client
   */
  watch(name, client) {
    if (name === this.name || this.errands.has(name)) return;
    const done = this.inherit(name, client).catch(error => {
      if (!this.ending.signal.aborted) client.emit("error", error);
    });
    this.errands.set(name, done.finally(() => this.errands.delete(name)));
  }

  /** @param {string} name @param {TouchSync} client */
  async inherit(name, client) {
    const { signal } = this.ending;
    for (;;) {
      await navigator.locks.request(name, { signal }, () => {});
      await Promise.race([sleep(GRACE), new Promise(resolve => signal.addEventListener("abort", resolve))]);
      if (signal.aborted) return;
      const left = await this.store.claim(name);
      if (left) return this.deliver(left, client);
    }
  }

  /**
   * Sends what a page left, under that page's own session: by another client, whose connection follows this one's.
   * @param {SavedEdits} left @param {TouchSync} client
   */
  async deliver(left, client) {
    if (left.isEmpty) return left.release();
    const Client = /** @type {typeof import("./touchsync.js").TouchSync} */ (client.constructor);
    const heir = new Client({ ...client.options, store: { open: async () => left } });
    const follow = () => {
      if (client.state === "live") heir.connect();
      else if (["offline", "expired"].includes(client.state)) heir.disconnect();
    };
    for (const event of ["error", "refusal"]) heir.on(event, value => client.emit(event, value));
    const unfollow = client.on("state", follow);
    follow();
    const { signal } = this.ending;
    await new Promise(resolve => {
      left.emptied = () => resolve(undefined);
      signal.addEventListener("abort", resolve);
      globalThis.addEventListener?.("pagehide", () => resolve(left.release()), { signal });
    });
    unfollow();
    await heir.close();
  }
}

/**
 * Keeps edits without a result, for clients that are given it. What extends it says where: `load`, `save` and `clear` have a
 * value of JSON for each key. With `keys` each page has a key of its own, otherwise one page at a time uses the store.
 * @abstract
 */
export class Store {
  /** @returns {Promise<string[] | undefined>} those of all values */
  async keys() {
    return undefined;
  }

  /**
   * What a client keeps, and what is left for it.
   * @param {TouchSync} client @param {string} key of its user at its server
   * @returns {Promise<SavedEdits | undefined>} undefined where nothing can be kept
   */
  async open(client, key) {
    const { locks } = globalThis.navigator ?? {};
    // Pages without locks, as those that come by plain HTTP, cannot know of each other.
    if (!locks) return globalThis.document ? undefined : new SavedEdits(this, key).load();
    const keys = await inTime(this.keys()), isOurs = (/** @type {string} */ name) => name.slice(name.indexOf(" ") + 1) === key;
    if (!keys) {
      const saved = await this.claim(key, RELOAD);
      saved?.sleep(client);
      return saved;
    }
    const left = keys.filter(isOurs), former = tabName(key);
    const own = `${crypto.getRandomValues(new Uint32Array(3)).join("-")} ${key}`;
    // What this tab had before it was loaded again, what another one left, or nothing. A duplicated tab has the former name,
    // too, but not its lock.
    let saved = former ? await this.claim(former, RELOAD) : undefined;
    for (const name of left) saved ??= await this.claim(name);
    saved ??= await this.claim(own, RELOAD);
    if (!saved) return;
    const { name, ending } = saved, channel = new BroadcastChannel(key);
    tabName(key, name);
    saved.sleep(client);
    // A page has its name before it tells it, and hears of others' before it asks who is here: none is missed.
    channel.onmessage = ({ data }) => saved?.watch(data, client);
    ending.signal.addEventListener("abort", () => channel.close());
    channel.postMessage(name);
    const { held = [] } = await locks.query(), others = held.map(lock => String(lock.name)).filter(isOurs);
    for (const other of [...left, ...others]) saved.watch(other, client);
    return saved;
  }

  /**
   * @param {string} name @param {number} [ms] how long it may take to become free
   * @returns {Promise<SavedEdits | undefined>} undefined when somebody else has it
   */
  async claim(name, ms) {
    const release = await hold(name, ms);
    return release && new SavedEdits(this, name, release).load();
  }
}

/** Keeps values in the browser's IndexedDB. */
export class IndexedDBStore extends Store {
  /** @type {Promise<IDBDatabase> | undefined} */
  opening;

  /** @param {string} name of the database */
  constructor(name = "touchsync") {
    super();
    this.name = name;
  }

  /**
   * Tries twice: browsers end connections, as those of pages in the background.
   * @param {IDBTransactionMode} mode @param {(values: IDBObjectStore) => IDBRequest} action @returns {Promise<any>}
   */
  perform(mode, action) {
    return this.attempt(mode, action).catch(() => {
      this.opening = undefined;
      return this.attempt(mode, action);
    });
  }

  /** @param {IDBTransactionMode} mode @param {(values: IDBObjectStore) => IDBRequest} action @returns {Promise<any>} */
  async attempt(mode, action) {
    this.opening ??= new Promise((resolve, reject) => {
      const request = indexedDB.open(this.name, 1);
      request.onupgradeneeded = () => request.result.createObjectStore("values");
      request.onsuccess = () => {
        const { result } = request;
        result.onversionchange = () => result.close();
        resolve(result);
      };
      request.onerror = () => reject(request.error);
    });
    // Browsers may report what only the system's cache has: an edit that was sent must not come back without its number.
    const transaction = (await this.opening).transaction("values", mode, { durability: "strict" });
    const request = action(transaction.objectStore("values"));
    return new Promise((resolve, reject) => {
      transaction.oncomplete = () => resolve(request.result);
      transaction.onabort = () => reject(transaction.error);
    });
  }

  keys() {
    return this.perform("readonly", values => values.getAllKeys());
  }

  /** @param {string} key */
  load(key) {
    return this.perform("readonly", values => values.get(key));
  }

  /** @param {string} key @param {any} value */
  save(key, value) {
    return this.perform("readwrite", values => values.put(value, key));
  }

  /** @param {string} key */
  clear(key) {
    return this.perform("readwrite", values => values.delete(key));
  }
}
