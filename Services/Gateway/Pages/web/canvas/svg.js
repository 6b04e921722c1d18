// SVG as text. Everything that comes from people passes `escaped`, so that it is only ever text.

/** What XML 1.0 cannot have, and halves of surrogate pairs. */
const IMPOSSIBLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
/** @type {Record<string, string>} */
const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** @param {string} text @returns {string} */
export const escaped = text => text.replace(IMPOSSIBLE, "\ufffd").replace(/[&<>"]/g, sign => ENTITIES[sign]);

/** @param {number} number @returns {number} with three digits behind the point */
export const short = number => Math.round(number * 1000) / 1000 || 0;

/**
 * An element of SVG.
 * @param {string} name @param {Record<string, string | number | undefined>} attributes those that are undefined are left out
 * @param {...string} children markup
 */
export function tag(name, attributes, ...children) {
  const written = Object.entries(attributes).flatMap(([key, value]) =>
    (value === undefined ? [] : ` ${key}="${typeof value === "number" ? short(value) : escaped(value)}"`)).join("");
  const content = children.join("");
  return content ? `<${name}${written}>${content}</${name}>` : `<${name}${written}/>`;
}
