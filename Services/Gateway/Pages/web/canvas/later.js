// What is loaded when somebody asks for it: the room in the past, files that go out and files that come in.

import { toCanvas } from "./camera.js";
import { centre } from "./geometry.js";
import { kept } from "./identity.js";
import { $, style } from "./page.js";
import { mayChange } from "./roomcore.js";

/** @typedef {import("./board.js").Board} Board */

/** The names of files that can be imported. */
const FILES = /\.(excalidraw|tldr|json|jsonl)$/i;

/**
 * @param {Board} board @param {import("./playback.js").Page & {locked: () => void}} page
 * @returns {Pick<import("./commands.js").Page, "history" | "export" | "import">}
 */
export function later(board, page) {
  let isInThePast = false;
  receive(board, page);
  // Without tokens everybody may do everything.
  if (kept() !== null) {
    $("share-text").textContent = "Whoever has a token for this room enters it by this link.";
    $("share-box").addEventListener("toggle", () => import("./invite.js").then(({ offer }) => offer(board.room, page.notify)), { once: true });
  }
  return {
    async history() {
      $("menu-box").hidePopover();
      const [{ open }] = await Promise.all([import("./playback.js"), style("playback")]);
      if (isInThePast) return;
      isInThePast = true;
      const playback = await open(board, page);
      if (playback) playback.onClose = () => (isInThePast = false);
      else isInThePast = false;
    },
    async export(kind) {
      const { exportAs } = await import("./export.js");
      await exportAs(kind, board, page.notify);
    },
    async import() {
      $("menu-box").hidePopover();
      const { choose, importFiles } = await import("./import.js");
      await importFiles(await choose(), board, page.notify, centre(board.view));
    },
  };
}

/**
 * Rooms and files of other programs are imported where they are dropped; what else is dropped is not for here.
 * @param {Board} board @param {{notify: (text: string) => void, locked: () => void}} page
 */
function receive(board, { notify, locked }) {
  addEventListener("dragover", event => {
    if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
  });
  addEventListener("drop", async event => {
    const files = [...(event.dataTransfer?.files ?? [])].filter(file => FILES.test(file.name));
    if (files.length === 0) return;
    event.preventDefault();
    if (document.body.classList.contains("in-the-past")) return;
    event.stopPropagation();
    if (!mayChange(board.room)) return locked();
    const { left, top } = board.surface.getBoundingClientRect(), at = toCanvas(board.camera, { x: event.clientX - left, y: event.clientY - top });
    const { importFiles } = await import("./import.js");
    await importFiles(files, board, notify, at);
  }, { capture: true });
}
