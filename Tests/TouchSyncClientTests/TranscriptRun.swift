import Canvas
import JSONBytes
import TouchSyncClientCore

/// The first difference between a transcript and what the core does.
struct TranscriptMismatch: Error, CustomStringConvertible {
    let location: String
    let expected: String
    let got: String

    var description: String { "\(self.location):\n expected \(self.expected)\n got      \(self.got)" }
}

/// Runs a transcript against the core, line by line.
struct TranscriptRun {
    private var options = ClientOptions(handshake: JSONObject { $0.member("userId", "ada") })
    private var random = 0.5
    private var hidden: Set<String> = []
    /// Made by the first input: options come before.
    private var core: ClientCore?
    private var outputs: [String] = []
    private var ids: [String: [UInt8]] = [:]
    private var location = ""

    /// Throws the first mismatch.
    static func run(_ name: String) throws {
        var run = TranscriptRun()
        for line in try TranscriptFile(name).lines {
            run.location = line.location
            try run.perform(line.text)
        }
        try run.expectNothing()
    }

    private mutating func perform(_ text: String) throws {
        let rest = text.dropFirst(2)
        if text.hasPrefix("< ") { return try self.expect(String(rest)) }
        try self.expectNothing()
        if text.hasPrefix("> ") {
            try self.input(rest)
        } else if text.hasPrefix("= ") {
            try self.compare(rest)
        } else if text.hasPrefix("options ") {
            self.configure(JSONObject(text: Array(text.dropFirst(8).utf8)) ?? .empty)
        } else if text.hasPrefix("hide ") {
            self.hidden = Set(text.split(separator: " ").dropFirst().map(String.init))
        } else if !text.isEmpty, !text.hasPrefix("#") {
            throw self.mismatch("a line of a known form", text)
        }
    }

    private mutating func configure(_ json: JSONObject) {
        if let handshake = json["handshake"] { self.options.handshake = JSONObject(handshake) }
        self.options.hasTokens = json["hasTokens"]?.bool ?? self.options.hasTokens
        self.options.queueLimit = json["queueLimit"]?.integer.map { Int($0) } ?? self.options.queueLimit
        self.options.motion = json["motion"]?.bool ?? self.options.motion
        self.random = json["random"]?.double ?? self.random
    }

    private mutating func input(_ text: Substring) throws {
        guard let line = TranscriptInput(text), let input = line.input else {
            throw self.mismatch("an input of a known type", String(text))
        }
        var core = self.core ?? ClientCore(options: self.options)
        let isTime = line.type == "time"
        if isTime ? core.deadline != line.time : core.deadline.map({ $0 < line.time }) ?? false {
            throw self.mismatch("a deadline \(isTime ? "at" : "not before") \(line.time)", "\(core.deadline as Any)")
        }
        if let id = line.id { self.ids[TranscriptInput.name(id)] = Array(id.rawBytes) }
        let ids = self.ids
        self.outputs = core.input(input, at: line.time, random: self.random)
            .map { TranscriptOutput($0, ids: ids) }.filter { !self.hidden.contains($0.type) }.map(\.text)
        self.core = core
    }

    private mutating func expect(_ text: String) throws {
        guard !self.outputs.isEmpty else { throw self.mismatch(text, "nothing") }
        let output = self.outputs.removeFirst()
        guard TranscriptValue.isSameOutput(text, output) else { throw self.mismatch(text, output) }
    }

    private func expectNothing() throws {
        if !self.outputs.isEmpty {
            throw self.mismatch("no further output", self.outputs.joined(separator: "\n          "))
        }
    }

    /// `= ROOM JSON`: what the room shows now, of the named elements the named fields; null where there is none.
    /// `= drawn TIME ROOM JSON`: the same as it is to be drawn at a time.
    /// `= undo ROOM JSON`: whether something can be undone and redone.
    /// `= members ROOM JSON`: named users with their names and the ids of their connections; null for one who is not
    /// there.
    private mutating func compare(_ text: Substring) throws {
        let splits = text.hasPrefix("drawn ") ? 3 : text.hasPrefix("members ") || text.hasPrefix("undo ") ? 2 : 1
        var parts = text.split(separator: " ", maxSplits: splits)
        let json = JSONObject(text: Array(parts.removeLast().utf8)) ?? .empty
        let room = String(parts.removeLast())
        if parts == ["members"] { return try self.compareMembers(of: room, json) }
        if parts == ["undo"] { return try self.compareUndo(in: room, json) }
        let time = parts.last.flatMap { Double($0) }
        for (key, expected) in json.members {
            let id = key.string ?? ""
            let element =
                if let time { self.core?.drawn(id, in: room, at: time) } else { self.core?.element(id, in: room) }
            let shown = Self.fields(of: element, named: expected)
            guard let value = TranscriptValue.parsed(shown), TranscriptValue.isSame(expected, value) else {
                let text = String(decoding: expected.rawBytes, as: UTF8.self)
                throw self.mismatch("\(id) \(text)", String(decoding: shown, as: UTF8.self))
            }
        }
    }

    private func compareUndo(in room: String, _ expected: JSONObject) throws {
        let shown = JSONObject { writer in
            writer.member("canUndo", self.core?.canUndo(in: room) ?? false)
            writer.member("canRedo", self.core?.canRedo(in: room) ?? false)
        }
        guard TranscriptValue.isSame(expected.value, shown.value) else {
            throw self.mismatch("\(expected.value)", "\(shown.value)")
        }
    }

    private func compareMembers(of room: String, _ json: JSONObject) throws {
        for (key, expected) in json.members {
            let member = self.core?.members(in: room).first { $0.userId == key.string }
            let shown =
                member.map { member in
                    JSONWriter.text { writer in
                        writer.key(string: member.name ?? "")
                        member.connections.map(\.sid).encode(into: &writer)
                    }
                } ?? Array("null".utf8)
            guard let value = TranscriptValue.parsed(shown), TranscriptValue.isSame(expected, value) else {
                let text = String(decoding: expected.rawBytes, as: UTF8.self)
                throw self.mismatch("\(key.string ?? "") \(text)", String(decoding: shown, as: UTF8.self))
            }
        }
    }

    /// The JSON of some fields of an element.
    private static func fields(of element: Element?, named expected: JSONValue) -> [UInt8] {
        guard let element else { return Array("null".utf8) }
        var writer = JSONWriter()
        element.encode(into: &writer)
        let all = JSONObject(text: writer.bytes) ?? .empty
        return JSONWriter.text { writer in
            for (key, _) in expected.members {
                writer.key(string: key.string ?? "")
                if let value = all[key.string ?? ""] { writer.raw(value.rawBytes) } else { writer.null() }
            }
        }
    }

    private func mismatch(_ expected: String, _ got: String) -> TranscriptMismatch {
        TranscriptMismatch(location: self.location, expected: expected, got: got)
    }
}
