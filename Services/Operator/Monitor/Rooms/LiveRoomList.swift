package import JSONBytes
package import OperatorTerminal

/// The rooms of all fan-outs of a pipeline.
package struct LiveRoomList: Sendable {
    /// A fan-out that gave no answer, and why.
    package struct Silence: Equatable, Sendable {
        package let fanout: String
        package let reason: String

        package init(fanout: String, reason: String) {
            self.fanout = fanout
            self.reason = reason
        }
    }

    /// The most rooms of a list.
    package static let limit = 100

    /// In their order, each once.
    package private(set) var rooms: [LiveRoom]
    package private(set) var isTruncated: Bool
    /// The fan-outs whose rooms are missing.
    package let silent: [Silence]

    /// The rooms of several fan-outs together.
    /// - Parameters:
    ///   - pages: what each of them answered, by its name.
    ///   - sort: the order that they were asked for.
    package init(_ pages: [(fanout: String, json: JSONValue)], by sort: RoomSort, silent: [Silence] = []) {
        var rooms: [String: LiveRoom] = [:]
        var isTruncated = false
        for page in pages {
            isTruncated = isTruncated || page.json["truncated"]?.bool == true
            for room in page.json["rooms"]?.elements.compactMap({ LiveRoom($0, from: page.fanout) }) ?? [] {
                // A room that moves is in the memory of two fan-outs: one of them has its connections.
                if let known = rooms[room.id], known["connections"] >= room["connections"] { continue }
                rooms[room.id] = room
            }
        }
        let sorted = rooms.values.sorted { $0.precedes($1, by: sort) }
        self.rooms = Array(sorted.prefix(Self.limit))
        self.isTruncated = isTruncated || sorted.count > Self.limit
        self.silent = silent
    }

    /// A table for people.
    /// - Parameter sort: the order whose column is marked.
    package func table(marking sort: RoomSort? = nil) -> TextTable {
        let titles: [(title: String, sort: RoomSort?)] = [
            ("ROOM", nil), ("MEMBERS", .members), ("UPDATES/S", nil), ("PREVIEWS/S", .activity), ("SEQ", .seq),
            ("ELEMENTS", nil), ("MEMORY", .bytes), ("CONNECTIONS", nil), ("FAN-OUT", nil),
        ]
        // What changes comes first: a narrow terminal cuts the rest.
        var table = TextTable(
            titles.enumerated().map { index, title in
                let mark = title.sort != nil && title.sort == sort ? "▾" : ""
                return TextTable.Column(
                    title.title + mark, isRight: (1...7).contains(index), limit: index == 0 ? 32 : 20)
            })
        for room in self.rooms {
            let figures = [
                room.text("members"), Quantities.number(room["updatesPerSecond"]),
                Quantities.number(room["previewsPerSecond"]), room.text("seq"), room.text("elements"),
                Quantities.bytes(room["bytes"]), room.text("connections"), room.fanout,
            ]
            table.append([TextTable.Cell(room.id, .strong)] + figures.map { TextTable.Cell($0) })
        }
        return table
    }

    /// One line for scripts.
    package var json: String {
        JSONWriter.line { writer in
            writer.objects("rooms", self.rooms) { $0.members(into: &$1) }
            writer.member("truncated", self.isTruncated)
            writer.objects("silent", self.silent) { silence, writer in
                writer.member("fanout", silence.fanout)
                writer.member("reason", silence.reason)
            }
        }
    }
}
