internal import DequeModule
internal import Mesh
internal import Timing
public import Wire

/// What is on its way to one peer, for as long as its link is up.
///
///     open ──the link is full──► blocked ──it accepts again──► open
///                                   │ more than the limits allow
///                                   ▼
///                               overflown: everything is dropped ──it accepts again──► open; the owner repairs
///
/// While it is open, records leave in their order, batched into envelopes. While it is blocked they wait in their order, but
/// of previews and awareness the latest of each key alone, so that a slow peer gets every numbered record and only fresh
/// previews; a preview whose gesture ends meanwhile is dropped. Public, so that ``append(_:)`` can be inlined.
public struct Outbox {
    /// An envelope's storage is used again up to this size, bytes.
    private static let keptBytes = 64 << 10

    private let limits: OutboxLimits
    /// How many commits the peer allows.
    private var credit: CreditWindow
    @usableFromInline var open = EnvelopeWriter()
    private var sealed: Deque<EnvelopeWriter> = []
    private var sealedBytes = 0
    private var previews: LatestRecords<Preview>
    private var awareness: LatestRecords<Awareness>
    /// True while the link is full.
    @usableFromInline package private(set) var isBlocked = false
    /// True from an overflow until the link accepts again.
    @usableFromInline private(set) var hasOverflown = false
    /// How many records were dropped.
    @usableFromInline internal private(set) var dropped = 0
    /// How many envelopes were dropped because they were too many or too long.
    private(set) var droppedEnvelopes = 0
    /// How many previews had to wait because the link was full.
    private(set) var heldPreviews = 0
    /// When something left last.
    private(set) var sentAt = Instant.start

    /// An empty outbox.
    /// - Parameter greeting: the peer's, which says how many commits it allows.
    package init(limits: OutboxLimits, greeting: [UInt8] = []) {
        self.limits = limits
        self.credit = CreditWindow(greeting: greeting)
        self.previews = LatestRecords(capacity: limits.keys)
        self.awareness = LatestRecords(capacity: limits.keys)
    }

    /// What waits, in bytes, the latest previews and awareness apart.
    package var bytes: Int { self.sealedBytes + (self.open.isEmpty ? 0 : self.open.bytes.count) }
    /// True when nothing waits.
    package var isEmpty: Bool { self.sealed.isEmpty && self.open.isEmpty && !self.holdsLatest }
    private var holdsLatest: Bool { !self.previews.isEmpty || !self.awareness.isEmpty }

    // MARK: Records

    /// Adds a record; it leaves with the turn's flush.
    @inlinable
    public mutating func append(_ record: some WireRecord) {
        if self.hasOverflown { return self.drop() }
        self.open.append(record)
        if self.isBlocked || self.open.isFull { self.appended() }
    }

    /// Adds a record of a kind, whose fields are appended by `encode`.
    package mutating func append(_ kind: RecordKind, encode: (inout ByteWriter) -> Void) {
        if self.hasOverflown { return self.drop() }
        self.open.append(kind, encode: encode)
        if self.isBlocked || self.open.isFull { self.appended() }
    }

    /// Adds a record that costs credit.
    /// - Returns: false when the peer has given none for it.
    package mutating func appendCredited(_ record: some WireRecord) -> Bool {
        guard self.isCreditOpen else { return false }
        let before = self.open.fieldBytes
        self.open.append(record)
        self.credit.spend(CommitLoad(commits: 1, bytes: self.open.fieldBytes - before))
        if self.isBlocked || self.open.isFull { self.appended() }
        return true
    }

    /// Adds a preview, or folds it into what waits.
    package mutating func append(latest preview: Preview) {
        self.append(latest: preview) { preview.encode(into: &$0) }
    }

    /// Adds a preview whose fields are appended by `encode`, or folds it into what waits.
    package mutating func append(latest preview: Preview, encode: (inout ByteWriter) -> Void) {
        guard self.isBlocked || self.holdsLatest else { return self.add(preview, encode: encode) }
        self.heldPreviews += 1
        if self.hasOverflown || self.previews.insert(preview) == .refused { self.drop() }
    }

    /// A group's previews are shown in one message, so they stay in one envelope.
    private mutating func add(_ preview: Preview, encode: (inout ByteWriter) -> Void) {
        self.open.append(.preview, encode: encode)
        if preview.group != .member, self.open.isFull { self.seal() }
    }

    /// Folds awareness into what waits, unless it may leave with the other records. What hides something is not sent
    /// again, so awareness beyond the limit is an overflow.
    /// - Returns: false when it may, and is to be appended.
    package mutating func hold(_ awareness: Awareness) -> Bool {
        guard self.isBlocked || self.holdsLatest else { return false }
        if self.hasOverflown { self.drop() }
        if self.hasOverflown || self.awareness.insert(awareness) != .refused { return true }
        if self.isBlocked { self.overflow() }
        return self.isBlocked
    }

    /// Drops the previews that wait and must not be shown any more.
    package mutating func remove(_ ended: @autoclosure () -> [EndedPreviews]) {
        if !self.previews.isEmpty { self.previews.remove(ended()) }
    }

    @usableFromInline
    mutating func drop() { self.dropped += 1 }

    @usableFromInline
    mutating func appended() {
        if self.open.isFull { self.seal() }
        if self.isBlocked, self.bytes > self.limits.bytes { self.overflow() }
    }

    // MARK: Credit

    /// True while the peer allows commits.
    package var isCreditOpen: Bool { self.credit.isOpen && !self.hasOverflown }

    /// The peer allows more commits.
    package mutating func allow(_ credit: CommitCredit) { self.credit.allow(credit) }

    // MARK: Sending

    /// When something may leave that leaves at most once in a pause; nil while nothing may.
    func due(after pause: Nanoseconds) -> Instant? { self.isBlocked || self.isEmpty ? nil : self.sentAt + pause }

    /// Sends what waits, in order, until the link accepts no more. The latest previews and awareness leave last: until then
    /// each may still be replaced.
    mutating func flush(at now: Instant, _ send: (EnvelopeWriter) -> SendResult) {
        guard !self.isBlocked else { return }
        while !self.isEmpty {
            if let first = self.sealed.first {
                guard self.settle(send(first), records: first.count, at: now) else { break }
                self.sealed.removeFirst()
                self.sealedBytes -= first.bytes.count
            } else if self.open.isEmpty {
                for preview in self.previews.takeAllByRoom() { self.add(preview) { preview.encode(into: &$0) } }
                for awareness in self.awareness.takeAll() { self.append(awareness) }
            } else if self.open.bytes.count > self.limits.envelope {
                self.seal()
            } else {
                guard self.settle(send(self.open), records: self.open.count, at: now) else { break }
                if self.open.bytes.count <= Self.keptBytes { self.open.clear() } else { self.open = EnvelopeWriter() }
            }
        }
        guard self.isBlocked else { return }
        // What was offered stays as it is, whatever comes.
        if self.sealed.isEmpty { self.seal() }
        if self.bytes > self.limits.bytes { self.overflow() }
    }

    /// - Returns: false when the link is full.
    private mutating func settle(_ result: SendResult, records: UInt32, at now: Instant) -> Bool {
        switch result {
        case .sent: self.sentAt = now
        case .wouldBlock: self.isBlocked = true
        // The peer is gone; its end is reported soon.
        case .unroutable: self.dropped += Int(records)
        }
        return !self.isBlocked
    }

    /// The link may accept again, which only the next attempt shows.
    /// - Returns: true when records were dropped and the owner must repair.
    mutating func unblock() -> Bool {
        self.isBlocked = false
        return exchange(&self.hasOverflown, with: false)
    }

    private mutating func seal() {
        guard !self.open.isEmpty else { return }
        let envelope = exchange(&self.open, with: EnvelopeWriter())
        guard envelope.bytes.count <= self.limits.envelope else {
            self.droppedEnvelopes += 1
            return self.lose(envelope)
        }
        self.sealedBytes += envelope.bytes.count
        self.sealed.append(envelope)
    }

    /// The peer does not hear of an envelope, so it will not give the credit back that its commits have cost.
    private mutating func lose(_ envelope: EnvelopeWriter) {
        self.dropped += Int(envelope.count)
        self.credit.refund(CommitLoad(commits: Int(envelope.count), bytes: envelope.fieldBytes))
    }

    private mutating func overflow() {
        self.hasOverflown = true
        self.droppedEnvelopes += self.sealed.count + (self.open.isEmpty ? 0 : 1)
        self.dropped += self.close().count
    }

    /// Drops everything, as when the link is down.
    /// - Returns: the previews that were not in an envelope yet, which another peer may get.
    mutating func close() -> [Preview] {
        for envelope in self.sealed { self.lose(envelope) }
        self.lose(self.open)
        self.open = EnvelopeWriter()
        self.sealed.removeAll()
        self.sealedBytes = 0
        self.dropped += self.awareness.count
        _ = self.awareness.takeAll()
        return self.previews.takeAllByRoom()
    }
}

/// How much may wait for one peer whose link is full, and how long an envelope the peer accepts.
///
/// | from → to | bytes | keys of previews | what an overflow costs |
/// | --- | --- | --- | --- |
/// | gateway → coalescer, coalescer → fan-out | 16 MiB | 65,536 | previews; each next one is complete |
/// | gateway → committer, fan-out | 16 MiB | none | the gateway sends again what it still waits for, and says who is there |
/// | committer → gateway | 16 MiB | none | results; the gateway repeats its commits |
/// | committer → fan-out | 32 MiB | none | updates; the fan-out reads the log |
/// | fan-out → gateway | a setting | 10,000 | the streams; the gateway is told where its rooms stand |
///
/// An envelope is full, and followed by another one, at ``EnvelopeWriter/fullSize``, but not within a group of previews.
public struct OutboxLimits: Sendable {
    /// Bytes that may wait, the latest previews and awareness apart.
    let bytes: Int
    /// How many previews, of different keys, may wait, and as much awareness.
    let keys: Int
    /// Bytes of the longest envelope that the peer accepts; it would close the link on a longer one.
    let envelope: Int

    package init(bytes: Int, keys: Int = 0, envelope: Int = LinkOptions.maximumIncomingBytes) {
        self.bytes = bytes
        self.keys = keys
        self.envelope = envelope
    }

    package static let previews = OutboxLimits(bytes: 16 << 20, keys: 65_536)
    /// Of commits, which credit bounds, and what gateways ask fan-outs.
    package static let requests = OutboxLimits(bytes: 16 << 20)
    package static let results = OutboxLimits(bytes: 16 << 20, envelope: .max)
    package static let updates = OutboxLimits(bytes: 32 << 20)

    /// Of a room's stream. Answers to joins are as long as their rooms.
    package static func stream(bytes: Int) -> OutboxLimits { OutboxLimits(bytes: bytes, keys: 10_000, envelope: .max) }
}
