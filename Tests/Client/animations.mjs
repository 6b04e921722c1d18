// Compares animations with those of a browser: what the client shows, and the computed style of a paused animation.

let isRegistered = false;
const jumps = { start: "jump-start", end: "jump-end", none: "jump-none", both: "jump-both" };

function css(curve) {
  if (typeof curve === "string") return curve;
  if (curve.bezier) return `cubic-bezier(${curve.bezier})`;
  if (curve.steps) return `steps(${curve.steps}, ${jumps[curve.jump]})`;
  return `linear(${curve.points.map(([at, value]) => `${value} ${at * 100}%`)})`;
}

// Times around everything that happens, and between. At a boundary itself, sums of fractions may round to either side.
function times({ ms, delayMs, iterations }) {
  const length = ms * Math.min(iterations === "infinite" ? 5 : iterations, 5), between = [];
  for (let part = 0; part < 40; part++) between.push(delayMs + (length * (part - 0.63)) / 37);
  const ends = [0, delayMs, delayMs + ms, delayMs + length];
  const around = ends.flatMap(time => [time - 0.01, ...(Number.isInteger(length) ? [time] : []), time + 0.01]);
  return [...around, ...between].filter(time => time >= 0);
}

export function compare({ shownAt, cases }) {
  if (!isRegistered) CSS.registerProperty({ name: "--v", syntax: "<number>", inherits: false, initialValue: "0" });
  isRegistered = true;
  const wrong = [], element = document.body.appendChild(document.createElement("div"));
  let count = 0, worst = 0;
  for (const { stored, animation: { tracks, ...animation } } of cases) {
    const [track] = Object.values(tracks), ours = { animation: { ...animation, startedAt: 0, tracks: { positionX: track } } };
    const { ms, delayMs, iterations, direction, composite } = animation;
    const size = Math.max(1, ...[stored, ...track.map(({ value }) => value)].map(Math.abs));
    const isBezier = /bezier|ease/.test(JSON.stringify(track));
    element.style.setProperty("--v", stored);
    const theirs = element.animate(
      track.map(({ at, value, curve }) => ({ offset: at, "--v": value, easing: css(curve) })),
      { duration: ms, delay: delayMs, iterations: iterations === "infinite" ? Infinity : iterations, direction, composite },
    );
    theirs.pause();
    for (const time of times(animation)) {
      theirs.currentTime = time;
      const expected = Number(getComputedStyle(element).getPropertyValue("--v"));
      const shown = shownAt("positionX", stored, ours, time), error = Math.abs(shown - expected) / size;
      // A browser's numbers have six digits, and its Bézier curves are less exact.
      if (!(error < (isBezier ? 2e-3 : 1e-5))) wrong.push({ time, expected, shown, stored, animation: ours.animation });
      else worst = Math.max(worst, error);
      count++;
    }
    theirs.cancel();
  }
  return { count, worst, wrong: wrong.slice(0, 5), howMany: wrong.length };
}

// One curve after the other, at many times, from 0 to 1.
export function compareCurves(shownAt) {
  const names = ["linear", "ease", "ease-in", "ease-out", "ease-in-out"];
  const beziers = [[0, 0, 1, 1], [1, 0, 0, 1], [0.2, -2, 0.7, 3], [0, 1, 0, 1], [1, -10, 1, 10]];
  const steps = [1, 2, 3, 7, 1000].flatMap(count =>
    Object.keys(jumps).filter(jump => count > 1 || jump !== "none").map(jump => ({ steps: count, jump })));
  const points = [[[0, 0], [1, 1]], [[0, 1], [0.2, -1], [0.2, 3], [0.7, 3], [1, 0.4]], [[0, 0], [0, 1], [1, 1], [1, 0]]];
  const curves = [...names, ...beziers.map(bezier => ({ bezier })), ...steps, ...points.map(points => ({ points }))];
  const cases = curves.flatMap(curve => ["normal", "reverse"].map(direction => ({
    stored: 0,
    animation: {
      ms: 1000, iterations: 2.5, direction, delayMs: 250, composite: "replace",
      tracks: { positionX: [{ at: 0, value: 0, curve }, { at: 1, value: 1, curve: "linear" }] },
    },
  })));
  return compare({ shownAt, cases });
}
