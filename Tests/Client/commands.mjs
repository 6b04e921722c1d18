// What tests do with a client of web pages, wherever it runs: driver.mjs in Node, page.mjs in a browser. A command names a
// method of `Driver`, {"call": 1, "method", "arguments"}, and is answered by {"call": 1, "result"} or
// {"call": 1, "error"}; events are {"event", "value"}.

export class Driver {
  // The place has what differs: `TouchSync`, how to `report`, a `store` by its name, how to `cut` a socket, when the `nextFrame`
  // is, and further options for the client.
  constructor({ store, hasTokens, ...options }, { TouchSync, report, store: makeStore, cut, nextFrame, ...more }) {
    this.tokens = [];
    this.report = report;
    this.cutSocket = cut;
    this.nextFrame = nextFrame;
    this.client = new TouchSync({
      ...options,
      ...more,
      fetch: (...request) => {
        report({ event: "fetch", value: request[0] });
        return fetch(...request);
      },
      ...(store && { store: makeStore(store) }),
      ...(hasTokens && { token: reason => this.askForToken(reason) }),
    });
    this.rooms = new Map();
    this.gestures = new Map();
    for (const event of ["state", "error"]) this.client.on(event, value => this.tell(event, value));
  }

  async perform({ call, method, arguments: more }) {
    try {
      this.report({ call, result: (await this[method](...more)) ?? null });
    } catch ({ code, field, message, by, entry }) {
      this.report({ call, error: { code, field, message, by, entry } });
    }
  }

  tell(event, value) {
    const said = value instanceof Error ? { code: value.code, message: value.message } : value;
    this.report({ event, value: said });
  }

  askForToken(reason) {
    return new Promise(resolve => {
      this.tokens.push(resolve);
      this.report({ event: "token", value: reason });
    });
  }

  token(token) {
    this.tokens.shift()?.(token);
  }

  connect() {
    this.client.connect();
  }

  disconnect() {
    this.client.disconnect();
  }

  // From now on nothing of what the server says arrives.
  deafen() {
    this.client.socket.onmessage = () => {};
  }

  // From now on nothing of what the client says arrives.
  mute() {
    this.client.socket.send = () => {};
  }

  // The network goes away without a word.
  cut() {
    if (this.client.socket) this.cutSocket(this.client.socket);
  }

  async join(roomId) {
    const room = this.client.room(roomId);
    if (!this.rooms.has(roomId)) room.on("refusal", refusal => this.tell("refusal", refusal));
    this.rooms.set(roomId, room);
  }

  joined(roomId) {
    return this.rooms.get(roomId).joined;
  }

  edit(roomId, method, ...more) {
    return this.refusalTold(this.rooms.get(roomId)[method](...more));
  }

  // Tests hear of each refusal as an event, too, also of edits that they wait for.
  async refusalTold(result) {
    try {
      return await result;
    } catch (refusal) {
      if (!["left", "closed"].includes(refusal.code)) this.tell("refusal", refusal);
      throw refusal;
    }
  }

  // What an edit makes of an element: as it is shown immediately, and as the server stores it.
  async predict(roomId, id, method, ...more) {
    const room = this.rooms.get(roomId);
    const result = room[method](...more);
    const shown = room.element(id);
    return [shown, (await this.refusalTold(result)).element];
  }

  // Does not wait for the result.
  async start(roomId, method, ...more) {
    this.rooms.get(roomId)[method](...more);
  }

  begin(roomId, name, ids) {
    this.gestures.set(name, this.rooms.get(roomId).begin(ids));
  }

  gesture(name, method, ...more) {
    return this.refusalTold(this.gestures.get(name)[method](...more));
  }

  look(roomId) {
    const room = this.rooms.get(roomId);
    const { seq, pending, elements, members, self, canUndo, canRedo } = room;
    const drawn = elements.map(({ id }) => room.drawn(id));
    return { state: this.client.state, seq, pending, elements, drawn, members, self, canUndo, canRedo };
  }

  // Shows others what is seen here, or nothing of it any more.
  share(roomId, viewport) {
    this.rooms.get(roomId).look(viewport ?? undefined, { share: viewport !== null });
  }

  // Tells what a user shares of the view from now on.
  follow(roomId, userId) {
    this.rooms.get(roomId).follow(userId, view => this.tell("view", view ?? null));
  }

  // Draws what others move, at each frame for some seconds, as an app does.
  async watch(roomId, seconds) {
    const room = this.rooms.get(roomId), end = performance.now() + seconds * 1000;
    const moving = new Set(room.elements.map(element => element.id).filter(id => room.isMoving(id)));
    const count = { frames: 0, drawn: 0 };
    const stop = room.on("moving", id => moving.add(id));
    for (; performance.now() < end; count.frames++) {
      const now = await new Promise(this.nextFrame);
      for (const id of moving) {
        room.drawn(id, now);
        count.drawn++;
        if (!room.isMoving(id, now)) moving.delete(id);
      }
    }
    stop();
    return count;
  }

  // Ends when everything is saved.
  close() {
    return this.client.close();
  }
}
