// Where a page finds the client: `node --import` this file.

import { register } from "node:module";

const web = new URL("../../../Shared/Client/web/", import.meta.url).href;
const source = `export const resolve = (name, context, next) =>
  next(name.startsWith("/client/") ? ${JSON.stringify(web)} + name.slice(8) : name, context);`;
register(`data:text/javascript,${encodeURIComponent(source)}`);
