// Which elements are no cards of their own.

/** @typedef {import("/client/touchsync.js").Element} Element */

/** @param {Element | undefined} element whether it lies on another one */
export const isAnnotation = element => element?.space === "normalized" && element.parentId !== undefined;

/** @param {Element | undefined} element whether it is a line, not a card */
export const isGuide = element => element?.type === "guide" && (element.axis === "x" || element.axis === "y");
