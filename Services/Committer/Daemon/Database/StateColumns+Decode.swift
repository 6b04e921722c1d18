internal import Canvas
package import CommitterCore
internal import JSONBytes
package import Postgres
internal import Wire

extension StateColumns {
    /// Decodes the row.
    /// - Throws: 42703 naming a missing column, or 08P01 naming the first rows that cannot be decoded.
    package mutating func decode(_ rows: ResultRows) throws(PostgresError) -> LoadedState {
        let column = (
            version: try rows.column("version"), gseq: try rows.column("gseq"), chain: try rows.column("chain"),
            floor: try rows.column("session_floor")
        )
        guard let version = rows.int8(0, column.version), let gseq = rows.int8(0, column.gseq),
            let chain = rows.int8(0, column.chain)
        else { throw Self.unreadable("shards") }
        var state = LoadedState(
            version: UInt64(clamping: version), gseq: UInt64(clamping: gseq), chain: UInt64(bitPattern: chain))
        state.sessionFloor = rows.text(0, column.floor).map { Identifier($0) } ?? ""
        try Self.readRooms(rows, into: &state)
        try Self.readStreams(rows, into: &state)
        try self.readElements(rows, into: &state)
        try self.readApplied(rows, into: &state)
        try self.readRefused(rows, into: &state)
        try Self.readStacks(rows, into: &state)
        try Self.readEntries(rows, into: &state)
        try Self.readAnnotated(rows, into: &state)
        return state
    }

    /// Reads a table, which the result has as one array for each column.
    /// - Parameter row: reads a row's cells from left to right; false when one of them is not as it must be.
    private static func read(
        _ table: String, _ columns: [String], of rows: ResultRows, _ row: (inout Cells) -> Bool
    ) throws(PostgresError) {
        var cells = Cells()
        for column in columns { cells.columns.append(try ResultArray(column, of: rows)) }
        for _ in 0..<(cells.columns.first?.count ?? 0) {
            guard row(&cells) else { throw Self.unreadable(table) }
            cells.advance()
        }
    }

    private static func unreadable(_ table: String) -> PostgresError {
        PostgresError(.protocolViolation, "the \(table) of load_shard_state cannot be read")
    }

    private static func readRooms(_ rows: ResultRows, into state: inout LoadedState) throws(PostgresError) {
        try Self.read("rooms", ["room_ids", "room_seqs", "room_elements", "room_bytes"], of: rows) { row in
            guard let room = row.name(), let seq = row.unsigned(), let count = row.number(), let size = row.number()
            else { return false }
            state.rooms[room] = StoredRoom(seq: seq, totals: RoomTotals(elements: count, bytes: size))
            return true
        }
    }

    private static func readStreams(_ rows: ResultRows, into state: inout LoadedState) throws(PostgresError) {
        let columns = ["stream_rooms", "stream_sessions", "stream_users", "stream_hws", "stream_claims"]
        try Self.read("streams", columns, of: rows) { row in
            guard let key = row.stream(), let user = row.name(), let highest = row.unsigned(),
                let sessionEpoch = row.unsigned().flatMap(UInt32.init(exactly:))
            else { return false }
            state.streams[key] = StreamState(user: user, highest: highest, sessionEpoch: sessionEpoch)
            return true
        }
        try Self.read("evicted streams", ["evicted_rooms", "evicted_sessions"], of: rows) { row in
            guard let key = row.stream() else { return false }
            state.evicted.insert(key)
            return true
        }
    }

    private mutating func readElements(_ rows: ResultRows, into state: inout LoadedState) throws(PostgresError) {
        let columns = [
            "element_rooms", "element_ids", "element_seqs", "element_updated_by", "element_other_by",
            "element_other_seqs", "element_data",
        ]
        try Self.read("elements", columns, of: rows) { row in
            guard let room = row.name(), let id = row.name(), let seq = row.unsigned(), let user = row.name() else {
                return false
            }
            var authors = RecentAuthors(last: ChangeMark(user: user, seq: seq))
            let other = (user: row.name(), seq: row.unsigned())
            if let user = other.user, let seq = other.seq { authors.other = ChangeMark(user: user, seq: seq) }
            var element = ElementState.deleted(authors)
            if let json = row.bytes() {
                guard (try? self.document.parse(json, limits: .element)) != nil,
                    let stored = Element(json: self.document.root)
                else { return false }
                element = .live(LiveElement(element: stored, json: json, children: nil, authors: authors))
            }
            state.elements.append(LoadedState.ElementRow(key: ElementKey(room, id), state: element))
            return true
        }
    }

    private mutating func readApplied(_ rows: ResultRows, into state: inout LoadedState) throws(PostgresError) {
        let columns = [
            "applied_rooms", "applied_sessions", "applied_ns", "applied_seqs", "applied_hashes", "applied_events",
            "applied_before", "applied_after", "applied_undone", "applied_adjusted",
        ]
        try Self.read("applied commits", columns, of: rows) { row in
            guard let stream = row.stream(), let number = row.unsigned(), let seq = row.unsigned(),
                let hash = row.pattern(), let event = row.event()
            else { return false }
            let applied = AppliedOutcome(
                seq: seq, event: event, before: row.bytes() ?? [], after: row.bytes() ?? [],
                undone: row.json(with: &self.document).flatMap { UndoneEntry(json: $0) }, adjusted: row.bytes())
            state.outcomes[CommitKey(stream, number)] = applied.map { StoredOutcome(.applied($0), hash: hash) }
            return true
        }
    }

    private mutating func readRefused(_ rows: ResultRows, into state: inout LoadedState) throws(PostgresError) {
        let columns = ["refused_rooms", "refused_sessions", "refused_ns", "refused_hashes", "refused_outcomes"]
        try Self.read("refused commits", columns, of: rows) { row in
            guard let stream = row.stream(), let number = row.unsigned(), let hash = row.pattern(),
                let json = row.json(with: &self.document), let outcome = ShardBatch.RefusalRow.Outcome(json: json)
            else { return false }
            state.outcomes[CommitKey(stream, number)] = StoredOutcome(.unapplied(outcome), hash: hash)
            return true
        }
    }

    private static func readStacks(_ rows: ResultRows, into state: inout LoadedState) throws(PostgresError) {
        let columns = [
            "stack_rooms", "stack_users", "stack_undo_heads", "stack_undo_depths", "stack_redo_heads",
            "stack_redo_depths", "stack_groups", "stack_group_rows", "stack_group_bytes",
        ]
        try Self.read("stacks", columns, of: rows) { row in
            var stacks = UndoStacks()
            guard let room = row.name(), let user = row.name(), let undo = row.stack(), let redo = row.stack() else {
                return false
            }
            let group = row.name()
            guard let count = row.number(), let bytes = row.number() else { return false }
            (stacks.undo, stacks.redo) = (undo, redo)
            stacks.group = group.map { UndoStacks.OpenGroup(name: $0, rows: count, bytes: bytes) }
            state.users[UserKey(room, user)] = stacks
            return true
        }
    }

    private static func readEntries(_ rows: ResultRows, into state: inout LoadedState) throws(PostgresError) {
        let columns = [
            "entry_rooms", "entry_heads", "entry_seqs", "entry_nexts", "entry_events", "entry_before", "entry_after",
        ]
        try Self.read("entries", columns, of: rows) { row in
            guard let room = row.name(), let head = row.unsigned(), let seq = row.unsigned(),
                let next = row.unsigned(), let event = row.event()
            else { return false }
            state.entries[UndoEntryKey(room, head), default: []].append(
                UndoRow(seq: seq, event: event, before: row.bytes() ?? [], after: row.bytes() ?? [], next: next))
            return true
        }
    }

    private static func readAnnotated(_ rows: ResultRows, into state: inout LoadedState) throws(PostgresError) {
        let columns = ["annotated_rooms", "annotated_ids", "annotated_counts"]
        try Self.read("annotated elements", columns, of: rows) { row in
            guard let room = row.name(), let id = row.name(), let count = row.number() else { return false }
            state.annotations[ElementKey(room, id)] = count
            return true
        }
    }
}

/// The cells of a table, row by row: each call reads the next one. NULL and another type read as nil.
private struct Cells {
    var columns: [ResultArray] = []
    private var row = 0
    private var column = 0

    /// To the next row.
    mutating func advance() {
        self.row += 1
        self.column = 0
    }

    private mutating func next() -> Int {
        defer { self.column += 1 }
        return self.column
    }

    mutating func bytes() -> [UInt8]? { self.columns[self.next()].bytes(self.row) }
    mutating func name() -> Identifier? { self.columns[self.next()].text(self.row).map { Identifier($0) } }
    mutating func event() -> UpdateEvent? { self.columns[self.next()].text(self.row).flatMap(UpdateEvent.init(name:)) }
    mutating func number() -> Int? { self.columns[self.next()].int8(self.row).map { Int(clamping: $0) } }

    /// A number that is never negative.
    mutating func unsigned() -> UInt64? { self.columns[self.next()].int8(self.row).flatMap(UInt64.init(exactly:)) }

    /// The bits of a number as an unsigned one.
    mutating func pattern() -> UInt64? { self.columns[self.next()].int8(self.row).map(UInt64.init(bitPattern:)) }

    mutating func json(with document: inout JSONDocument) -> JSONValue? {
        let isParsed = self.columns[self.next()].withBytes(self.row) { bytes in
            (try? document.parse(bytes, limits: .element)) != nil
        }
        return isParsed == true ? document.root : nil
    }

    // MARK: Of several cells

    mutating func stream() -> StreamKey? {
        guard let room = self.name(), let session = self.name() else { return nil }
        return StreamKey(room, session)
    }

    mutating func stack() -> UndoStacks.Stack? {
        guard let head = self.unsigned(), let depth = self.number() else { return nil }
        return UndoStacks.Stack(head: head, depth: depth)
    }
}
