/// The edits of one room in their order, those that were sent before those that wait, and their numbers in the session.
///
/// It holds at most `capacity` edits without a result; further ones are refused.
struct EditQueue: Sendable {
    /// All edits, those included whose result is known, but not shown by the room's stream yet.
    private(set) var edits: [ClientEdit] = []
    /// The number of the next edit that is sent for the first time.
    private(set) var nextNumber: Int64
    private let capacity: Int
    private var lastKey = 0

    /// A queue with the edits that an earlier run left.
    init(capacity: Int, nextNumber: Int64 = 1, edits: [ClientEdit] = []) {
        self.capacity = capacity
        self.nextNumber = nextNumber
        for edit in edits { self.add(edit) }
    }

    /// Those without a result.
    var open: some Sequence<ClientEdit> { self.edits.lazy.filter(\.isOpen) }

    /// The number of edits without a result.
    var openCount: Int { self.edits.reduce(0) { $0 + ($1.isOpen ? 1 : 0) } }

    /// Those without a number in the present session.
    var unnumbered: some Sequence<ClientEdit> { self.open.filter { $0.presentNumber == nil } }

    /// Those that may have been applied in a session that ended.
    var doubtful: [ClientEdit] { self.edits.filter { $0.doubt != nil } }

    /// Whether there are such edits.
    var hasDoubts: Bool { self.edits.contains { $0.doubt != nil } }

    /// The number of the first edit that was sent and has no answer, else the next number.
    var firstNumber: Int64 { self.open.compactMap(\.presentNumber).first { _ in true } ?? self.nextNumber }

    /// The open edit of that key.
    func openEdit(_ key: Int) -> ClientEdit? {
        self.edits.first { $0.key == key && $0.isOpen }
    }

    // MARK: Appending

    /// Appends an edit, or folds it into one that was never sent; false when the queue is full. A full one still folds.
    mutating func append(_ edit: ClientEdit) -> Bool {
        // What names no element, as an undo, may change any.
        let index = self.edits.lastIndex { other in
            other.elementIds.isEmpty || other.elementIds.contains { edit.elementIds.contains($0) }
        }
        if let index, self.edits[index].fold(edit) { return true }
        guard self.openCount < self.capacity else { return false }
        self.add(edit)
        return true
    }

    private mutating func add(_ edit: ClientEdit) {
        self.lastKey += 1
        self.edits.append(edit)
        self.edits[self.edits.count - 1].key = self.lastKey
    }

    // MARK: Sending

    /// The next edit to send, numbered; nil when all are under way, or `limit` of them. `seq` is the room's number.
    mutating func next(limit: Int, seq: Int64) -> ClientEdit? {
        guard self.open.filter(\.isUnderWay).count < limit,
            let index = self.edits.firstIndex(where: { $0.isOpen && !$0.isUnderWay })
        else { return nil }
        if self.edits[index].number == nil {
            self.edits[index].number = self.nextNumber
            self.edits[index].sentAfter = seq
            self.nextNumber = self.nextNumber.plus(1)
        }
        self.edits[index].isUnderWay = true
        self.edits[index].attempt += 1
        return self.edits[index]
    }

    /// The edits from a number on are sent again.
    mutating func resend(from number: Int64) {
        for index in self.edits.indices {
            if let sent = self.edits[index].number, sent >= number { self.edits[index].isUnderWay = false }
        }
    }

    /// Everything without an answer is sent again: the connection was lost.
    mutating func resendAll() {
        self.resend(from: .min)
    }

    /// Puts an edit that is certainly refused in the place of one that uses no number, as one whose event the server
    /// does not know: the number would be a hole.
    mutating func fill(_ key: Int) {
        guard let index = self.edits.firstIndex(where: { $0.key == key }) else { return }
        let unknown = self.edits[index]
        var filler = ClientEdit(ids: [], event: "element:update", body: .empty)
        filler.number = unknown.number
        filler.sentAfter = unknown.sentAfter
        self.lastKey += 1
        filler.key = self.lastKey
        self.edits.insert(filler, at: index)
        self.resend(from: unknown.number ?? .min)
    }

    // MARK: Results

    /// An edit was applied as a number of the room.
    mutating func acknowledge(_ key: Int, seq: Int64) {
        guard let index = self.edits.firstIndex(where: { $0.key == key }) else { return }
        self.edits[index].seq = seq
        self.edits[index].doubt = nil
        self.edits[index].isStored = false
        self.edits[index].isUnderWay = false
    }

    mutating func remove(_ key: Int) {
        self.edits.removeAll { $0.key == key }
    }

    /// Removes acknowledged edits that the stream has reached.
    mutating func removeSettled(upTo seq: Int64) -> [ClientEdit] {
        let settled = self.edits.filter { $0.seq.map { $0 <= seq } ?? false }
        if !settled.isEmpty { self.edits.removeAll { $0.seq.map { $0 <= seq } ?? false } }
        return settled
    }

    /// Removes all acknowledged edits: the stream will not reach them. A whole room arrived, which is reported anyway.
    mutating func removeAcknowledged() {
        self.edits.removeAll { !$0.isOpen }
    }

    /// The stream contains the edit of that number in the present session.
    /// - Returns: the edit, if it has no answer yet.
    mutating func streamed(_ number: Int64) -> ClientEdit? {
        guard let index = self.edits.firstIndex(where: { $0.isOpen && $0.presentNumber == number }) else { return nil }
        self.edits[index].isStored = true
        return self.edits[index]
    }

    /// A whole room arrived that contains the edits up to this number.
    mutating func stored(upTo number: Int64) {
        for index in self.edits.indices where self.edits[index].isOpen {
            if let sent = self.edits[index].presentNumber, sent <= number { self.edits[index].isStored = true }
        }
    }

    // MARK: Sessions

    /// The server's last number of the session: later ones are free.
    mutating func continued(after number: Int64) {
        self.nextNumber = max(self.nextNumber, number.plus(1))
    }

    /// A session ended: what was sent under it is in doubt, and everything is numbered from 1 again.
    mutating func sessionLost(sid: TextKey) {
        for index in self.edits.indices where self.edits[index].isOpen {
            if self.edits[index].presentNumber != nil { self.edits[index].doubt = EditDoubt(sid: sid) }
            self.edits[index].isUnderWay = false
            self.edits[index].isStored = false
        }
        self.nextNumber = 1
    }

    /// A later edit of the same session than this one was applied.
    mutating func decided(_ key: Int) {
        guard let index = self.edits.firstIndex(where: { $0.key == key }) else { return }
        self.edits[index].doubt?.isDecided = true
    }

    /// No doubtful edit was applied: they are sent under the present session.
    mutating func clearDoubts() {
        for index in self.edits.indices where self.edits[index].doubt != nil {
            self.edits[index].doubt = nil
            self.edits[index].number = nil
        }
    }
}
