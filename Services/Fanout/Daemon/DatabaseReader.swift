internal import FanoutCore
internal import JSONBytes
internal import Postgres
internal import Wire

/// The fan-out's questions as statements, and their rows as answers.
enum DatabaseReader {
    /// The statements that every connection prepares, in the order of ``Request``.
    static let statements: [Statement] = [
        Statement(
            name: "heads",
            sql: "SELECT (SELECT value FROM meta WHERE key = 'epoch'), shard, gseq FROM shard_heads()"),
        Statement(
            name: "read_room", sql: "SELECT * FROM read_room($1, $2)", parameterTypes: [.text, .int2]),
        Statement(
            name: "read_room_log", sql: "SELECT * FROM read_room_log($1, $2, $3)",
            parameterTypes: [.text, .int8, .int4]),
        Statement(
            name: "read_shard_log", sql: "SELECT * FROM read_shard_log($1, $2, $3)",
            parameterTypes: [.int2, .int8, .int4]),
        Statement(
            name: "claim_session", sql: "SELECT * FROM claim_session($1, $2, $3)",
            parameterTypes: [.text, .text, .text]),
        Statement(name: "identity", sql: "SELECT key, value FROM meta WHERE key IN ('epoch', 'session_key')"),
    ]

    /// The place of the statement that reads epoch and session key.
    static let identity = 5

    /// A question as a statement's place and its parameters.
    static func call(_ query: DatabaseRequest.Query) -> (statement: Int, parameters: Parameters) {
        var parameters = Parameters()
        switch query {
        case .heads:
            return (0, parameters)
        case .room(let room):
            parameters.append(text: room.text)
            parameters.append(int2: Int16(Shard.of(room: room)))
            return (1, parameters)
        case .roomLog(let room, let after, let limit):
            parameters.append(text: room.text)
            parameters.append(int8: Int64(clamping: after))
            parameters.append(int4: Int32(clamping: limit))
            return (2, parameters)
        case .shardLog(let shard, let after, let limit):
            parameters.append(int2: Int16(clamping: shard))
            parameters.append(int8: Int64(clamping: after))
            parameters.append(int4: Int32(clamping: limit))
            return (3, parameters)
        case .claim(let room, let sid, let user):
            parameters.append(text: room.text)
            parameters.append(text: sid.text)
            parameters.append(text: user.text)
            return (4, parameters)
        }
    }

    /// The answer in the rows; `failed` when they are not what was asked for.
    static func reply(to query: DatabaseRequest.Query, _ rows: ResultRows, _ document: inout JSONDocument)
        -> DatabaseReply
    {
        switch query {
        case .heads: self.heads(rows)
        case .room: self.room(rows)
        case .roomLog, .shardLog: self.log(rows, &document)
        case .claim: self.claim(rows)
        }
    }

    private static func heads(_ rows: ResultRows) -> DatabaseReply {
        guard rows.count == Shard.count, let epoch = rows.text(0, 0) else { return .failed }
        var gseqs: [UInt64] = []
        for row in 0..<rows.count {
            guard rows.int2(row, 1) == Int16(row), let gseq = rows.int8(row, 2) else { return .failed }
            gseqs.append(UInt64(clamping: gseq))
        }
        return .heads(ShardHeads(epoch: Identifier(epoch), gseqs: gseqs))
    }

    private static func room(_ rows: ResultRows) -> DatabaseReply {
        guard rows.count > 0, let gseq = rows.int8(0, 1), let seq = rows.int8(0, 2) else { return .failed }
        var elements: [RoomSnapshot.Element] = []
        for row in 0..<rows.count {
            guard let id = rows.text(row, 3) else { continue }
            guard let elementSeq = rows.int8(row, 4), let json = rows.bytes(row, 5) else { return .failed }
            elements.append(
                RoomSnapshot.Element(id: Identifier(id), json: json, seq: UInt64(clamping: elementSeq)))
        }
        return .room(RoomSnapshot(seq: UInt64(clamping: seq), gseq: UInt64(clamping: gseq), elements: elements))
    }

    private static func log(_ rows: ResultRows, _ document: inout JSONDocument) -> DatabaseReply {
        var updates: [Update] = []
        for row in 0..<rows.count {
            guard let shard = rows.int2(row, 0), let gseq = rows.int8(row, 1), let room = rows.text(row, 2),
                let seq = rows.int8(row, 3), let event = rows.text(row, 5), let user = rows.text(row, 6),
                let session = rows.text(row, 7), let number = rows.int8(row, 8), let gesture = rows.int8(row, 9)
            else { return .failed }
            let entry = LogRow(
                shard: Int(shard), gseq: gseq, room: Identifier(room), seq: seq, event: event, user: Identifier(user),
                session: Identifier(session), number: number, gesture: gesture,
                element: rows.text(row, 10).map { Identifier($0) }, before: rows.bytes(row, 11),
                after: rows.bytes(row, 12))
            guard let update = entry.update(with: &document) else { return .failed }
            updates.append(update)
        }
        return .log(updates)
    }

    private static func claim(_ rows: ResultRows) -> DatabaseReply {
        guard rows.count > 0 else { return .claim(.refused) }
        guard let claim = rows.int4(0, 0), let highest = rows.int8(0, 1) else { return .failed }
        return .claim(.granted(claim: UInt32(clamping: claim), number: UInt64(clamping: highest)))
    }

    /// Epoch and session key; nil when the rows are not there.
    static func identity(_ rows: ResultRows) -> (epoch: Identifier, key: [UInt8])? {
        var values: [String: String] = [:]
        for row in 0..<rows.count {
            if let key = rows.text(row, 0), let value = rows.text(row, 1) { values[key] = value }
        }
        guard let epoch = values["epoch"], let text = values["session_key"],
            let key = SessionSecrets.bytes(hex: text.utf8), key.count >= 32
        else { return nil }
        return (Identifier(epoch), key)
    }
}
