internal import Timing

/// What a peer may send before its next bytes are left unread for a while, and what it has sent.
///
/// Messages are WebSocket messages and control frames, packets of a polling POST, and HTTP requests, which count for several.
/// The server's configuration has one of which nothing was used; each peer starts with a copy.
public struct ReadMeter: Sendable, Equatable {
    private var bytes: RateMeter
    private var messages: RateMeter

    /// Nothing was received yet. After a pause a second's bytes may come together, but only an eighth of a second's
    /// messages: one turn of the loop processes them, and everybody else waits for it.
    public init(bytesPerSecond: Int, messagesPerSecond: Int) {
        self.bytes = RateMeter(perSecond: bytesPerSecond)
        self.messages = RateMeter(perSecond: messagesPerSecond, burst: messagesPerSecond / 8)
    }

    public mutating func charge(bytes: Int, at now: UInt64) {
        self.bytes.charge(bytes, at: Instant(nanoseconds: now))
    }

    public mutating func charge(messages: Int, at now: UInt64) {
        self.messages.charge(messages, at: Instant(nanoseconds: now))
    }

    /// When the peer may be read again; in the past while it is within its limits.
    public var paidUntil: UInt64 { max(self.bytes.paidUntil, self.messages.paidUntil).nanoseconds }

    /// Whether nothing is owed and everything that may come together could.
    public func isUnused(at now: UInt64) -> Bool {
        self.bytes.isUnused(at: Instant(nanoseconds: now)) && self.messages.isUnused(at: Instant(nanoseconds: now))
    }
}
