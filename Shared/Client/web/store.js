// Where the client for web pages keeps edits without a result, for apps that pass it one. Shared/Client/README.md describes
// what a store does.

/** @typedef {import("./touchsync.js").Store} Store */

/**
 * Keeps values in the browser's IndexedDB.
 * @implements {Store}
 */
export class IndexedDBStore {
  /** @type {Promise<IDBDatabase> | undefined} */
  opening;

  /** @param {string} name of the database */
  constructor(name = "touchsync") {
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
