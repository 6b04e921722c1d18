// Keys: the name of what is pressed, and what a person reads of it on this keyboard.

/**
 * Keys of signs by their places, with and without Shift.
 * @type {Record<string, string>}
 */
const PLACES = { BracketLeft: "[{", BracketRight: "]}", Minus: "-_", Equal: "=+", Comma: ",<", Period: ".>", Slash: "/?" };

/**
 * What a key means: where it writes no Latin letter, what lies there on a Latin keyboard.
 * @param {{key: string, code: string, shiftKey: boolean}} event @returns {string}
 */
export function latin({ key, code, shiftKey }) {
  if (!/^[^\p{Script=Latin}\0-\x7f]$/u.test(key)) return key;
  const [, letter = PLACES[code]?.[Number(shiftKey)]] = /^(?:Key|Digit)(.)$/.exec(code) ?? [];
  return letter?.toLowerCase() ?? key;
}

/** @param {KeyboardEvent} event @returns {string} as in the `keys` of a command */
export function chord(event) {
  const { code, ctrlKey, metaKey, altKey, shiftKey } = event;
  // With Alt some systems write other signs.
  const plain = altKey && code.startsWith("Key") ? code.slice(3) : latin(event), name = plain.length === 1 ? plain.toLowerCase() : plain;
  return `${ctrlKey || metaKey ? "Ctrl+" : ""}${altKey ? "Alt+" : ""}${shiftKey ? "Shift+" : ""}${name}`;
}

/** Whether the keyboard is one of Apple's. */
const IS_APPLE = /Mac|iP(hone|ad|od)/.test(globalThis.navigator?.platform ?? "");

/**
 * The signs of Apple's keys, in their order.
 * @type {Record<string, string>}
 */
const SIGNS = { Alt: "⌥", Shift: "⇧", Ctrl: "⌘" };
/**
 * What Shift makes of keys that people know by their plain sign.
 * @type {Record<string, string>}
 */
const PLAIN = { "{": "[", "}": "]" };

/** @param {string} keys of a command @param {boolean} [isApple] @returns {string} for a person */
export function shownKey(keys, isApple = IS_APPLE) {
  const [, held, key] = /^((?:\w+\+)*)(.+)$/.exec(keys) ?? ["", "", keys], names = held.split("+").filter(Boolean);
  const sign = PLAIN[key] ?? (/^[a-z]$/.test(key) ? key.toUpperCase() : key);
  // A sign that is there with Shift alone says so itself.
  if (held === "Shift+" && /^[^\w{}]$/.test(key)) return key;
  if (isApple) return Object.keys(SIGNS).filter(name => names.includes(name)).map(name => SIGNS[name]).join("") + sign;
  return [...names, sign].join(" + ");
}

/** @param {string} sentence @param {boolean} [isApple] @returns {string} with the keys that this keyboard has */
export const withKeys = (sentence, isApple = IS_APPLE) =>
  (isApple ? sentence.replace(/\b(Alt|Shift|Ctrl)\b/g, name => SIGNS[name]) : sentence);
