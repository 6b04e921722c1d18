// Charts on canvases: heat maps of distributions, timelines of conditions, and small curves.
import { level, merged, quantile } from "./history.js";
import { clock, condition, element, list, number, show, span, table } from "./text.js";

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

/** What colours and lines mean. */
const legend = (...entries) => element("figcaption", { class: "legend" },
  ...entries.map(([kind, text]) => element("span", {}, element("i", { class: kind }), text)));

/** Values with a line across the chart. */
const marks = [0.0001, 0.001, 0.01, 0.1, 1, 10];

/** A distribution over time: how much lies in each bucket, with lines for the median and the 99th percentile; or a table. */
export class HeatMap {
  constructor(container, name, title) {
    this.name = name;
    this.title = title;
    this.canvas = element("canvas", { role: "img" });
    this.figures = element("span", { class: "figures" });
    this.figure = element("figure", {}, this.canvas,
      legend(["heat", "few to many"], ["good", "half are below"], ["warn", "99 % are below"]));
    this.rows = element("div", { hidden: true });
    this.toggle = element("button", {
      type: "button", "aria-pressed": "false", "aria-label": `${title} as a table`, onclick: () => this.turn(),
    }, "Table");
    container.append(element("section", { class: "panel chart", "data-chart": name },
      element("header", {}, element("h2", {}, title), this.figures, this.toggle), this.figure, this.rows));
  }

  /** The table instead of the chart, or the chart again. */
  turn() {
    this.rows.hidden = !this.rows.hidden;
    this.figure.hidden = !this.rows.hidden;
    this.toggle.setAttribute("aria-pressed", String(!this.rows.hidden));
    this.show();
  }

  update(overview, history) {
    const all = overview.distributions[this.name];
    const text = all?.p50 === null || all === undefined ? "nothing measured in the last 15 minutes"
      : `median ${span(all.p50)}, 99 % ${span(all.p99)}`;
    show(this.figures, text);
    this.canvas.setAttribute("aria-label", `${this.title}: ${text}`);
    this.heat = history.heat.get(this.name) ?? { bounds: [], columns: new Map() };
    this.starts = history.columns;
    this.show();
  }

  show() {
    if (!this.rows.hidden) return this.tabulate(this.heat);
    const surface = prepare(this.canvas);
    if (surface) this.draw(surface, this.heat, this.starts);
  }

  /** Minute by minute, the last one first. */
  tabulate({ bounds, columns }) {
    const minutes = [];
    for (let end = this.starts.length; end > 0; end -= 12) {
      const starts = this.starts.slice(Math.max(0, end - 12), end);
      const sparse = merged(starts.map((at) => columns.get(at) ?? []));
      const count = sparse.reduce((sum, value, index) => (index % 2 ? sum + value : sum), 0);
      if (count > 0) minutes.push([clock(starts[0]), number(count), ...[0.5, 0.9, 0.99].map((part) => span(quantile(bounds, sparse, part)))]);
    }
    this.rows.replaceChildren(minutes.length ? table(this.title, ["from", "measured", "median", "90 %", "99 %"], minutes)
      : element("p", { class: "dim" }, "Nothing was measured."));
  }

  draw({ context, width, height }, { bounds, columns }, starts) {
    const area = { left: 52, right: width - 4, top: 6, bottom: height - 20 };
    const step = (area.right - area.left) / starts.length;
    const y = (seconds) => area.bottom - level(seconds) * (area.bottom - area.top);
    this.axes(context, area, y, starts);
    const heat = colour("--heat");
    const counts = starts.map((at) => columns.get(at) ?? []);
    counts.forEach((sparse, column) => {
      const total = sparse.reduce((sum, value, index) => (index % 2 ? sum + value : sum), 0);
      for (let index = 0; index < sparse.length; index += 2) {
        const bucket = sparse[index];
        const [lower, upper] = [y(bounds[bucket - 1] ?? 0), y(bounds[bucket] ?? Infinity)];
        context.fillStyle = `rgba(${heat}, ${0.12 + 0.78 * Math.sqrt(sparse[index + 1] / total)})`;
        context.fillRect(area.left + column * step, Math.min(upper, lower - 2), Math.max(1, step - 0.5), Math.max(2, lower - upper - 1));
      }
    });
    for (const [part, name] of [[0.5, "--good"], [0.99, "--warn"]]) {
      const values = counts.map((sparse) => quantile(bounds, sparse, part));
      this.line(context, values.map((value, column) => value !== null && [area.left + (column + 0.5) * step, y(value)]), colour(name));
    }
  }

  axes(context, area, y, starts) {
    context.font = "11px system-ui, sans-serif";
    context.fillStyle = colour("--dim");
    context.strokeStyle = colour("--line");
    context.lineWidth = 1;
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const mark of marks) {
      const at = Math.round(y(mark)) + 0.5;
      context.fillText(span(mark), area.left - 6, at);
      context.beginPath();
      context.moveTo(area.left, at);
      context.lineTo(area.right, at);
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

  /** A line through points, interrupted where there is none. */
  line(context, points, stroke) {
    context.strokeStyle = stroke;
    context.lineWidth = 1.5;
    context.beginPath();
    points.forEach((point, index) => {
      if (!point) return;
      // One alone is seen, too.
      if (!points[index - 1]) context.moveTo(point[0] - 1, point[1]);
      context.lineTo(...point);
    });
    context.stroke();
  }
}

/** When each instance was how, and what was found in that time. */
export class Timeline {
  constructor(container, past) {
    this.container = container;
    this.past = past;
    container.after(legend(["good", "ready"], ["warn", "starting, or unreadable"], ["bad", "not ready, stalled, silent or down"]));
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
