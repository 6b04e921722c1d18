// A model of the server for the property test: one room, numbered commits, a log, sessions that end. It does what the
// protocol says and nothing else: an order, each number once, the first result for a repetition.

const UPRIGHT = {
  positionX: 0, positionY: 0, rotation: 0, scaleX: 1, scaleY: 1, originalWidth: 100, originalHeight: 100, anchorX: 0.5,
  anchorY: 0.5,
};

export class ModelServer {
  constructor(random) {
    this.random = random;
    this.elements = new Map();
    this.log = [];
    // What the room was at each number.
    this.states = [new Map()];
    this.sessions = new Map();
    this.names = 0;
    this.members = new Set();
  }

  get seq() {
    return this.log.length;
  }

  chance(probability) {
    return this.random() < probability;
  }

  // A request of a connection; the answer, or undefined for a message that is lost with its connection.
  request(connection, event, payload) {
    if (event === "client:ping") return { ok: true };
    if (event === "room:join") return this.join(connection, payload);
    if (event === "room:leave") return { ok: true };
    return this.commit(connection, event, payload);
  }

  join(connection, { session: secret, resume }) {
    if (this.chance(0.1)) return refusal("busy", { retryAfterMs: 50 });
    if (secret !== undefined && !this.sessions.has(secret)) return refusal("session_expired");
    const name = secret ?? `secret-${++this.names}`;
    const session = this.sessions.get(name) ?? { sid: `sid-${this.names}`, n: 0, results: [] };
    this.sessions.set(name, session);
    session.owner = connection;
    connection.session = name;
    this.members.add(connection);
    const common = {
      ok: true, roomId: "r", epoch: "one", seq: this.seq, session: name, sid: session.sid, n: session.n, members: [],
      throttleMs: 16, limits: { unacknowledged: 4, message: 262144 },
    };
    if (resume?.epoch === "one" && this.seq - resume.seq < 20) {
      const updates = this.log.slice(resume.seq).map(({ event, data, seq }) => ({ event, data, seq }));
      return { ...common, recovered: true, updates };
    }
    const elements = [...this.elements.values()];
    if (this.chance(0.5)) return { ...common, recovered: false, elements };
    // As of a large room: the elements follow in parts.
    const half = elements.length >> 1;
    connection.parts = [elements.slice(0, half), elements.slice(half)].map((part, index) =>
      ["room:elements", { roomId: "r", part: index + 1, parts: 2, elements: part }]);
    return { ...common, recovered: false, elements: [], parts: 2 };
  }

  commit(connection, event, { n, ...payload }) {
    const session = this.sessions.get(connection.session);
    if (!session || session.owner !== connection) return refusal("session_expired");
    if (n <= session.n) return { ...session.results[n - 1], duplicate: true };
    if (n > session.n + 1) return refusal("gap", { expected: session.n + 1 });
    if (this.chance(0.1)) return refusal("unavailable", { retryAfterMs: 30 });
    session.n = n;
    const answer = this.decide(event, payload, session.sid, n);
    session.results.push(answer);
    return answer;
  }

  decide(event, { elementId, translation, element }, sid, n) {
    const stored = this.elements.get(elementId ?? element.id);
    if (event === "element:create") {
      if (stored) return refusal("conflict", { field: "element.id" });
      const made = { ...UPRIGHT, ...element };
      return this.store("element:created", made, { ...made }, sid, n);
    }
    if (!stored) return refusal("not_found", { field: "elementId" });
    const moved = { ...stored, positionX: stored.positionX + translation.x };
    return this.store("element:transformed", moved, { element: moved }, sid, n);
  }

  store(event, element, content, sid, n) {
    this.elements.set(element.id, element);
    const seq = this.seq + 1;
    const data = { ...content, roomId: "r", seq, userId: "u", sid, n };
    this.log.push({ event, data, seq, sid, n, changes: [{ elementId: element.id, after: element }] });
    this.states.push(new Map(this.elements));
    for (const member of this.members) member.deliver([event, data]);
    return { ok: true, seq, element, adjusted: [] };
  }

  history(after) {
    const entries = this.log.slice(after, after + 5);
    return { entries, next: after + 5 < this.seq ? after + 5 : null, oldest: 1 };
  }

  // Every idle session ends, as after a long time.
  endSessions() {
    this.sessions.clear();
  }
}

function refusal(code, more = {}) {
  return { ok: false, error: { code, message: code, ...more } };
}
