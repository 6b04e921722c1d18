// Colours of people: their own if it is one, else one by their name; and what can be read on it.

/** White reads well on each of them: a contrast of 4.5 or more. */
export const PALETTE = ["#4f46e5", "#0f766e", "#be185d", "#b45309", "#15803d", "#7c3aed", "#0369a1", "#b91c1c", "#a21caf", "#4d7c0f"];

/** @param {string} text @returns {number} the same for the same text */
function hash(text) {
  let value = 7;
  for (const character of text) value = (value * 31 + (character.codePointAt(0) ?? 0)) >>> 0;
  return value;
}

/** @param {unknown} colour @param {string} name @returns {string} */
export const colourOf = (colour, name) =>
  (typeof colour === "string" && /^#[0-9a-f]{6}$/i.test(colour) ? colour : PALETTE[hash(name) % PALETTE.length]);

/** @param {string} colour six digits @returns {number} relative luminance (WCAG 2.2) */
function luminance(colour) {
  const [red, green, blue] = [1, 3, 5].map(at => {
    const share = parseInt(colour.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** @param {string} colour @returns {string} that of a text on it, with the better contrast */
export const inkOn = colour => (luminance(colour) > 0.179 ? "#0b0d12" : "#ffffff");

/** Finds what people call a character. */
export const SEGMENTER = new Intl.Segmenter();

/** @param {string} text @returns {string} what a person calls its first letter: a flag or a family is one, too */
const first = text => SEGMENTER.segment(text)[Symbol.iterator]().next().value?.segment ?? "";

/** @param {string} name @returns {string} one or two letters */
export function initials(name) {
  const words = name.trim().split(/\s+/).filter(Boolean);
  const letters = words.length > 1 ? [words[0], words[words.length - 1]] : words;
  return letters.map(first).join("").toUpperCase() || "?";
}
