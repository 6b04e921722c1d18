internal import SocketIO

/// What one connection, and with it its client's address, may still send.
///
/// All bytes count: framing, heads, trailers, and what is read only to be ignored. A connection of one client charges them
/// to that one's address as they are received. A proxy passes requests of several clients on: of its requests, each
/// address is charged with what was read for its own, from the end of the request before it.
struct ReadBudget {
    private var meter: ReadMeter
    /// What the client's address uses; `nil` if that is not limited, or not known.
    private var account: AddressAccount?
    /// Whether each request may be another client's.
    private var isShared = true
    /// Bytes of the request that is being read, while nobody is known whom they could be charged to.
    private var unchargedBytes = 0
    /// When the bytes that are processed now were received.
    private(set) var time: UInt64 = 0

    init(_ loop: ServerLoop) {
        self.meter = loop.configuration.connectionReads
    }

    /// Whether more of what was received may be processed now.
    var isSufficient: Bool { self.sufficientAt <= self.time }

    var sufficientAt: UInt64 { max(self.meter.paidUntil, self.account?.reads.paidUntil ?? 0) }

    mutating func advance(to now: UInt64) { self.time = now }

    /// The connection is one client's from here on; or, without an account, that of whoever its requests name.
    mutating func begin(_ account: AddressAccount?) {
        (self.account, self.isShared, self.unchargedBytes) = (account, account == nil, 0)
    }

    /// The request that is being read, until ``requestAnswered()``, is this client's.
    mutating func requestArrived(of account: AddressAccount?) {
        guard self.isShared, let account else { return }
        self.account = account
        self.charge(readBytes: exchange(&self.unchargedBytes, with: 0))
    }

    /// The next request may be somebody else's, who owes nothing for this one.
    mutating func requestAnswered() {
        if self.isShared { (self.account, self.unchargedBytes) = (nil, 0) }
    }

    /// Counts bytes that were received now.
    mutating func charge(receivedBytes count: Int) {
        self.meter.charge(bytes: count, at: self.time)
        if !self.isShared { self.chargeAddress(count) }
    }

    /// Counts bytes that were received earlier and are processed now.
    mutating func charge(readBytes count: Int) {
        guard self.isShared else { return }
        if self.account == nil { self.unchargedBytes += count } else { self.chargeAddress(count) }
    }

    private func chargeAddress(_ bytes: Int) {
        self.account?.reads.charge(bytes: bytes, at: self.time)
    }

    mutating func charge(messages: Int) {
        self.meter.charge(messages: messages, at: self.time)
        self.account?.reads.charge(messages: messages, at: self.time)
    }
}
