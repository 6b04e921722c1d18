internal import NIOCore

/// What a connection has received but may not process yet, and whether it is read meanwhile.
///
/// ```
///           bytes are left over, or the peer sent too much
/// reading -------------------------------------------------> paused
///    ^      they are processed, and what was sent is paid for  |
///    +---------------------------------------------------------+
/// ```
/// While it is paused nothing more is read, so at most the bytes of one turn are kept. A read that the channel asks for
/// meanwhile is held, and released once.
struct ConnectionInput {
    private var unread: [UInt8] = []
    private var isReadHeld = false
    /// True while received bytes are being processed: those that an answer lets through wait until that is over.
    private(set) var isProcessing = false
    /// When a peer that sent too much is read again; `.max` for none.
    private(set) var resumeDeadline: UInt64 = .max

    var isPaused: Bool { !self.unread.isEmpty || self.resumeDeadline < .max }

    /// How many bytes wait to be processed; others that arrive have to wait behind them.
    var unreadBytes: Int { self.unread.count }

    // MARK: Bytes

    mutating func append(_ bytes: ByteBufferView) { self.unread.append(contentsOf: bytes) }

    /// Removes the bytes that wait, to be processed.
    mutating func removeUnread() -> [UInt8] { exchange(&self.unread, with: []) }

    /// Bytes are being processed, until ``endProcessing(leaving:)``.
    mutating func beginProcessing() { self.isProcessing = true }

    /// Keeps the bytes that could not be processed.
    mutating func endProcessing(leaving rest: UnsafeRawBufferPointer) {
        self.isProcessing = false
        if !rest.isEmpty { self.unread = Array(rest) }
    }

    // MARK: Pauses

    /// The peer sent too much: it is not read before `deadline`.
    /// - Returns: true when that is new, false when it only moves the deadline.
    mutating func pause(until deadline: UInt64) -> Bool { exchange(&self.resumeDeadline, with: deadline) == .max }

    mutating func resume() { self.resumeDeadline = .max }

    /// Nothing that was received is processed any more.
    mutating func discard() { (self.unread, self.resumeDeadline) = ([], .max) }

    // MARK: Reads

    /// The channel asked for a read while none may be.
    mutating func holdRead() { self.isReadHeld = true }

    /// Reading may go on.
    /// - Returns: true when a read was held, which is to be made now.
    mutating func releaseRead() -> Bool { exchange(&self.isReadHeld, with: false) }
}
