internal import Canvas
package import FanoutCore
internal import JSONBytes
package import Postgres
internal import Timing
package import Wire

/// The statements that every connection prepares, their arguments and what their rows mean.
package enum RoomStatement: Int, CaseIterable, Sendable {
    case identity = 0
    case heads, room, roomLog, shardLog, history, claim, moveEpoch

    /// The newest migration of the schema on which the statements depend.
    package static let schemaVersion: Int64 = 20

    /// As a connection prepares them, in the order of their numbers.
    package static let all = Self.allCases.map(\.statement)

    static func call(_ query: DatabaseRequest.Query) -> (RoomStatement, Parameters) {
        switch query {
        case .heads: (.heads, Parameters())
        case .room(let room): (.room, Self.roomCall.parameters(room))
        case .roomLog(let room, let after, let limit): (.roomLog, Self.roomLogCall.parameters((room, after, limit)))
        case .shardLog(let shard, let after, let limit):
            (.shardLog, Self.shardLogCall.parameters((shard, after, limit)))
        case .history(let room, let after, let limit): (.history, Self.historyCall.parameters((room, after, limit)))
        case .claim(let room, let sid, let user): (.claim, Self.claimCall.parameters((room, sid, user)))
        case .moveEpoch(let epoch): (.moveEpoch, Self.moveEpochCall.parameters(epoch))
        }
    }

    private var statement: Statement {
        switch self {
        case .identity:
            Statement(
                name: "fanout_identity",
                sql: """
                    SELECT (SELECT value FROM meta WHERE key = 'epoch') AS epoch,
                           (SELECT value FROM meta WHERE key = 'session_key') AS session_key,
                           (SELECT max(version) FROM schema_migrations) AS schema_version
                    """)
        case .heads:
            Statement(
                name: "fanout_heads",
                sql: """
                    SELECT (SELECT value FROM meta WHERE key = 'epoch') AS epoch, shard, gseq, chain FROM shard_heads()
                    """)
        case .room: Self.roomCall.statement
        case .roomLog: Self.roomLogCall.statement
        case .shardLog: Self.shardLogCall.statement
        case .history: Self.historyCall.statement
        case .claim: Self.claimCall.statement
        case .moveEpoch: Self.moveEpochCall.statement
        }
    }

    /// A room's elements, and behind them the gestures that its commits have ended for as long as a fence lasts: a preview
    /// that is still under way belongs to no older one. One statement, so one snapshot; `$1` is the room.
    private static let roomCall = PreparedCall<Identifier>(
        "fanout_room", [.text("p_room") { $0.text }, .int2("p_shard") { Int16(Shard.of(room: $0)) }]
    ) {
        """
        SELECT gseq, seq, element_id, element_seq, element, NULL::text AS session, NULL::bigint AS gesture, chain
        FROM read_room(\($0))
        UNION ALL
        SELECT NULL, NULL, g.element_id, NULL, NULL, g.session, g.gesture, NULL
        FROM read_room_gestures($1, interval '\(FanoutLimits().fenceAge.seconds) s') AS g
        """
    }

    private static let roomLogCall = PreparedCall<(room: Identifier, after: UInt64, limit: Int)>(
        "fanout_room_log",
        [
            .text("p_room") { $0.room.text }, .int8("p_after") { Int64(clamping: $0.after) },
            .int4("p_limit") { Int32(clamping: $0.limit) },
        ]
    ) { Self.page("read_room_log(\($0))", by: "seq", bytes: roomLogBytes) }

    private static let shardLogCall = PreparedCall<(shard: Int, after: UInt64, limit: Int)>(
        "fanout_shard_log",
        [
            .int2("p_shard") { Int16(clamping: $0.shard) }, .int8("p_after_gseq") { Int64(clamping: $0.after) },
            .int4("p_limit") { Int32(clamping: $0.limit) },
        ]
    ) { Self.page("read_shard_log(\($0))", by: "gseq", bytes: shardLogBytes) }

    /// More of a room is not repeated, but answered with the whole room; more of a shard comes in further pages.
    private static let roomLogBytes = 32 << 20, shardLogBytes = 8 << 20

    /// A page of the log: its first row, and those after it while the elements of all take at most `bytes`. A number of rows
    /// alone is no bound: somebody who changes many elements in each commit would fill this process's memory.
    private static func page(_ log: String, by number: String, bytes: Int) -> String {
        """
        SELECT * FROM (
            SELECT e.*, row_number() OVER w AS place,
                   sum(coalesce(octet_length(e.before), 0) + coalesce(octet_length(e.after), 0)) OVER w AS bytes
            FROM \(log) AS e WINDOW w AS (ORDER BY e.\(number))
        ) AS l
        WHERE l.place = 1 OR l.bytes <= \(bytes) ORDER BY l.\(number)
        """
    }

    /// A page of a room's log; no row when the room was never used. Rows beyond the bytes of a page stay in the
    /// database, all but the first one. One statement, so one snapshot; `$1` is the room.
    private static let historyCall = PreparedCall<(room: Identifier, after: UInt64, limit: Int)>(
        "fanout_history",
        [
            .text("p_room") { $0.room.text }, .int8("p_after") { Int64(clamping: $0.after) },
            .int4("p_limit") { Int32(clamping: $0.limit) },
        ]
    ) {
        """
        SELECT r.seq AS last, (SELECT o.seq FROM read_room_log($1, 0, 1) AS o) AS oldest, l.seq,
               to_char(l.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS at, l.event, l.user_id, l.session,
               l.n, l.cause, l.before, l.after
        FROM rooms AS r
             LEFT JOIN (\(Self.page("read_room_log(\($0))", by: "seq", bytes: HistoryPage.largest))) AS l ON true
        WHERE r.room_id = $1 ORDER BY l.seq
        """
    }

    private static let claimCall = PreparedCall<(room: Identifier, sid: Identifier, user: Identifier)>(
        "fanout_claim",
        [.text("p_room") { $0.room.text }, .text("p_session") { $0.sid.text }, .text("p_user") { $0.user.text }]
    ) { "SELECT claim, hw FROM claim_session(\($0))" }

    private static let moveEpochCall = PreparedCall<Identifier>("fanout_move_epoch", [.text("p_from") { $0.text }]) {
        "SELECT move_epoch(\($0))"
    }
}

/// Reads rows into answers for the core. Rows that cannot be read make the whole answer nil; a missing column is an
/// error that names it.
package struct RowReader {
    private var document = JSONDocument()

    package init() {}

    package static func identity(
        _ rows: ResultRows
    ) throws(PostgresError) -> (epoch: Identifier, seal: SessionSeal, schemaVersion: Int64)? {
        let column = (
            epoch: try rows.column("epoch"), key: try rows.column("session_key"),
            version: try rows.column("schema_version")
        )
        guard rows.count == 1, let epoch = rows.text(0, column.epoch), let key = rows.text(0, column.key),
            let seal = SessionSeal(hexadecimal: key), let version = rows.int8(0, column.version)
        else { return nil }
        return (Identifier(epoch), seal, version)
    }

    package static func heads(_ rows: ResultRows) throws(PostgresError) -> ShardHeads? {
        let column = (
            epoch: try rows.column("epoch"), shard: try rows.column("shard"), gseq: try rows.column("gseq"),
            chain: try rows.column("chain")
        )
        guard rows.count == Shard.count, let epoch = rows.text(0, column.epoch) else { return nil }
        var marks = [ShardCursor.Mark](repeating: ShardCursor.Mark(0), count: Shard.count)
        for row in 0..<rows.count {
            guard let shard = rows.int2(row, column.shard), let gseq = rows.int8(row, column.gseq),
                let chain = rows.int8(row, column.chain), marks.indices.contains(Int(shard))
            else { return nil }
            marks[Int(shard)] = ShardCursor.Mark(UInt64(clamping: gseq), chain: UInt64(bitPattern: chain))
        }
        return ShardHeads(epoch: Identifier(epoch), marks: marks)
    }

    /// A room, with its elements' texts as they are stored.
    package static func room(_ rows: ResultRows) throws(PostgresError) -> RoomSnapshot? {
        let column = (
            gseq: try rows.column("gseq"), seq: try rows.column("seq"), chain: try rows.column("chain"),
            elementId: try rows.column("element_id"), elementSeq: try rows.column("element_seq"),
            element: try rows.column("element"), session: try rows.column("session"),
            gesture: try rows.column("gesture")
        )
        guard rows.count > 0, let gseq = rows.int8(0, column.gseq), let seq = rows.int8(0, column.seq),
            let chain = rows.int8(0, column.chain)
        else { return nil }
        var snapshot = RoomSnapshot(
            seq: UInt64(clamping: seq), gseq: UInt64(clamping: gseq), chain: UInt64(bitPattern: chain), elements: [])
        snapshot.elements.reserveCapacity(rows.count)
        for row in 0..<rows.count where !rows.isNull(row, column.elementId) {
            guard let id = rows.text(row, column.elementId) else { return nil }
            if let session = rows.text(row, column.session), let gesture = rows.int8(row, column.gesture) {
                snapshot.closed.append(
                    RoomSnapshot.ClosedGesture(
                        element: Identifier(id), sid: SessionKey.sid(of: Identifier(session)),
                        gesture: UInt64(clamping: gesture)))
            } else if let last = rows.int8(row, column.elementSeq), let json = rows.bytes(row, column.element) {
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

    /// Rows of the log. One that makes no sense ends the list: its numbers show that the rest is missing.
    package mutating func log(_ rows: ResultRows) throws(PostgresError) -> [Update]? {
        let column = (
            shard: try rows.column("shard"), gseq: try rows.column("gseq"), room: try rows.column("room_id"),
            seq: try rows.column("seq"), event: try rows.column("event"), user: try rows.column("user_id"),
            session: try rows.column("session"), number: try rows.column("n"),
            gestures: try rows.column("gestures"), element: try rows.column("element_id"),
            before: try rows.column("before"), after: try rows.column("after"), hash: try rows.column("body_hash"),
            chain: try rows.column("chain"), cause: try rows.column("cause")
        )
        var updates: [Update] = []
        updates.reserveCapacity(rows.count)
        for row in 0..<rows.count {
            guard let shard = rows.int2(row, column.shard), let gseq = rows.int8(row, column.gseq),
                let room = rows.text(row, column.room), let seq = rows.int8(row, column.seq),
                let event = rows.text(row, column.event), let user = rows.text(row, column.user),
                let session = rows.text(row, column.session), let number = rows.int8(row, column.number),
                let hash = rows.int8(row, column.hash), let chain = rows.int8(row, column.chain)
            else { return nil }
            let gestures = self.gestures(rows, row, column.gestures)
            let update = Update(
                loggedIn: Int(shard), gseq: gseq, room: Identifier(room), seq: seq, event: event,
                user: Identifier(user), session: Identifier(session), number: number, gestures: gestures, hash: hash,
                chain: chain, element: rows.text(row, column.element).map { Identifier($0) },
                before: rows.bytes(row, column.before), after: rows.bytes(row, column.after),
                cause: rows.text(row, column.cause), with: &self.document)
            guard let update else { return updates }
            updates.append(update)
        }
        return updates
    }

    /// A part of a room's log with the elements before and after each update.
    package mutating func history(_ rows: ResultRows) throws(PostgresError) -> RoomHistory? {
        let column = (
            last: try rows.column("last"), oldest: try rows.column("oldest"), seq: try rows.column("seq"),
            at: try rows.column("at"), event: try rows.column("event"), user: try rows.column("user_id"),
            session: try rows.column("session"), number: try rows.column("n"), cause: try rows.column("cause"),
            before: try rows.column("before"), after: try rows.column("after")
        )
        guard rows.count > 0 else { return RoomHistory(last: 0) }
        guard let last = rows.int8(0, column.last) else { return nil }
        var history = RoomHistory(
            last: UInt64(clamping: last), oldest: rows.int8(0, column.oldest).map(UInt64.init(clamping:)))
        for row in 0..<rows.count where !rows.isNull(row, column.seq) {
            guard let seq = rows.int8(row, column.seq), let at = rows.text(row, column.at),
                let event = rows.text(row, column.event), let user = rows.text(row, column.user),
                let session = rows.text(row, column.session).map({ Identifier($0) }),
                let number = rows.int8(row, column.number),
                let cause = UpdateCause(name: rows.text(row, column.cause))
            else { return nil }
            let changes = [HistoryEntry.Change](
                before: rows.bytes(row, column.before), after: rows.bytes(row, column.after), with: &self.document)
            history.entries.append(
                HistoryEntry(
                    seq: UInt64(clamping: seq), at: at, event: event, user: Identifier(user),
                    sid: SessionKey.sid(of: session), number: SessionKey.isApp(session) ? UInt64(clamping: number) : 0,
                    cause: cause, changes: changes))
        }
        return history
    }

    /// What became of a claim: no row means that the session is another user's.
    package static func claim(_ rows: ResultRows) throws(PostgresError) -> ClaimOutcome? {
        let column = (sessionEpoch: try rows.column("claim"), number: try rows.column("hw"))
        if rows.count == 0 { return .refused }
        guard let sessionEpoch = rows.int4(0, column.sessionEpoch).flatMap(UInt32.init(exactly:)),
            let number = rows.int8(0, column.number)
        else { return nil }
        return .granted(sessionEpoch: sessionEpoch, number: UInt64(clamping: number))
    }

    /// The gestures of a row of the log: an object of element ids and numbers, null when the commit ended none.
    private mutating func gestures(_ rows: ResultRows, _ row: Int, _ column: Int) -> [EndedGesture] {
        let isParsed = rows.withBytes(row, column) { bytes in
            (try? self.document.parse(bytes, limits: .logged)) != nil
        }
        guard isParsed == true else { return [] }
        return self.document.root.members.compactMap { element, gesture in
            guard let id = element.string, let number = gesture.integer.flatMap(UInt64.init(exactly:)) else {
                return nil
            }
            return EndedGesture(element: Identifier(id), gesture: number)
        }
    }
}
