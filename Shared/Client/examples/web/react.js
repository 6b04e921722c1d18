// React 18 comes as a script without modules: this is one.
export const {
  createContext, createElement, Fragment, memo, StrictMode, useCallback, useContext, useEffect, useId, useLayoutEffect, useMemo,
  useReducer, useRef, useState, useSyncExternalStore,
} = globalThis.React;
