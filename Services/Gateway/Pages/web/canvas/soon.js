// What comes when the room is shown: nobody needs it to see the room, or to move things in it.

import { ColourBox } from "./colourbox.js";
import { Following } from "./follow.js";
import { Load } from "./load.js";
import { Minimap } from "./minimap.js";
import { notify, say } from "./notices.js";
import { $, paced } from "./page.js";
import { TextBar } from "./textbar.js";
import * as tips from "./tips.js";

/** @typedef {import("./board.js").Board} Board */
/** @typedef {Awaited<ReturnType<typeof start>>} Soon */

/** @param {Board} board */
function startMinimap(board) {
  const map = new Minimap($("minimap"), at => {
    const { width, height } = board.view;
    board.look({ ...board.camera, x: at.x - width / 2, y: at.y - height / 2 });
  }, () => board.frames.want());
  return paced(120, () => {
    const { boxes, ties } = board.past ?? board.scene;
    map.draw(boxes, board.view, board.past ? new Set() : board.moving, board.people.places, ties.lines);
  });
}

/** @param {Board} board @param {import("./actions.js").Actions} actions @param {import("./commands.js").Page} page */
export function start(board, actions, page) {
  const textBar = new TextBar(actions, page), drawMinimap = startMinimap(board);
  tips.start();
  board.frames.want();
  return {
    colours: new ColourBox(actions), following: new Following(board, say), drawMinimap,
    load: new Load(board, actions, notify),
    draw() {
      textBar.draw();
      drawMinimap();
    },
  };
}
