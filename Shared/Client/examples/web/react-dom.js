// The same of React's part for browsers.
export const { createRoot } = globalThis.ReactDOM;
