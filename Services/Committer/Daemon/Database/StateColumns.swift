internal import Canvas
package import CommitterCore
internal import JSONBytes
package import Postgres
internal import Wire

/// Encodes a request as the arguments of `load_shard_state`, and decodes the resulting rows.
package struct StateColumns {
    /// The prepared call.
    package static var statement: Statement { Self.call.statement }

    private static let call = PreparedCall<LoadRequest>(
        "load_shard_state", [.int2("p_shard") { Int16(truncatingIfNeeded: $0.shard) }],
        Argument.arrays(Self.rooms) { $0.rooms }, Argument.arrays(Self.streams) { $0.streams },
        Argument.arrays(Self.elements) { $0.elements }, Argument.arrays(Self.outcomes) { $0.outcomes },
        Argument.arrays(Self.users) { $0.users }, Argument.arrays(Self.entries) { $0.entries },
        Argument.arrays(Self.annotations) { $0.annotations }
    ) { "SELECT * FROM load_shard_state(\($0))" }

    private static let rooms: [ArrayColumn<Identifier>] = [.text("r_room") { $0.text }]

    private static let streams: [ArrayColumn<StreamNeed>] = [
        .text("s_room") { $0.key.room.text },
        .text("s_session") { $0.key.session.text },
        .text("s_user") { $0.user.text },
    ]

    private static let elements: [ArrayColumn<ElementNeed>] = [
        .text("e_room") { $0.key.room.text },
        .text("e_id") { $0.key.element.text },
        .bool("e_family") { $0.family },
    ]

    private static let outcomes: [ArrayColumn<CommitKey>] = [
        .text("d_room") { $0.stream.room.text },
        .text("d_session") { $0.stream.session.text },
        .unsigned("d_n") { $0.number },
    ]

    private static let users: [ArrayColumn<UserKey>] = [
        .text("u_room") { $0.room.text },
        .text("u_user") { $0.user.text },
    ]

    private static let entries: [ArrayColumn<UndoEntryNeed>] = [
        .text("h_room") { $0.key.room.text },
        .unsigned("h_seq") { $0.key.head },
        .unsigned("h_ahead") { $0.ahead },
    ]

    private static let annotations: [ArrayColumn<ElementKey>] = [
        .text("a_room") { $0.room.text },
        .text("a_id") { $0.element.text },
    ]

    private var buffer = ArgumentBuffer()
    private var document = JSONDocument()

    /// An empty encoder, to be reused.
    package init() {}

    /// The arguments for a request.
    package mutating func encode(_ request: LoadRequest) -> Parameters {
        Self.call.parameters(request, in: &self.buffer)
    }

    /// Decodes the rows.
    /// - Throws: 42703 naming a missing column, or 08P01 with the first row that cannot be decoded.
    package mutating func decode(_ rows: ResultRows) throws(PostgresError) -> LoadedState {
        var row = try StateRow(rows)
        var state: LoadedState?
        for index in 0..<rows.count {
            row.index = index
            guard row.kind == 0 else { continue }
            guard let version = row.number, let gseq = row.seq, let chain = row.hash else { throw row.unreadable }
            state = LoadedState(version: version, gseq: gseq, chain: chain)
            state?.sessionFloor = row.detail ?? ""
        }
        guard var state else { throw PostgresError(.protocolViolation, "load_shard_state returned no shard") }
        for index in 0..<rows.count {
            row.index = index
            guard self.read(row, into: &state) else { throw row.unreadable }
        }
        return state
    }

    private mutating func read(_ row: StateRow, into state: inout LoadedState) -> Bool {
        guard let kind = row.kind else { return false }
        if kind == 0 { return true }
        guard let room = row.room else { return false }
        if kind == 1 { return Self.readRoom(room, row, into: &state) }
        if kind == 9 { return Self.readEntry(room, row, into: &state) }
        guard let key = row.key else { return false }
        switch kind {
        case 2: return Self.readStream(StreamKey(room, key), row, into: &state)
        case 3: return self.readElement(ElementKey(room, key), row, into: &state)
        case 4: return self.readApplied(StreamKey(room, key), row, into: &state)
        case 5: return self.readUnapplied(StreamKey(room, key), row, into: &state)
        case 6...8: return Self.readStacks(UserKey(room, key), kind, row, into: &state)
        case 10:
            state.annotations[ElementKey(room, key)] = row.number.map { Int(clamping: $0) }
            return row.number != nil
        case 11:
            state.evicted.insert(StreamKey(room, key))
            return true
        default: return true
        }
    }

    private static func readRoom(_ room: Identifier, _ row: StateRow, into state: inout LoadedState) -> Bool {
        guard let seq = row.seq, let elements = row.number, let bytes = row.hash else { return false }
        state.rooms[room] = StoredRoom(
            seq: seq, totals: RoomTotals(elements: Int(clamping: elements), bytes: Int(clamping: bytes)))
        return true
    }

    private static func readStream(_ key: StreamKey, _ row: StateRow, into state: inout LoadedState) -> Bool {
        guard let user = row.detail, let highest = row.number, let claim = row.seq.flatMap(UInt32.init(exactly:)) else {
            return false
        }
        state.streams[key] = StreamState(user: user, highest: highest, claim: claim)
        return true
    }

    private mutating func readElement(_ key: ElementKey, _ row: StateRow, into state: inout LoadedState) -> Bool {
        guard let authors = row.authors else { return false }
        if row.hasNoAfter {
            state.elements.append(LoadedState.ElementRow(key: key, state: .deleted(authors)))
            return true
        }
        guard let json = row.after(with: &self.document), let element = Element(json: json) else { return false }
        let live = LiveElement(element: element, json: row.afterBytes, children: nil, authors: authors)
        state.elements.append(LoadedState.ElementRow(key: key, state: .live(live)))
        return true
    }

    private mutating func readApplied(_ stream: StreamKey, _ row: StateRow, into state: inout LoadedState) -> Bool {
        guard let number = row.number, let hash = row.hash, let seq = row.seq,
            let event = row.detail.flatMap({ UpdateEvent(name: $0.text) })
        else { return false }
        state.outcomes[CommitKey(stream, number)] = .applied(
            seq: seq, event: event, hash: hash, before: row.beforeBytes, after: row.afterBytes,
            undone: row.undone(with: &self.document).flatMap { UndoneEntry(json: $0) })
        return true
    }

    private static func readStacks(
        _ key: UserKey, _ kind: Int16, _ row: StateRow, into state: inout LoadedState
    ) -> Bool {
        guard let count = row.number.map({ Int(clamping: $0) }) else { return false }
        var stacks = state.users[key] ?? UndoStacks()
        if kind == 8 {
            guard let name = row.detail, let bytes = row.hash else { return false }
            stacks.group = UndoStacks.OpenGroup(name: name, rows: count, bytes: Int(clamping: bytes))
        } else {
            guard let head = row.seq else { return false }
            let stack = UndoStacks.Stack(head: head, depth: count)
            if kind == 6 { stacks.undo = stack } else { stacks.redo = stack }
        }
        state.users[key] = stacks
        return true
    }

    private static func readEntry(_ room: Identifier, _ row: StateRow, into state: inout LoadedState) -> Bool {
        guard let head = row.number, let seq = row.seq, let event = row.detail.flatMap({ UpdateEvent(name: $0.text) }),
            let next = row.hash
        else { return false }
        state.entries[UndoEntryKey(room, head), default: []].append(
            UndoRow(seq: seq, event: event, before: row.beforeBytes, after: row.afterBytes, next: next))
        return true
    }

    private mutating func readUnapplied(_ stream: StreamKey, _ row: StateRow, into state: inout LoadedState) -> Bool {
        guard let number = row.number, let hash = row.hash, let json = row.after(with: &self.document)
        else { return false }
        switch ShardBatch.RefusalRow.Outcome(json: json) {
        case .refused(let refusal): state.outcomes[CommitKey(stream, number)] = .refused(refusal, hash: hash)
        case .unchanged(let seq): state.outcomes[CommitKey(stream, number)] = .unchanged(seq: seq, hash: hash)
        case nil: return false
        }
        return true
    }
}

/// One row of `load_shard_state`; the function's comment documents the columns for each kind.
private struct StateRow {
    private let rows: ResultRows
    private let kindColumn, roomColumn, keyColumn, numberColumn, seqColumn, hashColumn, detailColumn: Int
    private let beforeColumn, afterColumn, undoneColumn: Int
    var index = 0

    init(_ rows: ResultRows) throws(PostgresError) {
        self.rows = rows
        self.kindColumn = try rows.column("kind")
        self.roomColumn = try rows.column("room_id")
        self.keyColumn = try rows.column("key")
        self.numberColumn = try rows.column("n")
        self.seqColumn = try rows.column("seq")
        self.hashColumn = try rows.column("hash")
        self.detailColumn = try rows.column("detail")
        self.beforeColumn = try rows.column("before")
        self.afterColumn = try rows.column("after")
        self.undoneColumn = try rows.column("undone")
    }

    var kind: Int16? { self.rows.int2(self.index, self.kindColumn) }
    var room: Identifier? { self.name(self.roomColumn) }
    var key: Identifier? { self.name(self.keyColumn) }
    var number: UInt64? { self.unsigned(self.numberColumn) }
    var seq: UInt64? { self.unsigned(self.seqColumn) }
    var hash: UInt64? { self.rows.int8(self.index, self.hashColumn).map(UInt64.init(bitPattern:)) }
    var detail: Identifier? { self.name(self.detailColumn) }
    var beforeBytes: [UInt8] { self.rows.bytes(self.index, self.beforeColumn) ?? [] }
    var afterBytes: [UInt8] { self.rows.bytes(self.index, self.afterColumn) ?? [] }
    /// The users that changed an element last.
    var authors: RecentAuthors? {
        guard let user = self.name(self.beforeColumn), let seq = self.seq else { return nil }
        var authors = RecentAuthors(last: ChangeMark(user: user, seq: seq))
        if let other = self.detail, let seq = self.unsigned(self.hashColumn) {
            authors.other = ChangeMark(user: other, seq: seq)
        }
        return authors
    }

    var hasNoAfter: Bool { self.rows.isNull(self.index, self.afterColumn) }

    var unreadable: PostgresError {
        PostgresError(.protocolViolation, "row \(self.index) of load_shard_state cannot be read")
    }

    /// The column `after` as JSON.
    func after(with document: inout JSONDocument) -> JSONValue? { self.json(self.afterColumn, with: &document) }

    /// The column `undone` as JSON.
    func undone(with document: inout JSONDocument) -> JSONValue? { self.json(self.undoneColumn, with: &document) }

    private func json(_ column: Int, with document: inout JSONDocument) -> JSONValue? {
        let isParsed = self.rows.withBytes(self.index, column) { bytes in
            (try? document.parse(bytes, limits: Element.jsonLimits)) != nil
        }
        return isParsed == true ? document.root : nil
    }

    /// A number that is never negative.
    private func unsigned(_ column: Int) -> UInt64? {
        self.rows.int8(self.index, column).flatMap(UInt64.init(exactly:))
    }

    private func name(_ column: Int) -> Identifier? {
        self.rows.text(self.index, column).map { Identifier($0) }
    }
}
