// React 18 comes as a script without modules: this is one.
export const {
  createElement, StrictMode, useCallback, useEffect, useLayoutEffect, useReducer, useRef, useSyncExternalStore,
} = globalThis.React;
