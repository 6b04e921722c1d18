// Drives the official client for the tests: commands come in, reports go out, both as JSON. It runs in Node (lines on
// standard input and output) and in a browser's page (drive(command), and a function `report` of the tests).

"use strict";

// Binary stands in JSON as {"$bytes": base64}.
function toJSON(value) {
  if (value instanceof ArrayBuffer) value = new Uint8Array(value);
  if (ArrayBuffer.isView(value)) {
    const bytes = new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
    return { $bytes: btoa(Array.from(bytes, byte => String.fromCharCode(byte)).join("")) };
  }
  if (Array.isArray(value)) return value.map(toJSON);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, toJSON(entry)]));
}

function fromJSON(value) {
  if (Array.isArray(value)) return value.map(fromJSON);
  if (value === null || typeof value !== "object") return value;
  if ("$bytes" in value) return Uint8Array.from(atob(value.$bytes), character => character.charCodeAt(0)).buffer;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, fromJSON(entry)]));
}

function makeDriver(io, report) {
  const sockets = new Map();
  // Acknowledgements that the server asked for.
  const acknowledgements = new Map();
  let lastAcknowledgement = 0;

  function connect(client, { url, options }) {
    const socket = io(url, { ...options, forceNew: true });
    sockets.set(client, socket);
    const heard = (event, args, more) => report({ client, event, args: toJSON(args), ...more });
    socket.on("connect", () => heard("connect", []));
    socket.on("disconnect", reason => heard("disconnect", [reason]));
    socket.on("connect_error", error => {
      // The socket stays active when it was not the server that refused, but the way to it that failed.
      if (socket.active) heard("unreachable", [error.message]);
      else heard("connect_error", [{ message: error.message, data: error.data }]);
    });
    socket.onAny((event, ...args) => {
      if (typeof args[args.length - 1] !== "function") return heard(event, args);
      acknowledgements.set(++lastAcknowledgement, args.pop());
      heard(event, args, { acknowledgement: lastAcknowledgement });
    });
  }

  return ({ client, request, operation, ...command }) => {
    const socket = sockets.get(client);
    const answer = args => report({ client, request, args: toJSON(args) });
    switch (operation) {
      case "connect": return connect(client, command);
      case "connectAgain":
        socket.auth = command.auth;
        return void socket.connect();
      case "emit": return void socket.emit(...fromJSON(command.args));
      case "call": return void socket.emit(...fromJSON(command.args), (...args) => answer(args));
      case "acknowledge":
        acknowledgements.get(command.acknowledgement)(...fromJSON(command.args));
        return void acknowledgements.delete(command.acknowledgement);
      case "transport": return answer([socket.io.engine?.transport?.name ?? null]);
      case "close":
        socket.disconnect();
        return void sockets.delete(client);
    }
  };
}

if (typeof process === "object") {
  // The browser build takes from the globals what the official package for Node takes from these libraries.
  globalThis.WebSocket = require("ws");
  globalThis.XMLHttpRequest = require("xmlhttprequest").XMLHttpRequest;
  globalThis.FileReader = class {
    async readAsDataURL(blob) {
      this.result = "data:;base64," + Buffer.from(await blob.arrayBuffer()).toString("base64");
      this.onload();
    }
  };
  const drive = makeDriver(require(process.argv[2]), line => process.stdout.write(JSON.stringify(line) + "\n"));
  const lines = require("readline").createInterface({ input: process.stdin });
  lines.on("line", line => drive(JSON.parse(line)));
  lines.on("close", () => process.exit(0));
} else {
  globalThis.drive = makeDriver(io, line => globalThis.report(JSON.stringify(line)));
}
