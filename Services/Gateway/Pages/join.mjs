#!/usr/bin/env -S NODE_PATH=/usr/share/nodejs node
// Makes what gateways serve of the canvas: its modules joined to a few scripts with short names, its styles to one. Over a long
// way each request costs more than its bytes, and together modules are smaller.
//
//     Services/Gateway/Pages/join.mjs [FOLDER]
//
// Without a folder it replaces the files in `served`, which is needed after each change in web/canvas; a test compares. It
// needs rollup and terser of Debian 12.

import { readFileSync, utimesSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const require = createRequire(import.meta.url);
const { rollup } = require("rollup"), { minify } = require("terser");

const here = fileURLToPath(new URL(".", import.meta.url)), web = join(here, "web/canvas"), folder = process.argv[2] ?? join(here, "served");

/** The modules that each script begins with: it has what they import, too, unless one above it has that. */
const SCRIPTS = {
  // Lets people in while the rest is on its way.
  entry: ["entry"],
  // Shows the room, and takes edits.
  canvas: ["canvas"],
  // Comes when the room is shown.
  soon: ["soon", "arranging", "help", "invite", "menu", "pictures"],
  // Comes when somebody asks for it.
  later: ["export", "import", "playback"],
};
const STYLES = ["page", "cards", "overlay"];

const short = {
  name: "short",
  renderChunk: code => minify(code, { module: true, ecma: 2022, compress: { passes: 3 }, mangle: true, format: { wrap_func_args: false } }),
};

/** @param {string[]} entries @param {Record<string, string[]>} [scripts] */
async function write(entries, scripts = {}) {
  const files = (/** @type {string[]} */ names) => names.map(name => join(web, `${name}.js`));
  const joined = await rollup({
    input: files(entries), external: path => path.startsWith("/client/"), plugins: [short], preserveEntrySignatures: false,
    onwarn(warning) { throw new Error(warning.message); },
  });
  await joined.write({
    // A page that was loaded before the gateway's next version finds what it imports by its name, or nothing.
    dir: folder, entryFileNames: "[name].js", chunkFileNames: "[name].js", minifyInternalExports: false,
    manualChunks: Object.fromEntries(Object.entries(scripts).map(([name, modules]) => [name, files(modules)])),
  });
}

await write(["entry"], SCRIPTS);
// Robots work without a page.
await write(["robots"]);

const lines = STYLES.flatMap(name => readFileSync(join(web, `${name}.css`), "utf8").replace(/\/\*.*?\*\//gs, "").split("\n"));
writeFileSync(join(folder, "page.css"), lines.map(line => line.trim()).filter(line => line).join("\n"));

// The package manager does not see that what the list embeds has changed.
if (!process.argv[2]) utimesSync(join(here, "Embedded/pages.c"), new Date(), new Date());
