// What people keep in the fields of elements is any JSON value, and each of them can be shown.

/** @param {unknown} value @param {string} [otherwise] where there is none @returns {string} JSON of what is no text */
export function textOf(value, otherwise = "") {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? otherwise : JSON.stringify(value);
}

/** @param {unknown} value @param {number} otherwise where it is no number, or 0 @returns {number} */
export const numberOf = (value, otherwise) => (typeof value === "object" ? 0 : Number(value)) || otherwise;

/** @param {unknown} seconds @returns {string} 0:08 */
export const clock = seconds => `0:${String(Math.min(Math.max(Math.round(numberOf(seconds, 0)), 0), 59)).padStart(2, "0")}`;
