// The page for operators: asks for the overview once a second while somebody looks, and shows it.
import { HeatMap, Timeline } from "./charts.js";
import { Details } from "./details.js";
import { History } from "./history.js";
import { Picture } from "./picture.js";
import { clock, element, list, number, rate, show, span, stageName, table } from "./text.js";

const byId = (id) => document.getElementById(id);
const tokenKey = "touchsync-operator-token";

/** The time between two questions, ms; rooms are asked for less often: that costs a fan-out a look at all of them. */
const pause = 1000;
const roomsPause = 3000;

let history = new History();
let overview = null;
let roomsAt = 0;

const details = new Details(byId("details"), (room) => ask(`/rooms?id=${encodeURIComponent(room)}`));
const picture = new Picture(byId("picture"), (stage, name) => details.openInstance(stage, name, overview, history));
const heatMaps = [
  new HeatMap(byId("charts"), "previewAge", "Preview age"), new HeatMap(byId("charts"), "commitLatency", "Commit latency"),
  new HeatMap(byId("charts"), "batchDuration", "PostgreSQL batches"),
];
const timeline = new Timeline(byId("timeline"), byId("past"));

// MARK: Asking

/** The answer to a question, or null: then the page says why. */
async function ask(path) {
  const token = sessionStorage.getItem(tokenKey);
  let response;
  try {
    response = await fetch(path, {
      headers: token ? { authorization: `Bearer ${token}` } : {}, cache: "no-store", signal: AbortSignal.timeout(5000),
    });
  } catch {
    state("bad", "No connection to the monitor");
    return null;
  }
  if (response.ok) return response.json();
  const text = (await response.text()).trim();
  if (response.status === 404) return { missing: text };
  refused(response.status, text, token !== null);
  return null;
}

function refused(status, message, hadToken) {
  if (status === 401) {
    sessionStorage.removeItem(tokenKey);
    reveal("entry");
    show(byId("entry-error"), hadToken ? message : "");
    state("", "Signed out");
    if (!byId("entry").contains(document.activeElement)) byId("token").focus();
  } else if (status === 403) {
    reveal("off");
    show(byId("off-title"), "This page is closed");
    show(byId("off-text"), message);
    state("warn", "Closed");
  } else {
    state("warn", message);
  }
}

function reveal(id) {
  for (const each of ["entry", "off", "overview"]) byId(each).hidden = each !== id;
  byId("sign-out").hidden = id !== "overview" || !sessionStorage.getItem(tokenKey);
}

function state(tone, text) {
  byId("state").className = `pill ${tone}`;
  show(byId("state"), text);
}

async function look() {
  if (document.hidden || !byId("entry").hidden) return;
  const answer = await ask(`/overview?since=${history.since}`);
  if (!answer) return;
  if (answer.rounds === 0 || answer.stages.every((stage) => stage.instances.length === 0)) {
    return explain(`There is no daemon to watch yet: the list of daemons ${answer.listRefusal ?? "is empty"}.`);
  }
  history.add(answer.history);
  overview = answer;
  reveal("overview");
  present();
}

function explain(text) {
  reveal("off");
  show(byId("off-title"), "Nothing is gathered here");
  show(byId("off-text"), text);
  state("warn", "Nothing gathered");
}

// MARK: Showing

function present() {
  const { findings, at } = overview;
  const critical = findings.filter((finding) => finding.severity === "critical").length;
  const count = `${findings.length} ${findings.length === 1 ? "problem" : "problems"}`;
  state(critical ? "bad" : findings.length ? "warn" : "good", findings.length ? count : "All is well");
  show(byId("time"), clock(at));
  list(byId("problems"), findings, (finding) => `${finding.trouble} ${finding.stage}/${finding.name}`, makeProblem, updateProblem);
  picture.update(overview);
  updateTiles();
  for (const map of heatMaps) map.update(overview, history);
  timeline.update(overview, history);
  updateDrops();
  details.update(overview, history);
  if (at - roomsAt >= roomsPause) updateRooms();
}

function makeProblem(finding) {
  return element("article", { class: `problem ${finding.severity}` },
    element("header", {}, element("h2", {}, `${finding.title}: ${finding.name}`), element("span", { class: "since" })),
    element("p", { class: "reason" }),
    element("p", { class: "help" }, `${finding.advice} Handbook: `,
      element("a", { href: `/handbook#${finding.trouble}` }, element("code", {}, `Services/HANDBOOK.md#${finding.trouble}`))));
}

function updateProblem(article, finding) {
  show(article.querySelector(".reason"), finding.reason);
  show(article.querySelector(".since"), `for ${span((overview.at - finding.since) / 1000)}`);
}

function updateTiles() {
  const of = Object.fromEntries(overview.stages.map((stage) => [stage.stage, stage.figures]));
  const { previewAge, previewWait, commitLatency, batchDuration } = overview.distributions;
  const slowed = ["roomsAt33", "roomsAt66", "roomsAt200"].map((name) => of.gateway[name] ?? 0);
  const intervals = ["33 ms", "66 ms", "200 ms"].map((interval, index) => [interval, slowed[index]]).filter(([, rooms]) => rooms);
  const tiles = [
    ["Preview age", span(previewAge?.p50), `99 % below ${span(previewAge?.p99)}`],
    ["Waiting in coalescer", span(previewWait?.p50), `99 % below ${span(previewWait?.p99)}`],
    ["Commit latency", span(commitLatency?.p50), `99 % below ${span(commitLatency?.p99)}`],
    ["PostgreSQL batch", span(batchDuration?.p50), `${commitsOf(of.committer)} each, ${rate(of.committer.batches)}`],
    ["Coalescing", overview.coalescingRatio ? `${overview.coalescingRatio.toFixed(1)} : 1` : "–", "previews in : out"],
    ["Rooms slowed", number(slowed.reduce((sum, rooms) => sum + rooms, 0)),
      intervals.map(([interval, rooms]) => `${rooms} at ${interval}`).join(", ") || "none waits"],
    ["Slow apps", number(of.gateway.slowApps), `of ${number(of.gateway.connections)} connected`],
    ["Replays", rate(of.fanout.replays), `${rate(of.fanout.snapshots)} whole rooms`],
  ];
  list(byId("tiles"), tiles, ([name]) => name, ([name]) => element("div", { class: "tile" },
    element("dt", {}, name), element("dd"), element("dd", { class: "note" })), (tile, [, value, note]) => {
    show(tile.children[1], value);
    show(tile.children[2], note);
  });
}

/** How many commits a batch has, in words. */
function commitsOf({ commitsOut, batches }) {
  const count = number(batches ? commitsOut / batches : null);
  return `${count} ${count === "1" || count === "1.0" ? "commit" : "commits"}`;
}

function updateDrops() {
  const rows = overview.stages.flatMap((stage) => Object.entries(stage.drops)
    .map(([kind, value]) => [stageName(stage.stage), kind.replaceAll("_", " "), rate(value)]));
  byId("drops").replaceChildren(rows.length ? table("Drops", ["stage", "what", "rate"], rows)
    : element("p", { class: "dim" }, "Nothing was dropped."));
}

async function updateRooms() {
  roomsAt = overview.at;
  const answer = await ask("/rooms");
  if (!answer) return;
  const { rooms } = answer;
  const problems = answer.silent.map(({ fanout, reason }) => `${fanout} ${reason}.`);
  const focused = document.activeElement?.dataset.room;
  const open = (room) => element("button", { type: "button", "data-room": room, onclick: () => details.openRoom(room) }, room);
  byId("rooms").replaceChildren(
    ...problems.map((problem) => element("p", { class: "dim" }, problem)),
    rooms.length ? table("Most active rooms", ["room", "members", "elements", "updates", "previews"], rooms.slice(0, 20).map((room) => [
      open(room.roomId), number(room.members), number(room.elements), rate(room.updatesPerSecond), rate(room.previewsPerSecond)]))
      : element("p", { class: "dim" }, problems.length ? "" : "No room is in memory."));
  if (focused) byId("rooms").querySelector(`[data-room="${CSS.escape(focused)}"]`)?.focus();
}

// MARK: Beginning

/** Takes the token out of the address, where the link of `touchsync up` has it: what is behind # is never sent. */
function takeToken() {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (!token) return;
  sessionStorage.setItem(tokenKey, token);
  window.history.replaceState(null, "", location.pathname + location.search);
  byId("entry").hidden = true;
}

byId("entry-form").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem(tokenKey, byId("token").value);
  byId("token").value = "";
  byId("entry").hidden = true;
  look();
});

byId("sign-out").addEventListener("click", () => {
  sessionStorage.removeItem(tokenKey);
  history = new History();
  refused(401, "", false);
});

document.addEventListener("visibilitychange", look);

addEventListener("hashchange", () => {
  takeToken();
  look();
});

async function run() {
  await look();
  setTimeout(run, pause);
}
takeToken();
run();
