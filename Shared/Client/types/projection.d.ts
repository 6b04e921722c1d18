import type { BaseElement, Geometry, Point } from "./touchsync.js";

/** What of an element says how it is seen. */
export type Seen = Pick<
  BaseElement, keyof Geometry | "originalWidth" | "originalHeight" | "anchorX" | "anchorY">;

/**
 * The CSS transform of a node that has an element's size at scale 1, lies where that is at scale 1, and has its anchor as
 * `transform-origin`.
 */
export function cssTransform(element: Geometry): string;
/** The corners of what is seen of an element: upper left, upper right, lower right, lower left. `parent` is an annotation's. */
export function corners(element: Seen, parent?: Seen): Point[];
/** What of an element is seen at a point of the canvas, in its own pixels; undefined where it is seen edge-on. */
export function ownPoint(element: Seen, point: Point, parent?: Seen): Point | undefined;
/** Whether a point of the canvas is on an element as it is seen. */
export function contains(element: Seen, point: Point, parent?: Seen): boolean;
