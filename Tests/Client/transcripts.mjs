// Runs transcripts against the core of the client: transcripts.mjs [--write | --served] FILE…
//
// Exit code 1, and what differs, when the core does something else than a transcript says. With --write the outputs in the
// files are replaced by what the core does, for reading and judging by hand. With --served the core is the one in what
// gateways serve. Tests/ClientTranscripts/README.md has the form of the lines.

import assert from "node:assert";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const [option] = process.argv.slice(2).filter(text => text.startsWith("--"));
const module = option === "--served" ? "served/touchsync.min.js" : "web/touchsync.js";
const { Core, Room } = await import(`../../Shared/Client/${module}`);

// What `= posed` lets pass: far less than anybody sees.
const near = name => (/^(scale|opacity)/.test(name) ? 0.0001 : 0.01);

// A transcript's lines with those that it includes in their places.
function linesOf(file) {
  return readFileSync(file, "utf8").split("\n").flatMap((text, index) => {
    const included = /^include (.+)$/.exec(text);
    if (!included) return [{ text, where: `${file}:${index + 1}` }];
    return [{ text, where: "" }, ...linesOf(join(dirname(file), included[1])).map(line => ({ ...line, isIncluded: true }))];
  });
}

// `>` lines: a time, a type, and the rest: the text of a packet, or the other fields as JSON.
function inputOf(rest) {
  const [, time, type, json] = /^(\d+) (\w+) ?(.*)$/s.exec(rest);
  const fields = type === "packet" ? { text: json } : json ? JSON.parse(json) : {};
  return [{ type, ...fields }, Number(time)];
}

function textOf({ type, ...fields }) {
  if (type === "send") return `send ${fields.text}`;
  return Object.keys(fields).length ? `${type} ${JSON.stringify(fields)}` : type;
}

// Equal as values: the order of keys in JSON means nothing.
function isSame(expected, actual) {
  const split = /^(\w+ ?(?:4[0-9]+)?)(.*)$/s;
  const [, headA, jsonA] = split.exec(expected), [, headB, jsonB] = split.exec(actual);
  if (headA !== headB) return false;
  try {
    assert.deepStrictEqual(JSON.parse(jsonA || "null"), JSON.parse(jsonB || "null"));
    return true;
  } catch {
    return jsonA === jsonB;
  }
}

class Run {
  constructor(file, writes) {
    this.file = file;
    this.writes = writes;
    this.written = [];
    this.options = { handshake: { userId: "ada" }, random: () => 0.5 };
    this.hidden = new Set();
    this.pending = [];
    this.clock = 0;
    this.compared = 0;
  }

  get core() {
    return (this.made ??= new Core(this.options));
  }

  run() {
    for (const line of linesOf(this.file)) {
      this.where = line.where || this.where;
      const isOutput = line.text.startsWith("< ");
      if (!isOutput) this.expectNothing();
      if (!line.isIncluded && !(this.writes && isOutput)) this.written.push(line.text);
      this.perform(line);
    }
    this.expectNothing();
    if (this.writes) writeFileSync(this.file, this.written.join("\n"));
    return this.compared;
  }

  perform({ text, isIncluded }) {
    const rest = text.slice(2);
    if (text.startsWith("> ")) this.input(rest, isIncluded);
    else if (text.startsWith("< ")) this.expect(rest, isIncluded);
    else if (text.startsWith("= ")) this.compare(rest);
    else if (text.startsWith("options ")) this.configure(JSON.parse(text.slice(8)));
    else if (text.startsWith("hide ")) this.hidden = new Set(text.split(" ").slice(1));
    else assert(text === "" || text.startsWith("#") || text.startsWith("include "), `${this.where}: ${text}`);
  }

  configure({ random, ...options }) {
    Object.assign(this.options, options, random === undefined ? {} : { random: () => random });
  }

  input(rest, isIncluded) {
    const [input, now] = inputOf(rest);
    assert(now >= this.clock, `${this.where}: time runs backwards`);
    const { deadline } = this.core;
    assert(now <= deadline || input.type === "time", `${this.where}: the deadline ${deadline} was missed`);
    assert(input.type !== "time" || now === Math.max(deadline, this.clock), `${this.where}: the deadline is ${deadline}`);
    this.clock = now;
    this.pending = this.core.input(input, now).filter(output => !this.hidden.has(output.type)).map(textOf);
    if (this.writes && !isIncluded) {
      this.written.push(...this.pending.map(output => `< ${output}`));
      this.pending = [];
    }
  }

  expect(text, isIncluded) {
    if (this.writes && !isIncluded) return;
    const actual = this.pending.shift();
    assert(actual !== undefined && isSame(text, actual), `${this.where}:\n expected ${text}\n but it was ${actual}`);
  }

  expectNothing() {
    assert(this.pending.length === 0, `${this.where}: unexpected\n ${this.pending.join("\n ")}`);
  }

  // `= ROOM JSON`: what the room shows now, of the named elements the named fields; null where there is none.
  // `= drawn TIME ROOM JSON`: the same as it is to be drawn at a time.
  // `= posed TIME ROOM JSON`: where motions and animations have it at a time, as near as makes no difference to the eye.
  // `= members ROOM JSON`: named users with their names and the ids of their connections; null for one who is not there.
  // `= undo ROOM JSON`: whether an edit can be undone, and one that was can be redone.
  compare(rest) {
    const form = /^(?:(?:drawn|(posed)) ([\d.]+) |(members) |(undo) )?(\S+) (.*)$/s;
    const [, posed, time, members, undo, roomId, json] = form.exec(rest);
    const room = new Room({ core: this.core }, roomId), expected = JSON.parse(json);
    if (posed) return this.comparePoses(room, Number(time), expected);
    if (members) return this.compareMembers(room.members, expected);
    if (undo) return assert.deepStrictEqual({ canUndo: room.canUndo, canRedo: room.canRedo }, expected, this.where);
    for (const [id, fields] of Object.entries(expected)) {
      const element = time ? room.drawn(id, Number(time)) : room.element(id);
      const names = Object.keys(fields ?? element ?? {});
      const part = element && Object.fromEntries(names.map(name => [name, element[name] ?? null]));
      assert.deepStrictEqual(part ?? null, fields, `${this.where}: ${id} in ${roomId}`);
    }
  }

  comparePoses(room, time, expected) {
    for (const [id, fields] of Object.entries(expected)) {
      const pose = room.pose(id, time);
      for (const [name, value] of Object.entries(fields)) {
        let off = Math.abs(pose?.[name] - value);
        if (name.startsWith("rotation")) off = Math.min(off, 360 - off);
        assert(off < near(name), `${this.where}: ${id}.${name} is ${pose?.[name]}, not ${value}`);
        this.compared++;
      }
    }
  }

  compareMembers(members, expected) {
    for (const [userId, known] of Object.entries(expected)) {
      const member = members.find(one => one.userId === userId);
      const shown = member ? { [member.name]: member.connections.map(({ sid }) => sid) } : null;
      assert.deepStrictEqual(shown, known, `${this.where}: ${userId}`);
    }
  }
}

let compared = 0;
for (const file of process.argv.slice(option ? 3 : 2)) {
  try {
    compared += new Run(file, option === "--write").run();
  } catch (error) {
    console.error(error instanceof assert.AssertionError ? error.message : error);
    process.exitCode = 1;
  }
}
if (compared) console.log(`${compared} fields of poses are the same`);
