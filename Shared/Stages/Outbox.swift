internal import DequeModule
package import Mesh
public import Wire

/// The output queue of one peer: the records of this turn, and envelopes that its link has not accepted yet.
///
/// Bound: at most `limit` bytes wait; beyond it envelopes are dropped and counted by their records, and so are those that
/// are longer than the peer accepts. Public, so that ``append(_:)`` can be inlined.
public struct Outbox {
    private struct Envelope {
        var bytes: [UInt8]
        var records: Int
    }

    @usableFromInline var open = EnvelopeWriter()
    private var waiting: Deque<Envelope> = []
    private var waitingBytes = 0
    private let limit: Int
    private let largestEnvelope: Int
    /// Records dropped since the last ``takeDropped()``.
    private var dropped = 0

    /// An empty outbox.
    /// - Parameters:
    ///   - limit: the maximum of bytes that wait.
    ///   - largestEnvelope: the longest envelope that the peer accepts, bytes; it would close the link on a longer one.
    package init(limit: Int, largestEnvelope: Int = .max) {
        self.limit = limit
        self.largestEnvelope = largestEnvelope
    }

    /// True when nothing is queued.
    package var isEmpty: Bool { self.open.isEmpty && self.waiting.isEmpty }

    /// Adds a record; it leaves with the turn's ``flush(_:)``.
    @inlinable
    public mutating func append(_ record: some WireRecord) {
        self.open.append(record)
        if self.open.isFull { self.seal() }
    }

    /// Adds an envelope as it is, which counts as one record.
    package mutating func append(envelope: [UInt8]) {
        self.seal()
        self.enqueue(Envelope(bytes: envelope, records: 1))
    }

    @usableFromInline
    mutating func seal() {
        guard !self.open.isEmpty else { return }
        let records = Int(self.open.count)
        self.enqueue(Envelope(bytes: self.open.take(), records: records))
    }

    private mutating func enqueue(_ envelope: Envelope) {
        guard envelope.bytes.count <= self.largestEnvelope,
            self.waitingBytes + envelope.bytes.count <= self.limit || self.waiting.isEmpty
        else {
            self.dropped += envelope.records
            return
        }
        self.waitingBytes += envelope.bytes.count
        self.waiting.append(envelope)
    }

    /// Sends everything queued, in order, until the link accepts no more.
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

    /// Drops everything: the peer is gone.
    package mutating func drop() {
        self.seal()
        self.dropped += self.waiting.reduce(0) { $0 + $1.records }
        self.waiting.removeAll()
        self.waitingBytes = 0
    }

    /// Returns how many records were dropped since the last call.
    package mutating func takeDropped() -> Int {
        defer { self.dropped = 0 }
        return self.dropped
    }
}
