/// The commits that an app could not send yet, in their order: a pure value, which the app stores where it likes, so
/// that they survive its end.
///
///     append ──► waiting ──next()──► sent under a number ──settle(n)──► gone
///                                      ▲             │
///                                      └──resend()───┘
///
/// A transform replaces what the previous one of its element set, field by field, unless that one was sent already or
/// another edit of the element lies between the two. So a queue does not grow while somebody moves one element, and
/// what is replayed has the same result as all of it.
///
/// The server applies a number once, however often it is sent, as long as its body stays the same. So an edit that was
/// sent is never changed, and is sent again with the same number.
///
///     var queue = OfflineQueue<AppEdit>(capacity: 500, nextNumber: join.n + 1)
///     if queue.append(transform: fields, of: "note-1") == .full { showThatNothingMoreIsKept() }
///     while let commit = queue.next() { send(commit) }   // once connected
///     queue.settle(answer.n)                             // for each answer that is final
///     queue.resend()                                     // the connection was lost: next() begins again
public struct OfflineQueue<Edit: Sendable>: Sendable {
    /// What is kept of a commit.
    public enum Change: Sendable {
        /// `element:transform` of an element.
        case transform(elementId: String, fields: TransformFields)
        /// Any other edit, and the elements that it changes: for a deletion with their annotations.
        case edit(Edit, elementIds: [String])
    }

    /// A commit to send.
    public struct Commit: Sendable {
        /// Its number in the session.
        public let n: Int64
        /// Its content.
        public let change: Change

        /// A commit from its parts.
        public init(n: Int64, change: Change) {
            self.n = n
            self.change = change
        }
    }

    /// What became of an appended change.
    public enum Outcome: Equatable, Sendable {
        /// It is the last one now.
        case appended
        /// It was merged into the previous transform of its element.
        case folded
        /// The queue is full, and the change is not in it: tell the user.
        case full
        /// It sets nothing, or a number that is not finite.
        case invalid
    }

    /// The maximum number of changes, those under way included; at least 1.
    public let capacity: Int
    /// Sent or numbered, without an answer.
    private var underWay: [Commit] = []
    /// How many of them have been sent over this connection.
    private var sentCount = 0
    private var waiting: [Change] = []
    private var nextNumber: Int64

    /// An empty queue. `nextNumber` is the number of the session's next commit: 1 in a new one, else one more than the
    /// `n` of the answer to the join.
    public init(capacity: Int = 1000, nextNumber: Int64 = 1) {
        self.capacity = max(1, capacity)
        self.nextNumber = nextNumber
    }

    /// The number of changes without an answer.
    public var count: Int { self.underWay.count + self.waiting.count }
    /// Whether everything is settled.
    public var isEmpty: Bool { self.count == 0 }
    /// Whether only transforms that can be folded are accepted.
    public var isFull: Bool { self.count >= self.capacity }

    // MARK: Appending

    /// Appends a transform, or folds it into the element's previous one. A full queue still folds.
    public mutating func append(transform fields: TransformFields, of elementId: String) -> Outcome {
        guard !fields.isEmpty, fields.isFinite else { return .invalid }
        if let index = self.waiting.lastIndex(where: { $0.concerns(elementId) }),
            case .transform(_, var folded) = self.waiting[index]
        {
            folded.merge(fields)
            self.waiting[index] = .transform(elementId: elementId, fields: folded)
            return .folded
        }
        return self.append(.transform(elementId: elementId, fields: fields))
    }

    /// Appends another edit with the ids of the elements that it changes.
    public mutating func append(_ edit: Edit, elementIds: [String]) -> Outcome {
        self.append(.edit(edit, elementIds: elementIds))
    }

    private mutating func append(_ change: Change) -> Outcome {
        if self.isFull { return .full }
        self.waiting.append(change)
        return .appended
    }

    // MARK: Sending

    /// The next commit to send over this connection; nil when all have been sent.
    public mutating func next() -> Commit? {
        if self.sentCount == self.underWay.count {
            guard !self.waiting.isEmpty, self.nextNumber < .max else { return nil }
            self.underWay.append(Commit(n: self.nextNumber, change: self.waiting.removeFirst()))
            self.nextNumber += 1
        }
        defer { self.sentCount += 1 }
        return self.underWay[self.sentCount]
    }

    /// Number `n` has its final answer: applied, or refused for good. Its commit, which is returned, leaves the queue.
    /// Nil if it was not under way, such as for the second answer to a commit that was sent twice.
    @discardableResult
    public mutating func settle(_ n: Int64) -> Commit? {
        guard let index = self.underWay.firstIndex(where: { $0.n == n }) else { return nil }
        if index < self.sentCount { self.sentCount -= 1 }
        return self.underWay.remove(at: index)
    }

    /// The connection was lost, or an answer was not final: everything without an answer is sent again, in the same order
    /// and with the same numbers.
    public mutating func resend() {
        self.sentCount = 0
    }

    /// The session expired: everything without an answer is sent again under the numbers of a new one. What had been
    /// applied without an answer is applied twice then, which changes nothing for transforms.
    public mutating func beginSession(nextNumber: Int64 = 1) {
        self.waiting = self.underWay.map(\.change) + self.waiting
        self.underWay = []
        self.sentCount = 0
        self.nextNumber = nextNumber
    }
}

extension OfflineQueue.Change {
    /// Whether it changes an element. Ids are compared bytewise, as the server does.
    fileprivate func concerns(_ elementId: String) -> Bool {
        switch self {
        case .transform(let id, _): isSameText(id, elementId)
        case .edit(_, let ids): ids.contains { isSameText($0, elementId) }
        }
    }
}

extension OfflineQueue.Change: Equatable where Edit: Equatable {}
extension OfflineQueue.Commit: Equatable where Edit: Equatable {}
extension OfflineQueue: Equatable where Edit: Equatable {}

extension OfflineQueue.Change: Codable where Edit: Codable {}
extension OfflineQueue.Commit: Codable where Edit: Codable {}
extension OfflineQueue: Codable where Edit: Codable {
    /// What was sent over a connection is not stored: the connection ends with the app.
    private enum CodingKeys: String, CodingKey { case capacity, underWay, waiting, nextNumber }
}
