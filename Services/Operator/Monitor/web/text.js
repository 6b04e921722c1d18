// Elements and words: what all parts of the page write with.

/** A new element. Attributes whose name begins with "on" are listeners; children are elements or texts. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** Shows a text, and touches the page only when it is another one. */
export function show(target, text) {
  if (target.textContent !== text) target.textContent = text;
}

/**
 * Makes a container's children those of some items, in their order. An item's element stays the same as long as its key
 * is there, so that focus and animations survive.
 */
export function list(container, items, key, make, update) {
  const known = new Map([...container.children].map((child) => [child.dataset.key, child]));
  let place = container.firstElementChild;
  for (const item of items) {
    const name = key(item);
    let child = known.get(name);
    known.delete(name);
    if (!child) {
      child = make(item);
      child.dataset.key = name;
    }
    update?.(child, item);
    if (child === place) place = place.nextElementSibling;
    else container.insertBefore(child, place);
  }
  for (const child of known.values()) child.remove();
}

/** Terms and values. */
export function terms(target, rows) {
  const pairs = rows.filter(([, value]) => value !== null && value !== undefined);
  list(target, pairs.flatMap(([term, value]) => [["dt", term, term], ["dd", term, value]]),
    ([tag, term]) => `${tag} ${term}`, ([tag]) => element(tag), (child, [, , text]) => show(child, text));
  return target;
}

/** A table; each row is a list of texts or elements. */
export function table(caption, heads, rows) {
  return element("div", { class: "scroll" }, element("table", { "aria-label": caption },
    element("thead", {}, element("tr", {}, ...heads.map((head) => element("th", { scope: "col" }, head)))),
    element("tbody", {}, ...rows.map((cells) =>
      element("tr", {}, ...cells.map((cell) => element("td", {}, cell)))))));
}

/** A number of few digits. */
export function number(value) {
  if (value === null || value === undefined) return "–";
  if (value >= 10000) return `${(value / 1000).toFixed(value < 100000 ? 1 : 0)}k`;
  if (value >= 100 || Number.isInteger(value)) return String(Math.round(value));
  return value.toFixed(value < 10 ? 1 : 0);
}

/** A rate, per second. */
export const rate = (value) => (value === null || value === undefined ? "–" : `${number(value)}/s`);

/** A span in seconds. */
export function span(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  if (seconds < 0.0000005) return "0 ms";
  if (seconds < 0.001) return `${Math.round(seconds * 1e6)} µs`;
  if (seconds < 1) return `${(seconds * 1000).toFixed(seconds < 0.01 ? 1 : 0)} ms`;
  if (seconds < 120) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return `${Math.round(seconds / 3600)} h`;
}

/** Bytes in binary units. */
export function bytes(value) {
  if (value === null || value === undefined) return "–";
  if (value < 1024) return `${Math.round(value)} B`;
  if (value < 1048576) return `${Math.round(value / 1024)} KiB`;
  return `${Math.round(value / 1048576)} MiB`;
}

/** The time of day of milliseconds since 1970. */
export const clock = (at) => new Date(at).toLocaleTimeString("en-GB");

/** The name of a stage in sentences. */
export const stageName = (stage) => (stage === "fanout" ? "fan-out" : stage);

const conditions = {
  ready: ["ready", ""], starting: ["starting", "warn"], notReady: ["not ready", "bad"], stalled: ["stalled", "bad"],
  garbled: ["unreadable", "warn"], silent: ["silent", "bad"], unreachable: ["unreachable", "bad"], stopped: ["down", "bad"],
};

/** How a condition is called, and the class of what shows it. */
export function condition(name) {
  const [text, tone] = conditions[name] ?? [name, "warn"];
  return { text, tone };
}
