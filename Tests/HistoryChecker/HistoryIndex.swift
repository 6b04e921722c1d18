/// A history with what the checks look up: commits by name, the log by room, the end of everything.
struct HistoryIndex {
    /// A commit's name.
    struct CommitKey: Hashable {
        var room: String
        var session: String
        var number: UInt64
    }

    /// What apps said of one commit, as places in the history.
    struct Commit {
        var key: CommitKey
        var invoke: Int?
        var acks: [Int] = []
        var refusals: [Int] = []
        var retries: [Int] = []
        var lost: Int?
        /// Its rows in the log: one at most, if all is well.
        var rows: [Int] = []

        /// The first record that ends it.
        var answer: Int? {
            switch (self.acks.first, self.refusals.first) {
            case (let ack?, let refusal?): min(ack, refusal)
            case (let ack, let refusal): ack ?? refusal
            }
        }
    }

    /// A room's end and its log, as places in the history.
    struct Room {
        var end: Int?
        var seq: UInt64 = 0
        var floor: UInt64 = 0
        /// The log's rows, by seq.
        var rows: [Int] = []
        /// The final elements.
        var elements: [Int] = []
    }

    let history: [HistoryRecord]
    private(set) var commits: [Commit] = []
    private var places: [CommitKey: Int] = [:]
    private(set) var rooms: [String: Room] = [:]
    /// Numbers of the shards at the end.
    private(set) var shards: [Int: UInt64] = [:]
    /// Where the last fault ended, and where everybody had settled.
    private(set) var heal: Int?
    private(set) var quiet: Int?

    init(_ history: [HistoryRecord]) {
        self.history = history
        for place in history.indices { self.add(place) }
        for name in self.rooms.keys {
            self.rooms[name]?.rows.sort { history[$0].seq < history[$1].seq }
        }
    }

    private mutating func add(_ place: Int) {
        let record = self.history[place]
        switch record.kind {
        case .invoke:
            let commit = self.place(of: record)
            if self.commits[commit].invoke == nil { self.commits[commit].invoke = place }
        case .ok: self.commits[self.place(of: record)].acks.append(place)
        case .refused where record.isFinal: self.commits[self.place(of: record)].refusals.append(place)
        case .refused: self.commits[self.place(of: record)].retries.append(place)
        case .lost: self.commits[self.place(of: record)].lost = place
        case .log:
            self.commits[self.place(of: record)].rows.append(place)
            self.rooms[record.room, default: Room()].rows.append(place)
        case .room:
            self.rooms[record.room, default: Room()].end = place
            self.rooms[record.room, default: Room()].seq = record.seq
            self.rooms[record.room, default: Room()].floor = record.floor
        case .element: self.rooms[record.room, default: Room()].elements.append(place)
        case .shard: self.shards[record.shard] = record.gseq
        case .heal: self.heal = place
        case .quiet: self.quiet = place
        case .snapshot, .resumed, .resync, .deliver, .left, .previewSent, .preview, .count: break
        case .request, .answer, .closed, .legacy: break
        case .look, .view, .pointed, .cursor, .selected, .people: break
        case .started, .edit, .result, .shown, .posed, .hush, .stir: break
        }
    }

    private mutating func place(of record: HistoryRecord) -> Int {
        let key = CommitKey(room: record.room, session: record.session, number: record.number)
        if let place = self.places[key] { return place }
        self.places[key] = self.commits.count
        self.commits.append(Commit(key: key))
        return self.commits.count - 1
    }

    /// The commit that a record names; nil when it names none.
    func commit(of record: HistoryRecord) -> Commit? {
        self.commit(CommitKey(room: record.room, session: record.session, number: record.number))
    }

    /// The commit of that name.
    func commit(_ key: CommitKey) -> Commit? { self.places[key].map { self.commits[$0] } }

    /// The row with a room's number.
    func row(_ room: String, _ seq: UInt64) -> Int? {
        guard let rows = self.rooms[room]?.rows else { return nil }
        let place = firstIndex(in: rows) { self.history[$0].seq >= seq }
        return place < rows.count && self.history[rows[place]].seq == seq ? rows[place] : nil
    }

    /// When the last fault had ended; before everything in a history without faults.
    var healTime: Double { self.heal.map { self.history[$0].time } ?? 0 }
}

/// Where the elements begin that fulfil a condition, in an array of first those that do not and then those that do.
func firstIndex<Element>(in ordered: [Element], where isFulfilled: (Element) -> Bool) -> Int {
    var (low, high) = (0, ordered.count)
    while low < high {
        let middle = (low + high) / 2
        if isFulfilled(ordered[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
}
