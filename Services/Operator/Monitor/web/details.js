// The dialog: one instance, or one room.
import { spark } from "./charts.js";
import { bytes, clock, condition, element, number, rate, show, span, stageName, table, terms } from "./text.js";

const formats = {
  cpu: (value) => `${(value * 100).toFixed(value < 0.1 ? 1 : 0)} %`, memoryBytes: bytes, queueBytes: bytes, outboxBytes: bytes,
  queueAge: span, previewQueueAge: span, previewLateness: span,
};
const rates = new Set(["previewsIn", "previewsOut", "commitsIn", "commitsOut", "updatesIn", "updatesOut", "previewsCollapsed",
  "previewsReturned", "commitsResent", "replays", "snapshots", "resyncs", "slowMembers", "batches", "databaseReads", "intervalChanges", "reconnects"]);

/** "queueAge" in words. */
const words = (name) => name.replace(/[A-Z0-9]+/g, (part) => ` ${part.toLowerCase()}`);
const format = (name) => formats[name] ?? (rates.has(name) ? rate : number);

/** What is shown about one instance or room, until it is closed. */
export class Details {
  /** `fetchRoom` returns what the fan-outs say of a room. */
  constructor(dialog, fetchRoom) {
    this.dialog = dialog;
    this.fetchRoom = fetchRoom;
    this.title = dialog.querySelector("h2");
    this.body = dialog.querySelector("#details-body");
    dialog.querySelector("#details-close").addEventListener("click", () => dialog.close());
    dialog.addEventListener("close", () => { this.shown = null; });
  }

  open(shown) {
    this.shown = shown;
    this.body.replaceChildren();
    show(this.title, shown.room ?? shown.name);
    if (!this.dialog.open) this.dialog.showModal();
  }

  openInstance(stage, name, overview, history) {
    this.open({ stage, name });
    this.update(overview, history);
  }

  async openRoom(room) {
    this.open({ room });
    await this.updateRoom();
  }

  /** Shows the present state of what is open. */
  update(overview, history) {
    if (this.shown?.room) return this.updateRoom();
    if (!this.shown) return;
    const { stage, name } = this.shown;
    const instance = overview.stages.find((each) => each.stage === stage)?.instances.find((each) => each.name === name);
    if (!instance) return this.body.replaceChildren(element("p", {}, "It is not listed any more."));
    const findings = overview.findings.filter((finding) => finding.stage === stage && finding.name === name);
    const key = `${stage}/${name}`;
    const curve = (title, figure) => spark(title, history.series(key, figure), format(figure));
    this.body.replaceChildren(
      ...findings.map((finding) => element("p", { class: "bad" }, `${finding.title}: ${finding.reason}`)),
      terms(element("dl", { class: "facts" }), [
        ["Stage", stageName(stage)], ["Condition", condition(instance.condition).text],
        ["Version", instance.version], ["Process", instance.pid && String(instance.pid)], ["Admin server", instance.admin],
        ["Started", instance.startedAt && `${span(Date.now() / 1000 - instance.startedAt)} ago`],
        ...instance.notes.map((note) => [`Note: ${note.check}`, note.text]),
      ]),
      element("div", { class: "sparks" }, curve("CPU", "cpu"), curve("Memory", "memoryBytes"),
        curve("Previews in", "previewsIn"), ...({ coalescer: [curve("Previews out", "previewsOut")], fanout: [curve("Updates in", "updatesIn")] }[stage] ?? [curve("Commits", "commitsIn")]),
        curve("Oldest in queue", stage === "coalescer" ? "previewQueueAge" : "queueAge")),
      table("Distributions of the last 15 minutes", ["15 minutes", "median", "90 %", "99 %"],
        Object.entries(instance.distributions).map(([each, { p50, p90, p99 }]) => [
          words(each), ...[p50, p90, p99].map((value) => (each === "batchCommits" ? number(value && Math.ceil(value)) : span(value)))])),
      table("Figures", ["figure", "now"], Object.entries(instance.figures).map(([each, value]) => [words(each), format(each)(value)])),
      table("Drops", ["dropped or refused", "a second"], Object.entries(instance.drops).map(([kind, value]) => [kind.replaceAll("_", " "), rate(value)])),
    );
  }

  async updateRoom() {
    const { room } = this.shown;
    const answer = await this.fetchRoom(room);
    if (this.shown?.room !== room || !answer) return;
    if (answer.missing) this.body.replaceChildren(element("p", {}, answer.missing));
    else this.showRoom(answer);
  }

  showRoom(room) {
    this.body.replaceChildren(
      terms(element("dl", { class: "facts" }), [
        ["Fan-out", room.fanout], ["Members", number(room.members)], ["Connections", number(room.connections)],
        ["Elements", number(room.elements)], ["Memory", bytes(room.bytes)], ["Last update", `seq ${room.seq}`],
        ["Updates", rate(room.updatesPerSecond)], ["Previews", rate(room.previewsPerSecond)],
      ]),
      table("Members", ["member", "connections"], (room.people ?? []).map((person) => [person.name || person.userId, number(person.connections)])),
      table("Last updates", ["last updates", "seq", "by", "at"], (room.updates ?? []).toReversed().map((update) => [
        update.event, String(update.seq), update.userId, clock(update.at)])),
    );
  }
}
