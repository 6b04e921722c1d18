internal import Canvas
package import CommitterCore
internal import JSONBytes
package import Postgres
internal import Wire

/// Turns a request into the arguments of `load_shard_state`, and its rows into the state.
package struct StateColumns {
    /// The prepared call.
    package static let statement = Statement(
        name: "load_shard_state", sql: CallSQL.rows("load_shard_state", arguments: Self.types.count),
        parameterTypes: Self.types)

    private static let arrayTypes: [PostgresType] = [
        .text, .text, .text, .text, .text, .bool, .text, .text, .int8,
    ]
    private static let types: [PostgresType] = [.int2] + Self.arrayTypes.map { .array(of: $0) }

    private var columns = Self.arrayTypes.map { BinaryArray(of: $0) }
    private var parameters = Parameters()
    private var document = JSONDocument()

    /// Empty, to be used again and again.
    package init() {}

    /// The arguments for a request.
    package mutating func encode(_ request: LoadRequest) -> Parameters {
        for index in self.columns.indices { self.columns[index].removeAll() }
        for room in request.rooms { self.columns[0].append(text: room.text) }
        for key in request.streams {
            self.columns[1].append(text: key.room.text)
            self.columns[2].append(text: key.session.text)
        }
        for need in request.elements {
            self.columns[3].append(text: need.key.room.text)
            self.columns[4].append(text: need.key.element.text)
            self.columns[5].append(bool: need.family)
        }
        for key in request.outcomes {
            self.columns[6].append(text: key.stream.room.text)
            self.columns[7].append(text: key.stream.session.text)
            self.columns[8].append(int8: key.number)
        }
        self.parameters.removeAll()
        self.parameters.append(int2: Int16(truncatingIfNeeded: request.shard))
        for column in self.columns { self.parameters.append(array: column) }
        return self.parameters
    }

    /// The places of the columns that the function returns.
    private enum Column {
        static let kind = 0, room = 1, key = 2, number = 3, seq = 4, hash = 5, detail = 6, before = 7, after = 8
    }

    /// The state that the rows tell; nil when they are not what the function returns, or hold what cannot be read.
    package mutating func decode(_ rows: ResultRows) -> LoadedState? {
        var state: LoadedState?
        for row in 0..<rows.count where rows.int2(row, Column.kind) == 0 {
            guard let version = rows.unsigned(row, Column.number), let gseq = rows.unsigned(row, Column.seq),
                let chain = rows.int8(row, Column.hash)
            else { return nil }
            state = LoadedState(version: version, gseq: gseq, chain: UInt64(bitPattern: chain))
            state?.sessionFloor = rows.name(row, Column.detail) ?? ""
        }
        guard var state else { return nil }
        for row in 0..<rows.count {
            guard let kind = rows.int2(row, Column.kind) else { return nil }
            guard kind != 0 else { continue }
            guard let room = rows.name(row, Column.room), self.read(kind, room, rows, row, into: &state) else {
                return nil
            }
        }
        return state
    }

    private mutating func read(
        _ kind: Int16, _ room: Identifier, _ rows: ResultRows, _ row: Int, into state: inout LoadedState
    ) -> Bool {
        if kind == 1 {
            guard let seq = rows.unsigned(row, Column.seq) else { return false }
            state.rooms[room] = seq
            return true
        }
        guard let key = rows.name(row, Column.key) else { return false }
        switch kind {
        case 2: return Self.readStream(StreamKey(room, key), rows, row, into: &state)
        case 3: return self.readElement(ElementKey(room, key), rows, row, into: &state)
        case 4, 5: return self.readOutcome(kind, StreamKey(room, key), rows, row, into: &state)
        default: return true
        }
    }

    private static func readStream(
        _ key: StreamKey, _ rows: ResultRows, _ row: Int, into state: inout LoadedState
    ) -> Bool {
        guard let user = rows.name(row, Column.detail), let highest = rows.unsigned(row, Column.number),
            let claim = rows.unsigned(row, Column.seq).flatMap(UInt32.init(exactly:))
        else { return false }
        state.streams[key] = StreamState(user: user, highest: highest, claim: claim)
        return true
    }

    private mutating func readElement(
        _ key: ElementKey, _ rows: ResultRows, _ row: Int, into state: inout LoadedState
    ) -> Bool {
        if rows.isNull(row, Column.after) {
            state.elements.append(LoadedState.ElementRow(key: key, element: nil))
            return true
        }
        guard let json = self.parse(rows, row, Column.after), let element = Element(json: json) else { return false }
        state.elements.append(LoadedState.ElementRow(key: key, element: element))
        return true
    }

    private mutating func readOutcome(
        _ kind: Int16, _ stream: StreamKey, _ rows: ResultRows, _ row: Int, into state: inout LoadedState
    ) -> Bool {
        guard let number = rows.unsigned(row, Column.number), let hash = rows.int8(row, Column.hash) else {
            return false
        }
        let key = CommitKey(stream, number)
        if kind == 5 {
            guard let json = self.parse(rows, row, Column.after), let refusal = Refusal(json: json) else {
                return false
            }
            state.outcomes[key] = .refused(refusal, hash: UInt64(bitPattern: hash))
            return true
        }
        guard let seq = rows.unsigned(row, Column.seq),
            let event = rows.text(row, Column.detail).flatMap(UpdateEvent.init(name:))
        else { return false }
        state.outcomes[key] = .applied(
            seq: seq, event: event, hash: UInt64(bitPattern: hash), before: rows.bytes(row, Column.before) ?? [],
            after: rows.bytes(row, Column.after) ?? [])
        return true
    }

    private mutating func parse(_ rows: ResultRows, _ row: Int, _ column: Int) -> JSONValue? {
        let isParsed = rows.withBytes(row, column) { bytes in
            do {
                try self.document.parse(bytes, limits: Element.jsonLimits)
                return true
            } catch { return false }
        }
        return isParsed == true ? self.document.root : nil
    }
}

extension ResultRows {
    /// A number that is never negative.
    fileprivate func unsigned(_ row: Int, _ column: Int) -> UInt64? {
        self.int8(row, column).flatMap(UInt64.init(exactly:))
    }

    /// A name.
    fileprivate func name(_ row: Int, _ column: Int) -> Identifier? {
        self.text(row, column).map { Identifier($0) }
    }
}
