internal import Canvas
package import FanoutCore
internal import JSONBytes
package import Postgres
package import Wire

/// The statements that every connection prepares, their arguments and what their rows mean.
package enum RoomStatement: Int, CaseIterable, Sendable {
    case identity = 0
    case heads, room, roomLog, shardLog, claim, moveEpoch

    /// As a connection prepares them, in the order of their numbers.
    package static let all = Self.allCases.map(\.statement)

    private var statement: Statement {
        switch self {
        case .identity:
            Statement(
                name: "fanout_identity",
                sql: """
                    SELECT (SELECT value FROM meta WHERE key = 'epoch'),
                           (SELECT value FROM meta WHERE key = 'session_key')
                    """)
        case .heads:
            Statement(
                name: "fanout_heads",
                sql: "SELECT (SELECT value FROM meta WHERE key = 'epoch'), shard, gseq, chain FROM shard_heads()")
        case .room:
            Statement(name: "fanout_room", sql: Self.roomSQL, parameterTypes: [.text, .int2])
        case .roomLog:
            Statement(
                name: "fanout_room_log", sql: "SELECT \(Self.logColumns) FROM read_room_log($1, $2, $3)",
                parameterTypes: [.text, .int8, .int4])
        case .shardLog:
            Statement(
                name: "fanout_shard_log", sql: "SELECT \(Self.logColumns) FROM read_shard_log($1, $2, $3)",
                parameterTypes: [.int2, .int8, .int4])
        case .claim:
            Statement(
                name: "fanout_claim", sql: "SELECT claim, hw FROM claim_session($1, $2, $3)",
                parameterTypes: [.text, .text, .text])
        case .moveEpoch:
            Statement(name: "fanout_move_epoch", sql: "SELECT move_epoch($1)", parameterTypes: [.text])
        }
    }

    private static let logColumns =
        "shard, gseq, room_id, seq, event, user_id, session, n, gesture, element_id, before, after, body_hash, chain"

    /// A room's elements, and behind them the gestures that its last 500 commits of the last two minutes ended: a
    /// preview that is still under way belongs to no older one. One statement, so one snapshot.
    private static let roomSQL = """
        SELECT gseq, seq, element_id, element_seq, element, NULL::text, NULL::bigint, chain FROM read_room($1, $2)
        UNION ALL (
            SELECT NULL, NULL, l.element_id, NULL, NULL, l.session, max(l.gesture), NULL FROM commit_log AS l
            WHERE l.room_id = $1 AND l.gesture > 0 AND l.element_id IS NOT NULL
              AND l.seq > coalesce((SELECT r.seq FROM rooms AS r WHERE r.room_id = $1), 0) - 500
              AND l.at > now() - interval '2 minutes'
            GROUP BY l.element_id, l.session)
        """
}

/// Reads rows into what the core asked for. Rows that cannot be read make the whole answer nil.
package struct RowReader {
    private var document = JSONDocument()
    private var writer = JSONWriter()

    /// A reader, to be used again and again.
    package init() {}

    /// The epoch and the seal of sessions.
    package static func identity(_ rows: ResultRows) -> (epoch: Identifier, seal: SessionSeal)? {
        guard rows.count == 1, let epoch = rows.text(0, 0), let key = rows.text(0, 1),
            let seal = SessionSeal(hexadecimal: key)
        else { return nil }
        return (Identifier(epoch), seal)
    }

    /// Where all shards stand.
    package static func heads(_ rows: ResultRows) -> ShardHeads? {
        guard rows.count == Shard.count, let epoch = rows.text(0, 0) else { return nil }
        var marks = [ShardCursor.Mark](repeating: ShardCursor.Mark(0), count: Shard.count)
        for row in 0..<rows.count {
            guard let shard = rows.int2(row, 1), let gseq = rows.int8(row, 2), let chain = rows.int8(row, 3),
                marks.indices.contains(Int(shard))
            else { return nil }
            marks[Int(shard)] = ShardCursor.Mark(UInt64(clamping: gseq), chain: UInt64(bitPattern: chain))
        }
        return ShardHeads(epoch: Identifier(epoch), marks: marks)
    }

    /// A room. Elements are spelt anew, as everything that apps get.
    package mutating func room(_ rows: ResultRows) -> RoomSnapshot? {
        guard rows.count > 0, let gseq = rows.int8(0, 0), let seq = rows.int8(0, 1),
            let chain = rows.int8(0, 7)
        else { return nil }
        var snapshot = RoomSnapshot(
            seq: UInt64(clamping: seq), gseq: UInt64(clamping: gseq), chain: UInt64(bitPattern: chain), elements: [])
        snapshot.elements.reserveCapacity(rows.count)
        for row in 0..<rows.count where !rows.isNull(row, 2) {
            guard let id = rows.text(row, 2) else { return nil }
            if let session = rows.text(row, 5), let gesture = rows.int8(row, 6) {
                snapshot.closed.append(
                    RoomSnapshot.ClosedGesture(
                        element: Identifier(id), sid: SessionKey.sid(of: Identifier(session)),
                        gesture: UInt64(clamping: gesture)))
            } else if let last = rows.int8(row, 3), let json = self.element(rows, row, 4) {
                snapshot.elements.append(
                    RoomSnapshot.Element(id: Identifier(id), json: json, seq: UInt64(clamping: last)))
            } else {
                return nil
            }
        }
        // The same room reads the same wherever it is loaded.
        snapshot.elements.sort { $0.id < $1.id }
        return snapshot
    }

    /// Rows of the log. One that makes no sense ends the list: who reads it sees that the rest is missing.
    package mutating func log(_ rows: ResultRows) -> [Update]? {
        var updates: [Update] = []
        updates.reserveCapacity(rows.count)
        for row in 0..<rows.count {
            guard let shard = rows.int2(row, 0), let gseq = rows.int8(row, 1), let room = rows.text(row, 2),
                let seq = rows.int8(row, 3), let event = rows.text(row, 4), let user = rows.text(row, 5),
                let session = rows.text(row, 6), let number = rows.int8(row, 7), let gesture = rows.int8(row, 8),
                let hash = rows.int8(row, 12), let chain = rows.int8(row, 13)
            else { return nil }
            let element = rows.text(row, 9).map { Identifier($0) }
            let ended = element.map { EndedGesture(element: $0, gesture: UInt64(clamping: gesture)) }
            let entry = LogRow(
                shard: Int(shard), gseq: gseq, room: Identifier(room), seq: seq, event: event,
                user: Identifier(user), session: Identifier(session), number: number,
                gestures: gesture > 0 ? ended.map { [$0] } ?? [] : [], hash: hash, chain: chain, element: element,
                before: rows.bytes(row, 10),
                after: rows.bytes(row, 11))
            guard let update = entry.update(with: &self.document) else { return updates }
            updates.append(update)
        }
        return updates
    }

    /// What became of a claim: no row means that the session is another user's.
    package static func claim(_ rows: ResultRows) -> ClaimOutcome? {
        if rows.count == 0 { return .refused }
        guard let claim = rows.int4(0, 0).flatMap(UInt32.init(exactly:)), let number = rows.int8(0, 1) else {
            return nil
        }
        return .granted(claim: claim, number: UInt64(clamping: number))
    }

    private mutating func element(_ rows: ResultRows, _ row: Int, _ column: Int) -> [UInt8]? {
        let isParsed = rows.withBytes(row, column) { bytes in
            (try? self.document.parse(bytes, limits: Element.jsonLimits)) != nil
        }
        guard isParsed == true, let element = Element(json: self.document.root) else { return nil }
        self.writer.clear()
        element.encode(into: &self.writer)
        return self.writer.bytes
    }
}
