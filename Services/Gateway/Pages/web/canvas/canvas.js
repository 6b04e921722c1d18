// The page at /: a room of the canvas. It puts the parts together; each is a file of its own.

import { Actions } from "./actions.js";
import { Board } from "./board.js";
import { isCamera, toScreen } from "./camera.js";
import { Clipboard } from "./clipboard.js";
import { COMMANDS } from "./commands.js";
import { Connection } from "./connection.js";
import { pullOff } from "./copying.js";
import { Editor } from "./editing.js";
import { entered } from "./entry.js";
import { centre } from "./geometry.js";
import { middleOf } from "./handles.js";
import { kept, rename } from "./identity.js";
import { Keyboard } from "./keyboard.js";
import { later } from "./later.js";
import { notify, say } from "./notices.js";
import { $, isCalm, paced } from "./page.js";
import { Pointers } from "./pointer.js";
import { Governor, QUALITIES } from "./quality.js";
import { mayChange } from "./roomcore.js";
import { Rulers } from "./rulers.js";
import { BoardStage } from "./stage.js";
import { browser, isOneOf, tab } from "./storage.js";
import { storable } from "./texts.js";
import * as theme from "./theme.js";
import { Tools } from "./tools.js";
import * as toolbar from "./toolbar.js";
import { refused } from "./words.js";

const roomId = new URLSearchParams(location.search).get("room") || "demo";
/** What a room may be called (the server's rule). */
const ROOM = /^[\w.:-]{1,64}$/, RULE = "A room's name has 1 to 64 letters, digits, and . _ : -";
/** Where the browser keeps nothing for the page. */
const GUEST = "This browser keeps nothing for this page: you are a guest, and somebody else after a reload. What is not sent by then is lost.";

/** What somebody is told whom the room does not let in. */
const STRANGER = "You are not invited to this room. Ask its owner, or enter the name of another room above.";

/** The room's name is a field: another one leads to another room. */
function showRoom() {
  $("room").value = roomId;
  $("room-form").addEventListener("submit", (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const name = $("room").value.trim();
    if (!ROOM.test(name)) return notify(`${RULE}.`);
    location.search = `?room=${encodeURIComponent(name)}`;
  });
  document.title = `${roomId} · TouchSync`;
}

/** @param {string} text why this person cannot enter */
function deny(text) {
  $("denied").hidden = false;
  $("denied-text").textContent = text;
}

/** No room is called so. */
function denyName() {
  deny(`No room can be called “${roomId.slice(0, 80)}”. ${RULE}. Enter another one above.`);
  $("state").hidden = true;
  $("room").select();
}

/** @param {string} id of a sheet that is opened, or closed: keys go on in it, and back to where they were */
function toggle(id) {
  $(id).togglePopover();
  if ($(id).matches(":popover-open")) $(id).querySelector("[aria-pressed=true], button").focus();
}

/** The link to share: the address without anything else in it. */
function showLink() {
  const link = `${location.origin}${location.pathname}?room=${encodeURIComponent(roomId)}`;
  $("link").value = link;
  $("copy").addEventListener("click", async () => {
    $("link").select();
    // Without a secure context there is no clipboard: the link is selected, to be copied by hand.
    const done = await navigator.clipboard?.writeText($("link").value).then(() => true, () => false);
    notify(done ? "The link is copied. Open it in another window." : "Copy the selected link.");
  });
}

/** @param {{seat: number, name: string, colour: string}} own */
function showIdentity(own) {
  const isOpen = kept() === null;
  $("own-name").value = own.name;
  $("own-colour").value = own.colour;
  // Robots have no tokens.
  for (const part of [$("who"), ...document.querySelectorAll("[data-robots]")]) part.hidden = !isOpen;
  $("who").addEventListener("submit", async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    await rename(own.seat, { name: storable($("own-name").value).trim() || own.name, colour: $("own-colour").value });
    location.reload();
  });
}

/** @param {Board} board */
function chooseQuality(board) {
  const governor = new Governor(), choice = $("quality");
  choice.value = browser.read("quality", isOneOf(QUALITIES)) ?? "auto";
  const apply = () => {
    const level = choice.value === "auto" ? governor.level : choice.value;
    if (level === board.quality) return;
    board.setQuality(level);
    // Without previews there are no cursors: those that are shown would stand still.
    $("cursors").hidden = level === "final";
    $("quality-note").hidden = level === "full";
    $("quality-note").textContent = level === "fewer" ? "Less motion" : "No motion";
    // Where nothing moves any more nothing can be measured.
    if (choice.value === "auto" && level === "final") setTimeout(() => governor.lift() && apply(), governor.rest);
  };
  choice.addEventListener("change", () => {
    const wasCalm = isCalm();
    browser.write("quality", choice.value);
    // Whether elements move is told when the room is joined.
    if (isCalm() === wasCalm) apply();
    else location.reload();
  });
  apply();
  return (/** @type {number} */ now, /** @type {boolean} */ isMoving) => {
    if (isMoving && !document.hidden && governor.frame(now)) apply();
  };
}

/** One hint, the first time that something is selected here. */
function hint() {
  if (browser.read("hinted", isOneOf([true]))) return;
  browser.write("hinted", true);
  notify(matchMedia("(pointer: coarse)").matches
    ? "Drag it with one finger, turn and scale it with two."
    : "Drag it, or pull its handles. Press ? for all keys.");
}

/**
 * Keeps where the camera was, for a reload.
 * @param {Board} board
 */
function keepCamera(board) {
  const key = `camera ${roomId}`, former = tab.read(key, isCamera);
  if (former) board.look(former);
  const keep = paced(300, () => tab.write(key, board.camera));
  const show = () => ($("zoom").textContent = `${Math.round(board.camera.zoom * 100)} %`);
  board.surface.addEventListener("camera", () => {
    show();
    keep();
  });
  return former !== null;
}

// What comes later may not come: there is no network, or the server has another version of it by now.
addEventListener("unhandledrejection", ({ reason }) => {
  if (/import|module/i.test(String(reason?.message))) notify("A part of this page did not come. Reload it to have all of it.");
});

async function start() {
  showRoom();
  showLink();
  $("help").addEventListener("toggle", () => import("./help.js").then(({ fill }) => fill()), { once: true });
  // The browser would look for it when the page opens, too, if the page had it.
  $("help").querySelector("button").autofocus = true;
  // It has one button: from there keys would go behind it.
  $("help").addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => event.key === "Tab" && event.preventDefault());
  if (!ROOM.test(roomId)) return denyName();
  // From here on nothing waits: what the room says when it is joined has to find who hears it.
  const { own, client } = await entered, room = client.room(roomId);
  showIdentity(own);
  if (own.isGuest) notify(GUEST);
  const layers = { surface: $("canvas"), world: $("world"), overlay: $("overlay"), cursors: $("cursors") };
  const board = new Board(room, layers), actions = new Actions(board, text => (notify(text), say(text)));
  const editor = new Editor(board, layers.overlay, {
    closed: () => board.surface.focus({ preventScroll: true }),
    kept: (text, element) => actions.keep(text, element),
    refused: refusal => notify(refused(refusal, room.members)),
    pressed(keys) {
      const found = Object.values(COMMANDS).find(command => command.isForText && command.keys.includes(keys));
      found?.run(actions, page);
      return found !== undefined;
    },
  });
  actions.write = (id, options) => editor.open(id, undefined, options);
  const locked = () => notify(mayChange(room) ? "It is locked. Unlock it first." : "You may look at this room, but not change it.");
  /** @type {BoardStage} */
  const stage = new BoardStage(board, {
    locked, edit: id => actions.edit(id), copy: () => pullOff(actions), ask: at => page.menu(at),
  });
  const pointers = new Pointers(board.surface, stage), rulers = new Rulers(board, layers.overlay, { say, locked });
  const tools = stage.tools = new Tools(board, actions, (name, isLocked) => {
    stage.isPanning = name === "hand";
    toolbar.showTool(name, isLocked);
  });
  let isJoined = false;
  /** @type {import("./soon.js").Soon | undefined} */
  let extras = undefined;
  const soon = room.joined.then(() => import("./soon.js")).then(({ start }) => (extras = start(board, actions, page)));
  const clipboard = new Clipboard(actions, () => (stage.pointing ? board.place(stage.pointing) : undefined), locked);
  /**
   * Where the menu was opened: what it pastes comes there.
   * @type {import("./geometry.js").Point | undefined}
   */
  let asked = undefined;
  const page = {
    say, locked,
    paste: () => clipboard.paste(asked),
    async menu(/** @type {import("./geometry.js").Point | undefined} */ at = undefined) {
      const { open } = await import("./menu.js"), frame = board.frameOf(board.selection.ids);
      asked = at && board.place(at);
      open(actions, page, at ?? toScreen(board.camera, frame ? middleOf(frame) : centre(board.view)));
    },
    help: () => $("help").togglePopover(),
    animate: () => toggle("animate-box"),
    ...later(board, { notify, say, stage, locked }),
    tool: (/** @type {import("./tools.js").ToolName} */ name) => tools.choose(name),
    make: () => tools.make(),
    colours: () => soon.then(() => toggle("colour-box")),
    pictures: () => import("./pictures.js").then(({ choosePictures }) => choosePictures(actions)),
    space(/** @type {boolean} */ isDown) {
      stage.isPanning = isDown || tools.name === "hand";
      document.body.classList.toggle("panning", isDown);
    },
    escape() {
      const wasBusy = board.recorder !== undefined || extras?.following.stop() === true;
      board.record(undefined);
      if (pointers.abort() || wasBusy) return;
      if (tools.draws) return tools.choose("select");
      board.selection.clear();
    },
  };
  new Keyboard(board, actions, page);
  toolbar.wire(document, actions, page);
  toolbar.fillAnimations(actions);
  tools.choose("select");
  for (const button of document.querySelectorAll("[data-robots]")) button.addEventListener("click", async () => (await soon).load.robots());
  $("crowd").addEventListener("click", async () => (await soon).load.crowd());
  const connection = new Connection(client, room, () => board.people.count, say);
  const hadCamera = keepCamera(board), measure = chooseQuality(board);
  theme.start(() => extras?.drawMinimap());

  board.people.onFollow = async person => {
    $("people-box").hidePopover();
    (await soon).following.start(person);
  };
  board.onRecord = toolbar.showRecording;
  board.onSelect = ids => {
    toolbar.showSelection(actions);
    extras?.colours.show();
    if (ids.length === 0) return;
    hint();
  };
  board.onChange = () => {
    toolbar.showSelection(actions);
    extras?.colours.show();
    toolbar.showHistory(actions);
    $("empty").hidden = !isJoined || room.elements.length > 0;
  };
  board.onDraw = (now, isMoving) => {
    measure(now, isMoving);
    rulers.draw();
    editor.draw();
    extras?.draw();
  };
  board.surface.addEventListener("wheel", event => stage.wheel(event), { passive: false });
  board.surface.addEventListener("dblclick", event => {
    // On the bare canvas alone: not on a handle, a guide or a text that is written, and not while the hand moves it.
    const isBare = event.target === board.surface && Object.keys(stage.hit(/** @type {any} */ (event))).length === 0;
    if (isBare && !stage.isPanning && mayChange(room)) actions.createAt(board.place(stage.at(/** @type {any} */ (event))));
  });
  board.surface.addEventListener("contextmenu", event => {
    if (event.target instanceof HTMLTextAreaElement) return;
    event.preventDefault();
    // A finger asks when it is lifted, and a key by its command.
    if (event.button === 2 || event.ctrlKey) stage.ask(stage.at(/** @type {any} */ (event)), board.scene.idAt(event.target));
  });
  room.on("refusal", refusal => notify(refused(refusal, room.members)));
  room.on("denied", refusal => deny(refusal.code === "forbidden" ? STRANGER : refused(refusal)));
  room.on("joined", () => ($("denied").hidden = true));
  room.joined.then(() => {
    isJoined = true;
    if (!hadCamera) board.fit();
    board.onChange();
    connection.show();
  });
  connection.show();
}

start();
