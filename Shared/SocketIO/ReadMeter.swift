/// What a peer may send before its next bytes are left unread for a while.
public struct ReadLimits: Sendable, Equatable {
    /// Bytes as received.
    public var bytes: RateLimit
    /// WebSocket messages and control frames, packets of a polling POST, and HTTP requests, which count for several.
    public var messages: RateLimit

    /// Limits of bytes and messages a second. After a pause a second's bytes may come together, but only an eighth of a
    /// second's messages: one turn of the loop processes them, and everybody else waits for it.
    public init(bytesPerSecond: Int, messagesPerSecond: Int) {
        self.bytes = RateLimit(perSecond: bytesPerSecond, burst: bytesPerSecond)
        self.messages = RateLimit(perSecond: messagesPerSecond, burst: messagesPerSecond / 8)
    }
}

/// What a peer has sent against its ``ReadLimits``.
public struct ReadMeter: Sendable, Equatable {
    private var bytes = RateMeter()
    private var messages = RateMeter()

    /// Nothing was received yet.
    public init() {}

    /// Bytes were received.
    public mutating func charge(bytes: Int, to limits: ReadLimits, at now: UInt64) {
        self.bytes.charge(bytes, to: limits.bytes, at: now)
    }

    /// Messages were processed.
    public mutating func charge(messages: Int, to limits: ReadLimits, at now: UInt64) {
        self.messages.charge(messages, to: limits.messages, at: now)
    }

    /// When the peer may be read again; in the past while it is within its limits.
    public var paidUntil: UInt64 { max(self.bytes.paidUntil, self.messages.paidUntil) }

    /// Whether nothing is owed and everything that may come together could.
    public func isUnused(_ limits: ReadLimits, at now: UInt64) -> Bool {
        self.bytes.isUnused(limits.bytes, at: now) && self.messages.isUnused(limits.messages, at: now)
    }
}
