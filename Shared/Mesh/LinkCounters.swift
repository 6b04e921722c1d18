/// The counters of a link since its creation; monotonic. Read them on the reactor's thread and copy them out.
package struct LinkCounters: Sendable, Equatable {
    /// Messages of the user that libzmq accepted.
    package var sent: UInt64 = 0
    /// Bytes in the frames of `sent`.
    package var sentBytes: UInt64 = 0
    /// Messages delivered to the user.
    package var received: UInt64 = 0
    /// Bytes in the frames of `received`.
    package var receivedBytes: UInt64 = 0
    /// Sends rejected at the high-water mark.
    package var wouldBlock: UInt64 = 0
    /// Sends rejected because the peer is unknown or the link is down.
    package var unroutable: UInt64 = 0
    /// Received and dropped because they were malformed.
    package var droppedMalformed: UInt64 = 0
    /// Received with more frames than allowed, and dropped.
    package var droppedFrames: UInt64 = 0
    /// Received from a peer without a hello, and dropped.
    package var droppedUnknown: UInt64 = 0
    /// Hellos rejected for their version.
    package var refused: UInt64 = 0
    /// Hellos rejected because the maximum number of peers was reached.
    package var turnedAway: UInt64 = 0
    /// Connections that never finished libzmq's own handshake, mostly of foreign programs.
    package var handshakesFailed: UInt64 = 0
    /// How many times a peer came up.
    package var ups: UInt64 = 0
    /// How many times a peer went down.
    package var downs: UInt64 = 0
    /// Sockets opened after the first one (dialled links only).
    package var reconnects: UInt64 = 0
    package var beats: UInt64 = 0

    package init() {}

    mutating func sent(_ result: SendResult, bytes: Int) {
        switch result {
        case .sent:
            self.sent += 1
            self.sentBytes += UInt64(bytes)
        case .wouldBlock: self.wouldBlock += 1
        case .unroutable: self.unroutable += 1
        }
    }

    mutating func received(_ frames: Frames) {
        self.received += 1
        for index in 0..<frames.count { self.receivedBytes += UInt64(frames.byteCount(at: index)) }
    }
}
