import JSONBytes
import Wire

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
