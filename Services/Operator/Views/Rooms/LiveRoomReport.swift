package import JSONBytes
package import OperatorTerminal

/// One room in the memory of a fan-out: its people and its last updates.
package struct LiveRoomReport: Equatable, Sendable {
    /// Somebody in the room.
    package struct Person: Equatable, Sendable {
        package var userId: String
        package var name: String
        package var connections: Int
    }

    /// An update.
    package struct Entry: Equatable, Sendable {
        package var seq: UInt64
        package var event: String
        package var userId: String
        package var elements: Int
        /// When it reached the fan-out, milliseconds since 1970.
        package var at: Int64
    }

    package let room: LiveRoom
    package let people: [Person]
    /// The oldest first.
    package let updates: [Entry]

    /// Reads a fan-out's answer; nil without an id.
    package init?(_ json: JSONValue, from fanout: String) {
        guard let room = LiveRoom(json, from: fanout) else { return nil }
        self.room = room
        self.people =
            json["people"]?.elements.map { person in
                Person(
                    userId: person["userId"]?.string ?? "", name: person["name"]?.string ?? "",
                    connections: Int(clamping: person["connections"]?.integer ?? 0))
            } ?? []
        self.updates =
            json["updates"]?.elements.map { entry in
                Entry(
                    seq: UInt64(clamping: entry["seq"]?.integer ?? 0), event: entry["event"]?.string ?? "",
                    userId: entry["userId"]?.string ?? "", elements: Int(clamping: entry["elements"]?.integer ?? 0),
                    at: entry["at"]?.integer ?? 0)
            } ?? []
    }

    /// For people.
    /// - Parameter now: milliseconds since 1970.
    package func text(at now: Int64, _ style: TerminalStyle) -> String {
        let room = self.room
        let figures = [
            Self.counted(room.members, "member"), Self.counted(room.connections, "connection"), "seq \(room.seq)",
            Self.counted(room.elements, "element"), Quantities.bytes(Double(room.bytes)),
        ]
        let rates = [(room.updatesPerSecond, "updates/s"), (room.previewsPerSecond, "previews/s")]
            .map { "\(Quantities.number($0.0)) \($0.1)" }
        var text = style.paint(TerminalText.clean(room.id), .strong) + " on \(TerminalText.clean(room.fanout)): "
        text += (figures + rates).joined(separator: ", ") + "\n"
        if !self.people.isEmpty { text += "\n" + self.peopleTable.text(style) }
        if room.members > self.people.count { text += "and \(room.members - self.people.count) more\n" }
        if !self.updates.isEmpty { text += "\n" + self.updatesTable(at: now).text(style) }
        return text
    }

    private var peopleTable: TextTable {
        var table = TextTable([.init("USER", limit: 40), .init("NAME", limit: 40), .init("CONNECTIONS", isRight: true)])
        for person in self.people {
            table.append([.init(person.userId), .init(person.name), .init("\(person.connections)")])
        }
        return table
    }

    private func updatesTable(at now: Int64) -> TextTable {
        var table = TextTable([
            .init("SEQ", isRight: true), .init("AGO", isRight: true), .init("EVENT"), .init("USER"),
            .init("ELEMENTS", isRight: true),
        ])
        for entry in self.updates {
            let age = Quantities.span(Double(max(0, now - entry.at)) / 1000)
            table.append([
                .init("\(entry.seq)"), .init(age, .faint), .init(entry.event), .init(entry.userId),
                .init("\(entry.elements)"),
            ])
        }
        return table
    }

    private static func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

    /// One line for scripts.
    package var json: [UInt8] {
        JSONWriter.text { writer in
            self.room.members(into: &writer)
            writer.objects("people", self.people) { person, writer in
                writer.member("userId", person.userId)
                writer.member("name", person.name)
                writer.member("connections", person.connections)
            }
            writer.objects("updates", self.updates) { entry, writer in
                writer.member("seq", entry.seq)
                writer.member("event", entry.event)
                writer.member("userId", entry.userId)
                writer.member("elements", entry.elements)
                writer.member("at", entry.at)
            }
        } + [UInt8(ascii: "\n")]
    }
}
