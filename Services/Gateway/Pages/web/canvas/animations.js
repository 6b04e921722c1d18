// Animations to choose from: what elements do until somebody stops them.

/** @typedef {import("/client/touchsync.js").Data} Data */
/** @typedef {"spin" | "pulse" | "wiggle" | "float" | "bounce"} AnimationName */

const swing = { iterations: "infinite", direction: "alternate", composite: "add" };
const eased = (/** @type {number} */ at, /** @type {number} */ value) => ({ at, value, curve: "ease-in-out" });

/** @type {Record<AnimationName, {label: string, animation: Data}>} */
export const ANIMATIONS = {
  spin: {
    label: "Spin",
    animation: {
      ms: 4000, iterations: "infinite", composite: "add", tracks: { rotation: [{ at: 0, value: 0 }, { at: 1, value: 360 }] },
    },
  },
  pulse: {
    label: "Pulse",
    animation: { ms: 700, ...swing, tracks: { scaleX: [eased(0, 0), eased(1, 0.12)], scaleY: [eased(0, 0), eased(1, 0.12)] } },
  },
  wiggle: { label: "Wiggle", animation: { ms: 160, ...swing, tracks: { rotation: [eased(0, -4), eased(1, 4)] } } },
  float: {
    label: "Float",
    animation: { ms: 2400, ...swing, tracks: { positionY: [eased(0, 0), eased(1, -24)], rotation: [eased(0, -1), eased(1, 1)] } },
  },
  bounce: {
    label: "Bounce",
    animation: { ms: 480, ...swing, tracks: { positionY: [{ at: 0, value: 0, curve: "ease-out" }, { at: 1, value: -60 }] } },
  },
};
