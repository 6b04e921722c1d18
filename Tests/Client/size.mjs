// Prints how many bytes the client has without its comments, compressed as a server would: size.mjs FILE

import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

// Good enough for this one file: strings and expressions that look like comments stay as they are.
const STRING_OR_COMMENT = /("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`|\/\^[^\n]*?\/s?(?=\.))|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g;
const source = readFileSync(process.argv[2], "utf8");
const code = source.replace(STRING_OR_COMMENT, (_, kept) => kept ?? "").replace(/\n\s*\n+/g, "\n");
if (process.argv[3] === "--print") process.stdout.write(code);
else console.log(gzipSync(code, { level: 9 }).length);
