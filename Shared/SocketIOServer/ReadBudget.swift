internal import SocketIO

/// What one connection, and with it its address, may still send.
struct ReadBudget {
    private unowned let loop: ServerLoop
    private var meter = ReadMeter()
    /// What the client's address uses; `nil` if that is not limited, and between the requests of several clients.
    private(set) var account: AddressAccount?
    /// Whether a proxy passes requests of several clients on: each one's address pays for its own, not for what is read.
    private var isShared = false
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

    /// The connection is one client's from here on.
    mutating func begin(_ account: AddressAccount?) { (self.account, self.isShared) = (account, false) }

    /// A request begins of a client that a proxy names, until ``requestAnswered()``.
    mutating func requestArrived(of account: AddressAccount?) { (self.account, self.isShared) = (account, true) }

    /// The next request may be somebody else's, who owes nothing for this one.
    mutating func requestAnswered() {
        if self.isShared { self.account = nil }
    }

    /// Counts bytes that were received now.
    mutating func charge(bytes: Int) {
        self.meter.charge(bytes: bytes, to: self.loop.configuration.connectionReads, at: self.time)
        guard !self.isShared else { return }
        self.account?.reads.charge(bytes: bytes, to: self.loop.configuration.addressReads, at: self.time)
    }

    /// Counts bytes of a request, which were counted as received.
    mutating func charge(requestBytes: Int) {
        guard self.isShared else { return }
        self.account?.reads.charge(bytes: requestBytes, to: self.loop.configuration.addressReads, at: self.time)
    }

    /// Counts messages that are processed now.
    mutating func charge(messages: Int) {
        self.meter.charge(messages: messages, to: self.loop.configuration.connectionReads, at: self.time)
        self.account?.reads.charge(messages: messages, to: self.loop.configuration.addressReads, at: self.time)
    }
}
