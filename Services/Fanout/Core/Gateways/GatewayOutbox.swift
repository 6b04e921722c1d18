internal import DequeModule
internal import Wire

/// What is on its way to one gateway.
///
///     open ──the link is full──► blocked ──it accepts again──► open
///                                   │ more bytes than allowed
///                                   ▼
///                               overflown: everything is dropped ──it accepts again──► open, and the gateway is sent
///                                                                                      its rooms' positions
///
/// While it is open, records leave in their order, batched into envelopes. While it is blocked, what is numbered waits
/// in its order, previews are folded, the latest for each element and connection, and so is awareness, so that a slow
/// gateway gets every update and only fresh previews; a preview whose gesture ends meanwhile is dropped, and so are signals.
package struct GatewayOutbox: Sendable {
    /// What became of the envelope from ``next()``.
    package enum Fate: Sendable {
        /// The link accepted it.
        case sent
        /// The link is full for now; it is kept.
        case blocked
    }

    /// An envelope's storage is used again up to this size, bytes.
    private static let keptBytes = 64 << 10

    private let maxBytes: Int
    private let envelopeBytes: Int
    private var envelope = EnvelopeWriter()
    private var sealed: Deque<[UInt8]> = []
    private var sealedBytes = 0
    /// The latest previews and awareness, while the link is blocked.
    private var previews: LatestRecords<Preview>
    private var awareness: LatestRecords<Awareness>
    /// True while the link is full.
    package private(set) var isBlocked = false
    /// True from the moment when records were dropped until the gateway's rooms' positions are due.
    package private(set) var hasOverflown = false
    /// Previews that were folded into another or dropped because the gateway was slow.
    package private(set) var foldedPreviews = 0
    /// Signals that were dropped because the gateway was slow.
    package private(set) var droppedSignals = 0

    /// An empty outbox.
    /// - Parameters:
    ///   - maxBytes: the most that waits for a gateway before it loses its streams.
    ///   - maxPreviews: the most elements and connections whose latest preview waits, and as much awareness; beyond this
    ///     the gateway loses its streams.
    ///   - envelopeBytes: an envelope that is larger is followed by another one.
    package init(maxBytes: Int, maxPreviews: Int = 10_000, envelopeBytes: Int = 256 << 10) {
        self.maxBytes = maxBytes
        self.previews = LatestRecords(capacity: maxPreviews)
        self.awareness = LatestRecords(capacity: maxPreviews)
        self.envelopeBytes = envelopeBytes
    }

    /// How many folded previews wait.
    package var previewCount: Int { self.previews.count }
    /// What waits, in bytes, the folded previews apart.
    package var bytes: Int { self.sealedBytes + (self.envelope.isEmpty ? 0 : self.envelope.bytes.count) }
    /// True when nothing waits.
    package var isEmpty: Bool { self.sealed.isEmpty && self.envelope.isEmpty && !self.holdsLatest }
    private var holdsLatest: Bool { !self.previews.isEmpty || !self.awareness.isEmpty }

    /// Adds a record.
    package mutating func append(_ record: GatewayRecord) {
        guard self.takes(record) else { return }
        self.envelope.append(record.kind) { record.encode(into: &$0) }
        self.appended()
    }

    /// Adds a record of which `fields` are the encoded fields, so that one for many gateways is encoded once.
    package mutating func append(_ record: GatewayRecord, fields: UnsafeRawBufferPointer) {
        guard self.takes(record) else { return }
        self.envelope.append(record.kind, fields: ByteReader(fields))
        self.appended()
    }

    /// False when the record is dropped, or folded into what waits.
    private mutating func takes(_ record: GatewayRecord) -> Bool {
        if self.hasOverflown {
            if case .signal = record { self.droppedSignals += 1 }
            return false
        }
        guard self.isBlocked || self.holdsLatest else { return true }
        switch record {
        case .preview(let preview):
            if self.previews.insert(preview) != .added { self.foldedPreviews += 1 }
            return false
        case .awareness(let awareness):
            if self.awareness.insert(awareness) != .refused { return false }
            // What hides something is not sent again.
            if self.isBlocked { self.overflow() }
            return !self.isBlocked
        case .signal where self.isBlocked:
            self.droppedSignals += 1
            return false
        default:
            self.foldedPreviews += self.previews.remove(record.endedPreviews)
            return true
        }
    }

    private mutating func appended() {
        if self.envelope.bytes.count >= self.envelopeBytes { self.seal() }
        if self.isBlocked, self.bytes > self.maxBytes { self.overflow() }
    }

    /// The next envelope to send; nil when there is none or the link is full. ``settle(_:)`` must follow.
    package mutating func next() -> [UInt8]? {
        if self.isBlocked { return nil }
        if self.sealed.isEmpty {
            // Folded previews and awareness leave last and together: until then each may still be replaced by a newer one.
            if self.envelope.isEmpty, self.holdsLatest {
                for preview in self.previews.takeAllByRoom() { self.envelope.append(preview) }
                for awareness in self.awareness.takeAll() { self.envelope.append(awareness) }
            }
            return self.envelope.isEmpty ? nil : self.envelope.bytes
        }
        return self.sealed.first
    }

    /// Says what became of the envelope from ``next()``.
    package mutating func settle(_ fate: Fate) {
        switch fate {
        case .blocked:
            self.isBlocked = true
            if self.sealed.isEmpty { self.seal() }
            if self.bytes > self.maxBytes { self.overflow() }
        case .sent:
            if let first = self.sealed.popFirst() {
                self.sealedBytes -= first.count
            } else if self.envelope.bytes.count <= Self.keptBytes {
                self.envelope.clear()
            } else {
                self.envelope = EnvelopeWriter()
            }
        }
    }

    /// The link may accept again, which only the next attempt shows. Returns true when records were dropped and the
    /// gateway must be sent its rooms' positions.
    package mutating func unblock() -> Bool {
        self.isBlocked = false
        defer { self.hasOverflown = false }
        return self.hasOverflown
    }

    private mutating func seal() {
        let bytes = self.envelope.take()
        self.sealedBytes += bytes.count
        self.sealed.append(bytes)
    }

    private mutating func overflow() {
        self.hasOverflown = true
        self.envelope = EnvelopeWriter()
        self.sealed.removeAll()
        self.sealedBytes = 0
        _ = self.previews.takeAll()
        _ = self.awareness.takeAll()
    }
}

extension GatewayRecord {
    /// The previews that must not follow it.
    fileprivate var endedPreviews: [EndedPreviews] {
        switch self {
        case .update(let update): update.endedPreviews
        case .gestureEnded(let ended): [ended.gesture.endedPreviews]
        default: []
        }
    }
}
