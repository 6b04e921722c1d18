// The types that the package declares name nothing that its modules do not have.

import type * as projection from "../../../Shared/Client/types/projection.js";
import type * as react from "../../../Shared/Client/types/react.js";
import type * as store from "../../../Shared/Client/types/store.js";
import type * as touchsync from "../../../Shared/Client/types/touchsync.js";
import * as projectionSource from "../../../Shared/Client/web/projection.js";
import * as reactSource from "../../../Shared/Client/web/react.js";
import * as storeSource from "../../../Shared/Client/web/store.js";
import * as source from "../../../Shared/Client/web/touchsync.js";

// A name that one has and the other one has not does not compile.
type Missing<Declared, Source> = Exclude<keyof Declared, keyof Source>;

const missing: [
  Missing<typeof touchsync, typeof source>, Missing<typeof store, typeof storeSource>,
  Missing<typeof projection, typeof projectionSource>, Missing<typeof react, typeof reactSource>,
  Missing<touchsync.TouchSync, source.TouchSync>, Missing<touchsync.Room, source.Room>,
  Missing<touchsync.Gesture, source.Gesture>, Missing<touchsync.Refusal, source.Refusal>,
  Missing<store.IndexedDBStore, storeSource.IndexedDBStore>,
][number][] = [];
const isNothingMissing: never[] = missing;

// What an app passes is taken, and what it gets is what it was told.
declare const room: source.Room, own: touchsync.TouchSyncOptions;
const client = new source.TouchSync(own as ConstructorParameters<typeof source.TouchSync>[0]);
const state: touchsync.ClientState = client.state, persistence: touchsync.Persistence = client.persistence;
const methods: Pick<touchsync.Room, "point" | "select" | "look" | "follow" | "show" | "signal" | "leave" | "pose"> = room;
export const used = [isNothingMissing, state, persistence, methods];
