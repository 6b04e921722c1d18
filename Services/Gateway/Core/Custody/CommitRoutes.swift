import Wire

/// Which way commits go at first: straight to their committer, or through the coalescer if that has something to do.
///
/// A coalescer cancels the previews of a gesture that a commit ends. A commit that ends none would only wake it. While many
/// are under way none goes straight: the coalescer gathers what comes meanwhile, and the committer's batches are larger.
///
/// Commits of one stream must not overtake each other. One that follows another that is still on its way through the
/// coalescer goes behind it.
struct CommitRoutes {
    /// From this number of commits without a result on, none goes straight to its committer.
    private static let gatheringThreshold = 32

    /// The numbered commits of a session in a room.
    private struct Stream: Hashable {
        let room: Identifier
        let session: Identifier

        init(_ commit: Commit) {
            self.room = commit.room
            self.session = commit.session
        }
    }

    /// How many commits without a result went through the coalescer at first, by their streams.
    private var detours: [Stream: Int] = [:]

    /// The first way of a commit that is accepted while `others` have no result yet.
    mutating func firstPath(of commit: Commit, beside others: Int) -> CommitPath {
        let isForCoalescer = others >= Self.gatheringThreshold || commit.gestures.contains { $0.gesture > 0 }
        if !isForCoalescer, self.detours.isEmpty { return .committer }
        let stream = Stream(commit)
        guard isForCoalescer || self.detours[stream] != nil else { return .committer }
        self.detours[stream, default: 0] += 1
        return .coalescer
    }

    /// A commit left custody.
    mutating func ended(_ pending: PendingCommit) {
        guard pending.firstPath == .coalescer else { return }
        let stream = Stream(pending.commit)
        guard let count = self.detours[stream] else { return }
        self.detours[stream] = count > 1 ? count - 1 : nil
    }
}
