// Drives a client in a page of a browser: commands.mjs describes what goes in and out. The page is one of the gateway's,
// and so are the client in it and its store.

import { Driver } from "./commands.mjs";

const { TouchSync } = await import(`${location.origin}/client/touchsync.js`);
const { IndexedDBStore } = await import(`${location.origin}/client/store.js`);

// Drives a client with these options; `report` is the test's.
export const driver = options => new Driver(options, {
  TouchSync,
  report: line => globalThis.report(JSON.stringify(line)),
  store: name => new IndexedDBStore(name),
  // A page can only close a socket. Nothing that arrives or happens afterwards is heard.
  cut(socket) {
    const { onclose } = socket;
    socket.onmessage = socket.onclose = null;
    socket.close();
    onclose();
  },
  nextFrame: draw => requestAnimationFrame(draw),
});

// What a store has, as texts.
export async function kept(name) {
  const values = await new IndexedDBStore(name).perform("readonly", values => values.getAll());
  return values.map(value => JSON.stringify(value));
}
