internal import SocketIO

/// What one connection, and with it its address, may still send.
struct ReadBudget {
    private unowned let loop: ServerLoop
    private var meter = ReadMeter()
    /// What the client's address uses; `nil` if that is not limited.
    var account: AddressAccount?
    /// When the bytes that are processed now were received.
    private(set) var time: UInt64 = 0

    init(_ loop: ServerLoop) {
        self.loop = loop
    }

    /// Whether more of what was received may be processed now.
    var isSufficient: Bool { self.sufficientAt <= self.time }

    /// When more may be processed.
    var sufficientAt: UInt64 { max(self.meter.paidUntil, self.account?.reads.paidUntil ?? 0) }

    /// Time has passed.
    mutating func advance(to now: UInt64) { self.time = now }

    /// Counts bytes that were received now.
    mutating func charge(bytes: Int) {
        self.meter.charge(bytes: bytes, to: self.loop.configuration.connectionReads, at: self.time)
        self.account?.reads.charge(bytes: bytes, to: self.loop.configuration.addressReads, at: self.time)
    }

    /// Counts messages that are processed now.
    mutating func charge(messages: Int) {
        self.meter.charge(messages: messages, to: self.loop.configuration.connectionReads, at: self.time)
        self.account?.reads.charge(messages: messages, to: self.loop.configuration.addressReads, at: self.time)
    }
}
