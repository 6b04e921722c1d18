// What this browser keeps for the page, under names of its own. Where it may keep nothing, it is kept until the page is left.

/** Others have pages at the same address. */
const PREFIX = "touchsync ";

/** @param {"localStorage" | "sessionStorage"} kind */
function kept(kind) {
  /**
   * What could not be kept otherwise.
   * @type {Map<string, string>}
   */
  const here = new Map();
  return {
    /**
     * @template T
     * @param {string} key @param {(value: any) => value is T} isOne whether it is what the page wrote there, and not somebody else
     * @returns {T | null}
     */
    read(key, isOne) {
      try {
        const value = JSON.parse(here.get(key) ?? globalThis[kind].getItem(PREFIX + key) ?? "null");
        return isOne(value) ? value : null;
      } catch {
        return null;
      }
    },
    /** @param {string} key @param {any} value null to keep nothing */
    write(key, value) {
      const text = JSON.stringify(value);
      try {
        globalThis[kind].setItem(PREFIX + key, text);
        here.delete(key);
      } catch {
        here.set(key, text);
      }
    },
    /** Whether it is kept for longer than the page. */
    get isKept() {
      return here.size === 0;
    },
  };
}

/** Kept for this browser. */
export const browser = kept("localStorage");
/** Kept for this window. */
export const tab = kept("sessionStorage");

// What values are.

/** @param {any} value @returns {value is string} */
export const isText = value => typeof value === "string";

/** @param {any} value @returns {value is Record<string, any>} */
export const isObject = value => typeof value === "object" && value !== null && !Array.isArray(value);

/** @template T @param {readonly T[]} all @returns {(value: any) => value is T} */
export const isOneOf = all => /** @returns {value is any} */ value => all.includes(value);
