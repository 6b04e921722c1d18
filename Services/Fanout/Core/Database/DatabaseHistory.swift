internal import Wire

/// The history of the database under the name that apps know, its epoch.
///
///     unknown ──the database was reached──► current ──rows that were seen are gone──► stale ──another epoch──► current
///
/// No position in a stale history can be resumed from: the same number may now name another update.
struct DatabaseHistory: Sendable {
    private(set) var epoch: Identifier?
    private var isStale = false
    private var isMoving = false

    /// False until the database was reached; nothing may be asked before.
    var isKnown: Bool { self.epoch != nil }

    func position(at seq: UInt64) -> Position {
        Position(epoch: self.epoch ?? "", seq: seq)
    }

    /// True when the position is one of this history's, by its name.
    func includes(_ position: Position) -> Bool { position.epoch == self.epoch }

    /// True when a stream may go on from the position.
    func isResumable(_ position: Position) -> Bool {
        self.includes(position) && !self.isStale
    }

    /// The database's epoch was read. Returns true when it is another one than before.
    mutating func follow(_ epoch: Identifier) -> Bool {
        guard epoch != self.epoch else { return false }
        self.epoch = epoch
        self.isStale = false
        return true
    }

    /// The database has another history under the same epoch.
    mutating func replaced() { self.isStale = true }

    /// The epoch that the database must leave, unless none is or that was asked already.
    mutating func beginMove() -> Identifier? {
        guard self.isStale, !self.isMoving, let epoch = self.epoch else { return nil }
        self.isMoving = true
        return epoch
    }

    /// The question for another epoch was answered, or failed.
    mutating func endMove() { self.isMoving = false }
}
