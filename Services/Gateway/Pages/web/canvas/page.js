// Small tools for the document.

import { browser, isText } from "./storage.js";

/** @param {string} id @returns {any} the element of the page that has it */
export const $ = id => document.getElementById(id);

/**
 * A new node.
 * @param {string} tag @param {string} [className] @param {string} [text] @returns {HTMLElement}
 */
export function node(tag, className = "", text) {
  const made = document.createElement(tag);
  made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

const SVG = "http://www.w3.org/2000/svg";

/**
 * A new node of a drawing.
 * @param {string} tag @param {Record<string, string>} attributes @returns {SVGElement}
 */
export function svg(tag, attributes) {
  const made = /** @type {SVGElement} */ (document.createElementNS(SVG, tag));
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

/** @param {string} name of a symbol in the page @returns {SVGElement} */
export function icon(name) {
  const made = svg("svg", { class: "icon", "aria-hidden": "true" });
  made.append(svg("use", { href: `#i-${name}` }));
  return made;
}

/** @param {string} name @param {string} label @param {string} [className] @returns {HTMLButtonElement} */
export function iconButton(name, label, className = "tool") {
  const button = /** @type {HTMLButtonElement} */ (node("button", className));
  button.type = "button";
  button.title = label;
  button.setAttribute("aria-label", label);
  button.append(icon(name));
  return button;
}

/** Whether the person wants no motion here: by a setting of the page, or of the system. */
export const isCalm = () => browser.read("quality", isText) === "final" || matchMedia("(prefers-reduced-motion: reduce)").matches;

/**
 * Calls at most once in a time, the last call always.
 * @param {number} ms @param {() => void} action @returns {() => void}
 */
export function paced(ms, action) {
  let next = 0, timer = 0;
  return () => {
    const now = performance.now();
    if (timer) return;
    timer = setTimeout(() => {
      timer = 0;
      next = performance.now() + ms;
      action();
    }, Math.max(next - now, 0));
  };
}

/**
 * Loads a style sheet that is not often needed.
 * @param {string} name @returns {Promise<void>}
 */
export function style(name) {
  const href = `/app/${name}.css`;
  if (document.querySelector(`link[href="${href}"]`)) return Promise.resolve();
  const link = document.createElement("link");
  Object.assign(link, { rel: "stylesheet", href });
  document.head.append(link);
  // Without it the page is plain, but works.
  return new Promise(resolve => (link.onload = link.onerror = () => resolve()));
}
