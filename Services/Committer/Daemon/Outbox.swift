internal import DequeModule
package import Mesh
package import Wire

/// What is on its way to one peer: the records of this turn, and envelopes that its link did not take yet.
///
/// Bound: `limit` bytes wait at most; beyond it envelopes are dropped and counted. A dropped result is asked for again,
/// a dropped update is found in the log.
package struct Outbox {
    /// An envelope of about so many bytes leaves before the turn is over, so that no single message grows too large.
    private static let envelopeBytes = 128 << 10

    private struct Envelope {
        var bytes: [UInt8]
        var records: Int
    }

    private var open = EnvelopeWriter()
    private var waiting: Deque<Envelope> = []
    private var waitingBytes = 0
    private let limit: Int
    /// Records that were not sent and never will be, since the last look.
    private var dropped = 0

    /// An empty outbox in which at most `limit` bytes wait.
    package init(limit: Int) {
        self.limit = limit
    }

    /// True when nothing waits.
    package var isEmpty: Bool { self.open.isEmpty && self.waiting.isEmpty }

    /// Adds a record; it leaves with the turn's ``flush(_:)``.
    package mutating func append(_ record: some WireRecord) {
        self.open.append(record)
        if self.open.bytes.count >= Self.envelopeBytes { self.seal() }
    }

    private mutating func seal() {
        guard !self.open.isEmpty else { return }
        let records = Int(self.open.count)
        let envelope = Envelope(bytes: self.open.take(), records: records)
        guard self.waitingBytes + envelope.bytes.count <= self.limit || self.waiting.isEmpty else {
            self.dropped += envelope.records
            return
        }
        self.waitingBytes += envelope.bytes.count
        self.waiting.append(envelope)
    }

    /// Sends what there is, in order, as far as the link takes it.
    package mutating func flush(_ send: ([UInt8]) -> SendResult) {
        self.seal()
        while let first = self.waiting.first {
            switch send(first.bytes) {
            case .sent: break
            case .wouldBlock: return
            case .unroutable: self.dropped += first.records
            }
            self.waiting.removeFirst()
            self.waitingBytes -= first.bytes.count
        }
    }

    /// Gives up everything: the peer is gone.
    package mutating func drop() {
        self.seal()
        self.dropped += self.waiting.reduce(0) { $0 + $1.records }
        self.waiting.removeAll()
        self.waitingBytes = 0
    }

    /// How many records were dropped since the last call.
    package mutating func takeDropped() -> Int {
        defer { self.dropped = 0 }
        return self.dropped
    }
}
