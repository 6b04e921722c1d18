package import Timing
package import Wire

/// A commit that waits in a ledger: parsed once, however often it has to be decided.
package struct PreparedCommit: Sendable {
    /// The commit, without its edit.
    let room: Identifier
    let stream: StreamKey
    let claim: UInt32
    let number: UInt64
    let user: Identifier
    let connection: UInt64
    let gateway: Identifier
    let gestures: ShortList<EndedGesture>
    /// What it asks for.
    var edit: PreparedEdit
    /// What it counts in the queue, bytes.
    let size: Int
    /// When it came.
    let arrived: Instant
    /// Over which link it came, as the shell counts them: who gets the credit back.
    let source: UInt64
    /// True when it was in a batch of which nobody knows whether it was written.
    var isOutcomeUnknown = false
    /// True when its stream was read again because the commit's claim was newer than the known one.
    var isClaimVerified = false

    /// Reads a commit's edit. A fault in it is part of the result: it will use up the commit's number.
    package init(_ commit: Commit, size: Int, arrived: Instant, source: UInt64 = 0) {
        self.room = commit.room
        self.stream = StreamKey(commit.room, commit.session)
        self.claim = commit.claim
        self.number = commit.number
        self.user = commit.user
        self.connection = commit.connection
        self.gateway = commit.gateway
        self.gestures = commit.gestures
        self.size = size
        self.arrived = arrived
        self.source = source
        self.edit = EditDecisions.all.prepare(commit.edit)
    }

    /// The identity of its body: the same commit sent again has the same.
    var hash: UInt64 { self.edit.hash }

    /// Its identity among commits.
    var key: CommitKey { CommitKey(self.stream, self.number) }

    /// Its identity among the copies that wait: a copy of another gateway or connection wants a result of its own.
    var copy: Copy {
        Copy(key: self.key, hash: self.hash, gateway: self.gateway, connection: self.connection)
    }

    /// See ``PreparedCommit/copy``.
    struct Copy: Hashable, Sendable {
        var key: CommitKey
        var hash: UInt64
        var gateway: Identifier
        var connection: UInt64

        /// Nearly all copies differ in these two, and names take long to hash.
        func hash(into hasher: inout Hasher) {
            hasher.combine(self.key.stream.session)
            hasher.combine(self.key.number)
        }
    }
}
