import JSONBytes

/// This app's session in a room: edits are numbered in it.
struct RoomSession: Sendable {
    /// What the server needs to continue it; nil without one.
    var secret: String?
    /// What others see of it.
    var sid = TextKey("")

    /// Whether the server continues it.
    func isSame(_ other: String?) -> Bool { self.secret.map(TextKey.init) == other.map(TextKey.init) }
}

/// What the server allows an app in a room.
struct RoomAllowance: Sendable {
    private(set) var message = 262144
    private(set) var unacknowledged = 32

    init(_ limits: JSONObject = .empty) {
        if let bytes = limits["message"]?.integer { self.message = Int(bytes) }
        if let edits = limits["unacknowledged"]?.integer { self.unacknowledged = Int(edits) }
    }

    /// Whether an edit is small enough, with some room for what is added when it is sent.
    func allows(_ edit: ClientEdit) -> Bool {
        edit.event.utf8.count + edit.body.text.count + 5 + 256 <= self.message
    }
}

/// Which edits are to be kept for the next run of the app.
struct RoomSaving: Sendable {
    /// Whether something of it changed since it was saved.
    private(set) var isDirty = false
    private var isSaved: Bool
    /// The keys of edits that are saved without a number of the present session.
    private var unnumbered: Set<Int>

    init(isSaved: Bool, _ queue: EditQueue) {
        self.isSaved = isSaved
        self.unnumbered = Set(queue.unnumbered.map(\.key))
    }

    mutating func changed() {
        self.isDirty = true
    }

    /// What the shell is to do about the present state.
    /// - Parameter record: of the queue; nil when nothing has to be kept.
    mutating func due(_ record: RoomRecord?, _ queue: EditQueue) -> RoomOutput? {
        self.isDirty = false
        let unnumbered = Set(queue.unnumbered.map(\.key))
        let isFirst = queue.open.contains { self.unnumbered.contains($0.key) && !unnumbered.contains($0.key) }
        defer { (self.isSaved, self.unnumbered) = (record != nil, unnumbered) }
        return record != nil || self.isSaved ? .save(record, isFirst: isFirst) : nil
    }
}

/// The search for edits in doubt in the room's history.
struct DoubtSearch: Sendable {
    /// Where the page begins that is being read.
    var readingFrom: Int64?
    /// When a page that could not be had is asked for again, ms; at the latest it is behind the next join.
    var retryAt: Int64?
}
