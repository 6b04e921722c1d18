package import JSONBytes
package import OperatorTerminal

/// One room in the memory of a fan-out: its people and its last updates.
package struct LiveRoomReport: Sendable {
    package let room: LiveRoom
    private let people: [JSONValue]
    /// The oldest first.
    private let updates: [JSONValue]

    /// Reads a fan-out's answer; nil without an id.
    package init?(_ json: JSONValue, from fanout: String) {
        guard let room = LiveRoom(json, from: fanout) else { return nil }
        self.room = room
        self.people = json["people"].map { Array($0.elements) } ?? []
        self.updates = json["updates"].map { Array($0.elements) } ?? []
    }

    /// For people.
    /// - Parameter now: milliseconds since 1970.
    package func text(at now: Int64, _ style: TerminalStyle) -> String {
        let room = self.room
        let figures = [
            self.counted("member"), self.counted("connection"), "seq \(room.text("seq"))",
            self.counted("element"), Quantities.bytes(room["bytes"]),
        ]
        let rates = [(room["updatesPerSecond"], "updates/s"), (room["previewsPerSecond"], "previews/s")]
            .map { "\(Quantities.number($0.0)) \($0.1)" }
        var text = style.paint(TerminalText.clean(room.id), .strong) + " on \(TerminalText.clean(room.fanout)): "
        text += (figures + rates).joined(separator: ", ") + "\n"
        if !self.people.isEmpty { text += "\n" + self.peopleTable.text(style) }
        let hidden = Int(clamping: Int64(room["members"])) - self.people.count
        if hidden > 0 { text += "and \(hidden) more\n" }
        if !self.updates.isEmpty { text += "\n" + self.updatesTable(at: now).text(style) }
        return text
    }

    private var peopleTable: TextTable {
        var table = TextTable([.init("USER", limit: 40), .init("NAME", limit: 40), .init("CONNECTIONS", isRight: true)])
        for person in self.people {
            table.append(["userId", "name", "connections"].map { .init(Self.text(person[$0])) })
        }
        return table
    }

    private func updatesTable(at now: Int64) -> TextTable {
        var table = TextTable([
            .init("SEQ", isRight: true), .init("AGO", isRight: true), .init("EVENT"), .init("USER"),
            .init("ELEMENTS", isRight: true),
        ])
        for entry in self.updates {
            let age = Quantities.span(Double(max(0, now - (entry["at"]?.integer ?? 0))) / 1000)
            let (seq, words) = (Self.text(entry["seq"]), ["event", "userId", "elements"].map { Self.text(entry[$0]) })
            table.append([.init(seq), .init(age, .faint)] + words.map { .init($0) })
        }
        return table
    }

    /// A text or a whole number of an answer.
    private static func text(_ value: JSONValue?) -> String {
        value?.string ?? value?.integer.map { "\($0)" } ?? ""
    }

    /// How many of a noun it has, such as `1 member`.
    private func counted(_ noun: String) -> String {
        let count = self.room.text("\(noun)s")
        return "\(count) \(noun)\(count == "1" ? "" : "s")"
    }

    /// One line for scripts.
    package var json: String {
        JSONWriter.line { writer in
            self.room.members(into: &writer)
            for (name, values) in [("people", self.people), ("updates", self.updates)] {
                writer.key(string: name)
                writer.beginArray()
                for value in values { writer.raw(value.rawBytes) }
                writer.endArray()
            }
        }
    }
}
