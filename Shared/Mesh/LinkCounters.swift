/// What a link has done since it was made; only grows. Read it on the reactor's thread and copy it out.
package struct LinkCounters: Sendable, Equatable {
    /// Messages of the user that libzmq took, and their bytes.
    package var sent: UInt64 = 0
    /// Bytes in the frames of `sent`.
    package var sentBytes: UInt64 = 0
    /// Messages that were handed to the user, and their bytes.
    package var received: UInt64 = 0
    /// Bytes in the frames of `received`.
    package var receivedBytes: UInt64 = 0
    /// Sends refused at the high-water mark, and for want of a peer.
    package var wouldBlock: UInt64 = 0
    /// Sends refused for want of a peer.
    package var unroutable: UInt64 = 0
    /// Received and dropped: not of this protocol; more frames than allowed; from somebody without a hello.
    package var droppedMalformed: UInt64 = 0
    /// Received with more frames than allowed, and dropped.
    package var droppedFrames: UInt64 = 0
    /// Received from somebody without a hello, and dropped.
    package var droppedUnknown: UInt64 = 0
    /// Hellos of another version, and hellos for which there was no room.
    package var refused: UInt64 = 0
    /// Hellos for which there was no room.
    package var turnedAway: UInt64 = 0
    /// Connections that never finished libzmq's own handshake: strangers, mostly.
    package var handshakesFailed: UInt64 = 0
    /// Times a peer came up, and went.
    package var ups: UInt64 = 0
    /// Times a peer went.
    package var downs: UInt64 = 0
    /// Sockets opened after the first one (dialled links only).
    package var reconnects: UInt64 = 0
    /// Beats sent.
    package var beats: UInt64 = 0
    /// All zero.
    package init() {}
}
