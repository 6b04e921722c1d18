// The last 15 minutes as the page has them: columns of five seconds, each fetched again until it is complete.

const length = 181;

/** Columns by their start, of instances and of distributions. */
export class History {
  constructor() {
    this.step = 5000;
    this.end = 0;
    this.instances = new Map();
    this.heat = new Map();
  }

  /** The start of the last column; 0 when there is none. */
  get since() { return this.end; }

  /** The starts of all columns that are shown, the last one last. */
  get columns() {
    return Array.from({ length }, (_, index) => this.end - (length - 1 - index) * this.step);
  }

  /** Adds what an answer contains. */
  add(answer) {
    this.step = answer.step;
    const known = this.instances;
    this.instances = new Map();
    for (const instance of answer.instances) {
      const key = `${instance.stage}/${instance.name}`;
      const figures = known.get(key)?.figures ?? new Map();
      for (const [name, values] of Object.entries(instance.figures)) {
        if (!figures.has(name)) figures.set(name, new Map());
        this.fill(figures.get(name), answer.from, values);
      }
      this.instances.set(key, { ...instance, figures });
      this.end = Math.max(this.end, answer.from + (this.count(answer) - 1) * this.step);
    }
    for (const [name, { bounds, columns }] of Object.entries(answer.heat)) {
      let heat = this.heat.get(name);
      if (heat?.bounds.length !== bounds.length) heat = { bounds, columns: new Map() };
      this.fill(heat.columns, answer.from, columns);
      this.heat.set(name, heat);
    }
    this.forget();
  }

  count(answer) {
    const lists = answer.instances.flatMap((instance) => Object.values(instance.figures));
    return Math.max(1, ...lists.map((values) => values.length));
  }

  fill(columns, from, values) {
    values.forEach((value, index) => columns.set(from + index * this.step, value));
  }

  forget() {
    const oldest = this.end - length * this.step;
    const maps = [...this.heat.values()].map((heat) => heat.columns)
      .concat([...this.instances.values()].flatMap((instance) => [...instance.figures.values()]));
    for (const map of maps) for (const at of map.keys()) if (at < oldest) map.delete(at);
  }

  /** The values of an instance's figure, one for each column; null where nothing is known. */
  series(key, figure) {
    const values = this.instances.get(key)?.figures.get(figure);
    return this.columns.map((at) => values?.get(at) ?? null);
  }
}

/** A quantile of counts by bucket, as [bucket, count, …]: where it lies in its bucket, evenly; null without any. */
export function quantile(bounds, sparse, part) {
  let total = 0;
  for (let index = 1; index < sparse.length; index += 2) total += sparse[index];
  let rank = total * part;
  for (let index = 0; index < sparse.length; index += 2) {
    const [bucket, count] = [sparse[index], sparse[index + 1]];
    if (count < rank) {
      rank -= count;
      continue;
    }
    const lower = bucket === 0 ? 0 : bounds[bucket - 1];
    return bucket >= bounds.length ? lower : lower + (bounds[bucket] - lower) * (rank / count);
  }
  return null;
}

/** Counts by bucket of several columns together, in the form of one. */
export function merged(columns) {
  const counts = new Map();
  for (const sparse of columns) {
    for (let index = 0; index < sparse.length; index += 2) {
      counts.set(sparse[index], (counts.get(sparse[index]) ?? 0) + sparse[index + 1]);
    }
  }
  return [...counts].sort(([one], [other]) => one - other).flat();
}

/** Where a span of seconds stands on the axis of the charts: from 0, 0.05 ms and less, to 1, 10 s and more; logarithmic. */
export function level(seconds) {
  const [least, most] = [0.00005, 10];
  return Math.min(1, Math.max(0, Math.log(seconds / least) / Math.log(most / least)));
}
