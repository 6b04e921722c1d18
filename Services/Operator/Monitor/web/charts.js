// Charts on canvases: heat maps of distributions, timelines of conditions, and small curves.
import { quantile } from "./history.js";
import { clock, condition, element, list, show, span } from "./text.js";

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** A canvas's context at the screen's resolution, cleared; null while it is not shown. */
function prepare(canvas) {
  const { width, height } = canvas.getBoundingClientRect();
  if (width === 0) return null;
  const scale = window.devicePixelRatio || 1;
  const [pixelsX, pixelsY] = [Math.round(width * scale), Math.round(height * scale)];
  if (canvas.width !== pixelsX || canvas.height !== pixelsY) [canvas.width, canvas.height] = [pixelsX, pixelsY];
  const context = canvas.getContext("2d");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  return { context, width, height };
}

/** A distribution over time: how much lies in each bucket, with lines for the median and the 99th percentile. */
export class HeatMap {
  constructor(container, name, title) {
    this.name = name;
    this.canvas = element("canvas", { role: "img" });
    this.figures = element("span", { class: "figures" });
    container.append(element("section", { class: "panel chart" },
      element("header", {}, element("h2", {}, title), this.figures), element("figure", {}, this.canvas)));
    this.title = title;
  }

  update(overview, history) {
    const all = overview.distributions[this.name];
    const text = all?.p50 === null || all === undefined ? "nothing measured in the last 15 minutes"
      : `median ${span(all.p50)}, 99 % ${span(all.p99)}`;
    show(this.figures, text);
    this.canvas.setAttribute("aria-label", `${this.title}: ${text}`);
    const surface = prepare(this.canvas);
    const heat = history.heat.get(this.name);
    if (surface) this.draw(surface, heat ?? { bounds: [0.001, 0.01, 0.1, 1], columns: new Map() }, history.columns);
  }

  draw({ context, width, height }, { bounds, columns }, starts) {
    const area = { left: 52, right: width - 4, top: 6, bottom: height - 20 };
    const cell = { width: (area.right - area.left) / starts.length, height: (area.bottom - area.top) / (bounds.length + 1) };
    const bottom = (bucket) => area.bottom - bucket * cell.height;
    this.axes(context, area, bottom, bounds, starts);
    const heat = colour("--heat");
    const counts = starts.map((at) => columns.get(at) ?? []);
    counts.forEach((sparse, column) => {
      const total = sparse.reduce((sum, value, index) => (index % 2 ? sum + value : sum), 0);
      for (let index = 0; index < sparse.length; index += 2) {
        context.fillStyle = `rgba(${heat}, ${0.12 + 0.78 * Math.sqrt(sparse[index + 1] / total)})`;
        context.fillRect(area.left + column * cell.width, bottom(sparse[index] + 1), Math.max(1, cell.width - 0.5), cell.height - 1);
      }
    });
    for (const [part, name] of [[0.5, "--good"], [0.99, "--warn"]]) {
      this.line(context, area, cell, bounds, counts.map((sparse) => quantile(bounds, sparse, part)), colour(name));
    }
  }

  axes(context, area, bottom, bounds, starts) {
    context.font = "11px system-ui, sans-serif";
    context.fillStyle = colour("--dim");
    context.strokeStyle = colour("--line");
    context.lineWidth = 1;
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const [index, bound] of bounds.entries()) {
      if (![0.001, 0.01, 0.1, 1].includes(bound)) continue;
      const y = Math.round(bottom(index + 1)) + 0.5;
      context.fillText(span(bound), area.left - 6, y);
      context.beginPath();
      context.moveTo(area.left, y);
      context.lineTo(area.right, y);
      context.stroke();
    }
    context.textBaseline = "alphabetic";
    const last = starts.length - 1;
    for (const [index, align] of [[0, "left"], [last / 2, "center"], [last, "right"]]) {
      context.textAlign = align;
      const x = area.left + (area.right - area.left) * (index / last);
      if (starts[last] > 0) context.fillText(clock(starts[Math.round(index)]), x, area.bottom + 15);
    }
  }

  line(context, area, cell, bounds, values, stroke) {
    context.strokeStyle = stroke;
    context.lineWidth = 1.5;
    context.beginPath();
    let isDown = false;
    values.forEach((value, column) => {
      if (value === null) {
        isDown = false;
        return;
      }
      const bucket = bounds.findIndex((bound) => value <= bound);
      const index = bucket < 0 ? bounds.length : bucket;
      const lower = index === 0 ? 0 : bounds[index - 1];
      const part = index < bounds.length ? (value - lower) / (bounds[index] - lower) : 0.5;
      const [x, y] = [area.left + (column + 0.5) * cell.width, area.bottom - (index + part) * cell.height];
      if (!isDown) context.moveTo(x - 1, y);
      context.lineTo(x, y);
      isDown = true;
    });
    context.stroke();
  }
}

/** When each instance was how, and what was found in that time. */
export class Timeline {
  constructor(container, past) {
    this.container = container;
    this.past = past;
  }

  update(overview, history) {
    const [end, start] = [overview.at, overview.at - 15 * 60 * 1000];
    const instances = [...history.instances.values()];
    list(this.container, [...instances.flatMap((each) => [["name", each], ["bar", each]]), ["axis", null]],
      ([kind, each]) => (each ? `${kind} ${each.stage}/${each.name}` : kind), ([kind]) => this.make(kind, start, end),
      (child, [kind, each]) => {
        if (kind === "name") show(child, each.name);
        if (kind === "bar") this.draw(child, each, start, end);
        if (kind === "axis") [start, (start + end) / 2, end].forEach((at, index) => show(child.children[index], clock(at)));
      });
    this.tell(overview);
  }

  make(kind) {
    if (kind === "name") return element("span");
    if (kind === "bar") return element("canvas", { role: "img" });
    return element("div", { class: "axis", "aria-hidden": "true" }, element("span"), element("span"), element("span"));
  }

  draw(canvas, instance, start, end) {
    const outages = instance.conditions.filter(([name]) => name !== "ready")
      .map(([name, from, to]) => `${condition(name).text} for ${span((to - from) / 1000)} from ${clock(from)}`);
    canvas.setAttribute("aria-label", `${instance.name}: ${outages.join(", ") || "ready all the time"}`);
    const surface = prepare(canvas);
    if (!surface) return;
    const { context, width, height } = surface;
    context.fillStyle = colour("--raised");
    context.fillRect(0, 0, width, height);
    const x = (at) => Math.max(0, ((at - start) / (end - start)) * width);
    for (const [name, from, to] of instance.conditions) {
      const { tone } = condition(name);
      context.fillStyle = colour(tone === "" ? "--good" : tone === "bad" ? "--bad" : "--warn");
      context.globalAlpha = tone === "" ? 0.55 : 1;
      // An outage of a second is less than a pixel wide.
      context.fillRect(x(from), 0, Math.max(tone === "" ? 0 : 3, x(to) - x(from)), height);
    }
    context.globalAlpha = 1;
  }

  tell(overview) {
    list(this.past, overview.past.slice(0, 20), (finding) => `${finding.trouble} ${finding.name}`,
      () => element("li", {}, element("b"), element("span")), (item, finding) => {
        show(item.children[0], `${finding.title}: ${finding.name}`);
        show(item.children[1], ` for ${span((finding.until - finding.since) / 1000)}, `
          + `${clock(finding.since)} to ${clock(finding.until)}${finding.times > 1 ? `, the last of ${finding.times} times` : ""}. ${finding.reason}`);
      });
  }
}

/** A small curve of one figure, with its last value. */
export function spark(title, values, format) {
  const known = values.filter((value) => value !== null);
  const text = known.length ? format(known.at(-1)) : "–";
  const canvas = element("canvas", { class: "spark", role: "img", "aria-label": `${title}: ${text} now, ${format(Math.max(0, ...known))} at most` });
  const draw = () => {
    const surface = prepare(canvas);
    if (!surface) return;
    const { context, width, height } = surface;
    const most = Math.max(...known, 1e-9);
    context.strokeStyle = colour("--accent");
    context.lineWidth = 1.5;
    context.beginPath();
    let isDown = false;
    values.forEach((value, index) => {
      const [x, y] = [(index / (values.length - 1)) * width, height - 2 - ((value ?? 0) / most) * (height - 4)];
      if (value !== null) isDown ? context.lineTo(x, y) : context.moveTo(x, y);
      isDown = value !== null;
    });
    context.stroke();
  };
  requestAnimationFrame(draw);
  return element("figure", {}, element("figcaption", {}, element("span", {}, title), element("span", {}, text)), canvas);
}
