internal import Wire

/// The sessions of a room that a newer connection claimed, and the connection that owns each now.
struct SessionOwners: Sendable {
    private struct Owner: Sendable {
        var sessionEpoch: UInt32
        var connection: UInt64
    }

    private var owners: [Identifier: Owner] = [:]
    /// The session that a connection claimed.
    private var sids: [UInt64: Identifier] = [:]

    /// True when the session belongs to another connection.
    func isSuperseded(_ sid: Identifier, from connection: UInt64) -> Bool {
        self.sessionEpoch(of: sid, ofOtherThan: connection) != nil
    }

    /// The session epoch under which another connection owns the session; nil when none does.
    func sessionEpoch(of sid: Identifier, ofOtherThan connection: UInt64) -> UInt32? {
        guard !self.owners.isEmpty, let owner = self.owners[sid], owner.connection != connection else { return nil }
        return owner.sessionEpoch
    }

    /// A connection owns a session under a session epoch. Returns false when a newer one is known.
    mutating func claimed(_ sid: Identifier, _ sessionEpoch: UInt32, by connection: UInt64) -> Bool {
        guard (self.owners[sid]?.sessionEpoch ?? 0) < sessionEpoch else { return false }
        if self.sids[connection] != sid { self.remove(connection) }
        self.owners[sid] = Owner(sessionEpoch: sessionEpoch, connection: connection)
        self.sids[connection] = sid
        return true
    }

    /// A connection is gone, or has another session now: the one that it owned has no owner here.
    mutating func remove(_ connection: UInt64) {
        guard let sid = self.sids.removeValue(forKey: connection), self.owners[sid]?.connection == connection
        else { return }
        self.owners.removeValue(forKey: sid)
    }
}
