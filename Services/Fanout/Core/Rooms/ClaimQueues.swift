internal import Wire

/// The joins that claim sessions of one room, by tag and in the order in which they came. Claims of one session are asked
/// one after the other, because the database could answer two at a time in either order: whoever joined last owns it.
struct ClaimQueues: Sendable {
    private var tags: [Identifier: [UInt64]] = [:]

    /// A join claims a session.
    /// - Returns: whether it is its turn.
    mutating func enqueue(_ tag: UInt64, for sid: Identifier) -> Bool {
        self.tags[sid, default: []].append(tag)
        return self.tags[sid]?.count == 1
    }

    /// A join has its session, or does not need it any more.
    /// - Returns: the join whose turn it is now; nil when the turn does not change, or nobody waits.
    mutating func remove(_ tag: UInt64, for sid: Identifier) -> UInt64? {
        guard let index = self.tags[sid]?.firstIndex(of: tag) else { return nil }
        self.tags[sid]?.remove(at: index)
        guard let next = self.tags[sid]?.first else {
            self.tags[sid] = nil
            return nil
        }
        return index == 0 ? next : nil
    }
}
