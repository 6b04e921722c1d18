// The living picture: the stages with their instances, and what flows between them.
import { condition, element, list, number, rate, show, span, stageName, terms } from "./text.js";

const vector = (name, attributes) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
};

const nodes = ["apps", "gateway", "committer", "database", "coalescer", "fanout"];

/** What flows from one node to another: lines of text, and how much it is a second. */
const edges = [
  ["apps", "gateway", (p) => [["previews", p.gateway.previewsIn], ["commits", p.gateway.commitsIn]]],
  ["gateway", "coalescer", (p) => [["previews", p.coalescer.previewsIn]]],
  ["gateway", "committer", (p) => [["commits", p.committer.commitsIn]]],
  ["committer", "database", (p) => [["batches", p.committer.batches]]],
  ["coalescer", "fanout", (p) => [["previews", p.coalescer.previewsOut]]],
  ["committer", "fanout", (p) => [["updates", p.committer.updatesOut]]],
  ["fanout", "gateway", (p) => [["updates", p.gateway.updatesOut], ["previews", p.fanout.previewsOut]]],
];

/** Lines of figures in each node. */
const facts = {
  apps: (p) => [["connected", number(p.gateway.connections)], ["slow", number(p.gateway.slowApps)]],
  gateway: (p) => [
    ["in flight", number(p.gateway.queueCommits)], ["oldest", span(p.gateway.queueAge)],
    ["previews late", span(p.gateway.previewLateness)],
  ],
  coalescer: (p, o) => [
    ["coalescing", o.coalescingRatio ? `${o.coalescingRatio.toFixed(1)} : 1` : "–"],
    ["held", number(p.coalescer.queuePreviews)], ["oldest", span(p.coalescer.previewQueueAge)],
  ],
  committer: (p) => [["waiting", number(p.committer.queueCommits)], ["oldest", span(p.committer.queueAge)]],
  fanout: (p) => [
    ["rooms", number(p.fanout.rooms)], ["replays", rate(p.fanout.replays)], ["behind", number(p.fanout.shardLag)],
  ],
  database: (p, o) => [
    ["batch", span(o.distributions.batchDuration?.p50)], ["connections", number(p.committer.databaseConnections)],
  ],
};

/** Draws the pipeline into a container; `choose` is called with a stage and the name of an instance. */
export class Picture {
  constructor(container, choose) {
    this.container = container;
    this.choose = choose;
    this.drawing = vector("svg", { "aria-hidden": "true" });
    container.append(this.drawing);
    this.nodes = new Map(nodes.map((name) => [name, this.makeNode(name)]));
    this.edges = edges.map(([from, to, amounts]) => this.makeEdge(from, to, amounts));
    new ResizeObserver(() => this.arrange()).observe(container);
  }

  makeNode(name) {
    const isStage = name !== "apps" && name !== "database";
    const title = { apps: "Apps", database: "PostgreSQL" }[name] ?? stageName(name);
    const node = {
      box: element("section", { class: isStage ? "node" : "node outer", "data-node": name, "aria-label": title }),
      count: element("span", { class: "count" }), facts: element("dl"), instances: element("ul"),
    };
    node.box.append(element("h3", {}, title[0].toUpperCase() + title.slice(1), isStage ? node.count : null), node.facts);
    if (isStage) node.box.append(node.instances);
    this.container.append(node.box);
    return node;
  }

  makeEdge(from, to, amounts) {
    const edge = {
      from, to, amounts, line: vector("path", { class: "line" }), dots: vector("path", { class: "dots" }),
      labels: [0, 1].map(() => vector("text", { class: "edge-label" })),
    };
    this.drawing.append(edge.line, edge.dots, ...edge.labels);
    return edge;
  }

  /** Shows an overview. */
  update(overview) {
    const figures = Object.fromEntries(overview.stages.map((stage) => [stage.stage, stage.figures]));
    const broken = new Map();
    for (const finding of overview.findings) {
      if (broken.get(finding.stage) !== "bad") broken.set(finding.stage, finding.severity === "critical" ? "bad" : "warn");
    }
    for (const [name, node] of this.nodes) {
      terms(node.facts, facts[name](figures, overview));
      const stage = overview.stages.find((stage) => stage.stage === name);
      node.box.classList.toggle("bad", broken.get(name) === "bad");
      node.box.classList.toggle("warn", broken.get(name) === "warn");
      if (stage) this.updateStage(node, stage);
    }
    for (const edge of this.edges) this.updateEdge(edge, edge.amounts(figures));
    this.arrange();
  }

  updateStage(node, stage) {
    show(node.count, `${stage.ready} of ${stage.instances.length} ready`);
    list(node.instances, stage.instances, (instance) => instance.name, (instance) => element("li", {}, element("button", {
      type: "button", class: "instance", onclick: () => this.choose(stage.stage, instance.name),
    })), (item, instance) => {
      const button = item.firstElementChild;
      const { text, tone } = condition(instance.condition);
      button.className = `instance ${tone}`;
      show(button, instance.condition === "ready" ? instance.name : `${instance.name}: ${text}`);
    });
  }

  updateEdge(edge, amounts) {
    const total = amounts.reduce((sum, [, amount]) => sum + (amount ?? 0), 0);
    edge.dots.classList.toggle("moving", total > 0);
    edge.dots.classList.toggle("fast", total >= 200);
    edge.labels.forEach((label, index) => show(label, amounts[index] ? `${number(amounts[index][1])} ${amounts[index][0]}` : ""));
  }

  /** Draws the edges between the boxes, wherever these are now. */
  arrange() {
    const origin = this.container.getBoundingClientRect();
    if (origin.width === 0) return;
    const boxes = new Map([...this.nodes].map(([name, node]) => {
      const box = node.box.getBoundingClientRect();
      return [name, { left: box.left - origin.left, right: box.right - origin.left, top: box.top - origin.top,
        bottom: box.bottom - origin.top, x: (box.left + box.right) / 2 - origin.left, y: (box.top + box.bottom) / 2 - origin.top }];
    }));
    const isTall = boxes.get("committer").top >= boxes.get("gateway").bottom;
    this.drawing.classList.toggle("tall", isTall);
    for (const edge of this.edges) {
      const { path, x, y } = (isTall ? tallRoute : wideRoute)(edge, boxes.get(edge.from), boxes.get(edge.to));
      edge.line.setAttribute("d", path);
      edge.dots.setAttribute("d", path);
      edge.labels.forEach((label, index) => {
        label.setAttribute("x", x);
        label.setAttribute("y", y + index * 15);
      });
    }
  }
}

/** Two rows: straight to the right and straight down, and from the fan-out across to the gateway. */
function wideRoute(edge, from, to) {
  if (edge.from === "fanout") {
    const path = `M ${from.left + 20} ${from.top} L ${to.right - 20} ${to.bottom}`;
    return { path, x: (from.left + to.right) / 2 + 20, y: (from.top + to.bottom) / 2 - 12 };
  }
  if (to.top > from.bottom) {
    const x = Math.min(from.x, to.x), y = (from.bottom + to.top) / 2;
    return { path: `M ${x} ${from.bottom} L ${x} ${to.top}`, x: x + (edge.from === "gateway" ? -46 : 46), y };
  }
  return { path: `M ${from.right} ${from.y} L ${to.left} ${from.y}`, x: (from.right + to.left) / 2, y: from.y - 22 };
}

/** One below the other: straight down, and around the right side where nodes lie between. */
function tallRoute(edge, from, to) {
  const isNext = to.top > from.bottom && to.top - from.bottom < 60;
  if (isNext) {
    return { path: `M ${from.x} ${from.bottom} L ${to.x} ${to.top}`, x: from.x + 12, y: (from.bottom + to.top) / 2 - 3 };
  }
  const lane = { gateway: 18, committer: 34, fanout: 56 }[edge.from];
  const side = from.right + lane;
  const end = edge.from === "fanout" ? to.y : to.y - 10 + lane / 2;
  const path = `M ${from.right} ${from.y} C ${side} ${from.y} ${side} ${from.y} ${side} ${from.y + Math.sign(end - from.y) * 20} `
    + `L ${side} ${end - Math.sign(end - from.y) * 20} C ${side} ${end} ${side} ${end} ${to.right} ${end}`;
  return { path, x: -1000, y: 0 };
}
