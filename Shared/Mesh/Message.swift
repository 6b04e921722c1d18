internal import CZeroMQ

/// One owned message part of libzmq.
///
/// Small contents (up to 33 bytes) are stored inline, so a pointer to them is invalid after the next move: bytes are
/// only passed to a closure. Not bound to a thread: it may be moved to another one.
// Unchecked: libzmq counts shared contents atomically, and the value has one owner.
package struct Message: ~Copyable, @unchecked Sendable {
    private let part: UnsafeMutablePointer<zmq_msg_t>

    /// An empty part.
    package init() {
        self.part = Message.allocate()
        zmq_msg_init(self.part)
    }

    /// A part with a copy of `bytes`.
    package init(_ bytes: [UInt8]) {
        self.init(length: bytes.count)
        bytes.withUnsafeBytes { self.fill($0) }
    }

    /// A part with a copy of `bytes`.
    package init(copying bytes: UnsafeRawBufferPointer) {
        self.init(length: bytes.count)
        self.fill(bytes)
    }

    // If memory for it cannot be allocated, the part stays empty, as libzmq reports it.
    private init(length: Int) {
        self.part = Message.allocate()
        if zmq_msg_init_size(self.part, length) != 0 { zmq_msg_init(self.part) }
    }

    private borrowing func fill(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress, let target = zmq_msg_data(self.part) else { return }
        target.copyMemory(from: source, byteCount: min(bytes.count, zmq_msg_size(self.part)))
    }

    /// Moves the content out of `source`, which is empty afterwards.
    init(taking source: UnsafeMutablePointer<zmq_msg_t>) {
        self.part = Message.allocate()
        zmq_msg_init(self.part)
        zmq_msg_move(self.part, source)
    }

    deinit {
        zmq_msg_close(self.part)
        self.part.deallocate()
    }

    /// Its length in bytes.
    package var byteCount: Int { zmq_msg_size(self.part) }

    /// Calls `body` with the bytes; the pointer is invalid afterwards and need not be aligned.
    package borrowing func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(start: zmq_msg_data(self.part), count: zmq_msg_size(self.part)))
    }

    /// Another owner of the same content: reference-counted, not copied, when it is larger than 33 bytes.
    package borrowing func shared() -> Message {
        let other = Message()
        zmq_msg_copy(other.part, self.part)
        return other
    }

    /// Stores a counted reference to this content in `target`, which must be initialised.
    borrowing func share(into target: UnsafeMutablePointer<zmq_msg_t>) {
        zmq_msg_copy(target, self.part)
    }

    static func allocate(_ count: Int = 1) -> UnsafeMutablePointer<zmq_msg_t> {
        UnsafeMutableRawPointer.allocate(byteCount: count * MemoryLayout<zmq_msg_t>.stride, alignment: 64)
            .bindMemory(to: zmq_msg_t.self, capacity: count)
    }
}
