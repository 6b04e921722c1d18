internal import CZeroMQ
internal import Glibc
package import Trust

/// The frames of the message that a link has just delivered: a view of storage that the link reuses for the next
/// message.
///
/// An index past the end reads as an empty frame, so that a peer that sends too few frames cannot trap a reader.
package final class Frames {
    /// All parts as libzmq delivered them: routing id (ROUTER only), kind, then the sender's frames.
    let parts: UnsafeMutablePointer<zmq_msg_t>
    let capacity: Int
    /// The number of parts in use.
    var filled = 0
    /// The number of parts before the sender's own frames.
    var skipped = 0

    package init(capacity: Int) {
        self.capacity = capacity
        self.parts = UnsafeMutableRawPointer.allocate(
            byteCount: capacity * MemoryLayout<zmq_msg_t>.stride, alignment: 64
        ).bindMemory(to: zmq_msg_t.self, capacity: capacity)
        for index in 0..<capacity { zmq_msg_init(self.parts + index) }
    }

    deinit {
        for index in 0..<self.capacity { zmq_msg_close(self.parts + index) }
        self.parts.deallocate()
    }

    package var count: Int { max(0, self.filled - self.skipped) }

    package func byteCount(at index: Int) -> Int { self.withBytes(at: index) { $0.count } }

    /// Calls `body` with a frame's bytes; the pointer is invalid afterwards and need not be aligned.
    package func withBytes<Result, Failure: Error>(
        at index: Int, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard index >= 0, index < self.count else { return try body(UnsafeRawBufferPointer(start: nil, count: 0)) }
        return try self.withPart(self.skipped + index, body)
    }

    package func bytes(at index: Int) -> [UInt8] { self.withBytes(at: index) { [UInt8]($0) } }

    func withPart<Result, Failure: Error>(
        _ index: Int, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let part = self.parts + index
        return try body(UnsafeRawBufferPointer(start: zmq_msg_data(part), count: zmq_msg_size(part)))
    }
}

extension Frames {
    /// The descriptor of the connection that the second part arrived on, −1 if libzmq does not know it.
    ///
    /// libzmq marks the property deprecated (descriptors are reused) but offers no other way from a peer to its
    /// connection; `PeerRoster` handles reuse. The first part does not work: a polled ROUTER creates it without the
    /// property.
    var descriptorOfSender: Int32 { self.filled > 1 ? zmq_msg_get(self.parts + 1, ZMQ_SRCFD) : -1 }

    /// Calls `body` with the user id of the connection that the message came over: what was answered to the question
    /// about its key, so the key's text. Empty without CURVE.
    func withUserID<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        guard self.filled > 1, let text = zmq_msg_gets(self.parts + 1, "User-Id") else {
            return body(UnsafeRawBufferPointer(start: nil, count: 0))
        }
        return body(UnsafeRawBufferPointer(start: text, count: strlen(text)))
    }

    /// The key by which the sender of the message is known; nil without CURVE.
    package var senderKey: PublicKey? { self.withUserID { PublicKey(text: $0) } }
}
