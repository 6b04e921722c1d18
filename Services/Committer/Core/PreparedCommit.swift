import JSONBytes
package import Timing
package import Wire

/// A commit queued in a ledger: decoded once, however often it has to be decided.
package struct PreparedCommit: Sendable {
    /// The commit, without its edit.
    let room: Identifier
    let stream: StreamKey
    let sessionEpoch: UInt32
    let number: UInt64
    let user: Identifier
    let connection: UInt64
    let gateway: Identifier
    /// Without the elements on which it ends none.
    let gestures: ShortList<EndedGesture>
    var edit: PreparedEdit
    /// Its size in the queue, bytes.
    let size: Int
    let arrived: Instant
    private(set) var trace: TraceID?
    /// The link on which it arrived, as numbered by the shell: its sender gets the credit back.
    let source: UInt64
    /// True when it was in a batch whose outcome is unknown.
    var isOutcomeUnknown = false
    /// How far an undo has come that waits for a read.
    var undoProgress: UndoProgress?
    /// True when its stream was read again because the commit's claim was newer than the cached one.
    var isClaimVerified = false

    /// Decodes a commit's edit. An error becomes part of the decision: it will use up the commit's number.
    package init(_ commit: Commit, size: Int, arrived: Instant, source: UInt64 = 0) {
        self.room = commit.room
        self.stream = StreamKey(commit.room, commit.session)
        self.sessionEpoch = commit.sessionEpoch
        self.number = commit.number
        self.user = commit.user
        self.connection = commit.connection
        self.gateway = commit.gateway
        self.gestures = commit.endedGestures
        self.size = size
        self.arrived = arrived
        self.source = source
        self.trace = commit.trace
        self.edit = EditDecisions.all.prepare(commit.edit)
    }

    /// The identity of its body: a repeated commit has the same.
    var hash: UInt64 { self.edit.hash }

    /// The user whose stacks it concerns.
    var owner: UserKey { UserKey(self.room, self.user) }

    var key: CommitKey { CommitKey(self.stream, self.number) }

    /// Its identity among the queued copies: a copy from another gateway or connection needs its own result.
    var copy: Copy {
        Copy(key: self.key, hash: self.hash, gateway: self.gateway, connection: self.connection)
    }

    struct Copy: Hashable, Sendable {
        var key: CommitKey
        var hash: UInt64
        var gateway: Identifier
        var connection: UInt64

        /// These two distinguish nearly all copies, and names are slow to hash.
        func hash(into hasher: inout Hasher) {
            hasher.combine(self.key.stream.session)
            hasher.combine(self.key.number)
        }
    }
}

extension PreparedCommit {
    /// The largest number of a commit, which every JSON implementation represents exactly.
    static let largestNumber: UInt64 = 1 << 53 - 1

    /// The result if it is refused.
    /// - Parameter cost: how many elements were looked at for that.
    func result(_ refusal: Refusal, cost: Int = 0) -> CommitResult {
        CommitResult(
            room: self.room, session: self.stream.session, number: self.number, connection: self.connection,
            refusal: refusal, seq: 0, json: refusal.acknowledgement, elements: UInt32(clamping: cost),
            bodyHash: self.hash)
    }

    /// The result if it is applied.
    /// - Parameter cost: how many elements it changed, or more for long ones; 0 when it was applied before.
    func result(seq: UInt64, json: [UInt8], cost: Int) -> CommitResult {
        CommitResult(
            room: self.room, session: self.stream.session, number: self.number, connection: self.connection,
            refusal: nil, seq: seq, json: json, elements: UInt32(clamping: cost),
            bodyHash: self.hash)
    }
}

extension CommitResult {
    /// The result of a commit that was refused without a decision.
    init(refusing commit: Commit, with refusal: Refusal) {
        self.init(
            room: commit.room, session: commit.session, number: commit.number, connection: commit.connection,
            refusal: refusal, seq: 0, json: refusal.acknowledgement, bodyHash: commit.edit.bodyHash)
    }
}

extension Refusal {
    /// The refusal as the acknowledgement that the app gets.
    fileprivate var acknowledgement: [UInt8] {
        var writer = JSONWriter(reserving: 160)
        self.encodeAcknowledgement(into: &writer)
        return writer.bytes
    }
}
