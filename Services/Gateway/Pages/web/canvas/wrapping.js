// Text in lines of a width, as a browser breaks it with `white-space: pre-wrap` and `overflow-wrap: anywhere`.

/** Beyond it nobody reads, and it costs time. */
const MOST_LINES = 400;

/**
 * @param {string} text @param {number} width @param {(text: string) => number} measure
 * @returns {string[]}
 */
export function wrapped(text, width, measure) {
  const lines = [];
  for (const paragraph of text.split("\n")) {
    lines.push(...paragraphIn(paragraph, width, measure));
    if (lines.length >= MOST_LINES) return lines.slice(0, MOST_LINES);
  }
  return lines;
}

/** @param {string} paragraph @param {number} width @param {(text: string) => number} measure */
function paragraphIn(paragraph, width, measure) {
  const lines = [];
  let line = "";
  for (const word of paragraph.match(/\s+|[^\s-]+-*|-+/g) ?? []) {
    // Spaces hang over the edge.
    if (/^\s/.test(word) || measure(line + word) <= width) {
      line += word;
      continue;
    }
    if (line) lines.push(line);
    line = word;
    for (let fitting = longestPrefix(line, width, measure); fitting !== line; fitting = longestPrefix(line, width, measure)) {
      if (lines.push(fitting) >= MOST_LINES) return lines;
      line = line.slice(fitting.length);
    }
  }
  return [...lines, line];
}

/** @param {string} word @param {number} width @param {(text: string) => number} measure @returns {string} at least a character */
function longestPrefix(word, width, measure) {
  const characters = [...word];
  let low = 1, high = characters.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (measure(characters.slice(0, middle).join("")) <= width) low = middle;
    else high = middle - 1;
  }
  return characters.slice(0, low).join("");
}
