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

    private static func unreadable(_ table: String) -> PostgresError {
        PostgresError(.protocolViolation, "the \(table) of load_shard_state cannot be read")
    }

    private static func readRooms(_ rows: ResultRows, into state: inout LoadedState) throws(PostgresError) {
        let (ids, seqs) = (try ResultArray("room_ids", of: rows), try ResultArray("room_seqs", of: rows))
        let (elements, bytes) = (try ResultArray("room_elements", of: rows), try ResultArray("room_bytes", of: rows))
        for row in 0..<ids.count {
            guard let room = ids.name(row), let seq = seqs.unsigned(row), let count = elements.number(row),
                let size = bytes.number(row)
            else { throw Self.unreadable("rooms") }
            state.rooms[room] = StoredRoom(seq: seq, totals: RoomTotals(elements: count, bytes: size))
        }
    }

    private static func readStreams(_ rows: ResultRows, into state: inout LoadedState) throws(PostgresError) {
        let keys = try StreamColumns("stream", rows)
        let (users, highest) = (try ResultArray("stream_users", of: rows), try ResultArray("stream_hws", of: rows))
        let claims = try ResultArray("stream_claims", of: rows)
        for row in 0..<keys.count {
            guard let key = keys.stream(row), let user = users.name(row), let highest = highest.unsigned(row),
                let claim = claims.unsigned(row).flatMap(UInt32.init(exactly:))
            else { throw Self.unreadable("streams") }
            state.streams[key] = StreamState(user: user, highest: highest, claim: claim)
        }
        let evicted = try StreamColumns("evicted", rows)
        for row in 0..<evicted.count {
            guard let key = evicted.stream(row) else { throw Self.unreadable("evicted streams") }
            state.evicted.insert(key)
        }
    }

    private mutating func readElements(_ rows: ResultRows, into state: inout LoadedState) throws(PostgresError) {
        let (rooms, ids) = (try ResultArray("element_rooms", of: rows), try ResultArray("element_ids", of: rows))
        let seqs = try ResultArray("element_seqs", of: rows)
        let (last, others) = (
            try ResultArray("element_updated_by", of: rows), try ResultArray("element_other_by", of: rows)
        )
        let otherSeqs = try ResultArray("element_other_seqs", of: rows)
        let data = try ResultArray("element_data", of: rows)
        state.elements.reserveCapacity(ids.count)
        for row in 0..<ids.count {
            guard let room = rooms.name(row), let id = ids.name(row), let seq = seqs.unsigned(row),
                let user = last.name(row)
            else { throw Self.unreadable("elements") }
            var authors = RecentAuthors(last: ChangeMark(user: user, seq: seq))
            if let other = others.name(row), let seq = otherSeqs.unsigned(row) {
                authors.other = ChangeMark(user: other, seq: seq)
            }
            var element = ElementState.deleted(authors)
            if let json = data.bytes(row) {
                guard let stored = data.json(row, with: &self.document).flatMap({ Element(json: $0) }) else {
                    throw Self.unreadable("elements")
                }
                element = .live(LiveElement(element: stored, json: json, children: nil, authors: authors))
            }
            state.elements.append(LoadedState.ElementRow(key: ElementKey(room, id), state: element))
        }
    }

    private mutating func readApplied(_ rows: ResultRows, into state: inout LoadedState) throws(PostgresError) {
        let keys = try StreamColumns("applied", rows)
        let (numbers, seqs) = (try ResultArray("applied_ns", of: rows), try ResultArray("applied_seqs", of: rows))
        let (hashes, events) = (
            try ResultArray("applied_hashes", of: rows), try ResultArray("applied_events", of: rows)
        )
        let (before, after) = (
            try ResultArray("applied_before", of: rows), try ResultArray("applied_after", of: rows)
        )
        let undone = try ResultArray("applied_undone", of: rows)
        let adjusted = try ResultArray("applied_adjusted", of: rows)
        for row in 0..<keys.count {
            guard let stream = keys.stream(row), let number = numbers.unsigned(row), let seq = seqs.unsigned(row),
                let hash = hashes.pattern(row), let event = events.text(row).flatMap(UpdateEvent.init(name:))
            else { throw Self.unreadable("applied commits") }
            state.outcomes[CommitKey(stream, number)] = .applied(
                seq: seq, event: event, hash: hash, before: before.bytes(row) ?? [], after: after.bytes(row) ?? [],
                undone: undone.json(row, with: &self.document).flatMap { UndoneEntry(json: $0) },
                adjusted: adjusted.bytes(row))
        }
    }

    private mutating func readRefused(_ rows: ResultRows, into state: inout LoadedState) throws(PostgresError) {
        let keys = try StreamColumns("refused", rows)
        let (numbers, hashes) = (try ResultArray("refused_ns", of: rows), try ResultArray("refused_hashes", of: rows))
        let outcomes = try ResultArray("refused_outcomes", of: rows)
        for row in 0..<keys.count {
            guard let stream = keys.stream(row), let number = numbers.unsigned(row), let hash = hashes.pattern(row),
                let json = outcomes.json(row, with: &self.document),
                let outcome = ShardBatch.RefusalRow.Outcome(json: json)
            else { throw Self.unreadable("refused commits") }
            state.outcomes[CommitKey(stream, number)] =
                switch outcome {
                case .refused(let refusal): .refused(refusal, hash: hash)
                case .unchanged(let seq): .unchanged(seq: seq, hash: hash)
                }
        }
    }

    private static func readStacks(_ rows: ResultRows, into state: inout LoadedState) throws(PostgresError) {
        let (rooms, users) = (try ResultArray("stack_rooms", of: rows), try ResultArray("stack_users", of: rows))
        let undo = (try ResultArray("stack_undo_heads", of: rows), try ResultArray("stack_undo_depths", of: rows))
        let redo = (try ResultArray("stack_redo_heads", of: rows), try ResultArray("stack_redo_depths", of: rows))
        let groups = try ResultArray("stack_groups", of: rows)
        let groupRows = try ResultArray("stack_group_rows", of: rows)
        let groupBytes = try ResultArray("stack_group_bytes", of: rows)
        for row in 0..<users.count {
            guard let room = rooms.name(row), let user = users.name(row), let undoHead = undo.0.unsigned(row),
                let undoDepth = undo.1.number(row), let redoHead = redo.0.unsigned(row),
                let redoDepth = redo.1.number(row), let count = groupRows.number(row),
                let bytes = groupBytes.number(row)
            else { throw Self.unreadable("stacks") }
            var stacks = UndoStacks()
            stacks.undo = UndoStacks.Stack(head: undoHead, depth: undoDepth)
            stacks.redo = UndoStacks.Stack(head: redoHead, depth: redoDepth)
            stacks.group = groups.name(row).map { UndoStacks.OpenGroup(name: $0, rows: count, bytes: bytes) }
            state.users[UserKey(room, user)] = stacks
        }
    }

    private static func readEntries(_ rows: ResultRows, into state: inout LoadedState) throws(PostgresError) {
        let (rooms, heads) = (try ResultArray("entry_rooms", of: rows), try ResultArray("entry_heads", of: rows))
        let (seqs, nexts) = (try ResultArray("entry_seqs", of: rows), try ResultArray("entry_nexts", of: rows))
        let events = try ResultArray("entry_events", of: rows)
        let (before, after) = (try ResultArray("entry_before", of: rows), try ResultArray("entry_after", of: rows))
        for row in 0..<seqs.count {
            guard let room = rooms.name(row), let head = heads.unsigned(row), let seq = seqs.unsigned(row),
                let event = events.text(row).flatMap(UpdateEvent.init(name:)), let next = nexts.unsigned(row)
            else { throw Self.unreadable("entries") }
            state.entries[UndoEntryKey(room, head), default: []].append(
                UndoRow(
                    seq: seq, event: event, before: before.bytes(row) ?? [], after: after.bytes(row) ?? [], next: next))
        }
    }

    private static func readAnnotated(_ rows: ResultRows, into state: inout LoadedState) throws(PostgresError) {
        let (rooms, ids) = (try ResultArray("annotated_rooms", of: rows), try ResultArray("annotated_ids", of: rows))
        let counts = try ResultArray("annotated_counts", of: rows)
        for row in 0..<ids.count {
            guard let room = rooms.name(row), let id = ids.name(row), let count = counts.number(row) else {
                throw Self.unreadable("annotated elements")
            }
            state.annotations[ElementKey(room, id)] = count
        }
    }
}

/// The columns that name streams.
private struct StreamColumns {
    private let rooms, sessions: ResultArray
    var count: Int { self.rooms.count }

    init(_ table: String, _ rows: ResultRows) throws(PostgresError) {
        self.rooms = try ResultArray("\(table)_rooms", of: rows)
        self.sessions = try ResultArray("\(table)_sessions", of: rows)
    }

    func stream(_ row: Int) -> StreamKey? {
        guard let room = self.rooms.name(row), let session = self.sessions.name(row) else { return nil }
        return StreamKey(room, session)
    }
}

extension ResultArray {
    fileprivate func name(_ row: Int) -> Identifier? { self.text(row).map { Identifier($0) } }

    /// A number that is never negative.
    fileprivate func unsigned(_ row: Int) -> UInt64? { self.int8(row).flatMap(UInt64.init(exactly:)) }

    fileprivate func number(_ row: Int) -> Int? { self.int8(row).map { Int(clamping: $0) } }

    /// The bits of a number as an unsigned one.
    fileprivate func pattern(_ row: Int) -> UInt64? { self.int8(row).map(UInt64.init(bitPattern:)) }

    fileprivate func json(_ row: Int, with document: inout JSONDocument) -> JSONValue? {
        let isParsed = self.withBytes(row) { bytes in
            (try? document.parse(bytes, limits: Element.jsonLimits)) != nil
        }
        return isParsed == true ? document.root : nil
    }
}
