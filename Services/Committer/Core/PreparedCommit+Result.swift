import JSONBytes
import Wire

extension PreparedCommit {
    /// The largest number that a commit can have: what every JSON implementation keeps exact.
    static let largestNumber: UInt64 = 1 << 53 - 1

    /// Its result when it was refused.
    func result(_ refusal: Refusal) -> CommitResult {
        var writer = JSONWriter(reserving: 160)
        refusal.encodeAcknowledgement(into: &writer)
        return CommitResult(
            room: self.room, session: self.stream.session, number: self.number, connection: self.connection,
            refusal: refusal, seq: 0, json: writer.bytes)
    }

    /// Its result when it was applied.
    func result(seq: UInt64, json: [UInt8]) -> CommitResult {
        CommitResult(
            room: self.room, session: self.stream.session, number: self.number, connection: self.connection,
            refusal: nil, seq: seq, json: json)
    }
}
