internal import JSONBytes
package import OperatorTerminal
package import Postgres

/// A part of the rooms in a database, by their names.
package struct StoredRooms: Equatable, Sendable {
    /// One room that was used.
    package struct Room: Equatable, Sendable {
        package var id: String
        package var seq: Int64
        package var elements: Int64
        /// Of its elements, as the committers' limit counts them.
        package var bytes: Int64
        /// When it was last changed, milliseconds since 1970; nil when the log does not go back that far.
        package var changedAt: Int64?
    }

    package static let mostOfAPage = 10_000

    package let rooms: [Room]
    /// The name behind which the next page begins; nil on the last one.
    package let next: String?

    package init(after: String, limit: Int, on connection: BlockingConnection) throws {
        var parameters = Parameters()
        parameters.append(text: after)
        parameters.append(int8: Int64(limit) + 1)
        let rows = try connection.execute(Self.query, parameters)
        let rooms = (0..<rows.count).compactMap { row in
            rows.text(row, 0).map { id in
                Room(
                    id: id, seq: rows.int8(row, 1) ?? 0, elements: rows.int8(row, 2) ?? 0,
                    bytes: rows.int8(row, 3) ?? 0,
                    changedAt: rows.int8(row, 4))
            }
        }
        self.rooms = Array(rooms.prefix(limit))
        self.next = rooms.count > limit ? self.rooms.last?.id : nil
    }

    private static let query = """
        SELECT r.room_id, r.seq, r.elements::bigint, r.bytes,
            (SELECT (extract(epoch FROM l.at) * 1000)::bigint
             FROM commit_log AS l WHERE l.room_id = r.room_id AND l.seq = r.seq)
        FROM rooms AS r
        WHERE r.room_id > $1 AND r.seq > 0 ORDER BY r.room_id LIMIT $2
        """

    /// A table for people.
    /// - Parameter now: milliseconds since 1970.
    package func table(at now: Int64) -> TextTable {
        var table = TextTable([
            .init("ROOM", limit: 64), .init("SEQ", isRight: true), .init("ELEMENTS", isRight: true),
            .init("BYTES", isRight: true), .init("CHANGED"),
        ])
        for room in self.rooms {
            let changed = room.changedAt.map { "\(Quantities.span(max(0, Double(now - $0)) / 1000)) ago" } ?? "-"
            let figures = ["\(room.seq)", "\(room.elements)", Quantities.bytes(Double(room.bytes)), changed]
            table.append([TextTable.Cell(room.id, .strong)] + figures.map { TextTable.Cell($0) })
        }
        return table
    }

    /// One line for scripts.
    package var json: String {
        JSONWriter.line { writer in
            writer.objects("rooms", self.rooms) { room, writer in
                writer.member("roomId", room.id)
                writer.member("seq", room.seq)
                writer.member("elements", room.elements)
                writer.member("bytes", room.bytes)
                writer.member("changedAt", room.changedAt)
            }
            writer.member("next", self.next)
        }
    }
}
