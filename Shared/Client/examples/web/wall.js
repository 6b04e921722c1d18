// A wall of notes in React. Shared/Client/README.md goes through it.

import { createElement, StrictMode, useEffect, useLayoutEffect, useRef, useState } from "react";
import { createRoot } from "react-dom/client";
import { TouchSync } from "touchsync";
import { cssTransform } from "touchsync/projection";
import { useConnection, useElement, useOthers, useRoom } from "touchsync/react";
import { IndexedDBStore } from "touchsync/store";

const asked = new URLSearchParams(location.search), userId = asked.get("user") ?? "ada";
const client = new TouchSync({
  url: asked.get("server") ?? "http://127.0.0.1:8080", userId, store: new IndexedDBStore(), owner: userId,
});
client.on("error", error => console.error(error));
client.connect();

const ROOM = "wall", SIZE = 160;

function Wall() {
  const room = useRoom(client, ROOM), ids = useRoom(client, ROOM, ({ elements }) => elements.map(({ id }) => id));
  const create = ({ target, currentTarget, clientX, clientY }) => {
    if (target !== currentTarget) return;
    room.create({ type: "note", positionX: clientX, positionY: clientY, originalWidth: SIZE, originalHeight: SIZE, content: "" });
  };
  return createElement("main", { onDoubleClick: create }, ids.map(id => createElement(Note, { key: id, room, id })));
}

function Note({ room, id }) {
  const node = useRef(null), content = useElement(room, id, element => element?.content);
  usePlace(room, id, node);
  return createElement("div", { className: "note", ref: node, onPointerDown: event => drag(event, room, id) },
    createElement("textarea", {
      value: typeof content === "string" ? content : "",
      onPointerDown: event => event.stopPropagation(),
      onChange: event => room.update(id, { content: event.target.value }, { undoGroup: id }),
    }));
}

// Places a node where its element is drawn: at each change, and at each frame while it moves. React renders nothing for that.
function usePlace(room, id, node) {
  useLayoutEffect(() => {
    let frame = 0;
    const place = () => {
      cancelAnimationFrame(frame);
      const element = room.drawn(id);
      if (!element) return;
      const { positionX, positionY, originalWidth, originalHeight, anchorX, anchorY } = element;
      Object.assign(node.current.style, {
        left: `${positionX - anchorX * originalWidth}px`, top: `${positionY - anchorY * originalHeight}px`,
        width: `${originalWidth}px`, height: `${originalHeight}px`,
        transformOrigin: `${anchorX * 100}% ${anchorY * 100}%`, transform: cssTransform(element),
      });
      if (room.isMoving(id)) frame = requestAnimationFrame(place);
    };
    const ends = [
      room.on("change", ids => ids.includes(id) && place()),
      room.on("moving", moving => moving === id && place()),
    ];
    place();
    return () => {
      cancelAnimationFrame(frame);
      for (const end of ends) end();
    };
  }, [room, id, node]);
}

// Reports what a finger did since it touched; others see it at once. The window hears its end also when somebody deletes
// the note meanwhile.
function drag({ currentTarget, isPrimary, pointerId, clientX, clientY }, room, id) {
  if (!isPrimary) return;
  const gesture = room.begin(id), over = new AbortController();
  const on = (type, act) => addEventListener(type, event => event.pointerId === pointerId && act(event), { signal: over.signal });
  currentTarget.setPointerCapture(pointerId);
  on("pointermove", event => gesture.update({ translation: { x: event.clientX - clientX, y: event.clientY - clientY } }));
  on("pointerup", () => (over.abort(), gesture.end()));
  on("pointercancel", () => (over.abort(), gesture.cancel()));
}

function Bar() {
  const room = useRoom(client, ROOM), canUndo = useRoom(client, ROOM, ({ canUndo }) => canUndo);
  const names = useOthers(room, others => others.map(({ name }) => name));
  const { state, lastFailure } = useConnection(client), [refused, setRefused] = useState("");
  useEffect(() => {
    const ends = ["refusal", "denied"].map(event => room.on(event, ({ message }) => setRefused(message)));
    return () => ends.forEach(end => end());
  }, [room]);
  return createElement("header", null,
    createElement("span", { id: "state", title: lastFailure?.message }, state),
    createElement("span", { id: "others" }, names.join(", ") || "nobody else"),
    createElement("button", { id: "undo", disabled: !canUndo, onClick: () => room.undo() }, "Undo"),
    createElement("output", null, refused));
}

createRoot(document.getElementById("root")).render(
  createElement(StrictMode, null, createElement(Bar), createElement(Wall)));
