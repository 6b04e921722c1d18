/// The edits of one room in their order, those that were sent before those that wait, and their numbers in the session.
///
/// It holds at most `capacity` edits without a result; further ones are refused. What happens to one edit costs the same
/// however many of other elements wait.
struct EditQueue: Sendable {
    /// Those included whose result is known, but not shown by the room's stream yet.
    private var list = EditList()
    private(set) var nextNumber: Int64
    private let capacity: Int
    /// The keys of edits whose result is known.
    private var acknowledged: Set<Int> = []

    /// A queue with the edits that an earlier run left.
    init(capacity: Int, nextNumber: Int64 = 1, edits: [ClientEdit] = []) {
        self.capacity = capacity
        self.nextNumber = nextNumber
        for edit in edits { self.list.append(edit) }
    }

    /// All edits, those included whose result is known, but not shown by the room's stream yet.
    var edits: [ClientEdit] { self.list.all }

    var lastKey: Int? { self.list.keys.last }

    /// The same of an element.
    func edits(of element: TextKey) -> [ClientEdit] { self.list.edits(of: element) }

    var open: [ClientEdit] { self.edits.filter(\.isOpen) }

    var openCount: Int { self.list.openCount }

    /// Those without a number in the present session.
    var unnumbered: [ClientEdit] { self.open.filter { $0.presentNumber == nil } }

    /// Those that may have been applied in a session that ended.
    var doubtful: [ClientEdit] { self.hasDoubts ? self.edits.filter { $0.doubt != nil } : [] }

    var hasDoubts: Bool { self.list.doubtCount > 0 }

    /// The number of the first edit that was sent and has no answer, else the next number.
    var firstNumber: Int64 { self.sent.compactMap(\.presentNumber).first ?? self.nextNumber }

    func openEdit(_ key: Int) -> ClientEdit? {
        guard let edit = self.list[key], edit.isOpen else { return nil }
        return edit
    }

    private var sent: [ClientEdit] {
        var sent: [ClientEdit] = []
        for key in self.list.keys {
            guard let edit = self.list[key], edit.isOpen else { continue }
            if edit.number == nil { break }
            sent.append(edit)
        }
        return sent
    }

    // MARK: Appending

    /// Appends an edit, or folds it into one that was never sent; false when the queue is full. A full one still folds.
    mutating func append(_ edit: ClientEdit) -> Bool {
        let latest = self.list.latestKey(of: edit.elementIds)
        if let latest, self.list.change(latest, { $0.fold(edit) }) ?? false { return true }
        guard self.openCount < self.capacity else { return false }
        self.list.append(edit)
        return true
    }

    // MARK: Sending

    /// The next edit to send, numbered; nil when all are under way, or `limit` of them. `seq` is the room's number.
    mutating func next(limit: Int, seq: Int64) -> ClientEdit? {
        guard self.list.underWayCount < limit, self.list.underWayCount < self.openCount,
            let key = self.list.keys.first(where: { self.openEdit($0)?.isUnderWay == false })
        else { return nil }
        if self.list[key]?.number == nil {
            let number = self.nextNumber
            self.list.change(key) { ($0.number, $0.sentAfter) = (number, seq) }
            self.nextNumber = self.nextNumber.plus(1)
        }
        self.list.change(key) { edit in
            edit.isUnderWay = true
            edit.attempt += 1
        }
        return self.list[key]
    }

    mutating func resend(from number: Int64) {
        for edit in self.sent where edit.number ?? .min >= number {
            self.list.change(edit.key) { $0.isUnderWay = false }
        }
    }

    /// Everything without an answer is sent again: the connection was lost.
    mutating func resendAll() {
        self.resend(from: .min)
    }

    /// Puts an edit that is certainly refused in the place of one that uses no number, as one whose event the server
    /// does not know: the number would be a gap.
    mutating func fill(_ key: Int) {
        guard let unknown = self.list[key] else { return }
        var filler = ClientEdit(ids: [], event: "element:update", body: .empty)
        filler.number = unknown.number
        filler.sentAfter = unknown.sentAfter
        self.list.insert(filler, before: key)
        self.resend(from: unknown.number ?? .min)
    }

    // MARK: Results

    /// An edit was applied as a number of the room.
    mutating func acknowledge(_ key: Int, seq: Int64) {
        self.list.change(key) { edit in
            edit.seq = seq
            edit.doubt = nil
            edit.isStored = false
            edit.isUnderWay = false
        }
        self.acknowledged.insert(key)
    }

    mutating func remove(_ key: Int) {
        self.list.remove(key)
        self.acknowledged.remove(key)
    }

    mutating func removeSettled(upTo seq: Int64) -> [ClientEdit] {
        if self.acknowledged.isEmpty { return [] }
        let settled = self.acknowledged.sorted().compactMap { self.list[$0] }.filter { $0.seq ?? .max <= seq }
        for edit in settled { self.remove(edit.key) }
        return settled
    }

    /// Removes all acknowledged edits: the stream will not reach them. A whole room arrived, which is reported anyway.
    mutating func removeAcknowledged() {
        for key in self.acknowledged { self.remove(key) }
    }

    /// The stream contains the edit of that number in the present session.
    /// - Returns: the edit, if it has no answer yet.
    mutating func streamed(_ number: Int64) -> ClientEdit? {
        guard let edit = self.sent.first(where: { $0.presentNumber == number }) else { return nil }
        self.list.change(edit.key) { $0.isStored = true }
        return self.list[edit.key]
    }

    /// A whole room arrived that contains the edits up to this number.
    mutating func stored(upTo number: Int64) {
        for edit in self.sent where edit.presentNumber ?? .max <= number {
            self.list.change(edit.key) { $0.isStored = true }
        }
    }

    // MARK: Sessions

    /// The server's last number of the session: later ones are free.
    mutating func continued(after number: Int64) {
        self.nextNumber = max(self.nextNumber, number.plus(1))
    }

    /// A session ended: what was sent under it is in doubt, and everything is numbered from 1 again.
    mutating func sessionLost(sid: TextKey) {
        for key in self.sent.map(\.key) {
            self.list.change(key) { edit in
                if edit.presentNumber != nil { edit.doubt = EditDoubt(sid: sid) }
                edit.isUnderWay = false
                edit.isStored = false
            }
        }
        self.nextNumber = 1
    }

    /// A later edit of the same session than this one was applied.
    mutating func decided(_ key: Int) {
        self.list.change(key) { $0.doubt?.isDecided = true }
    }

    /// No doubtful edit was applied: they are sent under the present session.
    mutating func clearDoubts() {
        for edit in self.doubtful { self.list.change(edit.key) { ($0.doubt, $0.number) = (nil, nil) } }
    }
}
