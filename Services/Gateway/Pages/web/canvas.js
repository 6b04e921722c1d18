"use strict";
const $ = id => document.getElementById(id);
const room = new URLSearchParams(location.search).get("room") || "demo";
const elements = new Map();
const waiting = new Map();
// What others show, by session: their colour and name, where they point and what they have selected.
const others = new Map();
let socket, nextAck = 0, joined = null, pause = 500, people = 0, selected = null;

$("room").value = room;
$("room").onchange = () => location.search = "?room=" + encodeURIComponent($("room").value);

function connect() {
  const url = new URL("/socket.io/?EIO=4&transport=websocket", location.href);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  socket = new WebSocket(url);
  socket.onmessage = message => packet(message.data);
  socket.onclose = () => {
    status("reconnecting");
    waiting.clear();
    setTimeout(connect, pause * (1 + Math.random()));
    pause = Math.min(5000, pause * 2);
  };
}

function packet(text) {
  if (text === "2") return socket.send("3");
  if (text[0] === "0") return socket.send("40" + JSON.stringify(handshake()));
  if (text.startsWith("40")) {
    $("entry").hidden = true;
    return join();
  }
  if (text.startsWith("44")) return refused(JSON.parse(text.slice(2)));
  if (text.startsWith("41")) return refused({ message: "The token has ended.", data: { field: "token" } });
  const found = /^4([23])(\d*)(\[.*)$/s.exec(text);
  if (!found) return;
  const data = JSON.parse(found[3]);
  if (found[1] === "3") {
    const done = waiting.get(+found[2]);
    waiting.delete(+found[2]);
    if (done) done(data[0]);
  } else event(data[0], data[1]);
}

// The token is kept for this tab alone, and never in the address, which others may see.
function handshake() {
  const token = sessionStorage.getItem("token");
  return token ? { token } : {};
}

function refused({ message, data }) {
  status(message);
  if (data && data.field === "token") {
    sessionStorage.removeItem("token");
    $("entry").hidden = false;
  }
}

$("entry").onsubmit = submission => {
  submission.preventDefault();
  sessionStorage.setItem("token", $("token").value.trim());
  $("token").value = "";
  if (socket.readyState === WebSocket.OPEN) socket.send("40" + JSON.stringify(handshake()));
};

function emit(name, payload, done) {
  if (!socket || socket.readyState !== WebSocket.OPEN) return;
  let id = "";
  if (done) waiting.set(id = nextAck++, done);
  socket.send("42" + id + JSON.stringify([name, { roomId: room, ...payload }]));
}

function join() {
  emit("room:join", {}, answer => {
    if (!answer.ok) return status(answer.error.message);
    pause = 500;
    joined = answer;
    people = answer.members.length;
    meet(answer.members);
    look();
    if (selected) select(selected);
    for (const view of elements.values()) view.node.remove();
    elements.clear();
    answer.elements.forEach(show);
    status();
  });
}

function event(name, data) {
  if (name === "element:transformed" || name === "element:updated") show(data.element);
  else if (name === "element:created") show(data);
  else if (name === "elements:created") data.elements.forEach(show);
  else if (name === "elements:transformed") data.elements.forEach(move);
  else if (name === "element:deleted") data.elementIds.forEach(remove);
  else if (name === "elements:changed") {
    data.created.concat(data.changed).forEach(show);
    data.deletedIds.forEach(remove);
  }
  else if (name === "element:transforming") preview(data);
  else if (name === "elements:transforming") data.elements.forEach(preview);
  else if (name === "gesture:ended") show(data.element);
  else if (name === "cursor:moved") point(data);
  else if (name === "selection:changed") mark(data);
  else if (name === "member:joined") people++;
  else if (name === "member:left") people--;
  else if (name === "room:resync") join();
  else if (name === "transform:error" || name === "auth:error") return status(data.message);
  if (data.seq) joined.seq = Math.max(joined.seq, data.seq);
  status();
}

function status(text) {
  $("state").textContent = text || `${people} here · ${elements.size} elements · update ${joined ? joined.seq : 0}`;
}

function meet(members) {
  for (const other of others.values()) other.node.remove();
  others.clear();
  for (const { userId, name, connections } of members) {
    for (const { sid, cursor, selection } of connections) {
      if (sid === joined.sid) continue;
      if (cursor) point({ userId: name || userId, sid, ...cursor });
      if (selection) mark({ userId: name || userId, sid, elementIds: selection });
    }
  }
}

function other({ userId, sid }) {
  if (!others.has(sid)) {
    const node = document.createElement("div");
    node.className = "cursor";
    node.textContent = userId;
    let hue = 0;
    for (const c of sid) hue = (hue * 31 + c.charCodeAt(0)) % 360;
    const color = node.style.background = `hsl(${hue} 60% 45%)`;
    node.hidden = true;
    $("canvas").append(node);
    others.set(sid, { node, color, selection: [] });
  }
  return others.get(sid);
}

function point(data) {
  const { node } = other(data);
  node.hidden = data.x === null;
  Object.assign(node.style, { left: data.x + "px", top: data.y + "px" });
}

function mark(data) {
  other(data).selection = data.elementIds;
  marks();
}

// A selected element has an outline in the colour of the person who selected it.
function marks() {
  for (const view of elements.values()) outline(view);
}

function outline({ node, element }) {
  const holder = [...others.values()].find(other => other.selection.includes(element.id));
  const color = holder ? holder.color : element.id === selected ? "#223" : null;
  node.style.outline = color ? "3px solid " + color : "";
}

function select(id) {
  selected = id;
  emit("selection:set", { elementIds: id ? [id] : [] });
  marks();
}

// Elements outside of the window need not be shown while they are moved.
function look() {
  const { clientWidth: width, clientHeight: height } = $("canvas");
  if (width && height) emit("viewport:set", { x: 0, y: 0, width, height });
}

window.onresize = look;
$("canvas").onpointermove = e => {
  const { left, top } = $("canvas").getBoundingClientRect();
  emit("cursor:moving", { x: e.clientX - left, y: e.clientY - top });
};
$("canvas").onpointerleave = () => emit("cursor:moving", { x: null, y: null });
$("canvas").onpointerdown = e => { if (e.target === $("canvas")) select(null); };

function show(element) {
  let view = elements.get(element.id);
  if (!view) {
    const node = document.createElement("div");
    node.className = "element";
    $("canvas").append(node);
    elements.set(element.id, view = { node });
    gestures(view);
  }
  view.element = element;
  view.drag = null;
  draw(view, element, false);
  outline(view);
}

// An element of a group: what it has besides its geometry stays.
function move(geometry) {
  const view = elements.get(geometry.id);
  if (view) show({ ...view.element, ...geometry });
}

function remove(id) {
  const view = elements.get(id);
  if (view) view.node.remove();
  elements.delete(id);
}

function preview(data) {
  const view = elements.get(data.elementId);
  if (!view || view.drag) return;
  const { roomId, elementId, transform, ...rest } = data;
  draw(view, { ...view.element, ...transform, ...rest }, true);
}

function draw(view, e, isPreview) {
  const width = e.originalWidth * Math.abs(e.scaleX), height = e.originalHeight * Math.abs(e.scaleY);
  Object.assign(view.node.style, {
    width: width + "px", height: height + "px",
    left: e.positionX - width * e.anchorX + "px", top: e.positionY - height * e.anchorY + "px",
    transformOrigin: `${e.anchorX * 100}% ${e.anchorY * 100}%`, transform: `rotate(${e.rotation}deg)`,
  });
  view.node.textContent = e.content || e.type;
  view.node.classList.toggle("preview", isPreview);
}

function gestures(view) {
  const node = view.node;
  let start, wheelEnd;
  const change = fields => {
    view.drag = { ...(view.drag || view.element), ...fields };
    draw(view, view.drag, true);
    const { rotation, scaleX, scaleY, positionX, positionY } = view.drag;
    emit("element:transforming", { elementId: view.element.id, transform: { rotation, scaleX, scaleY }, positionX, positionY });
  };
  const commit = () => {
    if (!view.drag) return;
    const { id, rotation, scaleX, scaleY, positionX, positionY } = view.drag;
    emit("element:transform", { elementId: id, positionX, positionY, transform: { rotation, scaleX, scaleY } },
      answer => { if (answer.ok) show(answer.element); else { show(view.element); status(answer.error.message); } });
  };
  node.onpointerdown = e => { select(view.element.id); node.setPointerCapture(e.pointerId); start = { x: e.clientX, y: e.clientY, ...view.element, pointer: e }; };
  node.onpointermove = e => start && change({
    positionX: start.positionX + e.clientX - start.pointer.clientX,
    positionY: start.positionY + e.clientY - start.pointer.clientY });
  node.onpointerup = () => { start = null; commit(); };
  node.onwheel = e => {
    e.preventDefault();
    const now = view.drag || view.element, step = Math.sign(e.deltaY || e.deltaX);
    change(e.shiftKey ? { scaleX: now.scaleX * (1 - step * 0.05), scaleY: now.scaleY * (1 - step * 0.05) } : { rotation: now.rotation + step * 5 });
    clearTimeout(wheelEnd);
    wheelEnd = setTimeout(commit, 250);
  };
  node.ondblclick = () => emit("element:delete", { elementId: view.element.id }, () => {});
}

$("add").onclick = () => emit("element:create", { element: {
  type: "note", content: "note", positionX: 120 + Math.random() * 400, positionY: 100 + Math.random() * 300, width: 120, height: 80 } },
  answer => { if (!answer.ok) status(answer.error.message); });
const revise = way => emit("history:" + way, {},
  answer => status(!answer.ok ? answer.error.message : answer.undone ? undefined : "nothing to " + way));
$("undo").onclick = () => revise("undo");
$("redo").onclick = () => revise("redo");
onkeydown = e => e.target.tagName !== "INPUT" && (e.ctrlKey || e.metaKey) && e.key.toLowerCase() === "z"
  && revise(e.shiftKey ? "redo" : "undo");
connect();
